/* SPDX-License-Identifier: Apache-2.0
 * copies.h - the copies of a thread's ranges that one system call fetches: which, in what order, and where their bytes come to
 * lie (plan.h says why). */
#pragma once
#include "mem/read_set.h"

/* Bytes of one part at one instant, as its ranges lie. */
struct snapshot {
	u8 *bytes;
	size_t room;
};

/* One copy, of a thread that stands; one, to be compared with what was proven; two, and heads between them. */
enum fetch_kind { FETCH_STILL, FETCH_STEADY, FETCH_TWICE };

/* All zero is valid: nothing was fetched. One a plan, for all its threads. */
struct copies {
	struct snapshot once, body[2], again;
	struct snapshot heads; /* head_count of them, of head_size bytes, one after the other */
	struct snapshot first_head;
	u32 head_count, head_size;
	u64 grown; /* so often has a snapshot moved */
	VEC(struct mem_span) spans;
	u64 calls, ranges; /* system calls, and what they were asked for */
};

/* The set's ranges. False when not all of them could be had. */
bool copies_fetch(struct copies *copies, const struct mem_live *live, struct read_set *set,
		  enum fetch_kind kind);
/* The body once more, into `again`, and heads around it in the place of those that were fetched. */
bool copies_fetch_again(struct copies *copies, const struct mem_live *live,
			const struct read_set *set);
/* One more head, that was not fetched now. */
void copies_add_head(struct copies *copies, const u8 *bytes);
/* Into `first_head`: the others make room for those of copies_fetch_again(). False when out of memory. */
bool copies_keep_first_head(struct copies *copies, bool fetched);
/* Do the bytes stand `at` in every head? */
bool copies_heads_agree(const struct copies *copies, const u8 *bytes, size_t at, u32 len);
void copies_free(struct copies *copies);
