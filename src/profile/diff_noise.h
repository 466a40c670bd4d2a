/* SPDX-License-Identifier: Apache-2.0
 * diff_noise.h - how far a share of samples may be off by chance, and when two differ by more.
 *
 * Samples are not independent: a thread is still where it was, a program has phases.  The time of a
 * recording is cut into batches, and the spread of a share between batches says what the samples are worth.
 * That is the variance of a ratio (Cochran, Sampling Techniques, 1977, 6.4) by batch means (Schmeiser,
 * Operations Research 30, 1982):
 *
 *	R = sum y / sum x      y: of this function, x: of all, in a batch
 *	var R = m / (m - 1) * sum (y - R x)^2 / (sum x)^2
 *
 * with m = 64, and 16, 8 and 4 where all shares together vary more between longer batches than chance has
 * it, which is what phases make.  It is never taken for less than independent samples have. A second one, from the differences of
 * neighbouring batches (von Neumann 1941) without the largest, which are where one phase ends and the next
 * begins, holds when phases are the same in both runs.
 *
 * To it comes what no single run can show: the same program runs a per cent faster or slower for where its
 * memory happens to lie (Mytkowicz and others, ASPLOS 2009), each part by itself. */
#pragma once
#include "base/types.h"

enum {
	NOISE_BATCHES = 64,
	NOISE_SCALES = 4,
	NOISE_ASSUMED = 2, /* variance of samples without times, against independent ones */
	NOISE_STEPS = 4,   /* of the neighbours: this many of the largest are left out */
	NOISE_LEAST = 10,  /* samples: with fewer nothing can be told */
};

struct noise_scale {
	double *sum, *batch; /* of squares of y - R x; the batch that is being filled */
	double batch_x;
	u32 every, batches;
	bool counts; /* the program has phases as long as its batches */
};

/* Measures `count` shares at once. */
struct noise {
	u32 count;
	double whole;                               /* sum x */
	const double *share;                        /* R, by number */
	double *memory, *neighbours, *last, *steps; /* `steps`: NOISE_STEPS each */
	double last_x;
	struct noise_scale scale[NOISE_SCALES];
	u32 added;
};

struct noise_variance {
	double variance, freedom; /* with the program's phases */
	double sampling;          /* without; freedom is NOISE_BATCHES / 2 at least */
};

/* False when out of memory. */
bool noise_init(struct noise *noise, u32 count, const double *share, double whole);
void noise_free(struct noise *noise);
/* The next batch: `y` by number, and the sum of all. */
void noise_add(struct noise *noise, const double *y, double x);
/* After the last batch. */
void noise_end(struct noise *noise);
/* Were there enough batches to tell? */
bool noise_is_measured(const struct noise *noise);
struct noise_variance noise_of(const struct noise *noise, u32 number);

/* ---- tests -------------------------------------------------------------------------------- */

/* The part of both tails of Student's t that is beyond `t`. */
double noise_student(double t, double freedom);
/* The t that leaves `chance` in both tails. Costs a search: cached by whole degrees of freedom. */
double noise_quantile(double chance, double freedom);
/* How often `of` things fall at least this unevenly into two boxes when the first has `part` of the chance:
 * exact where there are few. Numbers need not be whole. */
double noise_uneven(double first, double of, double part);
/* The greatest chance that counts when these are looked at together: at most `rate` of what is then called a
 * change is none (Benjamini and Hochberg, J. R. Stat. Soc. B 57, 1995), and where nothing changed, with
 * that chance anything is. Sorts them. */
double noise_cutoff(double *chances, u32 count, double rate);
