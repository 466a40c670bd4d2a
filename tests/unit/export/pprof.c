/* SPDX-License-Identifier: Apache-2.0
 * pprof.c - judged three times: by a decoder of our own that knows the rules which pprof's
 * CheckValid and Parca's validator enforce, by `go tool pprof`, and by `protoc`. */
#include "check.h"

#include "base/cursor.h"
#include "export/built.h"
#include "export/exporter.h"
#include "export/pprof_encode.h"
#include "export/proto.h"
#include "export/no_memory.h"

/* ---- a reader of protobuf fields ---- */

struct field {
	u32 number;
	u64 value;           /* varint */
	struct cursor inner; /* bytes */
};

static bool next_field(struct cursor *c, struct field *out)
{
	if (!cursor_left(c))
		return false;
	u64 tag = cursor_uleb(c);
	*out = (struct field){ .number = (u32)(tag >> 3) };
	if ((tag & 7) == 0) {
		out->value = cursor_uleb(c);
	} else {
		assert_int_equal(tag & 7, 2);
		u64 length = cursor_uleb(c);
		const void *bytes = cursor_take(c, length);
		assert_non_null(bytes);
		out->inner = cursor_make(bytes, length);
	}
	assert_false(c->bad);
	return true;
}

/* The nth value of a field; 0 when absent, as proto3 has it. */
static u64 number_in(struct cursor message, u32 number)
{
	struct field field;
	u64 value = 0;
	while (next_field(&message, &field))
		if (field.number == number)
			value = field.value;
	return value;
}

struct read_profile {
	struct cursor all;
	VEC(struct cursor) strings;
	u64 locations, functions, mappings, samples;
	u64 totals[2];
};

static const char *string_at(const struct read_profile *r, u64 index)
{
	static char text[6000];
	assert_true(index < r->strings.count);
	size_t length = cursor_left(&r->strings.at[index]);
	assert_true(length < sizeof text);
	memcpy(text, r->strings.at[index].at, length);
	text[length] = 0;
	return text;
}

static bool has_comment(const struct read_profile *r, const char *start)
{
	struct cursor c = r->all;
	struct field field;
	while (next_field(&c, &field))
		if (field.number == 13 && !strncmp(string_at(r, field.value), start, strlen(start)))
			return true;
	return false;
}

static void check_sample(struct read_profile *r, struct cursor sample)
{
	struct field field;
	u32 labels = 0, values = 0;
	while (next_field(&sample, &field)) {
		if (field.number == 1)
			while (cursor_left(&field.inner)) {
				u64 id = cursor_uleb(&field.inner);
				assert_in_range(id, 1, r->locations);
			}
		if (field.number == 2)
			while (cursor_left(&field.inner))
				r->totals[values++ & 1] += cursor_uleb(&field.inner);
		if (field.number == 3) {
			const char *key = string_at(r, number_in(field.inner, 1));
			assert_true(!strcmp(key, "thread_id") || !strcmp(key, "pid") ||
				    !strcmp(key, "thread_name"));
			/* Never string and number under one key. */
			assert_true(!number_in(field.inner, 2) != !number_in(field.inner, 3));
			labels++;
		}
	}
	assert_int_equal(values, 2);
	assert_in_range(labels, 2, 3);
}

/* Ids dense and in order, references in range, one Line a location. */
static void check_tables(struct read_profile *r)
{
	struct cursor c = r->all;
	struct field field, line;
	u64 locations = 0, functions = 0, mappings = 0;
	while (next_field(&c, &field)) {
		if (field.number == 3)
			assert_int_equal(number_in(field.inner, 1), ++mappings);
		if (field.number == 5) {
			assert_int_equal(number_in(field.inner, 1), ++functions);
			assert_true(number_in(field.inner, 2) > 0);
			assert_int_equal(number_in(field.inner, 3), 0);
		}
		if (field.number != 4)
			continue;
		assert_int_equal(number_in(field.inner, 1), ++locations);
		assert_true(number_in(field.inner, 2) <= r->mappings);
		u32 lines = 0;
		while (next_field(&field.inner, &line))
			if (line.number == 4) {
				lines++;
				assert_in_range(number_in(line.inner, 1), 1, r->functions);
			}
		assert_int_equal(lines, 1);
	}
}

