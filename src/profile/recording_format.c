/* SPDX-License-Identifier: Apache-2.0
 * recording_format.c - see recording_format.h. */
#include "profile/recording_format.h"

#include <stddef.h>
#include <string.h>

#include "base/uleb.h"

#define PLAIN(type, field)                                                                    \
	{                                                                                     \
		offsetof(struct type, field), sizeof(((struct type *)0)->field), COLUMN_PLAIN \
	}
#define DELTA(type, field)                                                                    \
	{                                                                                     \
		offsetof(struct type, field), sizeof(((struct type *)0)->field), COLUMN_DELTA \
	}
#define TABLE(section, type, count) section, sizeof(struct type), count

const struct recording_table recording_tables[SECTION_COUNT] = {
	[SECTION_FUNCTIONS] = { TABLE(SECTION_FUNCTIONS, name_function, 6),
				{ DELTA(name_function, name), DELTA(name_function, path),
				  PLAIN(name_function, language), PLAIN(name_function, first_line),
				  PLAIN(name_function, flags), PLAIN(name_function, image) } },
	[SECTION_LOCATIONS] = { TABLE(SECTION_LOCATIONS, name_location, 3),
				{ DELTA(name_location, function), DELTA(name_location, line),
				  DELTA(name_location, address) } },
	[SECTION_STACKS] = { TABLE(SECTION_STACKS, name_stack, 2),
			     { DELTA(name_stack, outer), DELTA(name_stack, location) } },
	[SECTION_PROCESSES] = { TABLE(SECTION_PROCESSES, recorded_process, 4),
				{ DELTA(recorded_process, number), DELTA(recorded_process, pid),
				  DELTA(recorded_process, start_time),
				  PLAIN(recorded_process, name) } },
	[SECTION_THREADS] = { TABLE(SECTION_THREADS, recorded_thread, 4),
			      { DELTA(recorded_thread, number), DELTA(recorded_thread, process),
				DELTA(recorded_thread, tid), PLAIN(recorded_thread, name) } },
	[SECTION_MAPPINGS] = { TABLE(SECTION_MAPPINGS, profile_mapping, 6),
			       { DELTA(profile_mapping, process), DELTA(profile_mapping, start),
				 DELTA(profile_mapping, end), PLAIN(profile_mapping, offset),
				 PLAIN(profile_mapping, path), PLAIN(profile_mapping, build_id) } },
	[SECTION_SOURCES] = { TABLE(SECTION_SOURCES, profile_source, 2),
			      { DELTA(profile_source, path), DELTA(profile_source, text) } },
	[SECTION_PARTS] = { TABLE(SECTION_PARTS, profile_part, 2),
			    { DELTA(profile_part, location), DELTA(profile_part, part) } },
	[SECTION_REPLACED] = { TABLE(SECTION_REPLACED, name_replaced, 2),
			       { DELTA(name_replaced, location), DELTA(name_replaced, by) } },
	[SECTION_LEAVES] = { TABLE(SECTION_LEAVES, recorded_leaf, 1),
			     { DELTA(recorded_leaf, stack) } },
	[SECTION_SAMPLES] = { TABLE(SECTION_SAMPLES, recorded_sample, 7),
			      { DELTA(recorded_sample, time), PLAIN(recorded_sample, thread),
				PLAIN(recorded_sample, leaf), PLAIN(recorded_sample, weight),
				PLAIN(recorded_sample, kind), PLAIN(recorded_sample, flags),
				PLAIN(recorded_sample, more) } },
	[SECTION_SHARES] = { TABLE(SECTION_SHARES, recorded_share, 3),
			     { DELTA(recorded_share, before), PLAIN(recorded_share, thread),
			       PLAIN(recorded_share, weight) } },
};

/* ---- columns ------------------------------------------------------------------------------ */

static u64 load(const void *row, const struct recording_column *column)
{
	const u8 *at = (const u8 *)row + column->offset;
	u64 value = 0;

	memcpy(&value, at, column->size); /* little-endian */
	return value;
}

static u64 zigzag(u64 delta)
{
	return delta << 1 ^ (0 - (delta >> 63));
}

static u64 unzigzag(u64 code)
{
	return code >> 1 ^ (0 - (code & 1));
}

/* What is written for a value, given the one above it. */
static u64 code_of(const struct recording_column *column, u64 value, u64 above)
{
	return column->coding == COLUMN_DELTA ? zigzag(value - above) : value;
}

