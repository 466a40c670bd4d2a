/* SPDX-License-Identifier: Apache-2.0
 * import.c - what other profilers wrote, and what we wrote for them, read back. */
#include "check.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/cursor.h"
#include "export/built.h"
#include "export/exporter.h"
#include "profile/load.h"

struct loaded {
	struct profile profile;
	struct load_result result;
	struct err err;
	bool good;
};

static struct loaded load(const void *bytes, size_t size, const char *thread)
{
	struct load_options options = { .thread = thread };
	struct loaded loaded = { 0 };
	char path[] = "/tmp/sonde-import-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
	loaded.good = profile_load(path, &options, &loaded.profile, &loaded.result, &loaded.err);
	unlink(path);
	return loaded;
}

static struct loaded load_text(const char *text)
{
	return load(text, strlen(text), NULL);
}

static struct out exported(const struct profile *profile, const char *format, bool weights)
{
	struct export_options options = { .threads = true, .weights = weights };
	struct out out;

	out_open_memory(&out);
	exporter_named(format)->write(profile, &options, &out);
	assert_int_equal(out.errnum, 0);
	return out;
}

static void assert_same_folded(const struct profile *a, const struct profile *b, bool weights)
{
	struct out x = exported(a, "folded", weights), y = exported(b, "folded", weights);

	out_bytes(&x, "", 1);
	out_bytes(&y, "", 1);
	assert_string_equal(x.buffer, y.buffer);
	out_close(&x, NULL);
	out_close(&y, NULL);
}

static const char lines[] =
	"process ruby (7);thread main (7);<main> (/app/a.rb:3);Integer#times [c];Foo#bar (/app/a.rb:4) 12\n"
	"process ruby (7);thread main (7);<main> (/app/a.rb:3);[moving] 1\n"
	"process ruby (7);thread other one (10);a\\x3bb\\n\\xff (/app/x y.rb:1);(garbage collection) 3\n"
	"process ruby (7);thread main (8);Foo#bar (/app/a.rb:4) 2\n"
	"process sub (9);thread main (9);odd name - not a path;operator() (int);x (y) 5\n";

static void make(struct profile *p)
{
	assert_true(profile_init(p));
	built_lines(p, lines);
	built_facts(p);
}

static void our_pprof_reads_back_the_same(void **state)
{
	(void)state;
	struct profile p;

	make(&p);
	struct out out = exported(&p, "pprof", false);
	struct loaded read = load(out.buffer, out.used, NULL);
	assert_true(read.good);
	assert_string_equal(read.result.format, "pprof");
	assert_string_equal(read.result.missing, "");
	assert_int_equal(profile_total_count(&read.profile), profile_total_count(&p));
	assert_int_equal(profile_total_weight(&read.profile), profile_total_weight(&p));
	/* the names of processes are not in it */
	for (u32 i = 0; i < p.processes.count; i++)
		p.processes.at[i].name = 0;
	assert_same_folded(&p, &read.profile, false);
	assert_same_folded(&p, &read.profile, true);
	assert_string_equal(read.profile.title, p.title);
	assert_string_equal(read.profile.mode, "cpu");
	assert_int_equal(read.profile.hz, 99);
	assert_int_equal(read.profile.start_unix_ns, p.start_unix_ns);
	assert_int_equal(read.profile.duration_ns, p.duration_ns);
	out_close(&out, NULL);
	profile_free(&p);
	profile_free(&read.profile);
}

static void our_folded_reads_back_the_same(void **state)
{
	(void)state;
	struct profile p;

	make(&p);
	built_line(
		&p,
		"process ruby (7);thread main (7);memcpy [native];copy [inlined];do_syscall_64 [kernel] 4");
	struct out out = exported(&p, "folded", false);
	struct loaded read = load(out.buffer, out.used, NULL);
	assert_true(read.good);
	assert_string_equal(read.result.format, "folded");
	assert_string_equal(read.result.missing, "");
	assert_int_equal(profile_total_count(&read.profile), profile_total_count(&p));
	assert_int_equal(profile_total_weight(&read.profile), 0);
	assert_same_folded(&p, &read.profile, false);
	profile_free(&read.profile);
	read = load(out.buffer, out.used, "other one");
	assert_int_equal(profile_total_count(&read.profile), 3);
	assert_int_equal(read.result.left_out, profile_total_count(&p) - 3);
	profile_free(&read.profile);
	out_close(&out, NULL);
	profile_free(&p);
}

