/* SPDX-License-Identifier: Apache-2.0
 * firefox.c - the columns of the processed format; profiler-cli reads real recordings in
 * tests/e2e/rows_formats.py. */
#include "check.h"

#include "export/no_memory.h"
#include "export/written.h"

static void tables_are_those_of_version_66(void **state)
{
	struct profile p;
	(void)state;

	written_sample(&p);
	written_times(&p);
	AUTO_FREE char *text = written("firefox", &p, (struct export_options){ 0 }, NULL);
	assert_has(text, "\"preprocessedProfileVersion\": 66");
	assert_has(text, "\"startTime\": 1790000000000,");
	assert_has(text, "\"interval\": 10.10101,");
	/* <main>:1 Foo#bar:3 :4, <main>:2 Array#map <script>, \xff memcpy, Foo#bar:3 [moving];
	 * and one row more for what was not seen. A parent is so many rows above. */
	assert_has(text, "\"prefixOffset\": [0,1,1,0,1,1,3,1,0,1,0]");
	assert_has(text, "\"weightType\": \"tracing-ms\"");
	assert_has(text, "\"threadCPUDelta\": [10000,");
	assert_has(text, "\"pid\": \"1\"");
	assert_has(text, "\"tid\": 8");
	assert_has(text, "\"name\": \"Ruby\",\"color\": \"red\"");
	assert_has(text, "\"type\": \"sonde recording\"");
	assert_has_not(text, "\"type\": \"sonde lost\"");
	assert_has_not(text, "without times");
	profile_free(&p);
}

static void losses_are_markers_and_sources_are_inside(void **state)
{
	struct profile p;
	(void)state;

	written_sample(&p);
	p.quality.lost.gone = 3;
	struct profile_source source = { names_text(&p.names, "/a.rb"),
					 names_text(&p.names, "puts \"hi\"\nexit\n") };
	assert_true(vec_push(&p.sources, source));
	AUTO_FREE char *text = written("firefox", &p, (struct export_options){ 0 }, NULL);
	assert_has(text, "\"cause\": \"the process ended or exec'd during the attempt\"");
	assert_has(text, "\"puts \\\"hi\\\"\\u000aexit\\u000a\"");
	assert_has(text, "samples without times");
	profile_free(&p);
}

static void ids_used_again_are_told_apart(void **state)
{
	struct profile p;
	(void)state;

	assert_true(profile_init(&p));
	u32 stack = names_stack(&p.names, 0, built_location(&p.names, "f", 1));
	for (u32 i = 0; i < 2; i++) {
		u32 process = profile_process(&p, 42, i + 1, "ruby");
		profile_add(&p, profile_thread(&p, process, 42, 0, "main"), stack, 5, 0);
		profile_add(&p, profile_thread(&p, process, 42, 1, "other"), stack, 5, 0);
	}
	AUTO_FREE char *text = written("firefox", &p, (struct export_options){ 0 }, NULL);
	assert_has(text, "\"pid\": \"42\"");
	assert_has(text, "\"pid\": \"42.1\"");
	assert_has(text, "\"tid\": \"42.1\"");
	profile_free(&p);
}

static void libraries_have_their_ids(void **state)
{
	struct profile p;
	(void)state;

	assert_true(profile_init(&p));
	profile_process(&p, 1, 1, "ruby");
	struct profile_mapping mapping = {
		.end = 4096,
		.path = names_text(&p.names, "/lib/libruby.so.3.1"),
		.build_id = names_text(&p.names, "000102030405060708090a0b0c0d0e0f10111213"),
	};
	assert_true(vec_push(&p.mappings, mapping));
	AUTO_FREE char *text = written("firefox", &p, (struct export_options){ 0 }, NULL);
	assert_has(text, "\"debugName\": \"libruby.so.3.1\"");
	assert_has(text, "\"breakpadId\": \"030201000504070608090A0B0C0D0E0F0\"");
	assert_has(text, "\"codeId\": \"000102030405060708090a0b0c0d0e0f10111213\"");
	profile_free(&p);
}

static void nothing_is_a_profile_too(void **state)
{
	struct profile p;
	(void)state;

	assert_true(profile_init(&p));
	AUTO_FREE char *text = written("firefox", &p, (struct export_options){ 0 }, NULL);
	assert_has(text, "\"threads\": []");
	profile_free(&p);
}

static void no_memory_is_said(void **state)
{
	(void)state;
	built_export_without_memory("firefox", (struct export_options){ 0 }, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_those_of_version_66),
		cmocka_unit_test(losses_are_markers_and_sources_are_inside),
		cmocka_unit_test(ids_used_again_are_told_apart),
		cmocka_unit_test(libraries_have_their_ids),
		cmocka_unit_test(nothing_is_a_profile_too),
		cmocka_unit_test(no_memory_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
