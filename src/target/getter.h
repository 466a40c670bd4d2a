/* SPDX-License-Identifier: Apache-2.0
 * getter.h - what a function of ten instructions reads, from its machine code.
 *
 * Interpreters export getters whose code holds what no symbol table of a stripped build does: Ruby's
 * rb_gc_count() is `ruby_current_vm_ptr->objspace->profile.count`, Python's PyInterpreterState_Head() is
 * `interp_head`. */
#pragma once
#include "mem/mem.h"

struct loaded;

enum { GETTER_LOADS_MAX = 6 };

/* *(... *(*(base + displacement[0]) + displacement[1]) ... + displacement[loads - 1]) */
struct getter {
	u64 base; /* 0 when the first address is what another function returned */
	u32 loads;
	s32 displacement[GETTER_LOADS_MAX];
	u32 shift;    /* the bit tested in what was loaded last; 0 none */
	u32 compared; /* constant of the first comparison; 0 none */
};

/* x86-64.  `function` is an address in the target. False at the first instruction that does not
 * belong to such a function; what was seen before it stands in *out. */
bool getter_read(const struct mem *mem, u64 function, struct getter *out);
/* The same, of the function that the image defines by this name; false for an image of another machine, too. */
bool getter_named(const struct loaded *loaded, const char *name, struct getter *out);
/* The address that load `index` reads, in the live process. */
bool getter_address(const struct mem *mem, const struct getter *getter, u32 index, u64 *out);
