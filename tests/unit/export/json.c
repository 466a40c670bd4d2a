/* SPDX-License-Identifier: Apache-2.0
 * json.c - the tables of a profile, and that nothing of it is missing. */
#include "check.h"

#include "export/no_memory.h"
#include "export/written.h"

static void every_table_is_there(void **state)
{
	struct profile p;
	(void)state;

	written_sample(&p);
	written_times(&p);
	struct profile_mapping mapping = { .start = 4096,
					   .end = 8192,
					   .path = names_text(&p.names, "/lib/l.so"),
					   .build_id = names_text(&p.names, "c0ffee") };
	struct profile_source source = { names_text(&p.names, "/a.rb"),
					 names_text(&p.names, "a\nb\n") };
	assert_true(vec_push(&p.mappings, mapping) && vec_push(&p.sources, source));
	AUTO_FREE char *text = written("json", &p, (struct export_options){ 0 }, NULL);
	assert_has(text, "\"format\": \"sonde profile\",\n  \"version\": 1,");
	assert_has(text, "\"total_count\": 20");
	assert_has(text, "\"total_weight_ns\": 200000000");
	assert_has(text, "\"is_whole\": true");
	assert_has(text, "\"lost\": {");
	assert_has(text, "\"columns\": [\"thread\",\"stack\",\"count\",\"weight_ns\"],\n"
			 "    \"rows\": [\n      [0,3,12,120000000],");
	assert_has(text, "\"columns\": [\"outer\",\"location\",\"depth\"],\n"
			 "    \"rows\": [\n      [0,0,0],\n      [0,1,1],");
	assert_has(text, "\"/a.rb\": \"a\\u000ab\\u000a\"");
	assert_has(text, "\"\\\\xff\\\\n;\"");
	assert_has(text, "[0,4096,8192,0,");
	assert_has(text, "\"timeline_slot_ns\": 1048576");
	profile_free(&p);
}

static void nothing_is_a_profile_too(void **state)
{
	struct profile p;
	(void)state;

	assert_true(profile_init(&p));
	AUTO_FREE char *text = written("json", &p, (struct export_options){ 0 }, NULL);
	assert_has(text, "\"total_count\": 0");
	profile_free(&p);
}

static void no_memory_is_said(void **state)
{
	(void)state;
	built_export_without_memory("json", (struct export_options){ 0 }, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_table_is_there),
		cmocka_unit_test(nothing_is_a_profile_too),
		cmocka_unit_test(no_memory_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
