/* SPDX-License-Identifier: Apache-2.0
 * progress.h - how a recording is going, and how it went: the ledger in one line. */
#pragma once
#include "base/str.h"
#include "sample/quality.h"

struct progress {
	u32 hz;            /* asked for; 0: it is not the clock that says when */
	u64 next_plain_ns; /* CLOCK_MONOTONIC: when the next line without a terminal is due */
};

struct progress progress_make(u32 hz, u64 now_ns);
/* Says it, if it is time: over and over on a terminal, else a line every ten seconds. */
void progress_show(struct progress *progress, const struct quality *quality, u64 now_ns);

/* "12.5 s  1,234 samples  98.8 Hz  3 threads  0 lost  0.4 % moving  own CPU 0.3 %" */
void progress_format(const struct quality *quality, u32 hz, struct str *out);
/* "1,234 samples in 12.5 s at 98.8 Hz, 3 threads; 0 lost, 0.4 % moving; sonde used 0.3 % of a
 * core"; what is not as it should be is named behind its count. */
void progress_summarize(const struct quality *quality, u32 hz, struct str *out);
/* The rate at which what was to be sampled was: `hz` times the part of the attempts that came off; 0: there were none. */
double progress_rate(const struct quality *quality, u32 hz);
