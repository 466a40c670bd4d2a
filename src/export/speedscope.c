/* SPDX-License-Identifier: Apache-2.0
 * speedscope.c - the format of www.speedscope.app; its schema is file-format-schema.json in the npm
 * package speedscope.
 *
 *	shared.frames   one for each location, under its number; one more at the end for a stack
 *	                of which nothing was seen
 *	profiles        one "sampled" for each thread, in the order of time when there are times,
 *	                what follows on itself merged; the busiest is shown first
 *	sonde           ours, which speedscope ignores: the quality record
 *
 * speedscope takes a stack for each sample, root first, and reads all of it into memory: 65 MB of
 * JSON can be too much for a browser (speedscope#347).  So there are at most ROWS_MOST samples
 * and about FRAMES_MOST numbers in them, by wider slots of time, and the title says so. */
#include "export/exporter.h"
#include "export/facts.h"
#include "export/sample_rows.h"
#include "export/text_table.h"

#include <errno.h>

enum { ROWS_MOST = 200 * 1000, FRAMES_MOST = 6 * 1000 * 1000 };

struct writing {
	const struct profile *profile;
	struct json json;
	struct text_table texts;
	struct sample_rows rows;
	bool has_weights;
	struct str text;
	VEC(u32) frames; /* of one stack, leaf first */
	bool bad;
};

static u32 rows_most(const struct profile *profile)
{
	u64 depth = 0, count = profile->entries.count;

	for (u32 i = 0; i < count; i++)
		depth += profile->names.stacks.at[profile->entries.at[i].stack].depth;
	u64 most = FRAMES_MOST * (count + 1) / (depth + 1);
	return most < ROWS_MOST ? (u32)most : ROWS_MOST;
}

static void put_string(struct writing *w, const char *key, u32 string)
{
	u32 number = text_table_number(&w->texts, string);
	const struct name_string *text = &w->texts.texts.strings.at[number];

	json_bytes(&w->json, key, text->text, text->length);
}

static void put_text(struct writing *w, const char *key)
{
	w->bad |= w->text.bad;
	json_bytes(&w->json, key, w->text.text ? w->text.text : "", w->text.length);
	str_clear(&w->text);
}

static void put_frames(struct writing *w)
{
	const struct names *names = &w->profile->names;

	json_object(&w->json, "shared");
	json_array(&w->json, "frames");
	for (u32 i = 0; i < names->locations.count; i++) {
		const struct name_location *location = &names->locations.at[i];
		const struct name_function *function = &names->functions.at[location->function];
		json_object(&w->json, NULL);
		json_flat(&w->json);
		if (function->name)
			put_string(w, "name", function->name);
		else
			json_text(&w->json, "name", "(unnamed)");
		if (function->path || function->image)
			put_string(w, "file", function->path ? function->path : function->image);
		if (location->line)
			json_number(&w->json, "line", location->line);
		json_end(&w->json);
	}
	json_object(&w->json, NULL);
	json_flat(&w->json);
	json_text(&w->json, "name", frame_mark_text(MARK_UNREADABLE));
	json_end(&w->json);
	json_end(&w->json);
	json_end(&w->json);
}

static void put_stack(struct writing *w, u32 stack)
{
	const struct names *names = &w->profile->names;

	vec_clear(&w->frames);
	for (u32 s = stack; s && !w->bad; s = names->stacks.at[s].outer)
		w->bad |= !vec_push(&w->frames, names->stacks.at[s].location);
	json_array(&w->json, NULL);
	for (u32 i = w->frames.count; i-- > 0;)
		json_number(&w->json, NULL, w->frames.at[i]);
	if (!stack)
		json_number(&w->json, NULL, names->locations.count);
	json_end(&w->json);
}

static u64 value_of(const struct writing *w, const struct sample_row *row)
{
	return w->has_weights ? row->weight : row->count;
}

/* The first row behind those that are one sample with row `i`. */
static u32 run_end(const struct writing *w, u32 i, u32 end)
{
	u32 next = i + 1;

	while (next < end && w->rows.at[next].stack == w->rows.at[i].stack)
		next++;
	return next;
}

