/* SPDX-License-Identifier: Apache-2.0
 * diff_noise.c - see diff_noise.h. */
#include "profile/diff_noise.h"

#include <math.h>
#include <stdlib.h>

enum { ARRAYS = 2 * NOISE_SCALES + 2 + NOISE_STEPS, FREEDOM_MOST = 400, BATCHES_LEAST = 24 };

/* ---- batches ------------------------------------------------------------------------------ */

static const u32 scale_every[NOISE_SCALES] = { 1, 4, 8, 16 };

bool noise_init(struct noise *noise, u32 count, const double *share, double whole)
{
	*noise = (struct noise){ .count = count, .share = share, .whole = whole };
	noise->memory = calloc((size_t)count * ARRAYS + 1, sizeof(double));
	if (!noise->memory)
		return false;
	noise->neighbours = noise->memory;
	noise->last = noise->memory + count;
	noise->steps = noise->memory + (size_t)count * (ARRAYS - NOISE_STEPS);
	for (u32 i = 0; i < NOISE_SCALES; i++) {
		noise->scale[i] = (struct noise_scale){
			.sum = noise->memory + (size_t)count * (2 + 2 * i),
			.batch = noise->memory + (size_t)count * (3 + 2 * i),
			.every = scale_every[i],
		};
	}
	return true;
}

void noise_free(struct noise *noise)
{
	free(noise->memory);
	*noise = (struct noise){ 0 };
}

static void end_batch(struct noise *noise, struct noise_scale *scale)
{
	if (!(scale->batch_x > 0))
		return;
	for (u32 i = 0; i < noise->count; i++) {
		double rest = scale->batch[i] - noise->share[i] * scale->batch_x;
		scale->sum[i] += rest * rest;
		scale->batch[i] = 0;
	}
	scale->batch_x = 0;
	scale->batches++;
}

static void add_neighbours(struct noise *noise, u32 number, double step)
{
	double *steps = noise->steps + (size_t)number * NOISE_STEPS, square = step * step / 2;

	noise->neighbours[number] += square;
	for (u32 i = 0; i < NOISE_STEPS; i++) {
		double smaller = steps[i] < square ? steps[i] : square;
		steps[i] = steps[i] < square ? square : steps[i];
		square = smaller;
	}
}

void noise_add(struct noise *noise, const double *y, double x)
{
	noise->added++;
	for (u32 n = 0; n < NOISE_SCALES; n++) {
		struct noise_scale *scale = &noise->scale[n];
		for (u32 i = 0; i < noise->count; i++)
			scale->batch[i] += y[i];
		scale->batch_x += x;
		if (noise->added % scale->every == 0)
			end_batch(noise, scale);
	}
	if (!(x > 0))
		return;
	for (u32 i = 0; i < noise->count; i++) {
		double rest = y[i] - noise->share[i] * x, step = rest - noise->last[i];
		if (noise->last_x > 0)
			add_neighbours(noise, i, step);
		noise->last[i] = rest;
	}
	noise->last_x = x;
}

/* What the four largest of 63 squares of normal numbers are of their sum: 28 %. */
#define STEPS_MISSING (1 / 0.72)

static double variance_at(const struct noise *noise, const struct noise_scale *scale, u32 number)
{
	double m = scale->batches;

	return m > 1 ? m / (m - 1) * scale->sum[number] / (noise->whole * noise->whole) : 0;
}

/* Longer batches count when the variances of all shares add up to so much more than with short ones. Where
 * samples are independent that is rare: for a program of one function one case in ten (points of F
 * with 15 and 7, and 63 degrees of freedom), of the longest one in a hundred; for others much rarer. */
static const double longer_counts[NOISE_SCALES] = { 0, 1.60, 1.82, 4.0 };

void noise_end(struct noise *noise)
{
	double least = 0;

	for (u32 n = 0; n < NOISE_SCALES; n++) {
		struct noise_scale *scale = &noise->scale[n];
		double sum = 0;
		end_batch(noise, scale);
		for (u32 i = 0; i < noise->count; i++)
			sum += variance_at(noise, scale, i);
		if (!n)
			least = sum;
		scale->counts = sum > least * longer_counts[n];
	}
}

bool noise_is_measured(const struct noise *noise)
{
	return noise->scale[0].batches >= BATCHES_LEAST;
}

struct noise_variance noise_of(const struct noise *noise, u32 number)
{
	struct noise_variance out = { 0 };

	for (u32 n = 0; n < NOISE_SCALES; n++) {
		const struct noise_scale *scale = &noise->scale[n];
		double variance = variance_at(noise, scale, number);
		if (scale->counts && scale->batches > 2 && variance > out.variance) {
			out.variance = variance;
			out.freedom = scale->batches - 1;
		}
	}
	double m = noise->scale[0].batches, rest = noise->neighbours[number];
	for (u32 i = 0; i < NOISE_STEPS; i++)
		rest -= noise->steps[(size_t)number * NOISE_STEPS + i];
	if (m > 1 && rest > 0)
		out.sampling = m / (m - 1) * STEPS_MISSING * rest / (noise->whole * noise->whole);
	return out;
}

/* ---- tests -------------------------------------------------------------------------------- */

/* The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), h;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	h = d;
	for (u32 m = 1; m < 300; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double before = h;
		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		h *= c * d;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		h *= c * d;
		if (fabs(h - before) < 1e-12 * fabs(h))
			break;
	}
	return h;
}

/* I_x(a, b), the regularised incomplete beta function. */
static double beta(double a, double b, double x)
{
	int sign;

	if (!(x > 0))
		return 0;
	if (x >= 1)
		return 1;
	double front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) +
			   a * log(x) + b * log1p(-x));
	return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a :
					   1 - front * beta_fraction(b, a, 1 - x) / b;
}

double noise_student(double t, double freedom)
{
	if (freedom >= FREEDOM_MOST)
		return erfc(fabs(t) / sqrt(2));
	return beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

static double search(double chance, double freedom)
{
	double low = 0, high = 1;

	while (high < 1e6 && noise_student(high, freedom) > chance)
		high *= 2;
	for (u32 i = 0; i < 60; i++) {
		double middle = (low + high) / 2;
		*(noise_student(middle, freedom) > chance ? &low : &high) = middle;
	}
	return high;
}

double noise_quantile(double chance, double freedom)
{
	static _Thread_local double known_chance, known[FREEDOM_MOST + 1];
	u32 whole = freedom < 1 ? 1 : freedom < FREEDOM_MOST ? (u32)freedom : FREEDOM_MOST;

	if (chance != known_chance) {
		for (u32 i = 0; i <= FREEDOM_MOST; i++)
			known[i] = 0;
		known_chance = chance;
	}
	if (!(known[whole] > 0))
		known[whole] = search(chance, whole);
	return known[whole];
}

double noise_uneven(double first, double of, double part)
{
	double at_least = first > 0 ? beta(first, of - first + 1, part) : 1;
	double at_most = first < of ? 1 - beta(first + 1, of - first, part) : 1;
	double tail = at_least < at_most ? at_least : at_most;

	return tail < 0.5 ? 2 * tail : 1;
}

static int smaller(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double noise_cutoff(double *chances, u32 count, double rate)
{
	double cutoff = count ? rate / count : rate;

	qsort(chances, count, sizeof *chances, smaller);
	for (u32 i = 0; i < count; i++)
		if (chances[i] <= rate * (i + 1) / count)
			cutoff = rate * (i + 1) / count;
	return cutoff;
}
