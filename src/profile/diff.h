/* SPDX-License-Identifier: Apache-2.0
 * diff.h - two profiles compared: what each function, line and branch had before and after, and whether
 * that is a change or chance.
 *
 * Shares of each profile's own whole are compared, because two runs are never equally long.  A change
 * inside the noise is DIFF_NONE; what the noise is, is in diff_noise.h.
 *
 *	names     functions and locations of both; `names.stacks` is the merged tree
 *	row       by location of `names`: a function (its line is 0), or a line
 *	node      by stack of `names`; [0] is all
 *
 * By lines, a frame without one is another for each line that calls it (lines.h, diff_site).
 *
 * The same function is one of equal language, name and path: a line that moved and an address in a name
 * ("#<Class:0x00007f...>") do not make it another. */
#pragma once
#include "profile/profile.h"

enum diff_verdict { DIFF_NONE, DIFF_MORE, DIFF_LESS, DIFF_NEW, DIFF_GONE };

struct diff_value {
	double before, after; /* shares of the whole, 0 to 1 */
	/* A change of up to this is noise. Shares, as the two above. */
	double error;
	double chance; /* how often two recordings of one program differ as much: a p-value */
	enum diff_verdict verdict;
	/* It is none, but would not be if the program's phases were the same in both: options.same_work */
	bool phases;
};

struct diff_row {
	struct diff_value self, total;
	u64 before_samples, after_samples; /* that pass through */
};

/* One of the two recordings, as people know it. */
struct diff_file {
	const char *path;
	const struct profile *profile;
	u64 span_ns; /* of the recording that was looked at; 0: not known */
};

/* What its numbers are worth. */
struct diff_side {
	double whole;     /* nanoseconds, or samples: 100 % */
	double effective; /* independent samples that the recorded ones are worth */
	u64 samples;
	bool has_times; /* the noise was measured, not assumed */
};

struct diff_options {
	bool lines;        /* a row a line */
	bool any_language; /* one of the files does not know them: names and paths decide */
	bool same_work;    /* both are whole runs of the same work: phases are no noise */
};

struct diff {
	struct diff_options options;
	struct names names;
	struct diff_row *row;
	struct diff_row *node; /* `self` has shares, no verdict */
	struct diff_side before, after;
	bool by_samples;        /* the unit of `whole` */
	u32 compared;           /* rows that have samples */
	u32 tested;             /* comparisons of rows that could have shown something */
	u32 changed, in_phases; /* rows whose self or total did, or would have */
	double cutoff;          /* the chance below which a row counts as changed */
};

/* False when out of memory; free it in both cases. For measured noise the profiles need a timeline. */
bool diff_make(struct diff *diff, const struct profile *before, const struct profile *after,
	       const struct diff_options *options);
void diff_free(struct diff *diff);
/* By lines: the location that a row without a line is called from; 0: none. */
static inline u32 diff_site(const struct diff *diff, u32 row)
{
	return (u32)diff->names.locations.at[row].address;
}
/* The usual noise: the square of the least change that would not be noise, of something with the share s, is
 * linear * s (1 - s) + square * (s (1 - s))^2. */
struct diff_usual {
	double linear, square;
};
struct diff_usual diff_usual_noise(const struct diff *diff);
/* That least change. */
double diff_floor(const struct diff *diff, double share);
/* "", "more", "less", "new", "gone" */
const char *diff_verdict_text(enum diff_verdict verdict);