struct frame_words {
	const char *frame, *name, *path, *language;
	u32 line;
};

static void a_frame_is_what_its_writer_meant(void **state)
{
	(void)state;
	static const struct frame_words cases[] = {
		{ "a (/x/a.rb:3)", "a", "/x/a.rb", "ruby", 3 },
		{ "a b (/x y/a.rb:3)", "a b", "/x y/a.rb", "ruby", 3 },
		{ "a (a.py)", "a", "a.py", "python", 0 },
		{ "main.f (/src/m.go:8)", "main.f", "/src/m.go", "go", 8 },
		{ "f (lib/x.c:8)", "f", "lib/x.c", "", 8 },
		{ "block in foo - /x/a.rb:9", "block in foo", "/x/a.rb", "ruby", 9 },
		{ "sleep [c function] - (unknown)", "sleep [c function] - (unknown)", "", "", 0 },
		{ "/x/a.py:leaf:7", "leaf", "/x/a.py", "python", 7 },
		{ "std::a:b:7", "std::a:b:7", "", "", 0 },
		{ "memcpy [native]", "memcpy", "", "native", 0 },
		{ "sys_read_[k]", "sys_read", "", "kernel", 0 },
		{ "f_[j]", "f", "", "", 0 },
		{ "operator() (int)", "operator() (int)", "", "", 0 },
		{ "[moving]", "[moving]", "", "", 0 },
		{ "(:3)", "(:3)", "", "", 0 },
		{ "\xff\x80", "\xff\x80", "", "", 0 },
	};

	for (u32 i = 0; i < COUNT_OF(cases); i++) {
		char line[128];
		snprintf(line, sizeof line, "%s 5\n", cases[i].frame);
		struct loaded read = load_text(line);
		const struct names *names = &read.profile.names;
		assert_true(read.good);
		assert_int_equal(read.profile.entries.count, 1);
		u32 stack = read.profile.entries.at[0].stack;
		assert_int_equal(names->stacks.at[stack].depth, 1);
		const struct name_location *location =
			&names->locations.at[names->stacks.at[stack].location];
		const struct name_function *function = &names->functions.at[location->function];
		assert_string_equal(names->strings.at[function->name].text, cases[i].name);
		assert_string_equal(names->strings.at[function->path].text, cases[i].path);
		assert_string_equal(names->strings.at[function->language].text, cases[i].language);
		assert_int_equal(location->line, cases[i].line);
		profile_free(&read.profile);
	}
}

static void what_is_no_stack_is_counted_and_said(void **state)
{
	(void)state;
	struct loaded read = load_text("# made by hand\n\na;b 3\nnothing\n;; 4\nb 2\r\nlast 1");

	assert_true(read.good);
	assert_int_equal(profile_total_count(&read.profile), 6);
	assert_non_null(strstr(read.result.missing, "2 lines"));
	assert_non_null(strstr(read.result.missing, "line 4"));
	profile_free(&read.profile);
	read = load_text("a 900000000000000000\nb 900000000000000000\nc 900000000000000000\n"
			 "a 900000000000000000\nb 900000000000000000\nc 900000000000000000\n");
	assert_false(read.good);
	assert_non_null(strstr(read.err.text, "2^62"));
	profile_free(&read.profile);
	static const char *const strangers[] = { "hello\n",    "{\"a\": 1}\n", "#\n#\n",
						 "2to3;x y\n", "\177ELF",      "\n\n" };
	for (u32 i = 0; i < COUNT_OF(strangers); i++) {
		read = load_text(strangers[i]);
		assert_false(read.good);
		assert_non_null(strstr(read.err.text, "no profile that sonde reads"));
		profile_free(&read.profile);
	}
}

