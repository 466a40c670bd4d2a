/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * tail.h - of code without a rule, that what is left to run is the end of a function: how it gives back its frame.
 *
 *	add $8, %rsp; pop %rbx; pop %rbp; ret
 *
 * x86-64.  BPF-safe text: who walks calls tail_step() in a loop of its own. */
#pragma once
#include "unwind/step.h"

enum {
	TAIL_STEPS = 10, /* instructions at the most */
	TAIL_BYTES = 32,
	TAIL_FRAME_MAX = 1 << 20,
};

/* How far a function is in giving back its frame. */
struct tail {
	u8 code[TAIL_BYTES + 8]; /* what is left to run */
	u32 at;                  /* the next instruction, in bytes */
	bool is_over;
	s64 up; /* where the stack pointer is by now, from where it was */
	struct unwind_walk before;
};

UNWIND_TEXT s32 tail_number(const u8 *code)
{
	s32 number;

	__builtin_memcpy(&number, code, sizeof number);
	return number;
}

/* Registers that a callee saves, as pop numbers them (with rex.b 8 more), are numbered so by DWARF, but for this one. */
UNWIND_TEXT u32 tail_popped(u32 number)
{
	return number == 5 ? UNWIND_FP : number;
}

/* add to rsp, or pop: what it pops is noted. False: it was the last one, or none of these. */
UNWIND_TEXT bool tail_step(struct unwind_walk *walk, struct tail *tail)
{
	const u8 *next = tail->code + (tail->at & (TAIL_BYTES - 1));
	bool is_rex = next[0] == 0x41;
	u8 op = is_rex ? next[1] : next[0];

	if (next[0] == 0xc3) {
		tail->is_over = true;
		return false;
	}
	if ((op & 0xf8) == 0x58) {
		u32 number = (op & 7) | (is_rex ? 8 : 0);
		if (number == 4)
			return false; /* sp itself */
		if (number == 3 || number == 5 || number >= 12)
			unwind_note(walk, tail_popped(number), walk->sp + (u64)tail->up);
		tail->up += 8;
		tail->at += 1u + is_rex;
	} else if (next[0] == 0x48 && next[1] == 0x83 && next[2] == 0xc4) {
		tail->up += (s8)next[3];
		tail->at += 4;
	} else if (next[0] == 0x48 && next[1] == 0x81 && next[2] == 0xc4) {
		tail->up += tail_number(next + 3);
		tail->at += 7;
	} else {
		return false;
	}
	return tail->at <= TAIL_BYTES - 8 && tail->up >= 0 && tail->up <= TAIL_FRAME_MAX;
}
