/* SPDX-License-Identifier: Apache-2.0
 * otlp.c - a request that protoc reads with the published messages: tables, times, attributes.
 *
 * References are followed for real recordings in tests/e2e/rows_formats.py. */
#include "check.h"

#include "export/no_memory.h"
#include "export/proto.h"
#include "export/written.h"

/* What protoc makes of the bytes; skips the test when it is not there. */
static char *decode(const struct profile *p)
{
	char path[] = "/tmp/sonde-test-XXXXXX", command[1024], part[4096];
	const char *tests = getenv("SONDE_TESTS");
	struct str text = { 0 };
	size_t length;

	if (system("command -v protoc >/dev/null") != 0) {
		print_message("SKIPPED: protoc is not installed\n");
		skip();
	}
	AUTO_FREE char *bytes = written("otlp", p, (struct export_options){ 0 }, &length);
	AUTO_CLOSE int fd = mkstemp(path);
	assert_true(fd >= 0 && write(fd, bytes, length) == (ssize_t)length);
	snprintf(command, sizeof command,
		 "protoc -I %s/unit/export --decode opentelemetry.ExportProfilesServiceRequest"
		 " otlp.proto < %s 2>&1",
		 tests ? tests : "tests", path);
	FILE *pipe = popen(command, "r");
	assert_non_null(pipe);
	for (size_t n; (n = fread(part, 1, sizeof part, pipe)) > 0;)
		str_add(&text, part, n);
	if (pclose(pipe) != 0)
		fail_msg("%s\n%s", command, text.text);
	unlink(path);
	/* Nothing that the specification does not know. */
	for (const char *line = text.text; *line;
	     line += strcspn(line, "\n"), line += *line == '\n')
		assert_false(line[strspn(line, " ")] >= '0' && line[strspn(line, " ")] <= '9');
	return text.text;
}

static u32 count_of(const char *text, const char *part)
{
	u32 count = 0;

	while ((text = strstr(text, part)))
		count++, text++;
	return count;
}

static void a_profile_of_samples_and_one_of_weights(void **state)
{
	struct profile p;
	(void)state;

	written_sample(&p);
	AUTO_FREE char *text = decode(&p);
	assert_int_equal(count_of(text, "    profiles {"), 2);
	assert_has(text, "key: \"process.pid\"\n      value {\n        int_value: 1");
	assert_has(text, "string_value: \"unknown_service:ruby\"");
	assert_has(text, "time_unix_nano: 1790000000000000000");
	assert_has(text, "duration_nano: 10000000000");
	assert_has(text, "period: 10101010");
	assert_has(text, "values: 12\n");
	assert_has(text, "values: 120000000\n");
	assert_has(text, "string_table: \"\"\n");
	assert_has(text, "string_table: \"\\\\xff\\\\n;\"");
	assert_has(text, "string_table: \"profile.frame.type\"");
	assert_has(text, "string_table: \"sonde.lost.gone\"");
	static const char *const empty[] = { "mapping", "location", "function", "attribute",
					     "stack" };
	for (u32 i = 0; i < COUNT_OF(empty); i++) {
		char first[64], other[64];
		snprintf(first, sizeof first, "  %s_table {\n  }\n", empty[i]);
		snprintf(other, sizeof other, "  %s_table {\n", empty[i]);
		assert_ptr_equal(strstr(text, first), strstr(text, other));
		assert_int_equal(count_of(text, first), 1);
	}
	assert_has(text, "span_id: \"\\000\\000\\000\\000\\000\\000\\000\\000\"");
	profile_free(&p);
}

static void times_stand_for_samples(void **state)
{
	struct profile p;
	(void)state;

	written_sample(&p);
	written_times(&p);
	AUTO_FREE char *text = decode(&p);
	assert_int_equal(count_of(text, "timestamps_unix_nano: 17900000"), 20);
	assert_int_equal(count_of(text, "        values: "), 4); /* the weights */
	profile_free(&p);
}

static void a_time_stands_for_all_hits_of_its_row(void **state)
{
	struct profile p;
	(void)state;

	assert_true(profile_init(&p));
	p.mode = "event";
	p.start_unix_ns = 1000;
	p.timeline.cells_most = 1 << 10;
	u32 thread = profile_thread(&p, profile_process(&p, 1, 1, "ruby"), 1, 0, "main");
	u32 stack = names_stack(&p.names, 0, names_mark(&p.names, MARK_UNREADABLE));
	for (u32 i = 0; i < 2; i++) {
		u32 entry = profile_add(&p, thread, stack, 0, 0);
		profile_add_more(&p, entry, 1000000);
		timeline_add_counted(&p.timeline, i * 1000000000ull, entry, 1000001);
	}
	AUTO_FREE char *text = decode(&p);
	assert_int_equal(count_of(text, "timestamps_unix_nano: "), 2);
	assert_int_equal(count_of(text, "values: 1000001\n"), 2);
	profile_free(&p);
}

static void native_code_has_its_file(void **state)
{
	struct profile p;
	(void)state;

	assert_true(profile_init(&p));
	u32 path = names_text(&p.names, "/lib/libruby.so.3.1");
	struct profile_mapping mapping = { .start = 0x7f0000001000,
					   .end = 0x7f0000002000,
					   .offset = 0x1000,
					   .path = path,
					   .build_id = names_text(&p.names, "c0ffee") };
	struct name_function function = { .name = names_text(&p.names, "vm_exec"),
					  .language = names_text(&p.names, "native"),
					  .image = path };
	struct name_location location = { .function = names_function(&p.names, &function),
					  .address = 0x1234 };
	u32 thread = profile_thread(&p, profile_process(&p, 1, 1, "ruby"), 1, 0, "main");
	assert_true(vec_push(&p.mappings, mapping));
	profile_add(&p, thread, names_stack(&p.names, 0, names_location(&p.names, &location)), 5,
		    0);
	AUTO_FREE char *text = decode(&p);
	assert_has(text, "memory_start: 139637976731648");
	assert_has(text, "address: 139637976732212");
	assert_has(text, "string_table: \"process.executable.build_id.gnu\"");
	assert_has(text, "string_value: \"native\"");
	profile_free(&p);
}

static void nothing_is_a_request_too(void **state)
{
	struct profile p;
	(void)state;

	assert_true(profile_init(&p));
	AUTO_FREE char *text = decode(&p);
	assert_int_equal(count_of(text, "resource_profiles {"), 0);
	assert_int_equal(count_of(text, "stack_table {"), 1);
	profile_free(&p);
}

static void fixed_numbers_are_little_endian(void **state)
{
	struct str m = { 0 };
	(void)state;

	proto_fixed(&m, 3, 0x0102030405060708);
	assert_memory_equal(m.text, "\x19\x08\x07\x06\x05\x04\x03\x02\x01", 9);
	str_clear(&m);
	proto_packed_fixed(&m, 5, (const u64[]){ 1, 0 }, 2);
	assert_int_equal(m.length, 18);
	assert_memory_equal(m.text, "\x2a\x10\x01\0\0\0\0\0\0\0", 10);
	str_free(&m);
}

static void no_memory_is_said(void **state)
{
	(void)state;
	built_export_without_memory("otlp", (struct export_options){ 0 }, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_profile_of_samples_and_one_of_weights),
		cmocka_unit_test(times_stand_for_samples),
		cmocka_unit_test(a_time_stands_for_all_hits_of_its_row),
		cmocka_unit_test(native_code_has_its_file),
		cmocka_unit_test(nothing_is_a_request_too),
		cmocka_unit_test(fixed_numbers_are_little_endian),
		cmocka_unit_test(no_memory_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
