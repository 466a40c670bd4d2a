/* SPDX-License-Identifier: Apache-2.0
 * copies.h - the copies of a thread's ranges that one system call fetches: which, in what order, and where their bytes come to
 * lie (plan.h says why). */
#pragma once
#include "mem/read_set.h"

/* Bytes of the ranges, as they lie in a snapshot (read_set.h). */
struct snapshot {
	u8 *bytes;
	size_t room;
};

/* One copy, of a thread that stands; one, to be compared with what was proven; two, and heads between them. */
enum fetch_kind { FETCH_STILL, FETCH_STEADY, FETCH_TWICE };

/* All zero is valid: nothing was fetched. One a plan, for all its threads. */
struct copies {
	struct snapshot first;
	struct snapshot second, again; /* the body of another one */
	struct snapshot
		heads; /* further ones: head_count times the head_bytes of a snapshot, of which heads are read */
	u32 head_count, head_bytes;
	u64 grown; /* so often has a snapshot moved */
	VEC(struct mem_span) spans;
	u64 calls, ranges; /* system calls, and what they were asked for */
};

/* The set's ranges. False when not all of them could be had. */
bool copies_fetch(struct copies *copies, const struct mem_live *live, struct read_set *set,
		  enum fetch_kind kind);
/* The body once more, into `again`, and heads around it in the place of the further ones. */
bool copies_fetch_again(struct copies *copies, const struct mem_live *live,
			const struct read_set *set);
/* Do the bytes stand `at` in every further head? */
bool copies_heads_agree(const struct copies *copies, const u8 *bytes, size_t at, u32 len);
void copies_free(struct copies *copies);