static void read_back(struct read_profile *r, const void *bytes, size_t length)
{
	*r = (struct read_profile){ .all = cursor_make(bytes, length) };
	struct cursor c = r->all;
	struct field field;
	u32 types = 0;
	while (next_field(&c, &field)) {
		r->samples += field.number == 2;
		r->mappings += field.number == 3;
		r->locations += field.number == 4;
		r->functions += field.number == 5;
		types += field.number == 1;
		if (field.number == 6)
			assert_true(vec_push(&r->strings, field.inner));
	}
	assert_int_equal(types, 2);
	assert_string_equal(string_at(r, 0), "");
	check_tables(r);
	c = r->all;
	while (next_field(&c, &field)) {
		if (field.number == 2)
			check_sample(r, field.inner);
		if (field.number == 11) /* period_type: its absence ends a Parca server */
			assert_string_equal(string_at(r, number_in(field.inner, 2)), "nanoseconds");
	}
	assert_true(number_in(r->all, 12) > 0);
	assert_true(has_comment(r, "sonde: "));
}

/* ---- what is written ---- */

static void collect(void *arg, const void *bytes, size_t length)
{
	str_add(arg, bytes, length);
}

static void encode(const struct profile *profile, struct str *out)
{
	const struct sink sink = { collect, out };
	assert_true(pprof_encode(profile, &sink));
	assert_false(out->bad);
}

static void a_profile_reads_back_with_its_sums(void **state)
{
	(void)state;
	struct profile p;
	struct str bytes = { 0 };
	struct read_profile r;
	assert_true(profile_init(&p));
	built_lines(&p, "thread main (7);<main> (/a.rb:1);Foo#bar (/a.rb:3);[moving] 12\n"
			"thread main (7);<main> (/a.rb:2);Array#map [c] 5\n"
			"thread puma (8);<main> (/a.rb:1);Foo#bar (/a.rb:3) 1\n");
	built_facts(&p);
	snprintf(p.quality.warning, sizeof p.quality.warning, "unknown patch level 3.4.99");
	p.quality.lost.gone = 3;
	encode(&p, &bytes);
	read_back(&r, bytes.text, bytes.length);
	assert_int_equal(r.samples, 3);
	assert_int_equal(r.totals[0], 18);
	assert_int_equal(r.totals[1], 18ull * BUILT_WEIGHT_NS);
	assert_int_equal(number_in(r.all, 9), p.start_unix_ns);
	assert_int_equal(number_in(r.all, 10), p.duration_ns);
	assert_int_equal(number_in(r.all, 12), 1000000000 / 99);
	assert_string_equal(string_at(&r, number_in(r.all, 14)), "cpu");
	assert_true(has_comment(&r, "warning: unknown patch level 3.4.99"));
	assert_true(has_comment(&r, "lost: late 0, unreadable 0, gone 3, "));
	assert_true(has_comment(&r, "counts: samples 18, complete 18, "));
	assert_true(has_comment(&r, "command: sonde record -p 42"));
	vec_free(&r.strings);
	str_free(&bytes);
	profile_free(&p);
}

static void every_mode_has_its_type_and_a_period(void **state)
{
	(void)state;
	static const char *const modes[][2] = { { "cpu", "cpu" },
						{ "wall", "wall" },
						{ "gvl", "lock" } };
	for (u32 i = 0; i < COUNT_OF(modes); i++) {
		struct profile p;
		struct str bytes = { 0 };
		struct read_profile r;
		assert_true(profile_init(&p));
		p.mode = modes[i][0];
		if (i) /* nothing was seen, no rate is known: still a valid profile */
			built_line(&p, "f 1");
		encode(&p, &bytes);
		read_back(&r, bytes.text, bytes.length);
		struct cursor c = r.all;
		struct field field;
		bool has_period_type = false;
		while (next_field(&c, &field))
			if (field.number == 11) {
				has_period_type = true;
				assert_string_equal(string_at(&r, number_in(field.inner, 1)),
						    modes[i][1]);
			}
		assert_true(has_period_type);
		assert_string_equal(string_at(&r, number_in(r.all, 14)),
				    i ? modes[i][1] : "samples");
		vec_free(&r.strings);
		str_free(&bytes);
		profile_free(&p);
	}
}

