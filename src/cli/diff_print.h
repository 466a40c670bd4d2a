/* SPDX-License-Identifier: Apache-2.0
 * diff_print.h - two profiles compared, as text, JSON, folded stacks or a page. */
#pragma once
#include "base/out.h"
#include "base/str.h"
#include "profile/diff.h"

enum diff_sort { DIFF_BY_CHANGE, DIFF_BY_BEFORE, DIFF_BY_AFTER };

struct diff_print {
	const struct diff *diff;
	struct diff_file before, after;
	u32 sort;  /* enum diff_sort */
	u32 limit; /* rows of a table */
	u32 width; /* columns */
	bool all;  /* also what is within the noise */
};

/* What of a row a table is about. */
static inline const struct diff_value *diff_print_value(const struct diff_print *print, u32 row,
							bool total)
{
	return total ? &print->diff->row[row].total : &print->diff->row[row].self;
}

/* The numbers of the rows of a table in its order: those that changed, or all that have anything. NULL
 * when out of memory. */
u32 *diff_print_rows(const struct diff_print *print, bool total, u32 *count);
void diff_print_label(const struct diff_print *print, u32 row, struct str *label);
/* What is compared and what the noise is: lines of plain text. */
void diff_print_head(const struct diff_print *print, struct str *text);

/* False when out of memory. */
bool diff_print_text(const struct diff_print *print, struct out *out);
bool diff_print_html(const struct diff_print *print, struct out *out);
bool diff_print_folded(const struct diff_print *print, struct out *out);
bool diff_print_json(const struct diff_print *print, struct out *out);
