/* SPDX-License-Identifier: Apache-2.0
 * offsets.c - struct _Py_DebugOffsets, at the beginning of _PyRuntime: "xdebugpy", then u64s: the version,
 * whether it is free-threaded, and numbers in groups.
 *
 * Where a number stands in the table is known by minor version: final releases of one keep it, and pre-
 * releases do not, which are refused (Include/internal/pycore_debug_offsets.h of each). */
#include "runtimes/python/offsets.h"

enum {
	FIELDS_MAX = 128,
	FIRST_FIELD = 8, /* behind the cookie */
	VERSION = 0,
	IS_FREE_THREADED = 1,
	NUMBER_MOST = 1 << 20,
	GEN_FRAME = 56,      /* behind the head of a generator */
	STRING_HASH = 8,     /* behind the length */
	STRING_COMPACT = 16, /* a PyCompactUnicodeObject has two words more than a PyASCIIObject */
};

/* Numbers that have to be put together. */
enum part { INTERP_GC, GC_COLLECTING, INTERP_OWN_GIL, PART_COUNT };

struct table_row {
	u8 minor, count;
	u8 at[PYTHON_FIELD_COUNT]; /* 0: not in the table */
	u8 part[PART_COUNT];
	u32 interp_version; /* of a build with a GIL; python.c asks whether it can be */
	u16 raising; /* thread.raising, before it was in the table: of a release build, with a GIL or without */
};

