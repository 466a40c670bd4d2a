/* SPDX-License-Identifier: Apache-2.0
 * firefox.c - the processed format of profiler.firefox.com, version 66; Perfetto reads it too.
 *
 * Its documentation is src/types/profile.ts and docs-developer/CHANGELOG-formats.md of
 * github.com/firefox-devtools/profiler, which upgrades every older version when it loads one.
 *
 *	shared.stackTable   stack n of `names` is row n - 1; its parent is `prefixOffset` rows
 *	                    above, 0: it has none
 *	frameTable          locations, under their numbers; funcTable: functions
 *	                    (one more of each at the end, for a stack of which nothing was seen)
 *	sources.content     the text of a file, if it was recorded: no server is asked for it
 *	threads             samples with their times; CPU time makes the lane of CPU use
 *	markers             the recording with its quality record, and what was lost, by cause
 *
 * Without a timeline samples follow each other a period apart, and meta.importedFrom says so. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/path.h"
#include "export/exporter.h"
#include "export/facts.h"
#include "export/kinds.h"
#include "export/sample_rows.h"
#include "export/text_table.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	VERSION = 66,
	GECKO_VERSION = 24,
	ROWS_MOST = 4 << 20,
	NS_PLACES = 6, /* of milliseconds */
	INTERVAL = 1,  /* a marker's phase */
	RESOURCE_LIBRARY = 1,
};

struct writing {
	const struct profile *profile;
	struct json json;
	struct text_table texts;
	struct sample_rows rows;
	bool has_weights, is_cpu;
	u32 *source_of;   /* by string of the profile: source + 1 */
	u32 *library_of;  /* ... library + 1 */
	u32 *content_of;  /* ... the text of the file, a string */
	VEC(u32) sources; /* paths, strings */
	VEC(u32) libraries;
	bool bad;
};

/* A column of `count` rows: the value of row i, a number or null. */
#define COLUMN(w, key, count, value)                            \
	do {                                                    \
		json_array(&(w)->json, (key));                  \
		json_flat(&(w)->json);                          \
		for (u32 i = 0; i < (count); i++)               \
			json_number(&(w)->json, NULL, (value)); \
		json_end(&(w)->json);                           \
	} while (0)

/* 0 becomes null. */
#define COLUMN_OR_NULL(w, key, count, value)                           \
	do {                                                           \
		json_array(&(w)->json, (key));                         \
		json_flat(&(w)->json);                                 \
		for (u32 i = 0; i < (count); i++) {                    \
			u64 number = (value);                          \
			if (number)                                    \
				json_number(&(w)->json, NULL, number); \
			else                                           \
				json_null(&(w)->json, NULL);           \
		}                                                      \
		json_end(&(w)->json);                                  \
	} while (0)

/* `what` for every row, JSON as it is. */
static void constant_column(struct writing *w, const char *key, u32 count, const char *what)
{
	json_array(&w->json, key);
	json_flat(&w->json);
	for (u32 i = 0; i < count; i++)
		json_literal(&w->json, NULL, what);
	json_end(&w->json);
}

static void put_text(struct writing *w, const char *key, u32 string)
{
	u32 number = text_table_number(&w->texts, string);
	const struct name_string *text = &w->texts.texts.strings.at[number];

	json_bytes(&w->json, key, text->text, text->length);
}

static void put_str(struct writing *w, const char *key, struct str *text)
{
	w->bad |= text->bad;
	json_bytes(&w->json, key, text->text ? text->text : "", text->length);
	str_free(text);
}

/* ---- what is shared by all threads ---- */

static void note(struct writing *w, u32 *number_of, u32 string)
{
	bool is_source = number_of == w->source_of;

	if (!string || number_of[string] || w->bad)
		return;
	w->bad |= is_source ? !vec_push(&w->sources, string) : !vec_push(&w->libraries, string);
	number_of[string] = is_source ? w->sources.count : w->libraries.count;
}

static void find_files(struct writing *w)
{
	const struct profile *p = w->profile;

	for (u32 i = 0; i < p->names.functions.count; i++) {
		note(w, w->source_of, p->names.functions.at[i].path);
		note(w, w->library_of, p->names.functions.at[i].image);
	}
	for (u32 i = 0; i < p->mappings.count; i++)
		note(w, w->library_of, p->mappings.at[i].path);
	for (u32 i = 0; i < p->sources.count; i++)
		w->content_of[p->sources.at[i].path] = p->sources.at[i].text;
}