/* ---- pprof by hand ------------------------------------------------------------------------ */

static void put(struct str *out, u32 field, const char *bytes, size_t length)
{
	char head[2] = { (char)(field << 3 | 2), (char)length };

	assert_true(length < 128);
	str_add(out, head, 2);
	str_add(out, bytes, length);
}
#define PUT(out, field, bytes) put(out, field, bytes, sizeof(bytes) - 1)

/* samples/count and cpu/milliseconds; location 1 is b inlined into a, location 2 has no name. */
static void put_head(struct str *out)
{
	static const char *const texts[] = { "",        "samples", "count", "cpu", "milliseconds",
					     "/x/a.rb", "a",       "b",     "tid" };

	for (u32 i = 0; i < COUNT_OF(texts); i++)
		put(out, 6, texts[i], strlen(texts[i]));
	PUT(out, 1, "\x08\x01\x10\x02");
	PUT(out, 1, "\x08\x03\x10\x04");
	PUT(out, 4, "\x08\x01\x22\x04\x08\x02\x10\x09\x22\x04\x08\x01\x10\x03");
	PUT(out, 4, "\x08\x02\x18\x7f");
	PUT(out, 5, "\x08\x01\x10\x06\x20\x05");
	PUT(out, 5, "\x08\x02\x10\x07\x20\x05");
}

static void a_pprof_file_by_hand(void **state)
{
	(void)state;
	struct str file = { 0 };

	PUT(&file, 2,
	    "\x0a\x02\x01\x02\x12\x02\x03\x1e\x1a\x04\x08\x08\x18\x2a"); /* before its names */
	put_head(&file);
	PUT(&file, 2, "\x08\x63\x10\x01\x10\x0a"); /* not packed; no such location */
	struct loaded read = load(file.text, file.length, NULL);
	assert_string_equal(read.err.text, "");
	assert_int_equal(profile_total_count(&read.profile), 4);
	assert_int_equal(profile_total_weight(&read.profile), 40 * NS_PER_MS);
	struct out out = exported(&read.profile, "folded", false);
	out_bytes(&out, "", 1);
	assert_string_equal(out.buffer,
			    "thread  (0);(unnamed) 1\n"
			    "thread  (42);0x7f [native];a (/x/a.rb:3);b (/x/a.rb:9) 3\n");
	out_close(&out, NULL);
	profile_free(&read.profile);

	str_add(&file, "\x70\x01", 2); /* the default is samples: a count alone */
	read = load(file.text, file.length, NULL);
	assert_true(read.good);
	assert_int_equal(profile_total_count(&read.profile), 4);
	assert_int_equal(profile_total_weight(&read.profile), 0);
	profile_free(&read.profile);

	for (size_t cut = 1; cut < file.length;
	     cut++) { /* whatever is missing, no crash and one error */
		read = load(file.text, cut, NULL);
		assert_true(read.good || read.err.text[0]);
		profile_free(&read.profile);
	}
	str_free(&file);
}

static u8 *gzipped(const void *bytes, size_t size, size_t *packed)
{
	z_stream stream = { 0 };

	assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, 0), Z_OK);
	*packed = deflateBound(&stream, size);
	u8 *out = malloc(*packed);
	assert_non_null(out);
	stream.next_in = (Bytef *)bytes;
	stream.avail_in = (uInt)size;
	stream.next_out = out;
	stream.avail_out = (uInt)*packed;
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	*packed = stream.total_out;
	deflateEnd(&stream);
	return out;
}

static struct loaded load_types(const char *const types[4])
{
	static const char *const code[] = { "a", "b" };
	struct str file = { 0 };

