/* SPDX-License-Identifier: Apache-2.0
 * names.h - what frames and stacks are called, each stored once.
 *
 *	string    bytes                                        "Array#map"
 *	function  language, name, path, first line             where code is written
 *	location  function and line                            where it stood
 *	stack     outer stack and location                     a path in one trie
 *
 * Numbers are dense from 0 and live as long as the struct names.  Number 0 is
 * the empty string, the unnamed function, its location, and the empty stack.
 * Strings are bytes: whoever prints them escapes them. */
#pragma once
#include "base/arena.h"
#include "base/table.h"
#include "base/vec.h"
#include "sample/frame.h"

struct name_string {
	const char *text; /* NUL-terminated */
	u32 length;
};

struct name_function {
	u32 name, path; /* strings; path 0 is unknown */
	u32 language;   /* string: "ruby", "native", "kernel", "" for marks */
	u32 first_line; /* 0 is unknown */
	u32 flags;      /* enum frame_flags: FRAME_C, FRAME_TASK, FRAME_INLINED */
	u32 image;      /* string: the file of native code, 0 otherwise */
};

struct name_location {
	u32 function;
	u32 line; /* 0 is unknown */
	/* The part of the line that is meant, for those who ask (session/naming.h); else 0. */
	u32 end_line, column, end_column;
	u32 zero;    /* no padding: it is hashed as bytes */
	u64 address; /* native: file offset address in function's image; else 0 */
};

struct name_stack {
	u32 outer; /* a stack; 0 is the empty one */
	u32 location;
	u32 depth;
};

/* A location that turned out to be another one. */
struct name_replaced {
	u32 location, by;
};

struct names {
	struct arena arena;
	VEC(struct name_string) strings;
	VEC(struct name_function) functions;
	VEC(struct name_location) locations;
	VEC(struct name_stack) stacks;
	VEC(struct name_replaced)
	replaced; /* in this order, for who has written the locations down */
	struct table string_table, function_table, location_table, stack_table;
	bool bad; /* out of memory at some point; numbers returned then were 0 */
};

bool names_init(struct names *names);
void names_free(struct names *names);
u32 names_string(struct names *names, const char *text, size_t length);
u32 names_text(struct names *names, const char *text);
u32 names_function(struct names *names, const struct name_function *function);
u32 names_location(struct names *names, const struct name_location *location);
u32 names_stack(struct names *names, u32 outer, u32 location);
/* From now on `location` reads as `by`, in every stack that contains it. */
void names_replace(struct names *names, u32 location, u32 by);
/* The location of a mark: "[moving]", "(garbage collection)" and so on. */
u32 names_mark(struct names *names, enum frame_mark mark);
const char *frame_mark_text(enum frame_mark mark);
/* Is it a mark of the reading, "[moving]" or "[truncated]"? How often these come depends on the machine, not on the program. */
bool names_is_of_reading(const struct names *names, u32 location);
