/* SPDX-License-Identifier: Apache-2.0
 * instruction.h - what an instruction does to the stack, and how long it is.
 *
 * x86-64 (Intel's manual, volume 2, chapter 2 and appendix A): all lengths; of what is done, what compilers and people who write
 * assembly do with the stack pointer and the frame pointer.  What else writes one of these is told to make it unknown.
 *
 * Private to this folder and its tests. */
#pragma once
#include "base/types.h"

enum instruction_kind {
	INSTRUCTION_OTHER,
	INSTRUCTION_PUSH, /* `reg`, or what is no register that anybody keeps: UNWIND_PC */
	INSTRUCTION_POP,
	INSTRUCTION_ADD,     /* sp += amount */
	INSTRUCTION_LOSE,    /* sp becomes what only a run can tell */
	INSTRUCTION_LOSE_FP, /* the same of fp */
	INSTRUCTION_FRAME,   /* fp = sp + amount */
	INSTRUCTION_UNFRAME, /* sp = fp + amount */
	INSTRUCTION_COPY,    /* reg = sp + amount */
	INSTRUCTION_UNCOPY,  /* sp = reg + amount */
	INSTRUCTION_STORE,   /* the word at sp + amount is reg */
	INSTRUCTION_LEAVE,   /* sp = fp, and pops fp */
	INSTRUCTION_CLEAR,   /* fp = 0: by the ABI, outermost */
	INSTRUCTION_ADDRESS, /* reg = `target`; it may be fp, here and in the next */
	INSTRUCTION_SUM,     /* reg += other */
	INSTRUCTION_CALL,    /* `target`; 0: wherever a register or a word leads */
	INSTRUCTION_JUMP, /* the same: `reg`, or the word of the table at `amount` that an index chooses; 0: another word */
	INSTRUCTION_BRANCH, /* to `target`, or on */
	INSTRUCTION_RETURN, /* goes nowhere that is known */
};

struct instruction {
	enum instruction_kind kind;
	u8 length;     /* bytes, 1 to 15 */
	u8 reg, other; /* DWARF's numbers; UNWIND_PC: none */
	s32 amount;
	u16 written; /* a bit for each register that is another one behind it, but for what calls leave */
	u64 target;
};

enum { INSTRUCTION_MARK_BYTES = 4 };

/* Are these four bytes endbr64, with which begins what may be jumped to (CET), and which does nothing? */
bool instruction_is_mark(const u8 *bytes);
/* The one at `address`, of which `left` bytes are there. False: there is none. */
bool instruction_read(const u8 *bytes, u64 left, u64 address, struct instruction *out);
