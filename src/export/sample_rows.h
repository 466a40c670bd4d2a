/* SPDX-License-Identifier: Apache-2.0
 * sample_rows.h - the samples of a profile thread by thread, as timelines of other programs want them.
 *
 * With a timeline there is a row for each of its cells, in the order of time.  The weight of an
 * entry is shared among its rows, and not a nanosecond is lost.  Without one there is a row for
 * each entry.  Too many rows: slots become wider until they are few enough, or one. */
#pragma once
#include "profile/profile.h"

struct sample_row {
	u64 time_ns; /* since the start; rows of the same slot are spread over it */
	u64 count, weight;
	u32 stack, thread;
};

struct sample_rows {
	struct sample_row *at; /* by thread */
	u32 count;
	u32 *first;  /* by thread: its first row; behind the last thread: `count` */
	u64 slot_ns; /* how exact the times are; 0: there are none, and no order */
};

/* False when out of memory. `most` is a wish: there are at least as many rows as entries. */
bool sample_rows_make(struct sample_rows *rows, const struct profile *profile, u32 most);
void sample_rows_free(struct sample_rows *rows);
