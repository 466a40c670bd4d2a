/* SPDX-License-Identifier: Apache-2.0
 * functions.h - the functions of an image, named or not: their bounds are in .eh_frame even when it is stripped.
 *
 * A compiler moves unlikely code to a cold part elsewhere (gcc: f.cold). The part has an FDE of its own, and is recognised by
 * its frame, which is set up at its first instruction already. The jumps that lead into it tell which function it belongs to.
 *
 * x86-64: code is not disassembled, only scanned for instructions with a displacement of four bytes. Other bytes that look
 * like one and lead to exactly the same address occur in about one image in a thousand. */
#pragma once
#include "base/vec.h"
#include "elf/image.h"

struct unwind_function {
	u64 begin, end; /* as linked */
	bool is_part;   /* of another one */
};

struct unwind_functions {
	const struct image *image;       /* borrowed */
	VEC(struct unwind_function) all; /* by address */
};

/* False when out of memory, or there is no .eh_frame. To be freed in either case. */
bool unwind_functions_read(struct unwind_functions *functions, const struct image *image);
void unwind_functions_free(struct unwind_functions *functions);
/* Around an address; NULL: none. */
const struct unwind_function *unwind_function_at(const struct unwind_functions *functions,
						 u64 address);
/* Those parts to which a function jumps; how many there are, `room` of them in `out`: room + 1 stands for more. */
u32 unwind_function_parts(const struct unwind_functions *functions,
			  const struct unwind_function *of, struct unwind_function *out, u32 room);
/* The same of those that lead to it by a call or, at their end, a jump; by way of the linkage table, too. */
u32 unwind_function_doors(const struct unwind_functions *functions,
			  const struct unwind_function *of, struct unwind_function *out, u32 room);
/* The same of those that call it, directly. */
u32 unwind_function_callers(const struct unwind_functions *functions,
			    const struct unwind_function *of, struct unwind_function *out,
			    u32 room);
/* Where a function calls another with a text as this argument (from 0; x86-64: of the first four): these instructions.
 * How many there are, `room` at the most. */
u32 unwind_function_text_calls(const struct unwind_functions *functions,
			       const struct unwind_function *of, u64 callee, u32 argument, u64 *out,
			       u32 room);
/* Where a function first stores a register in memory that begins `offset` (below 128) in front of the place, other than on the
 * stack; 0: not among its first instructions. */
u64 unwind_function_store(const struct unwind_functions *functions, u64 begin, u32 offset);
