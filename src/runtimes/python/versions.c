/* SPDX-License-Identifier: Apache-2.0
 * versions.c - a version is a row of numbers.
 *
 * x86-64, glibc, a release build: what a compiler says of the headers of one release of each minor version.
 * Frames, code and threads keep their shape within one; what lies in the runtime does not, and is checked
 * in the process (discover.c, python.c).  tests/unit/runtimes/python-offsets.txt is what upstream's headers say. */
#include "runtimes/python/versions.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct version_row {
	u8 major, minor;
	u8 before; /* this patch release; 0: any */
	u32 facts;
	struct python_layout at;
};

enum {
	OBJECTS = PYTHON_FRAME_IS_OBJECT,
	OLD_LINES = PYTHON_FRAME_IS_OBJECT | PYTHON_LINES_LNOTAB | PYTHON_PC_IS_BYTES,
	KIND_SHIFT = 2, /* behind two bits of "interned" */
	KIND_SHIFT_BYTE = 8,
};

/* str up to 3.11: with wstr. */
#define STRINGS                                                                         \
	.string_length = 16, .string_hash = 24, .string_state = 32, .string_ascii = 48, \
	.string_compact = 72, .bytes_length = 16, .bytes_data = 32

/* clang-format off */
static const struct version_row rows[] = {
	{ .major = 2, .minor = 7,
	  .facts = OLD_LINES | PYTHON_LINES_UNSIGNED | PYTHON_NAMES_ARE_BYTES | PYTHON_HAS_NO_RUNTIME,
	  .at = {
		.interp_threads = 8, .interp_modules = 16,
		.thread_interp = 8, .thread_frame = 16, .thread_raising = 72, .thread_handling = 96, .thread_native = 144,
		.frame_previous = 24, .frame_code = 32, .frame_pc = 120,
		.frame_locals = 376, .code_variables = 56, .code_cells = 72, .code_free = 64, .code_flags = 28, .code_filename = 80, .code_name = 88, .code_first_line = 96, .code_lines = 104,
		.string_length = 16, .string_hash = 24, .string_ascii = 36, .bytes_length = 16, .bytes_data = 36 } },
	{ .major = 3, .minor = 6, .facts = OLD_LINES | PYTHON_HAS_NO_RUNTIME, .at = {
		.interp_threads = 8, .interp_modules = 16,
		.thread_next = 8, .thread_interp = 16, .thread_frame = 24, .thread_raising = 80, .thread_handling = 104, .thread_native = 152,
		.frame_previous = 24, .frame_code = 32, .frame_pc = 120,
		.frame_locals = 376, .frame_top = 72, .gen_frame = 16, .code_variables = 64, .code_cells = 80, .code_free = 72, .code_flags = 32, .code_filename = 96, .code_name = 104, .code_first_line = 36, .code_lines = 112,
		STRINGS } },
	{ .major = 3, .minor = 7, .before = 4, .facts = OLD_LINES, .at = {
		.runtime_interpreters = 24, .runtime_holder = 1392, .runtime_collecting = 632,
		.interp_threads = 8, .interp_modules = 40,
		.thread_next = 8, .thread_interp = 16, .thread_frame = 24, .thread_raising = 88, .thread_handling = 144, .handled_previous = 24, .thread_native = 176,
		.frame_previous = 24, .frame_code = 32, .frame_pc = 104,
		.frame_locals = 360, .frame_top = 72, .gen_frame = 16, .code_variables = 64, .code_cells = 80, .code_free = 72, .code_flags = 32, .code_filename = 96, .code_name = 104, .code_first_line = 36, .code_lines = 112,
		STRINGS } },
	{ .major = 3, .minor = 7, .facts = OLD_LINES, .at = {
		.runtime_interpreters = 24, .runtime_holder = 1480, .runtime_collecting = 632,
		.interp_threads = 8, .interp_modules = 40,
		.thread_next = 8, .thread_interp = 16, .thread_frame = 24, .thread_raising = 88, .thread_handling = 144, .handled_previous = 24, .thread_native = 176,
		.frame_previous = 24, .frame_code = 32, .frame_pc = 104,
		.frame_locals = 360, .frame_top = 72, .gen_frame = 16, .code_variables = 64, .code_cells = 80, .code_free = 72, .code_flags = 32, .code_filename = 96, .code_name = 104, .code_first_line = 36, .code_lines = 112,
		STRINGS } },
	{ .major = 3, .minor = 8, .facts = OLD_LINES, .at = {
		.runtime_interpreters = 32, .runtime_holder = 1368, .runtime_collecting = 544,
		.interp_threads = 8, .interp_modules = 56,
		.thread_next = 8, .thread_interp = 16, .thread_frame = 24, .thread_raising = 88, .thread_handling = 144, .handled_previous = 24, .thread_native = 176,
		.frame_previous = 24, .frame_code = 32, .frame_pc = 104,
		.frame_locals = 360, .frame_top = 72, .gen_frame = 16, .code_variables = 72, .code_cells = 88, .code_free = 80, .code_flags = 36, .code_filename = 104, .code_name = 112, .code_first_line = 40, .code_lines = 120,
		STRINGS } },
	{ .major = 3, .minor = 9, .facts = OLD_LINES, .at = {
		.runtime_interpreters = 32, .runtime_holder = 568,
		.interp_threads = 8, .interp_modules = 856, .interp_collecting = 816,
		.thread_next = 8, .thread_interp = 16, .thread_frame = 24, .thread_raising = 88, .thread_handling = 144, .handled_previous = 24, .thread_native = 176,
		.frame_previous = 24, .frame_code = 32, .frame_pc = 104,
		.frame_locals = 360, .frame_top = 72, .gen_frame = 16, .code_variables = 72, .code_cells = 88, .code_free = 80, .code_flags = 36, .code_filename = 104, .code_name = 112, .code_first_line = 40, .code_lines = 120,
		STRINGS } },
	{ .major = 3, .minor = 10, .facts = OBJECTS | PYTHON_LINES_PAIRS | PYTHON_PC_IS_WORDS, .at = {
		.runtime_interpreters = 32, .runtime_holder = 568,
		.interp_threads = 8, .interp_modules = 856, .interp_collecting = 816,
		.thread_next = 8, .thread_interp = 16, .thread_frame = 24, .thread_raising = 88, .thread_handling = 144, .handled_previous = 24, .thread_native = 176,
		.frame_previous = 24, .frame_code = 32, .frame_pc = 96,
		.frame_locals = 352, .frame_stack = 64, .frame_top = 80, .gen_frame = 16, .code_variables = 72, .code_cells = 88, .code_free = 80, .code_flags = 36, .code_filename = 104, .code_name = 112, .code_first_line = 40, .code_lines = 120,
		STRINGS } },
	{ .major = 3, .minor = 11, .facts = PYTHON_HAS_CFRAME, .at = {
		.runtime_interpreters = 40, .runtime_holder = 576,
		.interp_threads = 16, .interp_modules = 888, .interp_collecting = 848,
		.thread_next = 8, .thread_interp = 16, .thread_frame = 56, .thread_raising = 96, .thread_handling = 120, .handled_previous = 8, .thread_native = 152,
		.thread_tid = 160, .thread_top = 304, .cframe_frame = 8, .cframe_previous = 16,
		.frame_previous = 48, .frame_code = 32, .frame_pc = 56, .frame_owner = 69,
		.frame_entry = 68,
		.frame_locals = 72, .frame_top = 64, .gen_frame = 80, .gen_handling = 48, .gen_state = 75, .code_stack = 68, .code_slots = 76, .code_locals = 96, .code_flags = 48, .code_filename = 112, .code_name = 120, .code_qualname = 128, .code_first_line = 72,
		.code_lines = 136, .code_bytecode = 184, .code_begin = 168,
		STRINGS } },
	{ .major = 3, .minor = 12, .facts = PYTHON_HAS_CFRAME | PYTHON_HAS_SHIMS, .at = {
		.runtime_interpreters = 40,
		.interp_threads = 72, .interp_modules = 944, .interp_version = 269816, .interp_gil = 384, .interp_collecting = 312,
		.gil_holder = 8, .gil_locked = 16,
		.thread_next = 8, .thread_interp = 16, .thread_frame = 56, .thread_raising = 96, .thread_handling = 104, .handled_previous = 8, .thread_native = 136,
		.thread_tid = 144, .thread_top = 240, .cframe_previous = 8,
		.frame_previous = 8, .frame_pc = 56, .frame_owner = 70,
		.frame_locals = 72, .frame_top = 64, .gen_frame = 72, .gen_handling = 40, .gen_state = 67, .code_stack = 64, .code_slots = 72, .code_locals = 96, .code_flags = 48, .code_filename = 112, .code_name = 120, .code_qualname = 128, .code_first_line = 68,
		.code_lines = 136, .code_version = 92, .code_bytecode = 192, .code_begin = 176,
		.string_length = 16, .string_hash = 24, .string_state = 32, .string_ascii = 40,
		.string_compact = 56, .bytes_length = 16, .bytes_data = 32 } },
};
/* clang-format on */

