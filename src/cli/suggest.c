/* SPDX-License-Identifier: Apache-2.0
 * suggest.c - see suggest.h.  Optimal string alignment, three rows of the matrix. */
#include "cli/suggest.h"

#include <string.h>

enum { LETTERS = 32 };

static u32 least(u32 a, u32 b)
{
	return a < b ? a : b;
}

u32 suggest_distance(const char *a, const char *b)
{
	u32 rows[3][LETTERS + 1];
	u32 *before = rows[0], *last = rows[1], *row = rows[2];
	u32 a_length = (u32)strnlen(a, LETTERS), b_length = (u32)strnlen(b, LETTERS);

	for (u32 j = 0; j <= b_length; j++)
		last[j] = before[j] = j;
	for (u32 i = 1; i <= a_length; i++) {
		row[0] = i;
		for (u32 j = 1; j <= b_length; j++) {
			u32 change = last[j - 1] + (a[i - 1] != b[j - 1]);

			row[j] = least(change, least(last[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
		u32 *oldest = before;
		before = last;
		last = row;
		row = oldest;
	}
	return last[b_length];
}

struct suggest suggest_make(const char *given)
{
	u32 allowed = (u32)strnlen(given, LETTERS) / 3;

	return (struct suggest){ .given = given, .distance = (allowed ? allowed : 1) + 1 };
}

void suggest_consider(struct suggest *suggest, const char *word)
{
	if (!word)
		return;
	u32 distance = suggest_distance(suggest->given, word);
	if (distance < suggest->distance) {
		suggest->best = word;
		suggest->distance = distance;
	}
}
