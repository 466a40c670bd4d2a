/* SPDX-License-Identifier: Apache-2.0
 * folded.c - lines that parse, merge, sort, and read back as the same profile. */
#include "check.h"

#include <zlib.h>

#include "base/rng.h"
#include "export/built.h"
#include "export/exporter.h"
#include "export/no_memory.h"

static char *fold(const struct profile *profile, struct export_options options)
{
	struct out out;
	out_open_memory(&out);
	exporter_named("folded")->write(profile, &options, &out);
	assert_int_equal(out.errnum, 0);
	char *text = strndup(out.buffer ? (char *)out.buffer : "", out.used);
	assert_true(out_close(&out, NULL));
	return text;
}

static void check_folds(const char *lines, struct export_options options, const char *expected)
{
	struct profile p;
	assert_true(profile_init(&p));
	built_lines(&p, lines);
	AUTO_FREE char *text = fold(&p, options);
	assert_string_equal(text, expected);
	profile_free(&p);
}

static void every_kind_of_frame_has_its_form(void **state)
{
	(void)state;
	check_folds("<main> (/app/a.rb:1);Array#map [c];rb_ary_map [native];do_syscall [kernel] 3\n"
		    "<main> (/app/a.rb:1);eval ((eval):0);[moving] 1\n"
		    "<main> (/app/a.rb) 2\n"
		    "(starting) 1\n",
		    (struct export_options){ 0 },
		    "(starting) 1\n"
		    "<main> (/app/a.rb) 2\n"
		    "<main> (/app/a.rb:1);Array#map;rb_ary_map [native];do_syscall [kernel] 3\n"
		    "<main> (/app/a.rb:1);eval ((eval));[moving] 1\n");
}

static void what_reads_the_same_is_one_line(void **state)
{
	(void)state;
	/* C functions with and without a path, and two threads, read the same without -T. */
	static const char lines[] = "thread a (1);f (x.rb:1);g [c] 2\n"
				    "thread b (2);f (x.rb:1);g [c] 3\n"
				    "thread a (1);f (x.rb:1);g 1\n"
				    "thread a (1);f (x.rb:1) 1\n";
	check_folds(lines, (struct export_options){ 0 }, "f (x.rb:1) 1\nf (x.rb:1);g 6\n");
	check_folds(lines, (struct export_options){ .threads = true },
		    "thread a (1);f (x.rb:1) 1\nthread a (1);f (x.rb:1);g 3\n"
		    "thread b (2);f (x.rb:1);g 3\n");
	check_folds(lines, (struct export_options){ .weights = true },
		    "f (x.rb:1) 10000000\nf (x.rb:1);g 60000000\n");
}

static void several_processes_have_a_root_each(void **state)
{
	(void)state;
	struct profile p;
	assert_true(profile_init(&p));
	built_lines(&p, "process web (1);thread t (9);f 1\nprocess web (2);thread t (8);f 2\n");
	AUTO_FREE char *plain = fold(&p, (struct export_options){ 0 });
	assert_string_equal(plain, "process web (1);f 1\nprocess web (2);f 2\n");
	AUTO_FREE char *with = fold(&p, (struct export_options){ .threads = true });
	assert_string_equal(with, "process web (1);thread t (9);f 1\n"
				  "process web (2);thread t (8);f 2\n");
	profile_free(&p);
}

static void hostile_names_stay_in_their_frame(void **state)
{
	(void)state;
	static const char expected[] =
		"thread a\\x3bb\\n (1);</script><script>window.pwned=1</script>;\\x3b;\\n\\x00\\xff"
		";\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d (\\x3b.rb:7);x 1;y 2 \\x5cx0a 5\n";
	struct profile p;
	assert_true(profile_init(&p));
	struct names *names = &p.names;
	static const struct {
		const char *name, *path;
		u32 length;
	} frames[] = {
		{ "</script><script>window.pwned=1</script>", "", 40 },
		{ ";", "", 1 },
		{ "\n\0\xff", "", 3 },
		{ "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d", ";.rb", 8 },
		{ "x 1", "", 3 },
		{ "y 2 \\x0a", "", 8 },
	};
	u32 stack = 0;
	for (u32 i = 0; i < COUNT_OF(frames); i++) {
		struct name_function function = {
			.name = names_string(names, frames[i].name, frames[i].length),
			.path = names_text(names, frames[i].path),
		};
		struct name_location location = { .function = names_function(names, &function),
						  .line = 7 };
		stack = names_stack(names, stack, names_location(names, &location));
	}
	u32 thread = profile_thread(&p, profile_process(&p, 1, 1, "p"), 1, 0, "a;b\n");
	for (u32 i = 0; i < 5; i++)
		profile_add(&p, thread, stack, 1, 0);
	AUTO_FREE char *text = fold(&p, (struct export_options){ .threads = true });
	assert_string_equal(text, expected);
	profile_free(&p);
}

static void long_names_and_unnamed_things(void **state)
{
	(void)state;
	AUTO_FREE char *line = calloc(1, 5100);
	memset(line, 'n', 5000);
	strcpy(line + 5000, " 1\n");
	check_folds(line, (struct export_options){ 0 }, line);

	struct profile p;
	assert_true(profile_init(&p));
	u32 thread = profile_thread(&p, profile_process(&p, 1, 1, ""), 3, 0, "");
	profile_add(&p, thread, names_stack(&p.names, 0, 0), 1, 0);
	profile_add(&p, thread, 0, 1, 0);
	AUTO_FREE char *text = fold(&p, (struct export_options){ .threads = true });
	assert_string_equal(text, "thread  (3);(unnamed) 1\nthread  (3);[unreadable] 1\n");
	profile_free(&p);
}

