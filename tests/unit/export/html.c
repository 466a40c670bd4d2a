/* SPDX-License-Identifier: Apache-2.0
 * html.c - the exported page as bytes: nothing foreign outside of its slots, nothing live in
 * them, and the whole profile inside.  What the page does is checked by tests/web/. */
#include "check.h"

#include <zlib.h>

#include "base/cursor.h"
#include "base/rng.h"
#include "export/built.h"
#include "export/exporter.h"
#include "export/html.h"
#include "export/no_memory.h"

extern const unsigned char report_page[];

static char *page_of(const struct profile *profile)
{
	struct out out;
	out_open_memory(&out);
	exporter_named("html")->write(profile, &(struct export_options){ 0 }, &out);
	assert_int_equal(out.errnum, 0);
	char *text = strndup((char *)out.buffer, out.used);
	assert_int_equal(strlen(text), out.used); /* no NUL byte in it */
	assert_true(out_close(&out, NULL));
	return text;
}

/* What stands between two texts that the page holds once. */
static char *between(const char *page, const char *before, const char *after)
{
	const char *start = strstr(page, before);
	assert_non_null(start);
	start += strlen(before);
	const char *end = strstr(start, after);
	assert_non_null(end);
	return strndup(start, (size_t)(end - start));
}

static u32 count_of(const char *text, const char *what)
{
	u32 count = 0;
	for (; (text = strstr(text, what)); text += strlen(what))
		count++;
	return count;
}

/* The data block's bytes, as the browser gets them. */
static u8 *data_of(const char *page, size_t *length)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	AUTO_FREE char *text = between(page, "id=\"data\">", "</script>");
	size_t letters = strlen(text), room = 16 << 20;
	AUTO_FREE u8 *packed = malloc(letters);
	u8 *bytes = malloc(room);
	assert_int_equal(letters % 4, 0);
	z_stream stream = { .next_in = packed, .next_out = bytes, .avail_out = (uInt)room };
	u32 bits = 0;
	for (size_t i = 0; i < letters && text[i] != '='; i++) {
		const char *digit = strchr(digits, text[i]);
		assert_non_null(digit);
		bits = bits << 6 | (u32)(digit - digits);
		if (i % 4)
			packed[stream.avail_in++] = (u8)(bits >> (6 - 2 * (i % 4)));
	}
	assert_int_equal(inflateInit2(&stream, -15), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	*length = stream.total_out;
	inflateEnd(&stream);
	return bytes;
}

struct read_data {
	u64 functions, locations, nodes, threads, entries, count, weight, deepest;
	u64 slot_ns, slots, sources;
	VEC(struct timeline_cell) cells; /* entry: as it stands in the file */
	u64 compared, was_count, was_weight, verdicts[5], row_verdicts[5];
	char *texts, *source;
};

static void free_data(struct read_data *r)
{
	vec_free(&r->cells);
	free(r->texts);
	free(r->source);
}

static u64 sum_column(struct cursor *c, u64 count)
{
	u64 sum = 0;
	for (u64 i = 0; i < count; i++)
		sum += cursor_uleb(c);
	assert_false(c->bad);
	return sum;
}

static void read_moments(struct cursor *c, struct read_data *r)
{
	r->slot_ns = cursor_uleb(c);
	r->slots = cursor_uleb(c);
	if (!r->slots)
		return;
	AUTO_FREE u64 *cells = calloc(r->entries + 1, sizeof *cells);
	for (u64 e = 0; e < r->entries; e++)
		cells[e] = cursor_uleb(c);
	for (u64 e = 0; e < r->entries; e++) {
		for (u64 i = 0, slot = 0; i < cells[e]; i++) {
			u64 token = cursor_uleb(c);
			assert_true(token >> 1 || !i); /* no slot twice */
			slot += token >> 1;
			assert_true(slot < r->slots);
			struct timeline_cell cell = { (u32)slot, (u32)e, (u32)(token & 1) + 1 };
			assert_true(vec_push(&r->cells, cell));
		}
	}
	for (u32 i = 0; i < r->cells.count; i++)
		if (r->cells.at[i].count > 1)
			r->cells.at[i].count += (u32)cursor_uleb(c);
	assert_false(c->bad);
}

static void count_verdicts(struct cursor *c, u64 count, u64 verdicts[5])
{
	for (u64 i = 0; i < count; i++) {
		u64 verdict = cursor_uleb(c);
		assert_in_range(verdict, DIFF_NONE, DIFF_GONE);
		verdicts[verdict]++;
	}
}

