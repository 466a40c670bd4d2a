/* SPDX-License-Identifier: Apache-2.0
 * speedscope.c - what speedscope's schema and its importer insist on; both judge real recordings in
 * tests/e2e/rows_formats.py. */
#include "check.h"

#include "export/no_memory.h"
#include "export/written.h"

static void a_profile_for_each_thread(void **state)
{
	struct profile p;
	(void)state;

	written_sample(&p);
	AUTO_FREE char *text = written("speedscope", &p, (struct export_options){ 0 }, NULL);
	assert_has(text, "\"$schema\": \"https://www.speedscope.app/file-format-schema.json\"");
	assert_has(text, "\"name\": \"ruby (pid 1), main (tid 7)\"");
	assert_has(text, "\"name\": \"ruby (pid 1), puma (tid 8)\"");
	assert_has(text, "\"unit\": \"nanoseconds\"");
	assert_has(text, "\"endValue\": 190000000");
	assert_has(text, "\"activeProfileIndex\": 0");
	assert_has(text, "{\"name\": \"Foo#bar\",\"file\": \"/a.rb\",\"line\": 4}");
	assert_has(text, "\"name\": \"\\\\xff\\\\n;\""); /* the bytes, escaped as in text.h */
	assert_has(text, "no order of time");
	assert_has_not(text, "null");
	profile_free(&p);
}

static void samples_are_in_the_order_of_time(void **state)
{
	struct profile p;
	(void)state;

	assert_true(profile_init(&p));
	built_lines(&p, "a 2\nb 1\n");
	p.timeline.cells_most = 100;
	timeline_add(&p.timeline, 0, 0);
	timeline_add(&p.timeline, 20 * NS_PER_MS, 1);
	timeline_add(&p.timeline, 40 * NS_PER_MS, 0);
	AUTO_FREE char *text = written("speedscope", &p, (struct export_options){ 0 }, NULL);
	assert_has(text, "\"samples\": [[1],[2],[1]]");
	assert_has(text, "\"weights\": [10000000,10000000,10000000]");
	assert_has_not(text, "no order of time");
	profile_free(&p);
}

static void what_was_not_seen_has_a_frame(void **state)
{
	struct profile p;
	(void)state;

	assert_true(profile_init(&p));
	u32 thread = profile_thread(&p, profile_process(&p, 1, 1, "ruby"), 1, 0, "main");
	profile_add(&p, thread, 0, 0, 0);
	AUTO_FREE char *text = written("speedscope", &p, (struct export_options){ 0 }, NULL);
	assert_has(text, "{\"name\": \"[unreadable]\"}");
	assert_has(text, "\"samples\": [[1]]");
	assert_has(text, "\"unit\": \"none\""); /* nothing has a weight: samples are counted */
	profile_free(&p);
}

static void nothing_is_a_profile_too(void **state)
{
	struct profile p;
	(void)state;

	assert_true(profile_init(&p));
	AUTO_FREE char *text = written("speedscope", &p, (struct export_options){ 0 }, NULL);
	assert_has(text, "\"name\": \"no samples\"");
	assert_has(text, "\"endValue\": 0");
	profile_free(&p);
}

static void no_memory_is_said(void **state)
{
	(void)state;
	built_export_without_memory("speedscope", (struct export_options){ 0 }, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_profile_for_each_thread),
		cmocka_unit_test(samples_are_in_the_order_of_time),
		cmocka_unit_test(what_was_not_seen_has_a_frame),
		cmocka_unit_test(nothing_is_a_profile_too),
		cmocka_unit_test(no_memory_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
