/* SPDX-License-Identifier: Apache-2.0
 * discover.h - where a Ruby keeps its VM, with or without symbols. */
#pragma once
#include "base/err.h"
#include "runtimes/ruby/layout.h"

struct image;
struct loaded;
struct target;

/* The ways to find the VM, in order of preference; a test takes one away. */
enum ruby_ways {
	RUBY_BY_SYMBOL = 1 << 0,
	RUBY_BY_CODE = 1 << 1,
	RUBY_BY_SCAN = 1 << 2,
	RUBY_BY_ALL = 7,
};

/* Is the image a Ruby, and where is it mapped? ERR_NOT_MINE. */
bool ruby_find_image(const struct target *target, const struct image *image, struct loaded *place,
		     struct err *err);
/* Numbers that stand in code: vm.objspace, gc.flags, gc.count, id.last_operator. Replaces the
 * table's in state->at, and notes it. */
void ruby_decode_numbers(const struct loaded *place, struct ruby_state *state);
/* state->vm. False while there is none. */
bool ruby_find_vm(const struct loaded *place, struct ruby_state *state, u32 ways);
/* state->ids; without it C functions have no name. */
bool ruby_find_ids(const struct loaded *place, struct ruby_state *state, u32 ways);
