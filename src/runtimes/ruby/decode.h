/* SPDX-License-Identifier: Apache-2.0
 * decode.h - what a function of ten instructions reads, from its machine code.
 *
 * Ruby exports getters whose code holds what no symbol table of a stripped build
 * does: rb_gc_count() is `ruby_current_vm_ptr->objspace->profile.count`. */
#pragma once
#include "mem/mem.h"

enum { RUBY_CODE_LOADS_MAX = 6 };

/* *(... *(*(base + displacement[0]) + displacement[1]) ... + displacement[loads - 1]) */
struct ruby_code {
	u64 base; /* 0 when the first address is what another function returned */
	u32 loads;
	s32 displacement[RUBY_CODE_LOADS_MAX];
	u32 shift;    /* the bit tested in what was loaded last; 0 none */
	u32 compared; /* constant of the first comparison; 0 none */
};

/* x86-64.  `function` is an address in the target. False at the first instruction that does not
 * belong to such a function; what was seen before it stands in *out. */
bool ruby_code_read(const struct mem *mem, u64 function, struct ruby_code *out);
/* The address that load `index` reads, in the live process. */
bool ruby_code_address(const struct mem *mem, const struct ruby_code *code, u32 index, u64 *out);