static void read_changes(struct cursor *c, struct read_data *r)
{
	r->compared = cursor_uleb(c);
	if (!r->compared)
		return;
	r->was_count = sum_column(c, r->entries);
	r->was_weight = sum_column(c, r->entries);
	count_verdicts(c, r->nodes, r->verdicts);
	for (u32 i = 0; i < 2; i++) { /* selfs, totals */
		count_verdicts(c, r->locations, r->row_verdicts);
		for (u64 l = 0; l < r->locations; l++)
			assert_in_range(cursor_uleb(c), 0, 1000000);
	}
}

static struct read_data read_data(const u8 *bytes, size_t length)
{
	struct cursor c = cursor_make(bytes, length);
	struct read_data r = { 0 };
	r.functions = cursor_uleb(&c);
	sum_column(&c, 6 * r.functions);
	r.locations = cursor_uleb(&c);
	sum_column(&c, 2 * r.locations);
	r.nodes = cursor_uleb(&c);
	for (u64 i = 0, depth = 0; i < r.nodes; i++) {
		u64 pops = cursor_uleb(&c);
		assert_true(pops <= depth);
		depth = depth + 1 - pops;
		r.deepest = depth > r.deepest ? depth : r.deepest;
	}
	for (u64 i = 0; i < r.nodes; i++)
		assert_true(cursor_uleb(&c) < r.locations);
	sum_column(&c, 2 * cursor_uleb(&c)); /* processes */
	r.threads = cursor_uleb(&c);
	sum_column(&c, 3 * r.threads);
	u64 by_threads = sum_column(&c, r.threads);
	r.entries = cursor_uleb(&c);
	assert_int_equal(by_threads, r.entries);
	sum_column(&c, r.entries);
	r.count = sum_column(&c, r.entries);
	r.weight = sum_column(&c, r.entries);
	read_moments(&c, &r);
	r.sources = cursor_uleb(&c);
	sum_column(&c, r.sources);
	u64 source = sum_column(&c, r.sources);
	read_changes(&c, &r);
	u64 texts = cursor_uleb(&c);
	assert_int_equal(texts + source, cursor_left(&c));
	r.texts = strndup(cursor_take(&c, texts), texts);
	r.source = strndup(source ? cursor_take(&c, source) : "", source);
	return r;
}

static void nothing_is_pruned(void **state)
{
	(void)state;
	struct rng rng = { 11 };
	struct profile p;
	size_t length;
	assert_true(profile_init(&p));
	for (u32 i = 0; i < 1000; i++) {
		struct str line = { 0 };
		u32 depth = i ? 1 + (u32)rng_below(&rng, 30) : 10000;
		str_addf(&line, "process p (%u);thread t%u (%u)", i % 2, i % 5, i % 5 + 1);
		for (u32 d = 0; d < depth; d++)
			str_addf(&line, ";f%u (a.rb:%u)", (u32)rng_below(&rng, 4),
				 (u32)rng_below(&rng, 3) + 1);
		str_addf(&line, " %u", i % 3 + 1);
		built_line(&p, line.text);
		str_free(&line);
	}
	built_facts(&p);
	AUTO_FREE char *page = page_of(&p);
	AUTO_FREE u8 *bytes = data_of(page, &length);
	struct read_data r = read_data(bytes, length);
	assert_int_equal(r.nodes, p.names.stacks.count - 1);
	assert_int_equal(r.entries, p.entries.count);
	assert_int_equal(r.count, profile_total_count(&p));
	assert_int_equal(r.weight, profile_total_weight(&p));
	assert_int_equal(r.deepest, 10000);
	assert_int_equal(r.threads, p.threads.count);
	assert_int_equal(r.compared, 0);
	free_data(&r);
	profile_free(&p);
}

#define HOSTILE "</script><script>window.pwned=1</script>\"'&<!--\\u003c\n\xff\xe2\x80\xa8"