	PUT(&file, 6, "");
	for (u32 i = 0; i < 4; i++)
		put(&file, 6, types[i], strlen(types[i]));
	for (u32 i = 0; i < COUNT_OF(code); i++)
		put(&file, 6, code[i], strlen(code[i]));
	PUT(&file, 1, "\x08\x01\x10\x02");
	PUT(&file, 1, "\x08\x03\x10\x04");
	PUT(&file, 4, "\x08\x01\x22\x02\x08\x01");
	PUT(&file, 5, "\x08\x01\x10\x05");
	PUT(&file, 2, "\x0a\x01\x01\x12\x02\x03\x1e");
	struct loaded read = load(file.text, file.length, NULL);
	assert_string_equal(read.err.text, "");
	str_free(&file);
	return read;
}

/* What was measured keeps its name; to and fro. */
static void types_are_the_files_own(void **state)
{
	(void)state;
	struct loaded heap = load_types(
		(const char *[]){ "alloc_objects", "count", "alloc_space", "bytes" });
	assert_string_equal(heap.profile.mode, "");
	assert_string_equal(heap.profile.count_type, "alloc_space");
	assert_string_equal(heap.profile.count_unit, "bytes");
	assert_string_equal(heap.result.missing, "it measures bytes, where sonde measures samples");
	assert_null(heap.profile.weight_type);
	assert_int_equal(profile_total_count(&heap.profile), 30);
	struct out out = exported(&heap.profile, "pprof", false);
	struct loaded again = load(out.buffer, out.used, NULL);
	assert_string_equal(again.profile.count_type, "alloc_space");
	assert_string_equal(again.profile.count_unit, "bytes");
	out_close(&out, NULL);
	profile_free(&again.profile);
	profile_free(&heap.profile);

	struct loaded mutex = load_types(
		(const char *[]){ "contentions", "count", "delay", "microseconds" });
	assert_string_equal(mutex.profile.mode, "");
	assert_string_equal(mutex.profile.weight_type, "delay");
	assert_string_equal(mutex.profile.count_type, "contentions");
	assert_int_equal(profile_total_count(&mutex.profile), 3);
	assert_int_equal(profile_total_weight(&mutex.profile), 30 * NS_PER_US);
	profile_free(&mutex.profile);

	struct loaded count = load_types((const char *[]){ "x", "y", "samples", "count" });
	assert_string_equal(count.profile.mode, "");
	assert_null(count.profile.count_type);
	profile_free(&count.profile);

	struct loaded odd = load_types((const char *[]){ "x", "y", "z\n", "\xff" });
	assert_string_equal(odd.profile.count_type, "z\\n");
	assert_string_equal(odd.profile.count_unit, "\\xff");
	profile_free(&odd.profile);
}

/* A mode that only sonde has. */
static void our_modes_read_back(void **state)
{
	static const char *const modes[] = { "cpu", "wall", "gvl", "exception", "offcpu", "event" };
	(void)state;

	for (u32 i = 0; i < COUNT_OF(modes); i++) {
		struct profile p;
		make(&p);
		p.mode = modes[i];
		struct out out = exported(&p, "pprof", false);
		struct loaded read = load(out.buffer, out.used, NULL);
		assert_string_equal(read.profile.mode, modes[i]);
		assert_null(read.profile.weight_type);
		out_close(&out, NULL);
		profile_free(&p);
		profile_free(&read.profile);
	}
}

static void any_format_may_be_gzip(void **state)
{
	static const char text[] = "main;work 3\nmain 1\n";
	size_t packed;

	(void)state;
	u8 *bytes = gzipped(text, sizeof text - 1, &packed);
	struct loaded read = load(bytes, packed, NULL);
	assert_true(read.good);
	assert_string_equal(read.result.format, "folded");
	assert_int_equal(profile_total_count(&read.profile), 4);
	profile_free(&read.profile);
	free(bytes);
}

