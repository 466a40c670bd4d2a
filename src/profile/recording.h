/* SPDX-License-Identifier: Apache-2.0
 * recording.h - reads a recording back, as far as it is whole.
 *
 * A sample is handed out when its weight is known, in the order of its thread; those of several
 * threads come as their weights do.  Memory is that of the names and of one block. */
#pragma once
#include "base/in.h"
#include "profile/profile.h"

struct recording_sample {
	u64 time_ns;       /* since the start */
	u64 weight;        /* nanoseconds */
	u32 thread, stack; /* of the profile */
	u16 kind, flags;   /* enum sample_kind, enum sample_flags */
	u32 more;          /* so many does it stand for, beside itself */
};

/* How the file ended, and what of it is not in the profile. */
struct recording_state {
	u64 samples;     /* handed out */
	u64 bad_samples; /* of threads or stacks that were in a damaged block */
	u64 estimated; /* samples whose weight was never written: they have the mean of their thread's */
	u64 damaged; /* bytes in the middle */
	u64 cut;     /* bytes behind the last whole block */
	u64 last_ns; /* of the last sample */
	u32 chunks;
	bool ended; /* the recorder came to its end */
	u16 newer;  /* blocks of this format version were skipped, or 0 */
};

typedef void recording_fn(void *arg, const struct recording_sample *sample);

/* Does the stream stand at a recording? Nothing is taken of it. */
bool is_recording(struct in *in);
/* Into a profile that was just initialised: processes, threads, names, mappings and the ledger; the
 * samples go to `each`.  False only when nothing could be read or memory is out; what is
 * damaged or missing is told in `state`. */
bool recording_read(struct in *in, struct profile *profile, recording_fn *each, void *arg,
		    struct recording_state *state, struct err *err);
/* What is not as it should be, one sentence, or "". */
void recording_describe(const struct recording_state *state, char *text, size_t room);