u32 *python_field_at(struct python_layout *at, enum python_field field)
{
	return &((u32 *)at)[field];
}

const char *python_field_name(enum python_field field)
{
	static const char *const names[] = {
#define X(type, member) #type "." #member,
		PYTHON_LAYOUT(X)
#undef X
	};

	return field < PYTHON_FIELD_COUNT ? names[field] : "?";
}

/* What follows the three numbers, as the last byte of PY_VERSION_HEX; 0: nothing of Python's. */
static u32 level_of(const char *text)
{
	static const struct {
		const char *name;
		u32 level;
	} levels[] = { { "a", PYTHON_ALPHA },
		       { "b", PYTHON_BETA },
		       { "rc", PYTHON_CANDIDATE },
		       { "", PYTHON_FINAL } };

	for (u32 i = 0; i < COUNT_OF(levels); i++) {
		u32 length = (u32)strlen(levels[i].name);
		if (strncmp(text, levels[i].name, length) != 0)
			continue;
		const char *end = text + length +
				  (length ? strspn(text + length, "0123456789") : 0);
		if (!*end || *end == '+')
			return levels[i].level | (length ? (u32)atoi(text + length) & 0xf : 0);
	}
	return 0;
}

u32 python_versions_number(const char *text)
{
	unsigned major, minor, micro;
	int end = 0;

	if (sscanf(text, "%1u.%2u.%2u%n", &major, &minor, &micro, &end) != 3 ||
	    (major != 2 && major != 3))
		return 0;
	u32 level = level_of(text + end);
	return level ? (u32)major << 24 | (u32)minor << 16 | (u32)micro << 8 | level : 0;
}

bool python_versions_find(struct python_state *state)
{
	if (python_level(state) < PYTHON_CANDIDATE)
		return false;
	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		const struct version_row *row = &rows[i];
		if (row->major != python_major(state) || row->minor != python_minor(state) ||
		    (row->before && python_micro(state) >= row->before))
			continue;
		state->at = row->at;
		state->facts = row->facts;
		state->string_kind_shift = KIND_SHIFT;
		for (u32 field = 0; field < PYTHON_FIELD_COUNT; field++)
			state->source[field] = *python_field_at(&state->at, field) ?
						       PYTHON_FROM_TABLE :
						       PYTHON_FROM_NOWHERE;
		return true;
	}
	return false;
}

void python_versions_facts(struct python_state *state, bool free_threaded)
{
	bool tagged = python_minor(state) >= 14;

	state->facts = PYTHON_HAS_SHIMS | (tagged ? PYTHON_CODE_IS_TAGGED : 0) |
		       (free_threaded ? PYTHON_FREE_THREADED : 0);
	/* Without a GIL "interned" is changed by several threads, and has a byte of its own. */
	state->string_kind_shift = free_threaded && tagged ? KIND_SHIFT_BYTE : KIND_SHIFT;
}
