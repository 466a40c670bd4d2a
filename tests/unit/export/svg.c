/* SPDX-License-Identifier: Apache-2.0
 * svg.c - a picture: whole names in titles, labels cut at their end, and said what is left out. */
#include "check.h"

#include "export/no_memory.h"
#include "export/written.h"

static void names_are_escaped_and_whole(void **state)
{
	struct profile p;
	(void)state;

	written_sample(&p);
	AUTO_FREE char *text = written("svg", &p, (struct export_options){ 0 }, NULL);
	assert_has(text, "<title>&lt;script&gt;&amp;&quot; - 25.0 %, 0.050 s, 5 samples</title>");
	assert_has(text, "<title>\\xff\\n; - ");
	assert_has(text, "10 of 10 frames drawn<");
	assert_has(text, "CPU time, 20 samples in 10.0 s; 20 of 20 attempts taken, 0 lost");
	assert_has(text, "class=\"k1 s"); /* Ruby */
	assert_has(text, "prefers-color-scheme:dark");
	assert_has_not(text, "<script");
	profile_free(&p);
}

static void labels_are_cut_at_their_end(void **state)
{
	struct profile p;
	struct str line = { 0 };
	(void)state;

	assert_true(profile_init(&p));
	for (u32 i = 0; i < 300; i++)
		str_add_text(&line, "\xe6\x97\xa5"); /* a letter two wide */
	str_add_text(&line, " (/long/path.rb:3) 1");
	built_line(&p, line.text);
	AUTO_FREE char *text = written("svg", &p, (struct export_options){ 0 }, NULL);
	assert_has(text, "\xe6\x97\xa5\xe2\x80\xa6</text>");
	assert_has(text, " (/long/path.rb) - 100.0 %"); /* the title has all of it */
	str_free(&line);
	profile_free(&p);
}

static void what_is_too_narrow_is_counted(void **state)
{
	struct profile p;
	(void)state;

	assert_true(profile_init(&p));
	built_lines(&p, "wide 40000\nnarrow;on it 1\n");
	AUTO_FREE char *text = written("svg", &p, (struct export_options){ 0 }, NULL);
	assert_has(text, "2 of 4 frames drawn; the others are narrower than 0.1 px");
	assert_has_not(text, "<title>on it");
	profile_free(&p);
}

static void threads_stand_at_the_root(void **state)
{
	struct profile p;
	(void)state;

	written_sample(&p);
	AUTO_FREE char *text = written("svg", &p, (struct export_options){ .threads = true }, NULL);
	assert_has(text, "<title>ruby (pid 1), main (tid 7) - 95.0 %, 0.190 s, 19 samples");
	assert_has(text, "<title>ruby (pid 1), puma (tid 8) - 5.0 %, 0.010 s, 1 samples");
	profile_free(&p);
}

static void what_is_not_known_is_not_said(void **state)
{
	struct profile p;
	u32 stack = 0;
	(void)state;

	assert_true(profile_init(&p));
	u32 thread = profile_thread(&p, profile_process(&p, 0, 0, ""), 0, 0, "");
	struct name_function function = { .name = names_text(&p.names, "std::sort") };
	struct name_location location = { .function = names_function(&p.names, &function) };
	stack = names_stack(&p.names, stack, names_location(&p.names, &location));
	stack = names_stack(&p.names, stack, names_mark(&p.names, MARK_MOVING));
	profile_add_counted(&p, thread, stack, 5, 0);
	p.mode = "";
	AUTO_FREE char *samples = written("svg", &p, (struct export_options){ 0 }, NULL);
	assert_has(samples, ">5 samples<");
	assert_has_not(samples, "attempts");
	assert_has_not(samples, " s; ");
	assert_has(samples, ">Other code<"); /* no language is no mark */
	assert_has(samples, ">Marks<");
	p.count_type = "alloc_space";
	p.count_unit = "bytes";
	AUTO_FREE char *bytes = written("svg", &p, (struct export_options){ 0 }, NULL);
	assert_has(bytes, ">alloc_space, 5 bytes<");
	assert_has(bytes, "100.0 %, 5 bytes</title>");
	profile_free(&p);
}

static void nothing_is_a_picture_too(void **state)
{
	struct profile p;
	(void)state;

	assert_true(profile_init(&p));
	for (u32 threads = 0; threads < 2; threads++) {
		AUTO_FREE char *text = written("svg", &p,
					       (struct export_options){ .threads = threads }, NULL);
		assert_has(text, "1 of 1 frames drawn");
	}
	profile_free(&p);
}

static void no_memory_is_said(void **state)
{
	(void)state;
	built_export_without_memory("svg", (struct export_options){ 0 }, 1000);
	built_export_without_memory("svg", (struct export_options){ .threads = true }, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_escaped_and_whole),
		cmocka_unit_test(labels_are_cut_at_their_end),
		cmocka_unit_test(what_is_too_narrow_is_counted),
		cmocka_unit_test(threads_stand_at_the_root),
		cmocka_unit_test(what_is_not_known_is_not_said),
		cmocka_unit_test(nothing_is_a_picture_too),
		cmocka_unit_test(no_memory_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
