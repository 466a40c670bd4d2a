/* SPDX-License-Identifier: Apache-2.0
 * python-versions.c - the rows against what a compiler says of upstream's headers (python-offsets.txt). */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtimes/python/versions.h"

enum { VERSIONS_MAX = 16, LATE = 16 /* a late patch release: whose headers these are */ };

/* A line of the file, and the number it is about. */
static const struct {
	const char *name;
	enum python_field field;
} fields[] = {
	{ "runtime.interpreters.head", PYTHON_runtime_interpreters },
	{ "runtime.gilstate.tstate_current", PYTHON_runtime_holder },
	{ "runtime.gc.collecting", PYTHON_runtime_collecting },
	{ "interp.next", PYTHON_interp_next },
	{ "interp.tstate_head", PYTHON_interp_threads },
	{ "interp.threads.head", PYTHON_interp_threads },
	{ "interp.ceval.gil", PYTHON_interp_gil },
	{ "interp.gc.collecting", PYTHON_interp_collecting },
	{ "tstate.next", PYTHON_thread_next },
	{ "tstate.interp", PYTHON_thread_interp },
	{ "tstate.frame", PYTHON_thread_frame },
	{ "tstate.cframe", PYTHON_thread_frame },
	{ "tstate.thread_id", PYTHON_thread_native },
	{ "tstate.native_thread_id", PYTHON_thread_tid },
	{ "tstate.datastack_top", PYTHON_thread_top },
	{ "tstate.curexc_type", PYTHON_thread_raising },
	{ "tstate.current_exception", PYTHON_thread_raising },
	{ "tstate.exc_info", PYTHON_thread_handling },
	{ "cframe.current_frame", PYTHON_cframe_frame },
	{ "cframe.previous", PYTHON_cframe_previous },
	{ "frameobj.f_back", PYTHON_frame_previous },
	{ "frameobj.f_code", PYTHON_frame_code },
	{ "frameobj.f_lasti", PYTHON_frame_pc },
	{ "frameobj.f_localsplus", PYTHON_frame_locals },
	{ "iframe.localsplus", PYTHON_frame_locals },
	{ "iframe.previous", PYTHON_frame_previous },
	{ "iframe.f_code", PYTHON_frame_code },
	{ "iframe.prev_instr", PYTHON_frame_pc },
	{ "iframe.is_entry", PYTHON_frame_entry },
	{ "iframe.owner", PYTHON_frame_owner },
	{ "code.co_stacksize", PYTHON_code_stack },
	{ "code.co_nlocalsplus", PYTHON_code_slots },
	{ "code.co_flags", PYTHON_code_flags },
	{ "code.co_filename", PYTHON_code_filename },
	{ "code.co_name", PYTHON_code_name },
	{ "code.co_qualname", PYTHON_code_qualname },
	{ "code.co_firstlineno", PYTHON_code_first_line },
	{ "code.co_lnotab", PYTHON_code_lines },
	{ "code.co_linetable", PYTHON_code_lines },
	{ "code.co_code_adaptive", PYTHON_code_bytecode },
	{ "gen.gi_iframe", PYTHON_gen_frame },
	{ "gen.gi_frame_state", PYTHON_gen_state },
	{ "gen.gi_exc_state", PYTHON_gen_handling },
	{ "bytes.ob_sval", PYTHON_bytes_data },
	{ "ascii.state", PYTHON_string_state },
	{ "ascii.size", PYTHON_string_ascii },
	{ "compact.size", PYTHON_string_compact },
};

struct table {
	struct python_state state[VERSIONS_MAX];
	bool known[VERSIONS_MAX], is_new[VERSIONS_MAX]; /* 3.13 and later have their own */
	u32 count, compared;
};

static void begin(struct table *table, char *words)
{
	char *rest = NULL;

	for (char *word = strtok_r(words, " \n", &rest); word;
	     word = strtok_r(NULL, " \n", &rest)) {
		struct python_state *state = &table->state[table->count];
		unsigned major, minor;
		assert_true(table->count < VERSIONS_MAX);
		assert_int_equal(sscanf(word, "%u.%u", &major, &minor), 2);
		state->version = major << 24 | minor << 16 | LATE << 8 | 0xf0;
		table->known[table->count++] = python_versions_find(state);
	}
}

