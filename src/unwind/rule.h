/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * rule.h - how to get from a native frame to its caller: one rule, and the table that leads to it.
 *
 * A table is one block of words, without pointers, so that it can be kept in a file, mapped, or copied into a BPF
 * map as it is:
 *
 *	header | first row of each page, and the end | rows | rules
 *
 * A row is a word: the low 16 bits of a pc (as linked, from `base` on), and the number of the rule from there to the
 * next row.  Pages are of 64 KiB, and each begins with a row of its own, so a page is searched without its
 * neighbours: 13 steps at the most in what was measured (libruby's worst page has 5,913 rows).
 *
 * BPF-safe text: no pointers but to the words, bounded loops. */
#pragma once
#include "base/types.h"

#if defined(__bpf__)
#define UNWIND_TEXT static __always_inline
#else
#define UNWIND_TEXT static inline
#endif

enum unwind_kind {
	UNWIND_NONE,   /* nothing is known of these instructions */
	UNWIND_END,    /* there is no caller: _start, a thread's or a coroutine's first function */
	UNWIND_PLUS,   /* CFA = reg + offset */
	UNWIND_DEREF,  /* CFA = *(reg + offset) + 8 add: stacks that were realigned */
	UNWIND_PLT,    /* CFA = sp + 8, and 8 more from the `add`th byte of the stub's 16 on */
	UNWIND_SIGNAL, /* all registers are in the frame that the kernel made */
	UNWIND_SWITCH, /* CFA = reg + offset, on another stack than this one */
	UNWIND_INTERRUPTED, /* CFA = reg + offset; who seems to have called it was interrupted anywhere */
	UNWIND_LANDING, /* the handler's frame is in the unwinder's struct at reg + offset (landing.h) */
};

/* Where a register that the caller wants back is, in words from the base. */
enum {
	UNWIND_SAVED_SAME = 127,
	UNWIND_SAVED_LOST = -128,
};

/* What the saved registers' places are relative to. */
enum { UNWIND_BASE_CFA, UNWIND_BASE_FP };

enum {
	UNWIND_SAVED =
		6, /* registers that a callee saves and that a CFA is computed from; arch/ says which */
	UNWIND_PAGE_SHIFT = 16,
	UNWIND_RULES_MAX = 1 << 16,
	UNWIND_BISECT_MAX = 16,    /* halvings of a page's 65,536 rows */
	UNWIND_MAGIC = 0x31525753, /* "SWR1" */
	UNWIND_HEADER_WORDS = 8,
	UNWIND_RULE_WORDS = 4,
};

struct unwind_rule {
	s32 offset;
	u8 kind; /* enum unwind_kind */
	u8 reg;  /* of the CFA */
	s8 add;
	u8 return_register; /* 0: the return address is where the architecture puts it; else a register's number + 1 */
	u8 base; /* UNWIND_BASE_* */
	s8 saved[UNWIND_SAVED];
	u8 zero;
};

struct unwind_header {
	u32 magic;
	u32 pages;
	u64 base; /* the first page, as linked */
	u32 row_count, rule_count;
	u32 rows, rules; /* where they begin, in words from the header */
};

_Static_assert(sizeof(struct unwind_rule) == 4 * UNWIND_RULE_WORDS, "rules are kept in files");
_Static_assert(sizeof(struct unwind_header) == 4 * UNWIND_HEADER_WORDS,
	       "headers are kept in files");

/* How to step out of code that is made at run time: what compilers at run time keep. */
enum made_way {
	MADE_BY_FRAMES, /* frame pointers, as most do */
	MADE_BY_WORDS,  /* return addresses, and little else (YJIT); else frame pointers (ZJIT) */
	MADE_BY_CODE,   /* nothing, in frames of any size (CPython 3.13 and 3.14) */
};
