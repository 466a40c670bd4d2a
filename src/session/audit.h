/* SPDX-License-Identifier: Apache-2.0
 * audit.h - is an unpaused sample as true as a paused one, in the user's own process?
 *
 * At each deadline a coin says whether threads are stopped for the read, so that both
 * sides see the same program; what differs beyond chance is the price of not stopping.
 *
 *	shares    of each side's samples, the part that each function was the leaf of;
 *	          [moving] is a leaf like any other, because the picture shows it
 *	distance  total variation: half the sum of |stopped - unstopped| over functions
 *	noise     what the samples of both sides, dealt in two anew by a coin each, differ by
 *	          in 19 of 20 deals: a distance below it says nothing */
#pragma once
#include "base/err.h"
#include "base/vec.h"
#include "sample/names.h"

enum audit_which { AUDIT_STOPPED, AUDIT_UNSTOPPED, AUDIT_SIDES };

struct audit_side {
	u64 attempts; /* looks at a running thread */
	u64 complete;
	u64 moving;     /* ended in [moving] */
	u64 failed;     /* memory could not be read, or made no sense */
	u64 impossible; /* showed a caller above a callee that no stopped sample had; on the
			 * stopped side: that no other stopped sample had, which is what chance does */
	u64 own_cpu_ns; /* what its deadlines cost us */
};

struct audit_native {
	u32 name;  /* string: the native function in which the thread was */
	u32 image; /* string: its file */
	u64 count; /* reads that did not hold meanwhile: moving or failed */
};

struct audit_result {
	bool is_held; /* at its end: by a signal or a debugger */
	struct names names;
	u32 pid;
	u32 title;   /* string: "ruby3.1, /usr/bin/ruby3.1" */
	u32 runtime; /* string: "ruby 3.1.2" */
	u64 duration_ns;
	struct audit_side side[AUDIT_SIDES];
	double distance; /* 0 to 1 */
	double noise;
	VEC(struct audit_native) natives; /* most frequent first */
};

struct audit_options {
	u32 pid;
	u32 hz;
	u64 duration_ns;
};

/* Until the duration is over, engine_interrupt() or the end of the target; what was measured by
 * then is the result. False: nothing to free. */
bool audit_run(const struct audit_options *options, struct audit_result *result, struct err *err);
void audit_free(struct audit_result *result);
