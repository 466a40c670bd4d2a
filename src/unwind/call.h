/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * call.h - a step out of code of which no rule is known: made at run time, or without rows in a file, as assembly often is.
 *
 * What leads back is a word of the stack that points behind a call.  Where a function has just begun, or is a trampoline, it is
 * near the top; where frames are kept it is behind the caller's rbp, which rbp points to; and of YJIT, which keeps no frames
 * but little else either, it is near the top, too. ZJIT keeps frames, which are as small as YJIT's but where a C function is given
 * its arguments as an array.
 *
 * A wrong frame is worse than a stack that is cut and marked so.  Out of a file the word is believed only if its call can have
 * led here: what it calls by name has no rule either, or is a stub or a jump to anything.  So a function without a frame is not
 * passed over with its caller, where that has one and rules.
 *
 * BPF-safe text, for the kernel (engines/kernel/walk.bpf.h) and here (made.c).  Who includes it says first what is mapped, with
 * MADE_SPACE, MADE_RANGE(space, addr) -> enum made_range and MADE_HAS_RULE(space, addr). */
#pragma once
#include "unwind/tail.h"

enum made_range {
	MADE_NOWHERE,  /* nothing to be run is there */
	MADE_NO_TABLE, /* made at run time, or of a file that has none */
	MADE_TABLE,    /* of a file that has one */
};

enum {
	MADE_ENTRY_WORDS =
		3, /* of the stack, in which a function that has just begun has its way back */
	MADE_SCAN_WORDS = 16,     /* and code that keeps no frames */
	MADE_FRAME_MAX = 1 << 20, /* bytes of one frame */
	MADE_CALL_BYTES = 7,
	MADE_STUB_BYTES = 8,
};

#ifndef MADE_SPACE /* nobody has: this is what they are */
#define MADE_SPACE struct made_space
struct made_space;
enum made_range made_range(struct made_space *space, u64 addr);
bool made_has_rule(struct made_space *space, u64 addr);
#define MADE_RANGE made_range
#define MADE_HAS_RULE made_has_rule
#endif

/* Where a walk stands. */
struct made {
	const struct mem *stack, *code;
	MADE_SPACE *space;
	struct unwind_walk *walk;
	struct tail *tail; /* scratch */
};

#ifndef MADE_EACH_TAIL_STEP /* until one is the last */
#define MADE_EACH_TAIL_STEP(made) \
	for (u32 step = 0; step < TAIL_STEPS && tail_step((made)->walk, (made)->tail); step++)
#endif

/* Do these bytes in front of an address end with a call of what a register or a word holds? r/m64 in its lengths of 2, 3, 4, 6
 * and 7 bytes. */
UNWIND_TEXT bool made_calls_by_pointer(const u8 *code)
{
	return (code[5] == 0xff && (code[6] & 0x38) == 0x10) ||
	       (code[4] == 0xff && (code[5] & 0x38) == 0x10) ||
	       (code[3] == 0xff && (code[4] & 0x38) == 0x10) ||
	       (code[1] == 0xff && (code[2] & 0x38) == 0x10) ||
	       (code[0] == 0xff && (code[1] & 0x38) == 0x10);
}

/* A stub of the linkage table, with or without the marks of CET and MPX (endbr64, bnd), or a plain jump. */
UNWIND_TEXT bool made_is_jump(const u8 *code)
{
	bool is_marked = code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa;
	u8 first = is_marked ? code[4] : code[0], second = is_marked ? code[5] : code[1];
	u8 third = is_marked ? code[6] : code[2];

	return first == 0xe9 || first == 0xeb || (first == 0xff && second == 0x25) ||
	       (first == 0xf2 && second == 0xff && third == 0x25);
}

/* Can what is called at this address lead to code without a rule? */
UNWIND_TEXT bool made_can_lead_here(const struct made *made, u64 called)
{
	u8 code[MADE_STUB_BYTES];

	if (MADE_RANGE(made->space, called) == MADE_NOWHERE)
		return false;
	return !MADE_HAS_RULE(made->space, called) ||
	       (mem_peek(made->code, called, code, sizeof code) && made_is_jump(code));
}

