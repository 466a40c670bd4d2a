/* SPDX-License-Identifier: Apache-2.0
 * told.h - what a process maps to be run, as the kernel told it while it happened.
 *
 * /proc says it of those that are there.  A program of two milliseconds has ended before anybody looks, and its samples are still
 * to be named. */
#pragma once
#include "target/target.h"

struct told {
	struct maps maps; /* since the process was last asked */
	u64 time_ns;      /* of the last word, CLOCK_MONOTONIC; 0: there was none */
	bool is_anew;     /* an exec was the first: nothing of before is there */
	bool is_too_much; /* to be kept: it is not whole */
	char comm[16];    /* of that exec */
};

/* In place of what was there. False: out of memory, or too much. */
bool told_mapping(struct told *told, const struct mapping *mapping, const char *path, u64 time_ns);
void told_exec(struct told *told, const char *comm, u64 time_ns);
/* Behind an exec: are these the mappings of that image, or has there been another exec since? */
bool told_is_of(const struct told *told, const struct maps *maps);
/* The process was asked: what was told is in that. */
void told_forget(struct told *told);

/* The target has ended, and maps what was told in place of what was there; that is then taken. Its files are looked for below the root of
 * `kin`, a process that had the same one, or below our own. False when nothing was told, or out of memory. */
bool target_believe(struct target *target, struct told *told, u32 kin);