static void native_code_points_into_its_mapping(void **state)
{
	(void)state;
	struct profile p;
	struct str bytes = { 0 };
	struct read_profile r;
	assert_true(profile_init(&p));
	u32 path = names_text(&p.names, "/lib/libruby.so.3.1");
	u32 thread = profile_thread(&p, profile_process(&p, 1, 1, "ruby"), 1, 0, "main");
	const struct profile_mapping mappings[] = {
		{ .start = 0x400000,
		  .end = 0x401000,
		  .path = names_text(&p.names, "/usr/bin/ruby") },
		{ .start = 0x7f0000001000,
		  .end = 0x7f0000002000,
		  .offset = 0x1000,
		  .path = path,
		  .build_id = names_text(&p.names, "c0ffee") },
	};
	for (u32 i = 0; i < COUNT_OF(mappings); i++)
		assert_true(vec_push(&p.mappings, mappings[i]));
	struct name_function function = { .name = names_text(&p.names, "vm_exec_core"),
					  .language = names_text(&p.names, "native"),
					  .image = path };
	struct name_location inside = { .function = names_function(&p.names, &function),
					.address = 0x1234 };
	struct name_location outside = { .function = inside.function, .address = 0x99999 };
	u32 stack = names_stack(&p.names, 0, names_location(&p.names, &inside));
	profile_add(&p, thread, names_stack(&p.names, stack, names_location(&p.names, &outside)), 5,
		    0);
	encode(&p, &bytes);
	read_back(&r, bytes.text, bytes.length);
	struct cursor c = r.all;
	struct field field;
	u32 mapping = 0, location = 0;
	while (next_field(&c, &field)) {
		if (field.number == 3) {
			assert_int_equal(number_in(field.inner, 2), mappings[mapping].start);
			assert_int_equal(number_in(field.inner, 7),
					 mapping == 1); /* has_functions */
			assert_string_equal(string_at(&r, number_in(field.inner, 6)),
					    mapping ? "c0ffee" : "");
			mapping++;
		}
		if (field.number == 4) {
			assert_int_equal(number_in(field.inner, 2), location ? 0 : 2);
			assert_int_equal(number_in(field.inner, 3), location ? 0 : 0x7f0000001234);
			location++;
		}
	}
	assert_int_equal(mapping, 2);
	assert_int_equal(location, 2);
	vec_free(&r.strings);
	str_free(&bytes);
	profile_free(&p);
}

static void hostile_names_are_utf8(void **state)
{
	(void)state;
	struct profile p;
	struct str bytes = { 0 }, line = { 0 };
	struct read_profile r;
	assert_true(profile_init(&p));
	str_addf(&line, "thread \\xff\\n (3);");
	for (u32 i = 0; i < 5000; i++)
		str_add_text(&line, "n");
	str_add_text(&line, ";\\x00\\xff\\x3b\\n;</script> ({}:1) 2");
	built_line(&p, line.text);
	encode(&p, &bytes);
	read_back(&r, bytes.text, bytes.length);
	bool found = false;
	for (u32 i = 0; i < r.strings.count; i++)
		found |= !strcmp(string_at(&r, i), "\\x00\\xff;\\n");
	assert_true(found);
	vec_free(&r.strings);
	str_free(&bytes);
	str_free(&line);
	profile_free(&p);
}

