/* SPDX-License-Identifier: Apache-2.0
 * top_grid.h - a screen of cells in memory: what is drawn before anybody knows the terminal.
 *
 * Text is measured in columns: a wide character takes two cells, an accent none.  What does not fit
 * ends in "...", so that no line is ever wrapped. */
#pragma once
#include <wchar.h>

#include "base/out.h"
#include "base/types.h"

enum top_style { TOP_PLAIN, TOP_STRONG, TOP_FAINT, TOP_HEAD, TOP_CHOSEN, TOP_WARNING };

struct top_cell {
	wchar_t text[4]; /* a character and its accents; empty: the right half of a wide one */
	u8 style;        /* enum top_style */
};

struct top_grid {
	u32 width, height;
	struct top_cell *cells;
};

/* Empties it. False when out of memory; then its size is 0. */
bool top_grid_resize(struct top_grid *grid, u32 width, u32 height);
void top_grid_free(struct top_grid *grid);
/* UTF-8 without control characters, in `room` columns at the most; how many it took. */
u32 top_grid_put(struct top_grid *grid, u32 x, u32 y, u32 room, enum top_style style,
		 const char *text, size_t length);
u32 top_grid_text(struct top_grid *grid, u32 x, u32 y, enum top_style style, const char *text);
/* The style of a part of a line. */
void top_grid_style(struct top_grid *grid, u32 x, u32 y, u32 columns, enum top_style style);
/* As lines without escapes, without blanks and empty lines at the end. */
void top_grid_write(const struct top_grid *grid, struct out *out);