/* clang-format off */
static const struct table_row rows[] = {
	{ .minor = 13, .count = 72, .at = {
		[PYTHON_runtime_interpreters] = 4,
		[PYTHON_interp_next] = 7, [PYTHON_interp_threads] = 8, [PYTHON_interp_gil] = 13,
		[PYTHON_gil_locked] = 16, [PYTHON_gil_holder] = 17,
		[PYTHON_thread_next] = 20, [PYTHON_thread_interp] = 21, [PYTHON_thread_frame] = 22,
		[PYTHON_thread_native] = 23, [PYTHON_thread_tid] = 24,
		[PYTHON_frame_previous] = 28, [PYTHON_frame_code] = 29, [PYTHON_frame_pc] = 30,
		[PYTHON_frame_owner] = 32,
		[PYTHON_interp_modules] = 10,
		[PYTHON_frame_locals] = 31, [PYTHON_code_locals] = 40,
		[PYTHON_code_filename] = 34, [PYTHON_code_name] = 35, [PYTHON_code_qualname] = 36,
		[PYTHON_code_lines] = 37, [PYTHON_code_first_line] = 38, [PYTHON_code_bytecode] = 42,
		[PYTHON_bytes_length] = 64, [PYTHON_bytes_data] = 65,
		[PYTHON_string_state] = 67, [PYTHON_string_length] = 68, [PYTHON_string_ascii] = 69 },
	  .part = { [INTERP_GC] = 9, [GC_COLLECTING] = 71, [INTERP_OWN_GIL] = 14 }, .raising = 112,
	  .interp_version = 17000 },
	{ .minor = 14, .count = 94, .at = {
		[PYTHON_runtime_interpreters] = 4,
		[PYTHON_interp_next] = 7, [PYTHON_interp_threads] = 8, [PYTHON_interp_gil] = 14,
		[PYTHON_gil_locked] = 17, [PYTHON_gil_holder] = 18, [PYTHON_interp_generation] = 19,
		[PYTHON_thread_next] = 23, [PYTHON_thread_interp] = 24, [PYTHON_thread_frame] = 25,
		[PYTHON_thread_native] = 26, [PYTHON_thread_tid] = 27,
		[PYTHON_frame_previous] = 31, [PYTHON_frame_code] = 32, [PYTHON_frame_pc] = 33,
		[PYTHON_frame_owner] = 35, [PYTHON_frame_tlbc] = 37, [PYTHON_interp_modules] = 11,
		[PYTHON_frame_locals] = 34, [PYTHON_frame_top] = 36, [PYTHON_gen_frame] = 84,
		[PYTHON_code_locals] = 45,
		[PYTHON_code_filename] = 39, [PYTHON_code_name] = 40, [PYTHON_code_qualname] = 41,
		[PYTHON_code_lines] = 42, [PYTHON_code_first_line] = 43, [PYTHON_code_bytecode] = 47,
		[PYTHON_code_tlbc] = 48,
		[PYTHON_bytes_length] = 74, [PYTHON_bytes_data] = 75,
		[PYTHON_string_state] = 77, [PYTHON_string_length] = 78, [PYTHON_string_ascii] = 79 },
	  .part = { [INTERP_GC] = 10, [GC_COLLECTING] = 81, [INTERP_OWN_GIL] = 15 }, .raising = 112 },
	{ .minor = 15, .count = 110, .at = {
		[PYTHON_runtime_interpreters] = 4,
		[PYTHON_interp_next] = 7, [PYTHON_interp_threads] = 8, [PYTHON_interp_gil] = 14,
		[PYTHON_gil_locked] = 17, [PYTHON_gil_holder] = 18, [PYTHON_interp_generation] = 19,
		[PYTHON_thread_next] = 23, [PYTHON_thread_interp] = 24, [PYTHON_thread_frame] = 25,
		[PYTHON_thread_base] = 26, [PYTHON_thread_native] = 29, [PYTHON_thread_tid] = 30,
		[PYTHON_thread_wants] = 34, [PYTHON_thread_raising] = 35,
		[PYTHON_frame_previous] = 39, [PYTHON_frame_code] = 40, [PYTHON_frame_pc] = 41,
		[PYTHON_frame_owner] = 43, [PYTHON_frame_tlbc] = 45, [PYTHON_interp_modules] = 11,
		[PYTHON_frame_locals] = 42, [PYTHON_frame_top] = 44, [PYTHON_gen_frame] = 100,
		[PYTHON_code_locals] = 53,
		[PYTHON_code_filename] = 47, [PYTHON_code_name] = 48, [PYTHON_code_qualname] = 49,
		[PYTHON_code_lines] = 50, [PYTHON_code_first_line] = 51, [PYTHON_code_bytecode] = 55,
		[PYTHON_code_tlbc] = 56,
		[PYTHON_bytes_length] = 86, [PYTHON_bytes_data] = 87,
		[PYTHON_string_state] = 89, [PYTHON_string_length] = 90, [PYTHON_string_ascii] = 91,
		[PYTHON_string_compact] = 92 },
	  .part = { [INTERP_GC] = 10, [GC_COLLECTING] = 94, [INTERP_OWN_GIL] = 15 } },
};
/* clang-format on */

bool python_offsets_version(const struct mem *mem, u64 runtime, u32 *version, bool *free_threaded)
{
	struct {
		u64 cookie, version, free_threaded;
	} head;

	if (!mem_peek(mem, runtime, &head, sizeof head) || head.cookie != PYTHON_COOKIE ||
	    head.version >> 32 || head.free_threaded > 1)
		return false;
	*version = (u32)head.version;
	*free_threaded = head.free_threaded;
	return true;
}

static const struct table_row *find_row(u32 version)
{
	for (u32 i = 0; i < COUNT_OF(rows); i++)
		if (version >> 24 == 3 && (version >> 16 & 0xff) == rows[i].minor)
			return &rows[i];
	return NULL;
}

static void set(struct python_state *state, enum python_field field, u64 value)
{
	((u32 *)&state->at)[field] = (u32)value;
	state->source[field] = PYTHON_FROM_PROCESS;
}