static void protobuf_bytes_are_the_formats(void **state)
{
	(void)state;
	struct str m = { 0 };
	proto_uint(&m, 1, 150);
	assert_int_equal(m.length, 3);
	assert_memory_equal(m.text, "\x08\x96\x01", 3); /* the example of the specification */
	proto_uint(&m, 2, 0);
	assert_int_equal(m.length, 3);
	str_clear(&m);
	proto_bytes(&m, 2, "testing", 7);
	assert_memory_equal(m.text, "\x12\x07testing", 9);
	str_clear(&m);
	proto_packed(&m, 6, (const u64[]){ 3, 270, 86942 }, 3);
	assert_int_equal(m.length, 8);
	assert_memory_equal(m.text, "\x32\x06\x03\x8e\x02\x9e\xa7\x05", 8);
	str_clear(&m);
	proto_uint(&m, 1, UINT64_MAX);
	assert_memory_equal(m.text, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
	str_free(&m);
}

/* ---- the programs that users have ---- */

static void fill_for_tools(struct profile *p)
{
	assert_true(profile_init(p));
	built_lines(
		p,
		"thread main (7);<main> (/a.rb:1);Foo#bar (/a.rb:3);(garbage collection) 12\n"
		"thread main (7);<main> (/a.rb:2);Array#map [c];a\\xff</script>;memcpy [native] 5\n");
	built_facts(p);
}

static void write_file(const struct profile *p, const char *path)
{
	struct out out;
	struct err err;
	assert_true(out_open_file(&out, path, &err));
	exporter_named("pprof")->write(p, &(struct export_options){ 0 }, &out);
	assert_true(out_close(&out, &err));
}

/* What a shell command prints; skips the test when the program is not there. */
static char *output_of(const char *program, const char *command)
{
	char probe[128];
	snprintf(probe, sizeof probe, "command -v %s >/dev/null", program);
	if (system(probe) != 0) {
		print_message("SKIPPED: %s is not installed\n", program);
		skip();
	}
	struct str text = { 0 };
	char part[4096];
	FILE *pipe = popen(command, "r");
	assert_non_null(pipe);
	for (size_t n; (n = fread(part, 1, sizeof part, pipe)) > 0;)
		str_add(&text, part, n);
	if (pclose(pipe) != 0)
		fail_msg("%s\n%s", command, text.text);
	return text.text;
}

static void go_tool_pprof_accepts(void **state)
{
	(void)state;
	struct profile p;
	char path[] = "/tmp/sonde-test-XXXXXX", command[256];
	AUTO_CLOSE int fd = mkstemp(path);
	assert_true(fd >= 0);
	fill_for_tools(&p);
	write_file(&p, path);
	profile_free(&p);
	snprintf(command, sizeof command, "go tool pprof -raw %s 2>&1", path);
	AUTO_FREE char *raw = output_of("go", command);
	assert_non_null(strstr(raw, "PeriodType: cpu nanoseconds"));
	assert_non_null(strstr(raw, "samples/count cpu/nanoseconds[dflt]"));
	assert_non_null(strstr(raw, "thread_name:[main]"));
	snprintf(command, sizeof command, "go tool pprof -top -sample_index=samples %s 2>&1", path);
	AUTO_FREE char *top = output_of("go", command);
	assert_non_null(strstr(top, "Showing nodes accounting for 17, 100% of 17 total"));
	assert_non_null(strstr(top, "(garbage collection)"));
	assert_non_null(strstr(top, "a\\xff</script>"));
	snprintf(command, sizeof command, "go tool pprof -comments %s 2>&1", path);
	AUTO_FREE char *comments = output_of("go", command);
	assert_non_null(strstr(comments, "attempts: expected 17, taken 17"));
	unlink(path);
}

static void protoc_decodes(void **state)
{
	(void)state;
	struct profile p;
	char path[] = "/tmp/sonde-test-XXXXXX", command[1024];
	const char *tests = getenv("SONDE_TESTS");
	AUTO_CLOSE int fd = mkstemp(path);
	assert_true(fd >= 0);
	fill_for_tools(&p);
	write_file(&p, path);
	profile_free(&p);
	snprintf(command, sizeof command,
		 "zcat < %s | protoc -I %s/unit/export --decode perftools.profiles.Profile"
		 " %s/unit/export/profile.proto 2>&1",
		 path, tests ? tests : "tests", tests ? tests : "tests");
	AUTO_FREE char *text = output_of("protoc", command);
	assert_non_null(strstr(text, "string_table: \"a\\\\xff</script>\""));
	assert_non_null(strstr(text, "duration_nanos: 10000000000"));
	/* Nothing that the specification does not know. */
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
		assert_false(line[strspn(line, " ")] >= '0' && line[strspn(line, " ")] <= '9');
	unlink(path);
}

static void equal_profiles_are_equal_bytes(void **state)
{
	(void)state;
	struct str bytes[2] = { { 0 } };
	for (u32 i = 0; i < 2; i++) {
		struct profile p;
		struct out out;
		fill_for_tools(&p);
		out_open_memory(&out);
		exporter_named("pprof")->write(&p, &(struct export_options){ 0 }, &out);
		str_add(&bytes[i], out.buffer, out.used);
		assert_memory_equal(out.buffer, "\x1f\x8b\x08\x00\x00\x00\x00\x00",
				    8); /* no time */
		assert_true(out_close(&out, NULL));
		profile_free(&p);
	}
	assert_int_equal(bytes[0].length, bytes[1].length);
	assert_memory_equal(bytes[0].text, bytes[1].text, bytes[0].length);
	str_free(&bytes[0]);
	str_free(&bytes[1]);
}

static void no_memory_is_said(void **state)
{
	(void)state;
	built_export_without_memory("pprof", (struct export_options){ 0 }, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(protobuf_bytes_are_the_formats),
		cmocka_unit_test(a_profile_reads_back_with_its_sums),
		cmocka_unit_test(every_mode_has_its_type_and_a_period),
		cmocka_unit_test(native_code_points_into_its_mapping),
		cmocka_unit_test(hostile_names_are_utf8),
		cmocka_unit_test(equal_profiles_are_equal_bytes),
		cmocka_unit_test(no_memory_is_said),
		cmocka_unit_test(go_tool_pprof_accepts),
		cmocka_unit_test(protoc_decodes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
