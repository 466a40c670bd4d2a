/* SPDX-License-Identifier: Apache-2.0
 * lines.h - the lines of a profile's frames: who asks for lines wants to know where in their code the time goes.
 *
 * All addresses of a line are one.  A frame that has no line of its own - a C function, garbage collection -
 * is told apart by the line that it was called from, its site. */
#pragma once
#include "base/table.h"
#include "base/vec.h"
#include "sample/names.h"

struct line {
	u32 location; /* the first that was met */
	u32 site;     /* the location of the call, when `location` has no line; else 0 */
};

struct lines {
	VEC(struct line) at;
	VEC(u32) of_stack; /* of each stack's innermost frame: a number of `at` */
	VEC(u32) site_of;  /* by stack: the location of its innermost frame with a line; 0: none */
	struct table table;
};

/* Those of the stacks that came since. All zero to begin with; always of the same names. False when out of memory:
 * what was learnt stays, and it can be tried again. */
bool lines_learn(struct lines *lines, const struct names *names);
/* The stacks are to be learnt again: locations of theirs were replaced. What a line's number stands for stays. */
void lines_forget(struct lines *lines);
void lines_free(struct lines *lines);
