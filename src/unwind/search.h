/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * search.h - from a pc to its rule, in the words of rule.h.
 *
 * BPF-safe text: a halving a turn of a bounded loop.  UNWIND_WORD(words, index) is how a word is had: in BPF,
 * with the index masked to the map's size. */
#pragma once
#include "unwind/rule.h"

#ifndef UNWIND_WORD
#define UNWIND_WORD(words, index) ((words)[index])
#endif

/* The place of the last row at or before `low` of those from `first` to `last`, the page's first being one. */
UNWIND_TEXT u32 unwind_bisect(const u32 *words, u32 first, u32 last, u32 low)
{
	for (u32 i = 0; i < UNWIND_BISECT_MAX && last - first > 1; i++) {
		u32 middle = first + (last - first) / 2;
		if ((UNWIND_WORD(words, middle) & 0xffff) <= low)
			first = middle;
		else
			last = middle;
	}
	return first;
}

/* `table`: where the header stands in words. `pc` as linked. False: the table does not cover it. */
UNWIND_TEXT bool unwind_search(const u32 *words, u32 table, u64 pc, struct unwind_rule *out)
{
	u64 base = UNWIND_WORD(words, table + 2) | (u64)UNWIND_WORD(words, table + 3) << 32;
	u32 pages = UNWIND_WORD(words, table + 1);
	u32 rows = table + UNWIND_WORD(words, table + 6);
	u32 rules = table + UNWIND_WORD(words, table + 7);
	u64 page = (pc - base) >> UNWIND_PAGE_SHIFT;

	if (pc < base || page >= pages)
		return false;
	u32 place = table + UNWIND_HEADER_WORDS + (u32)page;
	u32 row = unwind_bisect(words, rows + UNWIND_WORD(words, place),
				rows + UNWIND_WORD(words, place + 1), (u32)pc & 0xffff);
	u32 rule = rules + UNWIND_RULE_WORDS * (UNWIND_WORD(words, row) >> 16);
	/* two stores, each of all that a load behind it wants: else the CPU waits for them */
	u64 halves[2] = { UNWIND_WORD(words, rule) | (u64)UNWIND_WORD(words, rule + 1) << 32,
			  UNWIND_WORD(words, rule + 2) | (u64)UNWIND_WORD(words, rule + 3) << 32 };
	__builtin_memcpy(out, halves, sizeof *out);
	return true;
}