static void put_samples(struct writing *w, u32 first, u32 end)
{
	u64 sum = 0;

	json_array(&w->json, "samples");
	json_flat(&w->json);
	for (u32 i = first; i < end; i = run_end(w, i, end))
		put_stack(w, w->rows.at[i].stack);
	json_end(&w->json);
	json_array(&w->json, "weights");
	json_flat(&w->json);
	for (u32 i = first, next; i < end; i = next) {
		u64 value = 0;
		next = run_end(w, i, end);
		for (u32 k = i; k < next; k++)
			value += value_of(w, &w->rows.at[k]);
		json_number(&w->json, NULL, value);
		sum += value;
	}
	json_end(&w->json);
	json_number(&w->json, "startValue", 0);
	json_number(&w->json, "endValue", sum);
}

static void begin_profile(struct writing *w)
{
	json_object(&w->json, NULL);
	json_text(&w->json, "type", "sampled");
	json_text(&w->json, "unit", w->has_weights ? "nanoseconds" : "none");
}

/* Gives the number of the busiest one. */
static u32 put_profiles(struct writing *w)
{
	const u32 *first = w->rows.first;
	u32 count = 0, busiest = 0;
	u64 most = 0;

	json_array(&w->json, "profiles");
	for (u32 i = 0; i < w->profile->threads.count; i++) {
		u64 sum = 0;
		if (first[i] == first[i + 1])
			continue;
		for (u32 n = first[i]; n < first[i + 1]; n++)
			sum += value_of(w, &w->rows.at[n]);
		if (sum > most)
			most = sum, busiest = count;
		count++;
		begin_profile(w);
		facts_add_thread(&w->text, w->profile, i);
		put_text(w, "name");
		put_samples(w, first[i], first[i + 1]);
		json_end(&w->json);
	}
	if (!count) { /* it cannot show a file without any */
		begin_profile(w);
		json_text(&w->json, "name", "no samples");
		put_samples(w, 0, 0);
		json_end(&w->json);
	}
	json_end(&w->json);
	return busiest;
}

static void put_title(struct writing *w)
{
	u64 slot_ns = w->rows.slot_ns, exact_ns = w->profile->timeline.slot_ns;

	str_add_text(&w->text, w->profile->title ? w->profile->title : "");
	if (!slot_ns)
		str_add_text(&w->text, " (added up by stack: no order of time)");
	else if (slot_ns > exact_ns)
		str_addf(&w->text, " (in time steps of %llu ms, to keep the file small)",
			 (unsigned long long)(slot_ns / 1000000));
	put_text(w, "name");
}

static void speedscope_write(const struct profile *profile, const struct export_options *options,
			     struct out *out)
{
	(void)options; /* threads and weights are always in it */
	struct writing w = { .profile = profile, .json = json_make(out) };

	w.has_weights = profile_total_weight(profile) > 0;
	w.bad = !profile->names.stacks.count || !text_table_init(&w.texts, &profile->names) ||
		!sample_rows_make(&w.rows, profile, rows_most(profile));
	if (!w.bad) {
		json_object(&w.json, NULL);
		json_text(&w.json, "$schema", "https://www.speedscope.app/file-format-schema.json");
		json_text(&w.json, "exporter", "sonde@" SONDE_VERSION);
		put_title(&w);
		put_frames(&w);
		json_number(&w.json, "activeProfileIndex", put_profiles(&w));
		facts_json_quality(&w.json, "sonde", &profile->quality);
		json_end(&w.json);
	}
	if ((w.bad || w.texts.bad) && !out->errnum)
		out->errnum = ENOMEM;
	text_table_free(&w.texts);
	sample_rows_free(&w.rows);
	str_free(&w.text);
	vec_free(&w.frames);
}

const struct exporter speedscope_exporter = {
	.name = "speedscope",
	.extension = ".speedscope.json",
	.summary = "a timeline of each thread, for www.speedscope.app",
	.write = speedscope_write,
};