static void hostile_texts_stay_in_their_slots(void **state)
{
	(void)state;
	struct profile p;
	size_t length;
	assert_true(profile_init(&p));
	u32 name = names_text(&p.names, HOSTILE);
	struct name_function function = {
		.name = name, .path = name, .image = name, .language = name
	};
	struct name_location location = { .function = names_function(&p.names, &function) };
	u32 stack = names_stack(&p.names, 0, names_location(&p.names, &location));
	u32 thread = profile_thread(&p, profile_process(&p, 1, 1, HOSTILE), 1, 0, HOSTILE);
	profile_add(&p, thread, stack, 1, 0);
	built_facts(&p);
	p.title = p.command = p.mode = HOSTILE;
	snprintf(p.quality.warning, sizeof p.quality.warning, "%s", HOSTILE);
	AUTO_FREE char *page = page_of(&p);

	assert_null(strstr(page, "<script>window"));
	assert_int_equal(count_of(page, "<script"), count_of((char *)report_page, "<script"));
	assert_int_equal(count_of(page, "</script"), count_of((char *)report_page, "</script"));
	assert_int_equal(count_of(page, "<!--"), count_of((char *)report_page, "<!--"));
	AUTO_FREE char *title = between(page, "<title>", "</title>");
	assert_string_equal(title,
			    "&#60;/script&#62;&#60;script&#62;window.pwned=1&#60;/script&#62;"
			    "&#34;'&#38;&#60;!--\\u003c\\n\\xff\\xe2\\x80\\xa8 - sonde");
	AUTO_FREE char *facts = between(page, "id=\"facts\">", "</script>");
	assert_null(strpbrk(facts, "<>&\n"));
	assert_non_null(strstr(facts, "\"command\":\"\\u003c/script\\u003e\\u003cscript\\u003e"
				      "window.pwned=1\\u003c/script\\u003e\\u0022'\\u0026"
				      "\\u003c!--\\\\u003c\\\\n\\\\xff\\\\xe2\\\\x80\\\\xa8\""));
	AUTO_FREE u8 *bytes = data_of(page, &length);
	struct read_data r = read_data(bytes, length);
	assert_int_equal(count_of(r.texts, "\n"), 1); /* "" and the name, said six times */
	free_data(&r);
	profile_free(&p);
}

/* Deterministic, and the policy allows no script but by its hash. */
static void equal_profiles_are_equal_pages(void **state)
{
	(void)state;
	char *pages[2];
	for (u32 i = 0; i < 2; i++) {
		struct profile p;
		assert_true(profile_init(&p));
		built_lines(&p, "thread a (1);f (a.rb:1);g [c] 2\nthread b (2);f (a.rb:1) 1\n");
		built_facts(&p);
		pages[i] = page_of(&p);
		profile_free(&p);
	}
	assert_string_equal(pages[0], pages[1]);
	AUTO_FREE char *policy = between(pages[0], "Content-Security-Policy\" content=\"", "\"");
	assert_non_null(strstr(policy, "default-src 'none'; script-src 'sha256-"));
	assert_null(strstr(policy, "unsafe"));
	assert_null(strstr(pages[0], "%%"));
	assert_null(strstr(pages[0], "http:"));
	assert_null(strstr(pages[0], "https:"));
	assert_null(strstr(pages[0], "innerHTML"));
	free(pages[0]);
	free(pages[1]);
}

/* Every sample of a timeline is in it, at its time; slots that are too many become wider. */
static void moments_are_whole(void **state)
{
	(void)state;
	struct rng rng = { 5 };
	struct profile p;
	size_t length;
	u64 expected[4] = { 0 }, found[4] = { 0 };
	assert_true(profile_init(&p));
	p.timeline.cells_most = 1 << 16;
	u32 process = profile_process(&p, 1, 1, "ruby");
	for (u32 i = 0; i < 9000; i++) {
		char name[16];
		snprintf(name, sizeof name, "f%u", (u32)rng_below(&rng, 40));
		struct name_function function = { .name = names_text(&p.names, name) };
		struct name_location at = { .function = names_function(&p.names, &function) };
		u32 thread = profile_thread(&p, process, 1 + i % 3, 0, "t");
		u64 time = (u64)i * 3 * NS_PER_MS;
		u32 entry = profile_add(
			&p, thread, names_stack(&p.names, 0, names_location(&p.names, &at)), 1, 0);
		timeline_add(&p.timeline, time, entry);
		expected[time / (8 * NS_PER_S)]++;
	}
	u32 cells = p.timeline.cells.count;
	AUTO_FREE char *page = page_of(&p);
	assert_int_equal(p.timeline.cells.count, cells); /* it was not touched */
	AUTO_FREE u8 *bytes = data_of(page, &length);
	struct read_data r = read_data(bytes, length);
	assert_in_range(r.slots, 1000, 2000);
	assert_int_equal(r.slot_ns, (u64)(1 << 20) << 4);
	for (u32 i = 0; i < r.cells.count; i++) {
		u64 time = r.cells.at[i].slot * r.slot_ns;
		found[time / (8 * NS_PER_S)] += r.cells.at[i].count;
	}
	for (u32 i = 0; i < 4; i++) /* a slot on the border begins before it */
		assert_in_range(found[i], expected[i] - 6, expected[i] + 6);
	assert_int_equal(found[0] + found[1] + found[2] + found[3], 9000);
	free_data(&r);
	profile_free(&p);
}

