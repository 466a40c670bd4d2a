/* SPDX-License-Identifier: Apache-2.0
 * history.h - which code lay where, and when: for samples of code that is gone by the time they are read.
 *
 * The kernel tells what is mapped to be run; that it is unmapped it does not.  What is run at an address is of the last mapping
 * that was told of before. */
#pragma once
#include "unwind/space.h"

struct laid {
	u64 since_ns;              /* CLOCK_MONOTONIC */
	struct mapping mapping;    /* its path is in `paths` */
	struct unwind_range range; /* of it, when it was asked for */
	bool is_known;
};

/* Zeros are an empty one. */
struct history {
	VEC(struct laid) all; /* by time */
	VEC(char) paths;
	u64 begin_ns; /* of before nothing is known */
};

void history_free(struct history *history);
/* What was before says nothing of what comes. */
void history_begin(struct history *history, u64 time_ns);
/* Of before that time, into an empty one. False: out of memory. */
bool history_copy(struct history *to, const struct history *from, u64 until_ns);
/* Something is mapped to be run; called in the order of time. */
void history_note(struct history *history, const struct mapping *mapping, const char *path,
		  u64 time_ns);
/* What was there when the process was looked at is there no more. */
void history_note_gone(struct history *history, const struct unwind_range *range);
/* What was there at a time; NULL: that is not known, or its file cannot be read any more.  Until the next note. */
const struct unwind_range *history_at(struct history *history, struct unwind_space *space,
				      u64 address, u64 time_ns);