static void what_weighs_nothing_is_no_line(void **state)
{
	(void)state;
	struct profile p;
	assert_true(profile_init(&p));
	AUTO_FREE char *empty = fold(&p, (struct export_options){ 0 });
	assert_string_equal(empty, "");
	u32 thread = profile_thread(&p, profile_process(&p, 1, 1, ""), 3, 0, "");
	profile_add(&p, thread, names_stack(&p.names, 0, 0), 0, 0);
	AUTO_FREE char *counts = fold(&p, (struct export_options){ 0 });
	assert_string_equal(counts, "(unnamed) 1\n");
	AUTO_FREE char *weights = fold(&p, (struct export_options){ .weights = true });
	assert_string_equal(weights, "");
	profile_free(&p);
}

/* Deep recursion, and many stacks, through the text and back: the same text, whatever the order. */
static void random_profiles_round_trip(void **state)
{
	(void)state;
	struct rng rng = { 5 };
	struct profile first, second;
	assert_true(profile_init(&first) && profile_init(&second));
	for (u32 i = 0; i < 1000; i++) {
		struct str line = { 0 };
		u32 depth = i ? 1 + (u32)rng_below(&rng, 40) : 10000;
		str_addf(&line, "thread t%u (%u)", i % 3, i % 3 + 1);
		for (u32 d = 0; d < depth; d++)
			str_addf(&line, ";f%u (a.rb:%u)", (u32)rng_below(&rng, 3),
				 (u32)rng_below(&rng, 2) + 1);
		str_add_text(&line, " 1");
		built_line(&first, line.text);
		str_free(&line);
	}
	AUTO_FREE char *text = fold(&first, (struct export_options){ .threads = true });
	/* Backwards, so that every number differs. */
	AUTO_FREE char *rest = strdup(text);
	for (size_t end = strlen(rest); end;) {
		rest[--end] = 0; /* the newline */
		const char *before = memrchr(rest, '\n', end);
		end = before ? (size_t)(before - rest) + 1 : 0;
		built_line(&second, rest + end);
	}
	AUTO_FREE char *again = fold(&second, (struct export_options){ .threads = true });
	assert_int_equal(profile_total_count(&second), 1000);
	assert_string_equal(text, again);
	profile_free(&first);
	profile_free(&second);
}

static void no_memory_is_said(void **state)
{
	(void)state;
	built_export_without_memory("folded", (struct export_options){ .threads = true }, 200 * 20);
}

static void formats_are_found_by_name_and_by_path(void **state)
{
	(void)state;
	assert_string_equal(exporter_named("pprof")->extension, ".pb.gz");
	assert_null(exporter_named("pdf"));
	static const struct {
		const char *path, *name;
	} rows[] = {
		{ "x.folded", "folded" },
		{ "a/b.HTML", "html" },
		{ "p.pb.gz", "pprof" },
		{ "p.txt", "folded" },
		{ "p.pprof", "pprof" },
		{ "p", NULL },
		{ ".html", NULL },
		{ "html", NULL },
		{ "p.pdf", NULL },
		{ "a.collapsed", "folded" },
		{ "x.firefox.json.gz", "firefox" },
		{ "x.folded.gz", "folded" },
		{ "x.gz", NULL },
		{ ".gz", NULL },
	};
	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		const struct exporter *found = exporter_for_path(rows[i].path);
		assert_int_equal(found == NULL, rows[i].name == NULL);
		if (found)
			assert_string_equal(found->name, rows[i].name);
	}
}

/* The same bytes, smaller. */
static void any_format_can_be_gzipped(void **state)
{
	(void)state;
	struct profile p;
	struct out out, plain;
	u8 bytes[4096];
	assert_true(exporter_is_gzipped(exporter_named("firefox"), "x.firefox.json.gz"));
	assert_true(exporter_is_gzipped(exporter_named("folded"), "x.GZ"));
	assert_false(exporter_is_gzipped(exporter_named("folded"), "x.folded"));
	assert_false(exporter_is_gzipped(exporter_named("pprof"), "x.pb.gz"));
	assert_true(profile_init(&p));
	built_lines(&p, "f (a.rb:1);g (a.rb:2) 3\nf (a.rb:1);h [c] 4\n");
	out_open_memory(&plain);
	exporter_write(exporter_named("folded"), &p, &(struct export_options){ 0 }, &plain);
	out_open_memory(&out);
	exporter_write(exporter_named("folded"), &p, &(struct export_options){ .gzip = true },
		       &out);
	z_stream stream = { .next_in = out.buffer,
			    .avail_in = (uInt)out.used,
			    .next_out = bytes,
			    .avail_out = sizeof bytes };
	assert_int_equal(inflateInit2(&stream, 16 + 15), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.total_out, plain.used);
	assert_memory_equal(bytes, plain.buffer, plain.used);
	inflateEnd(&stream);
	assert_true(out_close(&out, NULL));
	assert_true(out_close(&plain, NULL));
	profile_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_frame_has_its_form),
		cmocka_unit_test(what_reads_the_same_is_one_line),
		cmocka_unit_test(several_processes_have_a_root_each),
		cmocka_unit_test(hostile_names_stay_in_their_frame),
		cmocka_unit_test(long_names_and_unnamed_things),
		cmocka_unit_test(what_weighs_nothing_is_no_line),
		cmocka_unit_test(random_profiles_round_trip),
		cmocka_unit_test(no_memory_is_said),
		cmocka_unit_test(formats_are_found_by_name_and_by_path),
		cmocka_unit_test(any_format_can_be_gzipped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