/* Breakpad's id of a GNU build id: a GUID of its first 16 bytes, which has three little-endian
 * parts, and the age 0. */
static void breakpad_id(const char *hex, char out[34])
{
	static const u8 from[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	u32 used = 0;

	if (strlen(hex) >= 32) {
		for (u32 i = 0; i < COUNT_OF(from); i++)
			for (u32 digit = 0; digit < 2; digit++)
				out[used++] = (char)toupper((u8)hex[from[i] * 2 + digit]);
		out[used++] = '0';
	}
	out[used] = 0;
}

static const char *build_id_of(const struct profile *p, u32 path)
{
	for (u32 i = 0; i < p->mappings.count; i++)
		if (p->mappings.at[i].path == path && p->mappings.at[i].build_id)
			return p->names.strings.at[p->mappings.at[i].build_id].text;
	return "";
}

/* A path's last part, as a string of ours. */
static u32 base_name(struct writing *w, u32 path)
{
	u32 number = text_table_number(&w->texts, path);
	const char *text = w->texts.texts.strings.at[number].text;

	return text_table_literal(&w->texts, path_base(text));
}

static void put_libraries(struct writing *w)
{
	json_array(&w->json, "libs");
	for (u32 i = 0; i < w->libraries.count; i++) {
		u32 path = w->libraries.at[i];
		const char *build_id = build_id_of(w->profile, path);
		u32 name = base_name(w, path); /* first: the table may move */
		const char *base = w->texts.texts.strings.at[name].text;
		char breakpad[34];

		breakpad_id(build_id, breakpad);
		json_object(&w->json, NULL);
		json_text(&w->json, "arch", "x86_64");
		json_text(&w->json, "name", base);
		json_text(&w->json, "debugName", base);
		put_text(w, "path", path);
		put_text(w, "debugPath", path);
		json_text(&w->json, "breakpadId", breakpad);
		if (*build_id)
			json_text(&w->json, "codeId", build_id);
		else
			json_null(&w->json, "codeId");
		json_end(&w->json);
	}
	json_end(&w->json);
}

static void put_sources(struct writing *w)
{
	const struct names *names = &w->profile->names;
	u32 count = w->sources.count;

	json_object(&w->json, "sources");
	constant_column(w, "id", count, "null");
	COLUMN(w, "filename", count, text_table_number(&w->texts, w->sources.at[i]));
	constant_column(w, "startLine", count, "1");
	constant_column(w, "startColumn", count, "1");
	constant_column(w, "sourceMapURL", count, "null");
	json_array(&w->json, "content");
	for (u32 i = 0; i < count; i++) {
		const struct name_string *text =
			&names->strings.at[w->content_of[w->sources.at[i]]];
		if (w->content_of[w->sources.at[i]])
			json_bytes(&w->json, NULL, text->text, text->length);
		else
			json_null(&w->json, NULL);
	}
	json_end(&w->json);
	json_number(&w->json, "length", count);
	json_end(&w->json);
}

static u32 function_name(struct writing *w, u32 number)
{
	const struct names *names = &w->profile->names;

	if (number == names->functions.count)
		return text_table_literal(&w->texts, frame_mark_text(MARK_UNREADABLE));
	u32 name = names->functions.at[number].name;
	return name ? text_table_number(&w->texts, name) :
		      text_table_literal(&w->texts, "(unnamed)");
}

static void put_functions(struct writing *w)
{
	static const struct name_function none;
	const struct names *names = &w->profile->names;
	u32 count = names->functions.count + 1;
#define FUNCTION(i) (*((i) < names->functions.count ? &names->functions.at[i] : &none))

	json_object(&w->json, "funcTable");
	COLUMN(w, "name", count, function_name(w, i));
	constant_column(w, "isJS", count, "false");
	constant_column(w, "relevantForJS", count, "false");
	json_array(&w->json, "resource");
	json_flat(&w->json);
	for (u32 i = 0; i < count; i++) {
		u32 library = w->library_of[FUNCTION(i).image];
		if (library)
			json_number(&w->json, NULL, library - 1);
		else
			json_literal(&w->json, NULL, "-1");
	}
	json_end(&w->json);
	json_array(&w->json, "source");
	json_flat(&w->json);
	for (u32 i = 0; i < count; i++) {
		u32 source = w->source_of[FUNCTION(i).path];
		if (source)
			json_number(&w->json, NULL, source - 1);
		else
			json_null(&w->json, NULL);
	}
	json_end(&w->json);
	COLUMN_OR_NULL(w, "lineNumber", count, FUNCTION(i).first_line);
	constant_column(w, "columnNumber", count, "null");
	constant_column(w, "originalLocation", count, "null");
	json_number(&w->json, "length", count);
	json_end(&w->json);
#undef FUNCTION
}

static void put_frames(struct writing *w)
{
	static const struct name_location none;
	const struct names *names = &w->profile->names;
	u32 known = names->locations.count, count = known + 1;
#define LOCATION(i) (*((i) < known ? &names->locations.at[i] : &none))

	json_object(&w->json, "frameTable");
	/* A symbol has been found already, and the profiler would take an address for the offset in
	 * the library's segment, which ours is not. */
	constant_column(w, "address", count, "-1");
	constant_column(w, "inlineDepth", count, "0");
	COLUMN(w, "category", count, i < known ? kind_of(names, LOCATION(i).function) : 0);
	constant_column(w, "subcategory", count, "0");
	COLUMN(w, "func", count, i < known ? LOCATION(i).function : names->functions.count);
	constant_column(w, "nativeSymbol", count, "null");
	constant_column(w, "innerWindowID", count, "0");
	COLUMN_OR_NULL(w, "line", count, LOCATION(i).line);
	constant_column(w, "column", count, "null");
	constant_column(w, "originalLocation", count, "null");
	json_number(&w->json, "length", count);
	json_end(&w->json);
#undef LOCATION
}

/* An outer stack's number is below its own, so parents come first, which the reader insists on. */
static void put_stacks(struct writing *w)
{
	const struct names *names = &w->profile->names;
	const struct name_stack *stacks = names->stacks.at + 1;
	u32 known = names->stacks.count - 1;

	json_object(&w->json, "stackTable");
	COLUMN(w, "frame", known + 1, i < known ? stacks[i].location : names->locations.count);
	COLUMN(w, "prefixOffset", known + 1,
	       i < known && stacks[i].outer ? i + 1 - stacks[i].outer : 0);
	json_number(&w->json, "length", known + 1);
	json_end(&w->json);
}

static void put_resources(struct writing *w)
{
	u32 count = w->libraries.count;

	json_object(&w->json, "resourceTable");
	COLUMN(w, "lib", count, i);
	COLUMN(w, "name", count, base_name(w, w->libraries.at[i]));
	constant_column(w, "host", count, "null");
	COLUMN(w, "type", count, RESOURCE_LIBRARY);
	json_number(&w->json, "length", count);
	json_end(&w->json);
}

/* `columns`: names with a blank between two. */
static void empty_table(struct writing *w, const char *key, const char *columns)
{
	json_object(&w->json, key);
	for (size_t length; *columns; columns += length + (columns[length] == ' ')) {
		char name[32];
		length = strcspn(columns, " ");
		snprintf(name, sizeof name, "%.*s", (int)length, columns);
		json_array(&w->json, name);
		json_end(&w->json);
	}
	json_number(&w->json, "length", 0);
	json_end(&w->json);
}

static void put_shared(struct writing *w)
{
	const struct names *texts = &w->texts.texts;

	json_object(&w->json, "shared");
	put_sources(w);
	put_functions(w);
	put_frames(w);
	put_stacks(w);
	put_resources(w);
	empty_table(w, "nativeSymbols", "libIndex address name functionSize");
	empty_table(w, "sourceLocationTable", "source line column");
	/* Last: the others add to it. */
	json_array(&w->json, "stringArray");
	for (u32 i = 0; i < texts->strings.count; i++)
		json_bytes(&w->json, NULL, texts->strings.at[i].text, texts->strings.at[i].length);
	json_end(&w->json);
	json_end(&w->json);
}

/* ---- threads ---- */

static u64 weight_of(const struct writing *w, const struct sample_row *row)
{
	return w->has_weights ? row->weight : row->count;
}

static void put_times(struct writing *w, u32 first, u32 end)
{
	u64 before = 0, now = 0, period_ns = facts_period_ns(w->profile);

	json_array(&w->json, "timeDeltas");
	json_flat(&w->json);
	for (u32 i = first; i < end; i++) {
		if (w->rows.slot_ns)
			now = w->rows.at[i].time_ns;
		json_fixed(&w->json, NULL, now - before, NS_PLACES);
		before = now;
		now += w->rows.at[i].count * period_ns;
	}
	json_end(&w->json);
}

static void put_samples(struct writing *w, u32 first, u32 end)
{
	const struct sample_row *rows = w->rows.at + first;
	u32 nothing = w->profile->names.stacks.count - 1;

	json_object(&w->json, "samples");
	COLUMN(w, "stack", end - first, rows[i].stack ? rows[i].stack - 1 : nothing);
	put_times(w, first, end);
	json_array(&w->json, "weight");
	json_flat(&w->json);
	for (u32 i = first; i < end; i++)
		json_fixed(&w->json, NULL, weight_of(w, &w->rows.at[i]),
			   w->has_weights ? NS_PLACES : 0);
	json_end(&w->json);
	json_text(&w->json, "weightType", w->has_weights ? "tracing-ms" : "samples");
	if (w->is_cpu && w->rows.slot_ns) /* microseconds */
		COLUMN(w, "threadCPUDelta", end - first, rows[i].weight / 1000);
	json_number(&w->json, "length", end - first);
	json_end(&w->json);
}

static void add_field(void *arg, const char *name, u64 value)
{
	json_number(arg, name, value);
}

static u32 lost_markers(const struct quality *q)
{
	u32 count = 0;
#define X(name, text) count += q->lost.name != 0;
	QUALITY_LOSSES(X)
#undef X
	return count;
}

static void put_lost(struct writing *w)
{
	const struct quality *q = &w->profile->quality;

#define X(name, text)                                            \
	if (q->lost.name) {                                      \
		json_object(&w->json, NULL);                     \
		json_text(&w->json, "type", "sonde lost");       \
		json_text(&w->json, "cause", text);              \
		json_number(&w->json, "attempts", q->lost.name); \
		json_end(&w->json);                              \
	}
	QUALITY_LOSSES(X)
#undef X
}

/* They are of the whole run, so the first thread has them. */
static void put_markers(struct writing *w, bool has_them)
{
	const struct profile *p = w->profile;
	u32 count = has_them ? 1 + lost_markers(&p->quality) : 0;
	u32 recording = text_table_literal(&w->texts, "sonde recording");
	u32 lost = text_table_literal(&w->texts, "Samples lost");

	json_object(&w->json, "markers");
	json_array(&w->json, "data");
	if (has_them) {
		struct str words = { 0 };
		json_object(&w->json, NULL);
		json_text(&w->json, "type", "sonde recording");
		facts_add_quality(&words, p);
		put_str(w, "summary", &words);
		json_text(&w->json, "engine", p->quality.engine);
		facts_each_count(&p->quality, add_field, &w->json);
		json_end(&w->json);
		put_lost(w);
	}
	json_end(&w->json);
	COLUMN(w, "name", count, i ? lost : recording);
	constant_column(w, "startTime", count, "0");
	json_array(&w->json, "endTime");
	for (u32 i = 0; i < count; i++)
		json_fixed(&w->json, NULL, p->duration_ns, NS_PLACES);
	json_end(&w->json);
	COLUMN(w, "phase", count, INTERVAL);
	constant_column(w, "category", count, "0");
	json_number(&w->json, "length", count);
	json_end(&w->json);
}

static int by_pid(const void *a, const void *b, void *profile)
{
	const struct profile_process *processes = ((const struct profile *)profile)->processes.at;
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	if (processes[x].pid != processes[y].pid)
		return processes[x].pid < processes[y].pid ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* By process: how many before it had the same pid. */
static bool number_pids(const struct profile *p, u32 *nth_of)
{
	u32 count = p->processes.count;
	AUTO_FREE u32 *sorted = calloc((size_t)count + 1, sizeof *sorted);

	if (!sorted)
		return false;
	for (u32 i = 0; i < count; i++)
		sorted[i] = i;
	qsort_r(sorted, count, sizeof *sorted, by_pid, (void *)(uintptr_t)p);
	for (u32 i = 1; i < count; i++)
		if (p->processes.at[sorted[i]].pid == p->processes.at[sorted[i - 1]].pid)
			nth_of[sorted[i]] = nth_of[sorted[i - 1]] + 1;
	return true;
}

/* "42", "42.1" for another process that had it: an id tells processes apart here. */
static void put_pid(struct writing *w, u32 process, u32 nth)
{
	char text[32];

	if (nth)
		snprintf(text, sizeof text, "%u.%u", w->profile->processes.at[process].pid, nth);
	else
		snprintf(text, sizeof text, "%u", w->profile->processes.at[process].pid);
	json_text(&w->json, "pid", text);
}

static void put_tid(struct writing *w, u32 tid, u32 nth)
{
	char text[32];

	snprintf(text, sizeof text, "%u.%u", tid, nth);
	if (nth)
		json_text(&w->json, "tid", text);
	else
		json_number(&w->json, "tid", tid);
}

/* `pids`: which of those with the same pid each process is. */
static void put_thread(struct writing *w, u32 number, const u32 *pids, bool is_first)
{
	const struct profile *p = w->profile;
	const struct profile_thread *thread = &p->threads.at[number];
	const struct profile_process *process = &p->processes.at[thread->process];

	json_object(&w->json, NULL);
	put_text(w, "name", thread->name);
	json_bool(&w->json, "isMainThread", thread->tid == process->pid && !thread->nth);
	json_text(&w->json, "processType", "default");
	put_text(w, "processName", process->name);
	put_pid(w, thread->process, pids[thread->process]);
	put_tid(w, thread->tid, thread->nth);
	json_number(&w->json, "processStartupTime", 0);
	json_null(&w->json, "processShutdownTime");
	json_number(&w->json, "registerTime", 0);
	json_null(&w->json, "unregisterTime");
	json_array(&w->json, "pausedRanges");
	json_end(&w->json);
	json_bool(&w->json, "showMarkersInTimeline", is_first);
	put_markers(w, is_first);
	put_samples(w, w->rows.first[number], w->rows.first[number + 1]);
	json_end(&w->json);
}

static void put_threads(struct writing *w)
{
	const struct profile *p = w->profile;
	AUTO_FREE u32 *pids = calloc((size_t)p->processes.count + 1, sizeof *pids);

	if (!pids || !number_pids(p, pids)) {
		w->bad = true;
		return;
	}
	json_array(&w->json, "threads");
	for (u32 i = 0, written = 0; i < p->threads.count; i++)
		if (w->rows.first[i] != w->rows.first[i + 1])
			put_thread(w, i, pids, !written++);
	json_end(&w->json);
}

/* ---- meta ---- */

static void put_field(void *arg, const char *name, u64 value)
{
	struct json *json = arg;

	(void)value;
	json_object(json, NULL);
	json_flat(json);
	json_text(json, "key", name);
	json_text(json, "label", name);
	json_text(json, "format", strstr(name, "_ns") ? "nanoseconds" : "integer");
	json_end(json);
}

static void text_field(struct json *json, const char *key, const char *label, const char *format)
{
	json_object(json, NULL);
	json_flat(json);
	json_text(json, "key", key);
	json_text(json, "label", label);
	json_text(json, "format", format);
	json_end(json);
}

static void begin_schema(struct json *json, const char *name, const char *label,
			 const char *description)
{
	json_object(json, NULL);
	json_text(json, "name", name);
	json_text(json, "tooltipLabel", name);
	json_text(json, "tableLabel", label);
	json_text(json, "chartLabel", label);
	json_text(json, "description", description);
	json_array(json, "display");
	json_flat(json);
	json_text(json, NULL, "marker-chart");
	json_text(json, NULL, "marker-table");
	json_text(json, NULL, "timeline-overview");
	json_end(json);
	json_array(json, "fields");
}

static void put_schemas(struct writing *w)
{
	struct json *json = &w->json;

	json_array(json, "markerSchema");
	begin_schema(json, "sonde recording", "{marker.data.summary}",
		     "What was asked for, what came, and what was lost and why.");
	text_field(json, "summary", "Quality", "string");
	text_field(json, "engine", "Engine", "string");
	facts_each_count(&w->profile->quality, put_field, json);
	json_end(json);
	json_end(json);
	begin_schema(json, "sonde lost", "{marker.data.attempts} lost: {marker.data.cause}",
		     "Attempts to take a sample that gave none, somewhere in the recording.");
	text_field(json, "cause", "Cause", "string");
	text_field(json, "attempts", "Attempts", "integer");
	json_end(json);
	json_end(json);
	json_end(json);
}

static void put_categories(struct writing *w)
{
	struct json *json = &w->json;

	json_array(json, "categories");
	for (u32 i = 0; i < kind_count; i++) {
		json_object(json, NULL);
		json_flat(json);
		json_text(json, "name", i ? kinds[i].label : "Other");
		json_text(json, "color", kinds[i].firefox);
		json_array(json, "subcategories");
		json_text(json, NULL, "Other");
		json_end(json);
		json_end(json);
	}
	json_end(json);
}

static void put_info(struct json *json, const char *label, const char *value)
{
	json_object(json, NULL);
	json_flat(json);
	json_text(json, "label", label);
	json_text(json, "format", "string");
	json_text(json, "value", value);
	json_end(json);
}

static void put_extra(struct writing *w)
{
	const struct profile *p = w->profile;
	struct str words = { 0 };

	json_array(&w->json, "extra");
	json_object(&w->json, NULL);
	json_text(&w->json, "label", "Recording");
	json_array(&w->json, "entries");
	facts_add_quality(&words, p);
	w->bad |= words.bad;
	put_info(&w->json, "Quality", words.text ? words.text : "");
	put_info(&w->json, "Command", p->command ? p->command : "");
	put_info(&w->json, "Mode", p->mode ? p->mode : "");
	str_free(&words);
	json_end(&w->json);
	json_end(&w->json);
	json_end(&w->json);
}

static void put_meta(struct writing *w)
{
	const struct profile *p = w->profile;
	struct json *json = &w->json;

	json_object(json, "meta");
	json_number(json, "version", GECKO_VERSION);
	json_number(json, "preprocessedProfileVersion", VERSION);
	json_fixed(json, "interval", facts_period_ns(p), NS_PLACES);
	json_fixed(json, "startTime", p->start_unix_ns, NS_PLACES);
	json_fixed(json, "endTime", p->start_unix_ns + p->duration_ns, NS_PLACES);
	json_number(json, "profilingStartTime", 0);
	json_fixed(json, "profilingEndTime", p->duration_ns, NS_PLACES);
	json_number(json, "processType", 0);
	json_text(json, "product", p->title ? p->title : "");
	json_text(json, "importedFrom",
		  w->rows.slot_ns ? "sonde " SONDE_VERSION :
				    "sonde " SONDE_VERSION " (samples without times)");
	json_number(json, "stackwalk", 1);
	json_bool(json, "debug", false);
	json_bool(json, "symbolicated", true);
	json_bool(json, "symbolicationNotSupported", true);
	json_bool(json, "usesOnlyOneStackType", true);
	json_bool(json, "sourceCodeIsNotOnSearchfox", true);
	json_text(json, "platform", "X11"); /* the profiler's word for Linux */
	json_object(json, "sampleUnits");
	json_text(json, "time", "ms");
	json_text(json, "eventDelay", "ms");
	json_text(json, "threadCPUDelta", "\xc2\xb5s");
	json_end(json);
	put_categories(w);
	put_schemas(w);
	put_extra(w);
	json_end(json);
}

static void firefox_write(const struct profile *profile, const struct export_options *options,
			  struct out *out)
{
	(void)options; /* threads and weights are always in it */
	struct writing w = { .profile = profile, .json = json_make(out) };
	size_t strings = profile->names.strings.count + 1;

	w.has_weights = profile_total_weight(profile) > 0;
	w.is_cpu = w.has_weights && !strcmp(facts_weight_type(profile), "cpu");
	w.source_of = calloc(strings, sizeof *w.source_of);
	w.library_of = calloc(strings, sizeof *w.library_of);
	w.content_of = calloc(strings, sizeof *w.content_of);
	w.bad = !profile->names.stacks.count || !w.source_of || !w.library_of || !w.content_of ||
		!text_table_init(&w.texts, &profile->names) ||
		!sample_rows_make(&w.rows, profile, ROWS_MOST);
	if (!w.bad)
		find_files(&w);
	if (!w.bad) {
		json_object(&w.json, NULL);
		put_meta(&w);
		put_libraries(&w);
		put_threads(&w);
		put_shared(&w);
		json_end(&w.json);
	}
	if ((w.bad || w.texts.bad) && !out->errnum)
		out->errnum = ENOMEM;
	text_table_free(&w.texts);
	sample_rows_free(&w.rows);
	free(w.source_of);
	free(w.library_of);
	free(w.content_of);
	vec_free(&w.sources);
	vec_free(&w.libraries);
}

const struct exporter firefox_exporter = {
	.name = "firefox",
	.extension = ".firefox.json",
	.summary = "times, threads and source text, for profiler.firefox.com and Perfetto",
	.write = firefox_write,
};