/* Is there a call in front of this address, and, unless any will do, one that can have led here? */
UNWIND_TEXT bool made_is_behind_call(const struct made *made, u64 addr, bool any_call)
{
	u8 code[MADE_CALL_BYTES + 1];
	s32 distance;

	if (!mem_peek(made->code, addr - MADE_CALL_BYTES, code, MADE_CALL_BYTES))
		return false;
	if (made_calls_by_pointer(code))
		return true;
	__builtin_memcpy(&distance, code + MADE_CALL_BYTES - sizeof distance, sizeof distance);
	return code[2] == 0xe8 && (any_call || made_can_lead_here(made, addr + (u64)(s64)distance));
}

UNWIND_TEXT void made_go_back(struct unwind_walk *walk, u64 pc, u64 sp)
{
	walk->pc = pc;
	walk->sp = sp;
	walk->is_return = true;
}

/* To where this word of the stack leads, if that is code with a table, as out of YJIT to libruby. */
UNWIND_TEXT bool made_step_by_word(const struct made *made, u64 at, u64 word)
{
	if (MADE_RANGE(made->space, word - 1) != MADE_TABLE ||
	    !made_is_behind_call(made, word, true))
		return false;
	made_go_back(made->walk, word, at + 8);
	return true;
}

/* Where a function has just begun, or has no frame (libffi's trampolines push two words): what leads back is near, and below
 * what rbp points to, if that is near, too. */
UNWIND_TEXT bool made_step_from_entry(const struct made *made, bool any_call)
{
	struct unwind_walk *walk = made->walk;
	u64 top[MADE_ENTRY_WORDS] = { 0 };
	u64 sp = walk->sp, fp = 0;

	if (walk->is_return || !mem_peek(made->stack, sp, top, sizeof top))
		return false;
	if (!unwind_register(made->stack, walk, UNWIND_FP, &fp))
		fp = 0;
	for (u32 i = 0; i < MADE_ENTRY_WORDS; i++) {
		if (sp + 8ull * i == fp)
			return false;
		if (MADE_RANGE(made->space, top[i] - 1) == MADE_NOWHERE ||
		    !made_is_behind_call(made, top[i], any_call))
			continue;
		made_go_back(walk, top[i], sp + 8ull * i + 8);
		return true;
	}
	return false;
}

/* Where frames are kept: rbp leads to the caller's rbp, and behind it is the way back. */
UNWIND_TEXT bool made_step_by_frame(const struct made *made, bool any_call)
{
	struct unwind_walk *walk = made->walk;
	u64 frame[2] = { 0, 0 };
	u64 at;

	if (!unwind_register(made->stack, walk, UNWIND_FP, &at) || at < walk->sp || (at & 7) ||
	    at - walk->sp > MADE_FRAME_MAX ||
	    !mem_read_along(made->stack, MEM_UP, at, frame, sizeof frame) ||
	    MADE_RANGE(made->space, frame[1] - 1) == MADE_NOWHERE ||
	    !made_is_behind_call(made, frame[1], any_call))
		return false;
	walk->value[UNWIND_FP] = frame[0];
	walk->at[UNWIND_FP] = 0;
	made_go_back(walk, frame[1], at + 16);
	return true;
}

/* Where nothing but the end of the function is left to run, what it does says where the way back is (CPython's trampolines for perf:
 * they call, add 8 to rsp or pop rbp, and return). */
UNWIND_TEXT bool made_step_by_tail(const struct made *made, bool any_call)
{
	struct unwind_walk *walk = made->walk;
	struct tail *tail = made->tail;
	u64 word = 0;

	tail->at = 0;
	tail->up = 0;
	tail->is_over = false;
	tail->before = *walk;
	if (!mem_peek(made->code, walk->pc, tail->code, TAIL_BYTES))
		return false;
	MADE_EACH_TAIL_STEP(made);
	u64 at = walk->sp + (u64)tail->up;
	if (tail->is_over && mem_read_along(made->stack, MEM_UP, at, &word, sizeof word) &&
	    MADE_RANGE(made->space, word - 1) != MADE_NOWHERE &&
	    made_is_behind_call(made, word, any_call)) {
		made_go_back(walk, word, at + 8);
		return true;
	}
	*walk = tail->before;
	return false;
}

/* Code that was made at run time can have been led to by any call. */
UNWIND_TEXT bool made_step(const struct made *made, bool any_call)
{
	return made_step_by_tail(made, any_call) || made_step_from_entry(made, any_call) ||
	       made_step_by_frame(made, any_call);
}