/* The strip is as long as the recording, however long that is. */
static void moments_cover_the_duration(void **state)
{
	static const u64 durations[] = { NS_PER_S, 90 * NS_PER_S, 100 * 86400 * NS_PER_S,
					 UINT64_MAX };
	(void)state;

	for (u32 i = 0; i < COUNT_OF(durations); i++) {
		struct profile p;
		size_t length;
		assert_true(profile_init(&p));
		built_lines(&p, "f (a.rb:1) 1\n");
		p.timeline.cells_most = 1 << 16;
		timeline_add(&p.timeline, NS_PER_S / 2, 0);
		p.duration_ns = durations[i];
		AUTO_FREE char *page = page_of(&p);
		AUTO_FREE u8 *bytes = data_of(page, &length);
		struct read_data r = read_data(bytes, length);
		assert_in_range(r.slots, 900, 2000);
		assert_in_range(durations[i] / r.slot_ns, r.slots - 1, r.slots);
		assert_int_equal(r.cells.at[0].slot, NS_PER_S / 2 / r.slot_ns);
		free_data(&r);
		profile_free(&p);
	}
}

static void add_source(struct profile *profile, const char *path, const char *text, size_t length)
{
	struct profile_source source = {
		.path = names_text(&profile->names, path),
		.text = names_string(&profile->names, text, length),
	};
	assert_true(vec_push(&profile->sources, source));
}

/* Lines, tabs and backslashes stay; what could deceive or is no text is said. */
static void sources_are_text(void **state)
{
	(void)state;
	static const char odd[] = "\tputs \"\\n\"\r\na\rb\n\0\xff\xe2\x80\xae</script>";
	struct profile p;
	size_t length;
	assert_true(profile_init(&p));
	built_lines(&p, "f (a.rb:1) 1\n");
	add_source(&p, "a.rb", odd, sizeof odd - 1);
	add_source(&p, "empty.rb", "", 0);
	add_source(&p, "b.rb", "\n", 1);
	AUTO_FREE char *page = page_of(&p);
	AUTO_FREE u8 *bytes = data_of(page, &length);
	struct read_data r = read_data(bytes, length);
	assert_int_equal(r.sources, 3);
	assert_string_equal(r.source,
			    "\tputs \"\\n\"\na\\x0db\n\\x00\\xff\\xe2\\x80\\xae</script>\n");
	assert_non_null(strstr(r.texts, "\nempty.rb\n"));
	free_data(&r);
	profile_free(&p);
}

/* What is known of the source does not hide of which library it is. */
static void native_code_has_both_its_files(void **state)
{
	(void)state;
	struct profile p;
	size_t length;
	assert_true(profile_init(&p));
	built_lines(&p, "crc32 {/lib/libz.so.1 /src/crc32.c:3} [native] 1\n");
	AUTO_FREE char *page = page_of(&p);
	AUTO_FREE u8 *bytes = data_of(page, &length);
	struct read_data r = read_data(bytes, length);
	assert_non_null(strstr(r.texts, "/lib/libz.so.1"));
	assert_non_null(strstr(r.texts, "/src/crc32.c"));
	free_data(&r);
	profile_free(&p);
}

static void an_empty_profile_is_a_page(void **state)
{
	(void)state;
	struct profile p;
	size_t length;
	assert_true(profile_init(&p));
	AUTO_FREE char *page = page_of(&p);
	AUTO_FREE u8 *bytes = data_of(page, &length);
	struct read_data r = read_data(bytes, length);
	assert_int_equal(r.nodes, 0);
	assert_int_equal(r.entries, 0);
	free_data(&r);
	profile_free(&p);
}

/* ---- of two profiles ---- */

