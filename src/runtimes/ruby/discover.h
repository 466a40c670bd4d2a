/* SPDX-License-Identifier: Apache-2.0
 * discover.h - where a Ruby keeps its VM, with or without symbols. */
#pragma once
#include "base/err.h"
#include "mem/mem.h"
#include "runtimes/ruby/layout.h"

struct image;
struct target;

/* An image in a process. */
struct ruby_place {
	const struct target *target;
	const struct image *image;
	const struct mem *mem;
	u64 bias;
};

/* The ways to find the VM, in order of preference; a test takes one away. */
enum ruby_ways {
	RUBY_BY_SYMBOL = 1 << 0,
	RUBY_BY_CODE = 1 << 1,
	RUBY_BY_SCAN = 1 << 2,
	RUBY_BY_ALL = 7,
};

/* Is the image a Ruby, and where is it mapped? ERR_NOT_MINE. */
bool ruby_place_find(const struct target *target, const struct image *image,
		     struct ruby_place *place, struct err *err);
/* The address of a symbol, if it is one of the image's. */
bool ruby_place_symbol(const struct ruby_place *place, const char *name, u64 *addr);
/* Numbers that stand in code: vm.objspace, gc.flags, gc.count, id.last_operator. Replaces the
 * table's in state->at, and notes it. */
void ruby_decode_numbers(const struct ruby_place *place, struct ruby_state *state);
/* state->vm. ERR_NOT_READY while there is none. */
bool ruby_find_vm(const struct ruby_place *place, struct ruby_state *state, u32 ways,
		  struct err *err);
/* state->ids; without it C functions have no name. */
bool ruby_find_ids(const struct ruby_place *place, struct ruby_state *state, u32 ways);