/* An object's frame is not what is walked from 3.11 on, and 3.10 has a cframe that leads nowhere. */
static bool is_about(const struct python_state *state, const char *name)
{
	if (!strncmp(name, "frameobj.", 9))
		return state->facts & PYTHON_FRAME_IS_OBJECT;
	return strcmp(name, "tstate.cframe") != 0 || (state->facts & PYTHON_HAS_CFRAME);
}

static void compare(struct table *table, const char *name, char *words)
{
	char *rest = NULL, *word;

	for (u32 i = 0; i < COUNT_OF(fields); i++) {
		if (strcmp(fields[i].name, name) != 0)
			continue;
		word = strtok_r(words, " \n", &rest);
		for (u32 v = 0; word && v < table->count;
		     v++, word = strtok_r(NULL, " \n", &rest)) {
			struct python_state *state = &table->state[v];
			if (!table->known[v] || !strcmp(word, "-") || !is_about(state, name))
				continue;
			u32 value = *python_field_at(&state->at, fields[i].field);
			if (value != (u32)atoi(word))
				fail_msg("%#x: %s is %u, and %s in the headers", state->version,
					 name, value, word);
			table->compared++;
		}
		return;
	}
}

static void rows_are_those_of_the_headers(void **state)
{
	(void)state;
	struct table table = { 0 };
	char path[512], *line = NULL, name[64];
	size_t room = 0;
	int used;

	snprintf(path, sizeof path, "%s/unit/runtimes/python-offsets.txt", getenv("SONDE_TESTS"));
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	while (getline(&line, &room, file) > 0) {
		if (sscanf(line, "%63s%n", name, &used) != 1)
			continue;
		if (!strcmp(name, "field"))
			begin(&table, line + used);
		else
			compare(&table, name, line + used);
	}
	free(line);
	fclose(file);
	assert_true(table.compared > 150);
}

static void versions_are_read_from_their_text(void **state)
{
	static const struct {
		const char *text;
		u32 version;
	} cases[] = { { "3.9.2", 0x030902f0 },
		      { "3.6.1+", 0x030601f0 },
		      { "2.7.15rc1", 0x02070fc1 },
		      { "2.7.15rc1+", 0x02070fc1 },
		      { "3.7.0b3", 0x030700b3 },
		      { "3.8.0a4", 0x030800a4 },
		      { "1.2.3", 0 },
		      { "3.9", 0 },
		      { "3.9.2.1", 0 },
		      { "3.9.2rc", 0x030902c0 },
		      { "3.9.2beta", 0 },
		      { "", 0 } };

	(void)state;
	for (u32 i = 0; i < COUNT_OF(cases); i++)
		if (python_versions_number(cases[i].text) != cases[i].version)
			fail_msg("%s: %#x", cases[i].text, python_versions_number(cases[i].text));
}

/* From the first candidate of a release on, its structures are its own. */
static void candidates_are_known_and_betas_are_not(void **state)
{
	struct python_state candidate = { .version = 0x02070fc1 }, beta = { .version = 0x030700b3 };

	(void)state;
	assert_true(python_versions_find(&candidate));
	assert_false(python_versions_find(&beta));
}

static u32 holder_of(u32 version)
{
	struct python_state one = { .version = version };

	assert_true(python_versions_find(&one));
	return one.at.runtime_holder;
}

/* 3.7.4 put something in front of it. */
static void a_patch_release_moved_the_holder(void **state)
{
	(void)state;
	assert_int_equal(holder_of(0x030703f0), 1392);
	assert_int_equal(holder_of(0x030704f0), 1480);
}

static void others_have_no_row(void **state)
{
	(void)state;
	struct python_state one = { .version = 0x030500f0 };
	assert_false(python_versions_find(&one));
	one.version = 0x030d00f0; /* it has its own numbers */
	assert_false(python_versions_find(&one));
	one.version = 0x020600f0;
	assert_false(python_versions_find(&one));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_those_of_the_headers),
		cmocka_unit_test(versions_are_read_from_their_text),
		cmocka_unit_test(candidates_are_known_and_betas_are_not),
		cmocka_unit_test(a_patch_release_moved_the_holder),
		cmocka_unit_test(others_have_no_row),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
