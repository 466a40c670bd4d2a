/* SPDX-License-Identifier: Apache-2.0
 * top_grid.c - see top_grid.h. */
#include "cli/top_grid.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/columns.h"

static const char ELLIPSIS[] = "...";

bool top_grid_resize(struct top_grid *grid, u32 width, u32 height)
{
	if (width != grid->width || height != grid->height) {
		top_grid_free(grid);
		grid->cells = calloc((size_t)width * height + 1, sizeof *grid->cells);
		if (!grid->cells)
			return false;
		grid->width = width;
		grid->height = height;
	}
	for (u32 i = 0; i < width * height; i++)
		grid->cells[i] = (struct top_cell){ .text = L" " };
	return true;
}

void top_grid_free(struct top_grid *grid)
{
	free(grid->cells);
	*grid = (struct top_grid){ 0 };
}

static void add_accent(struct top_cell *cell, wchar_t accent)
{
	size_t length = wcslen(cell->text);

	if (length && length < COUNT_OF(cell->text) - 1)
		cell->text[length] = accent;
}

/* As much as fits in `room` columns, which are all inside. */
static u32 put_fitting(struct top_cell *line, u32 room, enum top_style style, const char *text,
		       size_t length)
{
	const char *end = text + length;
	u32 used = 0;

	while (text < end) {
		wchar_t character;
		u32 columns = columns_next(&text, end, &character);
		if (used + columns > room)
			break;
		if (!columns) {
			if (used)
				add_accent(&line[used - 1 - (used > 1 && !line[used - 1].text[0])],
					   character);
			continue;
		}
		line[used] = (struct top_cell){ .text = { character }, .style = (u8)style };
		if (columns == 2)
			line[used + 1] = (struct top_cell){ .style = (u8)style };
		used += columns;
	}
	return used;
}

u32 top_grid_put(struct top_grid *grid, u32 x, u32 y, u32 room, enum top_style style,
		 const char *text, size_t length)
{
	const u32 dots = sizeof ELLIPSIS - 1;

	if (y >= grid->height || x >= grid->width)
		return 0;
	if (room > grid->width - x)
		room = grid->width - x;
	struct top_cell *line = &grid->cells[(size_t)y * grid->width + x];
	if (columns_of(text, length) <= room)
		return put_fitting(line, room, style, text, length);
	if (room <= dots)
		return put_fitting(line, room, style, ELLIPSIS, dots);
	u32 used = put_fitting(line, room - dots, style, text, length);
	return used + put_fitting(line + used, dots, style, ELLIPSIS, dots);
}

u32 top_grid_text(struct top_grid *grid, u32 x, u32 y, enum top_style style, const char *text)
{
	return top_grid_put(grid, x, y, UINT32_MAX, style, text, strlen(text));
}

void top_grid_style(struct top_grid *grid, u32 x, u32 y, u32 columns, enum top_style style)
{
	for (u32 i = x; y < grid->height && i < grid->width && i - x < columns; i++)
		grid->cells[(size_t)y * grid->width + i].style = (u8)style;
}

/* ---- as text ------------------------------------------------------------------------------ */

static void write_character(struct out *out, wchar_t character)
{
	char bytes[4];

	out_bytes(out, bytes, utf8_encode((u32)character, bytes));
}

static u32 used_columns(const struct top_grid *grid, u32 y)
{
	const struct top_cell *line = &grid->cells[(size_t)y * grid->width];
	u32 used = grid->width;

	while (used && line[used - 1].text[0] == L' ' && !line[used - 1].text[1])
		used--;
	return used;
}

void top_grid_write(const struct top_grid *grid, struct out *out)
{
	u32 lines = grid->height;

	while (lines && !used_columns(grid, lines - 1))
		lines--;
	for (u32 y = 0; y < lines; y++) {
		u32 used = used_columns(grid, y);
		for (u32 x = 0; x < used; x++) {
			const struct top_cell *cell = &grid->cells[(size_t)y * grid->width + x];
			for (u32 i = 0; i < COUNT_OF(cell->text) && cell->text[i]; i++)
				write_character(out, cell->text[i]);
		}
		out_text(out, "\n");
	}
}
