/* SPDX-License-Identifier: Apache-2.0
 * top_sums.h - what every function, line, thread, process and language had, lately and in all.
 *
 * An entry that grew is one walk along its stack, and the same amounts are taken off again when
 * their second leaves the window: what a picture costs depends on the samples of a second, not on
 * how long sonde runs.  Recursion counts once, so that nothing is above the whole. */
#pragma once
#include "profile/lines.h"
#include "profile/profile.h"

enum { TOP_WINDOW_S = 10 };

enum top_span { TOP_RECENT, TOP_ALL, TOP_SPANS };
enum top_view { TOP_FUNCTIONS, TOP_LINES, TOP_THREADS, TOP_PROCESSES, TOP_LANGUAGES, TOP_VIEWS };

/* In nanoseconds, and in looks. */
struct top_amount {
	u64 self, total;
	u64 self_samples, total_samples;
};

struct top_key {
	struct top_amount had[TOP_SPANS];
	u32 walk; /* the last walk that met it */
};

/* Only what a thread or a process did, or what was in a language at the leaf. */
struct top_scope {
	bool set;
	enum top_view of;
	u32 key;
};

struct top_growth {
	u32 entry;
	u64 count, weight;
};

/* One second. */
struct top_bucket {
	VEC(struct top_growth) grown;
	struct quality before; /* the ledger when it began */
	u64 begin_ns;
};

struct top_sums {
	const struct profile *profile;
	VEC(struct top_key) keys[TOP_VIEWS];
	struct top_amount whole[TOP_SPANS]; /* of the scope */
	struct top_amount everything;       /* since the start, whatever the scope */
	struct top_scope scope;
	struct lines lines; /* each a key */
	VEC(u32) languages; /* string of each key */
	struct top_bucket ring[TOP_WINDOW_S];
	u32 first, used; /* of the ring */
	u32 walks;
	bool bad; /* out of memory */
};

/* The profile only grows, but for top_sums_again(), and is borrowed. */
void top_sums_init(struct top_sums *sums, const struct profile *profile);
void top_sums_free(struct top_sums *sums);
/* What is added from now on belongs to this moment. */
void top_sums_advance(struct top_sums *sums, u64 now_ns);
/* `late`: nobody knows when it was, so it counts since the start only. */
void top_sums_add(struct top_sums *sums, u32 entry, u64 count, u64 weight, bool late);
/* The window is empty, and begins anew. */
void top_sums_restart(struct top_sums *sums);
/* All is added up again. */
void top_sums_set_scope(struct top_sums *sums, struct top_scope scope);
/* The same, for locations of the profile that were replaced. */
void top_sums_again(struct top_sums *sums);
/* What is in the scope, in no order; an entry may come more than once. */
typedef void top_growth_fn(void *arg, const struct top_growth *grown);
void top_sums_each(const struct top_sums *sums, enum top_span span, top_growth_fn *each, void *arg);
/* The ledger at the beginning of a span; all zero for the start. */
struct quality top_sums_before(const struct top_sums *sums, enum top_span span);
/* The row that a stack's innermost frame belongs to: in views of frames only. */
u32 top_sums_key(const struct top_sums *sums, enum top_view view, u32 stack);
/* Of a row of the views of functions and of lines. */
u32 top_sums_function(const struct top_sums *sums, enum top_view view, u32 key);