/* Frames are read whole, and pointers stand at words. */
static bool is_sane(const struct python_state *state)
{
	const struct python_layout *at = &state->at;
	u32 words = at->runtime_interpreters | at->interp_next | at->interp_threads |
		    at->thread_next | at->thread_interp | at->thread_frame | at->thread_native |
		    at->frame_previous | at->frame_code | at->frame_pc | at->code_filename |
		    at->code_qualname | at->code_lines | at->string_length;

	return !(words & 7) && at->frame_previous < 80 && at->frame_code < 80 &&
	       at->frame_pc < 80 && at->frame_owner < 80 && at->frame_tlbc < 80 &&
	       at->code_bytecode < 4096 && at->string_ascii < 256 && at->bytes_data < 256 &&
	       at->runtime_interpreters;
}

bool python_offsets_read(const struct mem *mem, u64 runtime, struct python_state *state,
			 struct err *err)
{
	u64 table[FIELDS_MAX];
	u32 version = state->version, minor = python_minor(state);
	const struct table_row *row = find_row(version);

	if (python_level(state) != PYTHON_FINAL)
		return err_set(
			err, ERR_UNSUPPORTED,
			"Python 3.%u is a pre-release (%#x), and those change their structures: "
			"sonde knows final releases",
			minor, version);
	if (!row)
		return err_set(err, ERR_UNSUPPORTED,
			       "Python 3.%u is newer than this sonde: 3.%u is the "
			       "last that it knows",
			       minor, rows[COUNT_OF(rows) - 1].minor);
	if (!mem_peek(mem, runtime + FIRST_FIELD, table, row->count * sizeof *table))
		return err_set(err, ERR_NOT_READY, "_PyRuntime is not readable");
	for (u32 i = IS_FREE_THREADED; i < row->count; i++)
		if (table[i] > NUMBER_MOST)
			return err_set(
				err, ERR_BAD_DATA,
				"table of offsets of Python 3.%u: implausible value %#llx in field %u",
				minor, (unsigned long long)table[i], i);
	for (u32 field = 0; field < PYTHON_FIELD_COUNT; field++)
		if (row->at[field])
			set(state, field, table[row->at[field]]);
	u64 own_gil = table[row->part[INTERP_OWN_GIL]];
	set(state, PYTHON_gil_locked, state->at.gil_locked - own_gil);
	set(state, PYTHON_gil_holder, state->at.gil_holder - own_gil);
	set(state, PYTHON_interp_collecting,
	    table[row->part[INTERP_GC]] + table[row->part[GC_COLLECTING]]);
	set(state, PYTHON_string_hash, state->at.string_length + STRING_HASH);
	if (!row->at[PYTHON_string_compact])
		set(state, PYTHON_string_compact, state->at.string_ascii + STRING_COMPACT);
	if (row->interp_version && !(state->facts & PYTHON_FREE_THREADED))
		set(state, PYTHON_interp_version, row->interp_version);
	/* 3.13: behind seven words and the head of a generator, and in front of the frame's first value. */
	if (!row->at[PYTHON_gen_frame])
		set(state, PYTHON_gen_frame, state->at.bytes_length + GEN_FRAME);
	if (!row->at[PYTHON_frame_top])
		set(state, PYTHON_frame_top, state->at.frame_locals - 8);
	/* co_version is in front of co_localsplusnames. */
	set(state, PYTHON_code_version, state->at.code_locals - 4);
	if (!row->at[PYTHON_thread_raising])
		set(state, PYTHON_thread_raising, row->raising);
	/* tstate->exc_info follows current_exception; _PyErr_StackItem is {exc_value, previous_item}. */
	set(state, PYTHON_thread_handling, state->at.thread_raising + 8);
	set(state, PYTHON_handled_previous, 8);
	/* It is not in the table: in front of it, and of co_extra. */
	set(state, PYTHON_code_begin, state->at.code_bytecode - (state->at.code_tlbc ? 24 : 16));
	return is_sane(state) ||
	       err_set(err, ERR_BAD_DATA, "the table of offsets of Python 3.%u makes no sense",
		       minor);
}