static void a_gzip_bomb_is_refused(void **state)
{
	(void)state;
	size_t size = 192 << 20, packed;
	u8 *zeros = calloc(1, size);

	assert_non_null(zeros);
	u8 *bomb = gzipped(zeros, size, &packed);
	struct loaded read = load(bomb, packed, NULL);
	assert_false(read.good);
	assert_non_null(strstr(read.err.text, "unpacks to more than"));
	profile_free(&read.profile);
	read = load(bomb, packed / 2000, NULL);
	assert_false(read.good);
	assert_non_null(strstr(read.err.text, "cut off"));
	profile_free(&read.profile);
	bomb[15] ^= 0xff;
	read = load(bomb, packed, NULL);
	assert_false(read.good);
	profile_free(&read.profile);
	free(bomb);
	free(zeros);
}

/* A location of 100 lines, in samples of 100 of it: 10,000 frames for 100 bytes. */
static void frames_that_multiply_are_refused(void **state)
{
	(void)state;
	struct str file = { 0 };
	char inner[128] = "\x0a\x64";

	put_head(&file);
	str_add(&file, "\x22\xcc\x01\x08\x09", 5); /* location 9, 204 bytes: 100 empty lines */
	str_add(&file, "\x10", 1);
	str_add(&file, "", 1); /* mapping 0 */
	for (u32 i = 0; i < 99; i++)
		str_add(&file, "\x22\x00", 2);
	str_add(&file, "\x18", 1);
	str_add(&file, "", 1);
	memset(inner + 2, 9, 100);
	memcpy(inner + 102, "\x12\x02\x01\x01", 4);
	for (u32 i = 0; i < 5000; i++) {
		inner[2 + i % 100] = (char)(1 + (i / 100) % 2 * 8);
		put(&file, 2, inner, 106);
	}
	struct loaded read = load(file.text, file.length, NULL);
	assert_false(read.good);
	assert_non_null(strstr(read.err.text, "inlined frames"));
	profile_free(&read.profile);
	str_free(&file);
}

static void every_thread_keeps_its_name(void **state)
{
	(void)state;
	struct str text = { 0 };

	for (u32 i = 0; i < 5000; i++)
		str_addf(&text, "thread w%u (%u);a 1\n", i, 1 + i);
	struct loaded read = load(text.text, text.length, NULL);
	assert_true(read.good);
	assert_int_equal(read.profile.threads.count, 5000);
	for (u32 i = 0; i < 5000; i++) {
		const struct profile_thread *thread = &read.profile.threads.at[i];
		char name[16];
		snprintf(name, sizeof name, "w%u", thread->tid - 1);
		assert_string_equal(read.profile.names.strings.at[thread->name].text, name);
	}
	profile_free(&read.profile);
	str_free(&text);
}

/* A hundred thousand names of one thread, a stack of a million frames: neither costs its square. */
static void large_is_not_slow(void **state)
{
	(void)state;
	struct str text = { 0 };

	for (u32 i = 0; i < 100000; i++)
		str_addf(&text, "thread t%u (5);a 1\n", i);
	for (u32 i = 0; i < 1000000; i++)
		str_addf(&text, "f%u;", i % 100);
	str_addf(&text, "leaf 1\n");
	assert_false(text.bad);
	struct loaded read = load(text.text, text.length, NULL);
	assert_true(read.good);
	assert_int_equal(profile_total_count(&read.profile), 100001);
	assert_int_equal(read.profile.threads.count, 100001);
	assert_non_null(strstr(read.result.missing, "innermost"));
	profile_free(&read.profile);
	str_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(our_pprof_reads_back_the_same),
		cmocka_unit_test(our_folded_reads_back_the_same),
		cmocka_unit_test(a_frame_is_what_its_writer_meant),
		cmocka_unit_test(what_is_no_stack_is_counted_and_said),
		cmocka_unit_test(a_pprof_file_by_hand),
		cmocka_unit_test(types_are_the_files_own),
		cmocka_unit_test(our_modes_read_back),
		cmocka_unit_test(any_format_may_be_gzip),
		cmocka_unit_test(a_gzip_bomb_is_refused),
		cmocka_unit_test(frames_that_multiply_are_refused),
		cmocka_unit_test(every_thread_keeps_its_name),
		cmocka_unit_test(large_is_not_slow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
