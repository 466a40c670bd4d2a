/* SPDX-License-Identifier: Apache-2.0
 * lines.c - the four line tables of CPython.
 *
 *	lnotab     (to 3.9)    pairs: bytes of code, lines; both u8 in 2.7, lines s8 since 3.6
 *	linetable  (3.10)      pairs: bytes of code, lines (s8; -128: these have none); a range ends where
 *	                       the next begins
 *	locations  (3.11 on)   entries of one or more bytes, the first with bit 7 set:
 *
 *	bits 6-3  code           bits 2-0  length in instructions - 1
 *	0 .. 9    same line      a byte: bits 6-4 column - 8 * code, bits 3-0 width
 *	10 .. 12  line + 0 .. 2  two bytes: column, end column
 *	13        line + svarint no columns
 *	14        line + svarint end line + varint, column + 1 varint, end column + 1 varint
 *	15        none
 *
 * A varint has six bits a byte, the lowest first, bit 6 when more follow; a svarint has its sign in bit 0.
 * (Objects/lnotab_notes.txt, Objects/locations.md of CPython; PEP 626, PEP 657.) */
#include "runtimes/python/lines.h"

#include "mem/window.h"
#include "runtimes/python/step.h"

enum {
	TABLE_MAX = 64 << 20, /* bytes; a function of a million lines has 10 MB */
	CHUNK = 512,
	FIRST_CHUNK = WINDOW_BYTES - 32,
	NO_LINE = -128,
};

enum location_code { ONE_LINE_FIRST = 10, NO_COLUMNS = 13, LONG_FORM = 14, NO_LOCATION = 15 };

/* Bytes of the table, a chunk at a time. */
struct table {
	struct window window; /* its length, and its first bytes */
	u64 data, length, at;
	u64 begin, end; /* of the chunk */
	u8 chunk[CHUNK];
	bool bad;
};

static bool table_open(struct table *table, const struct mem *mem, const struct python_state *state,
		       u64 bytes)
{
	table->at = table->begin = table->end = 0;
	table->bad = false;
	table->data = bytes + state->at.bytes_data;
	if (!python_address_ok(bytes))
		return false;
	window_open(&table->window, mem, bytes + state->at.bytes_length, WINDOW_BYTES);
	return window_read(&table->window, bytes + state->at.bytes_length, &table->length, 8) &&
	       table->length <= TABLE_MAX;
}

static bool has_more(const struct table *table)
{
	return !table->bad && table->at < table->length;
}

static u8 next(struct table *table)
{
	if (table->at >= table->length) {
		table->bad = true;
		return 0;
	}
	if (table->at >= table->end) {
		u64 left = table->length - table->at;
		table->begin = table->at;
		u64 most = table->at ? CHUNK : FIRST_CHUNK; /* what has come with the length */
		table->end = table->at + (left < most ? left : most);
		if (!window_read(&table->window, table->data + table->begin, table->chunk,
				 (u32)(table->end - table->begin))) {
			table->bad = true;
			table->end = table->at;
			return 0;
		}
	}
	return table->chunk[table->at++ - table->begin];
}

static u32 varint(struct table *table)
{
	u32 value = 0, shift = 0;
	u8 byte;

	do {
		byte = next(table);
		if (shift < 32)
			value |= (u32)(byte & 0x3f) << shift;
		shift += 6;
	} while ((byte & 0x40) && shift <= 36 && !table->bad);
	return value;
}

static s32 svarint(struct table *table)
{
	u32 value = varint(table);

	return value & 1 ? -(s32)(value >> 1) : (s32)(value >> 1);
}

/* ---- the tables ---------------------------------------------------------------------------- */

static s64 find_lnotab(struct table *table, bool is_unsigned, s64 line, u32 offset)
{
	u64 address = 0;

	while (has_more(table)) {
		address += next(table);
		u8 lines = next(table);
		if (table->bad || address > offset)
			break;
		line += is_unsigned ? lines : (int8_t)lines;
	}
	return line;
}

static s64 find_pair(struct table *table, s64 line, u32 offset, struct python_place *out)
{
	u64 end = 0;

	while (has_more(table)) {
		end += next(table);
		int8_t lines = (int8_t)next(table);
		if (lines != NO_LINE)
			line += lines;
		out->near = line > 0 && line <= INT32_MAX ? (u32)line : 0;
		if (offset < end)
			return lines == NO_LINE ? 0 : line;
	}
	out->near = 0;
	return 0;
}

static void set_columns(struct python_place *out, u32 column, u32 end_column)
{
	out->column = column + 1;
	out->end_column = end_column + 1;
}

/* What stands behind the first byte of an entry. */
static void read_entry(struct table *table, u32 code, s64 *line, struct python_place *out)
{
	*out = (struct python_place){ 0 };
	s64 end_line;

	if (code < ONE_LINE_FIRST) {
		u8 byte = next(table);
		u32 column = code * 8 + (byte >> 4 & 7);
		set_columns(out, column, column + (byte & 15));
	} else if (code < NO_COLUMNS) {
		u8 column = next(table);
		*line += code - ONE_LINE_FIRST;
		set_columns(out, column, next(table));
	} else if (code < NO_LOCATION) {
		*line += svarint(table);
	}
	end_line = *line;
	if (code == LONG_FORM) {
		end_line += varint(table);
		out->column = varint(table); /* both are one more already */
		out->end_column = varint(table);
	}
	if (code == NO_LOCATION || *line <= 0 || end_line > INT32_MAX) {
		*out = (struct python_place){ 0 };
		return;
	}
	out->line = (u32)*line;
	out->end_line = (u32)end_line;
}

/* Instructions without a line end what came before them, but for the last of them: that begins to handle an exception, in front
 * of the lines that do. */
static bool find_location(struct table *table, s64 line, u32 offset, struct python_place *out)
{
	struct python_place next_one = { 0 };
	u64 end = 0;
	u32 before = 0;

	while (has_more(table) && end <= offset) {
		u8 first = next(table);
		if (!(first & 0x80))
			return false;
		before = out->line ? out->line : before;
		read_entry(table, first >> 3 & 15, &line, out);
		end += 2 * ((first & 7) + 1);
	}
	if (end <= offset)
		*out = (struct python_place){ 0 };
	if (end <= offset || table->bad)
		return !table->bad;
	if (!out->line && end == offset + 2 && has_more(table))
		read_entry(table, next(table) >> 3 & 15, &line, &next_one);
	out->near = next_one.line ? next_one.line : before;
	return !table->bad;
}

bool python_find_line(const struct mem *mem, const struct python_state *state, u64 table_addr,
		      u32 first_line, u32 offset, struct python_place *out)
{
	struct table table;
	s64 line = first_line;

	*out = (struct python_place){ 0 };
	if (!table_open(&table, mem, state, table_addr))
		return false;
	if (!(state->facts & (PYTHON_LINES_LNOTAB | PYTHON_LINES_PAIRS)))
		return find_location(&table, line, offset, out);
	line = state->facts & PYTHON_LINES_PAIRS ?
		       find_pair(&table, line, offset, out) :
		       find_lnotab(&table, state->facts & PYTHON_LINES_UNSIGNED, line, offset);
	out->line = out->end_line = line > 0 && line <= INT32_MAX ? (u32)line : 0;
	return !table.bad;
}