void out_uleb(struct out *out, u64 value)
{
	u8 bytes[ULEB_MOST];

	out_bytes(out, bytes, uleb_write(bytes, value));
}

static bool is_constant(const struct recording_column *column, const u8 *rows, u32 row_size,
			u32 count)
{
	u64 above = load(rows, column);
	u64 first = code_of(column, above, 0);

	for (u32 i = 1; i < count; i++) {
		u64 value = load(rows + (size_t)i * row_size, column);
		if (code_of(column, value, above) != first)
			return false;
		above = value;
	}
	return true;
}

static void put_column(struct out *out, const struct recording_column *column, const u8 *rows,
		       u32 row_size, u32 count, bool constant)
{
	u8 form = constant ? FORM_CONSTANT : FORM_LEB;
	u64 above = 0;

	out_bytes(out, &form, 1);
	for (u32 i = 0; i < (constant ? 1 : count); i++) {
		u64 value = load(rows + (size_t)i * row_size, column);
		out_uleb(out, code_of(column, value, above));
		above = value;
	}
}

void recording_put_rows(struct out *out, const struct recording_table *table, const void *rows,
			u32 count)
{
	for (u32 i = 0; count && i < table->column_count; i++) {
		const struct recording_column *column = &table->columns[i];
		/* many rows take a byte each in one column at least, which bounds a reader's work */
		bool may = i > 0 || count <= RECORDING_FEW_ROWS;
		put_column(out, column, rows, table->row_size, count,
			   may && is_constant(column, rows, table->row_size, count));
	}
}

static bool get_column(struct cursor *cursor, const struct recording_column *column, u8 *rows,
		       u32 row_size, u32 count)
{
	u8 form = cursor_u8(cursor);
	u64 code = form == FORM_CONSTANT ? cursor_uleb(cursor) : 0;
	u64 above = 0;

	if (form != FORM_CONSTANT && form != FORM_LEB)
		return false;
	for (u32 i = 0; i < count && !cursor->bad; i++) {
		if (form == FORM_LEB)
			code = cursor_uleb(cursor);
		u64 value = column->coding == COLUMN_DELTA ? above + unzigzag(code) : code;
		if (column->size < 8 && value >> (8 * column->size))
			return false;
		memcpy(rows + (size_t)i * row_size + column->offset, &value, column->size);
		above = value;
	}
	return !cursor->bad;
}

bool recording_get_rows(struct cursor *cursor, const struct recording_table *table, void *rows,
			u32 count)
{
	for (u32 i = 0; count && i < table->column_count && cursor_left(cursor); i++)
		if (!get_column(cursor, &table->columns[i], rows, table->row_size, count))
			return false;
	return !cursor->bad;
}

/* ---- the ledger and the checksum ---------------------------------------------------------- */

const struct quality_field quality_fields[] = {
	{ "expected", offsetof(struct quality, expected) },
	{ "taken", offsetof(struct quality, taken) },
#define X(name, text) { "lost_" #name, offsetof(struct quality, lost.name) },
	QUALITY_LOSSES(X)
#undef X
#define X(name, text) { #name, offsetof(struct quality, name) },
		QUALITY_COUNTS(X)
#undef X
			{ "begin_ns", offsetof(struct quality, begin_ns) },
	{ "end_ns", offsetof(struct quality, end_ns) },
	{ "own_cpu_ns", offsetof(struct quality, own_cpu_ns) },
	{ "attach_cpu_ns", offsetof(struct quality, attach_cpu_ns) },
};
const u32 quality_field_count = COUNT_OF(quality_fields);

bool recording_may_have(u64 rows, u64 section_bytes)
{
	return rows <= RECORDING_ROWS_MAX && rows <= RECORDING_FEW_ROWS + section_bytes;
}

bool recording_may_unpack(u64 stored, u64 raw)
{
	return raw <= RECORDING_BLOCK_MAX &&
	       raw <= stored * RECORDING_PACKED_MOST + (UINT64_C(1) << 20);
}

u32 recording_checksum(const struct recording_block *block, const void *payload)
{
	XXH3_state_t state;

	XXH3_64bits_reset(&state);
	XXH3_64bits_update(&state, block, offsetof(struct recording_block, checksum));
	XXH3_64bits_update(&state, payload, block->stored);
	return (u32)XXH3_64bits_digest(&state);
}