/* Its text; NULL: memory ran out, and it was said. */
static char *page_of_two(const struct profile *before, const struct profile *after,
			 const char *name, long allocations)
{
	struct diff diff;
	struct out out;
	char *text = NULL;
	struct diff_file files[2] = { { name, before, 0 }, { name, after, 0 } };

	assert_true(diff_make(&diff, before, after, &(struct diff_options){ 0 }));
	out_open_memory(&out);
	failing_memory_after(allocations);
	html_write_diff(&diff, &files[0], &files[1], &out);
	failing_memory_after(-1);
	if (!out.errnum)
		text = strndup((char *)out.buffer, out.used);
	assert_int_equal(out_close(&out, NULL), text != NULL);
	diff_free(&diff);
	return text;
}

static void make_two(struct profile profiles[2])
{
	static const char *const lines[2] = {
		"main (a.rb:1);same (a.rb:2) 1000\nmain (a.rb:1);less (a.rb:3) 900\n"
		"main (a.rb:1);gone (a.rb:4) 100\n",
		"main (a.rb:1);same (a.rb:2) 1000\nmain (a.rb:1);less (a.rb:3) 300\n"
		"main (a.rb:1);more (a.rb:9) 600\nmain (a.rb:1) 100\n",
	};

	for (u32 i = 0; i < 2; i++) {
		assert_true(profile_init(&profiles[i]));
		built_lines(&profiles[i], lines[i]);
		built_facts(&profiles[i]);
	}
}

static void two_profiles_are_one_page(void **state)
{
	(void)state;
	struct profile profiles[2];
	size_t length;
	make_two(profiles);
	AUTO_FREE char *page = page_of_two(&profiles[0], &profiles[1], "/tmp/" HOSTILE, -1);
	AUTO_FREE u8 *bytes = data_of(page, &length);
	struct read_data r = read_data(bytes, length);
	assert_int_equal(r.compared, 1);
	assert_int_equal(r.nodes, 5); /* main and what it calls, before or after */
	assert_int_equal(r.entries, 5);
	assert_int_equal(r.count, 2000);
	assert_int_equal(r.was_count, 2000);
	assert_int_equal(r.weight, profile_total_weight(&profiles[1]));
	assert_int_equal(r.was_weight, profile_total_weight(&profiles[0]));
	assert_int_equal(r.verdicts[DIFF_NONE], 2); /* main, same */
	assert_int_equal(r.verdicts[DIFF_LESS], 1);
	assert_int_equal(r.verdicts[DIFF_NEW], 1);
	assert_int_equal(r.verdicts[DIFF_GONE], 1);
	assert_int_equal(r.row_verdicts[DIFF_GONE], 2); /* its self and its total */
	assert_int_equal(count_of(page, "</script"), count_of((char *)report_page, "</script"));
	AUTO_FREE char *facts = between(page, "id=\"facts\">", "</script>");
	assert_null(strpbrk(facts, "<>&\n"));
	assert_non_null(strstr(facts, "\"diff\":{\"before\":{\"file\":\"/tmp/\\u003c/script"));
	assert_non_null(strstr(facts, "\"changed\":4,")); /* main's self came */
	free_data(&r);
	profile_free(&profiles[0]);
	profile_free(&profiles[1]);
}

static void two_profiles_without_memory(void **state)
{
	(void)state;
	struct profile profiles[2];
	char *page = NULL;
	long n = 0;
	make_two(profiles);
	while (!page)
		page = page_of_two(&profiles[0], &profiles[1], "x", n++);
	assert_true(n > 20);
	free(page);
	profile_free(&profiles[0]);
	profile_free(&profiles[1]);
}

static void no_memory_is_said(void **state)
{
	(void)state;
	built_export_without_memory("html", (struct export_options){ 0 }, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_pruned),
		cmocka_unit_test(hostile_texts_stay_in_their_slots),
		cmocka_unit_test(equal_profiles_are_equal_pages),
		cmocka_unit_test(moments_are_whole),
		cmocka_unit_test(moments_cover_the_duration),
		cmocka_unit_test(sources_are_text),
		cmocka_unit_test(native_code_has_both_its_files),
		cmocka_unit_test(an_empty_profile_is_a_page),
		cmocka_unit_test(two_profiles_are_one_page),
		cmocka_unit_test(two_profiles_without_memory),
		cmocka_unit_test(no_memory_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
