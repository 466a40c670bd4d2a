/* SPDX-License-Identifier: Apache-2.0
 * json.c - the whole profile as JSON that explains itself, for programs of one's own.
 *
 * Tables as in memory (sample/names.h, profile/profile.h): each says what it is, names its
 * columns and has its rows, and a row's number is its place, from 0.  Names and columns stay;
 * columns are only ever added at the end. */
#include "export/exporter.h"
#include "export/facts.h"
#include "export/text_table.h"

#include <errno.h>
#include <string.h>

enum { FORMAT_VERSION = 1 };

struct writing {
	const struct profile *profile;
	struct json json;
	struct text_table texts;
};

static u32 text(struct writing *w, u32 string)
{
	return text_table_number(&w->texts, string);
}

/* `columns` are names with a blank between two. */
static void begin_table(struct writing *w, const char *name, const char *about, const char *columns)
{
	json_object(&w->json, name);
	json_text(&w->json, "about", about);
	json_array(&w->json, "columns");
	json_flat(&w->json);
	while (*columns) {
		size_t length = strcspn(columns, " ");
		json_bytes(&w->json, NULL, columns, length);
		columns += length + (columns[length] == ' ');
	}
	json_end(&w->json);
	json_array(&w->json, "rows");
}

static void end_table(struct writing *w)
{
	json_end(&w->json);
	json_end(&w->json);
}

static void put_row(struct writing *w, const u64 *values, u32 count)
{
	json_array(&w->json, NULL);
	json_flat(&w->json);
	for (u32 i = 0; i < count; i++)
		json_number(&w->json, NULL, values[i]);
	json_end(&w->json);
}

#define PUT_ROW(w, ...) \
	put_row((w), (const u64[]){ __VA_ARGS__ }, COUNT_OF(((const u64[]){ __VA_ARGS__ })))

static void put_names(struct writing *w)
{
	const struct names *names = &w->profile->names;

	begin_table(
		w, "functions",
		"where code is written; name, path, language and image are strings, the image is "
		"the file of native code, flag 4 is a function of the runtime written in C, flag 32 one that was inlined into its caller, line "
		"0 is unknown",
		"name path language first_line flags image");
	for (u32 i = 0; i < names->functions.count; i++) {
		const struct name_function *f = &names->functions.at[i];
		PUT_ROW(w, text(w, f->name), text(w, f->path), text(w, f->language), f->first_line,
			f->flags, text(w, f->image));
	}
	end_table(w);
	begin_table(w, "locations",
		    "where a function stood; line 0 is unknown, the address is one in the "
		    "function's image",
		    "function line address");
	for (u32 i = 0; i < names->locations.count; i++) {
		const struct name_location *l = &names->locations.at[i];
		PUT_ROW(w, l->function, l->line, l->address);
	}
	end_table(w);
	begin_table(w, "stacks",
		    "a frame on an outer stack; the outer one comes first, and stack 0 is empty",
		    "outer location depth");
	for (u32 i = 0; i < names->stacks.count; i++) {
		const struct name_stack *s = &names->stacks.at[i];
		PUT_ROW(w, s->outer, s->location, s->depth);
	}
	end_table(w);
}

static void put_world(struct writing *w)
{
	const struct profile *p = w->profile;

	begin_table(w, "processes", "start_time is in clock ticks since boot, name is a string",
		    "pid start_time name");
	for (u32 i = 0; i < p->processes.count; i++)
		PUT_ROW(w, p->processes.at[i].pid, p->processes.at[i].start_time,
			text(w, p->processes.at[i].name));
	end_table(w);
	begin_table(w, "threads", "of a process; name is a string", "process tid name");
	for (u32 i = 0; i < p->threads.count; i++)
		PUT_ROW(w, p->threads.at[i].process, p->threads.at[i].tid,
			text(w, p->threads.at[i].name));
	end_table(w);
	begin_table(w, "mappings",
		    "files of native code in a process's memory; path and build_id (hex, or empty) "
		    "are strings",
		    "process start end offset path build_id");
	for (u32 i = 0; i < p->mappings.count; i++) {
		const struct profile_mapping *m = &p->mappings.at[i];
		PUT_ROW(w, m->process, m->start, m->end, m->offset, text(w, m->path),
			text(w, m->build_id));
	}
	end_table(w);
}

static void put_entries(struct writing *w)
{
	const struct profile *p = w->profile;

	begin_table(
		w, "entries",
		"the samples: a stack of a thread, in how many samples it was seen, and what they "
		"weigh in nanoseconds",
		"thread stack count weight_ns");
	for (u32 i = 0; i < p->entries.count; i++) {
		const struct profile_entry *e = &p->entries.at[i];
		PUT_ROW(w, e->thread, e->stack, e->count, e->weight);
	}
	end_table(w);
	json_number(&w->json, "timeline_slot_ns", p->timeline.slot_ns);
	begin_table(
		w, "timeline",
		"when: in the slot from slot * timeline_slot_ns after the start, so many samples of "
		"an entry; no rows when that was not recorded",
		"slot entry count");
	for (u32 i = 0; i < p->timeline.cells.count; i++) {
		const struct timeline_cell *c = &p->timeline.cells.at[i];
		PUT_ROW(w, c->slot, c->entry, c->count);
	}
	end_table(w);
}

/* What the rows above asked for, so it comes after them; sources as they are. */
static void put_strings(struct writing *w)
{
	const struct profile *p = w->profile;

	json_object(&w->json, "sources");
	json_text(&w->json, "about", "files of source as they were when it was recorded, by path");
	json_object(&w->json, "files");
	for (u32 i = 0; i < p->sources.count; i++) {
		const struct name_string *body = &p->names.strings.at[p->sources.at[i].text];
		u32 path = text(w, p->sources.at[i].path);
		json_bytes(&w->json, w->texts.texts.strings.at[path].text, body->text,
			   body->length);
	}
	json_end(&w->json);
	json_end(&w->json);
	json_object(&w->json, "strings");
	json_text(&w->json, "about",
		  "number 0 is the empty one. Control characters and bytes that are not UTF-8 are "
		  "written \\xNN, a newline \\n, and a backslash before x or n \\x5c");
	json_array(&w->json, "rows");
	for (u32 i = 0; i < w->texts.texts.strings.count; i++)
		json_bytes(&w->json, NULL, w->texts.texts.strings.at[i].text,
			   w->texts.texts.strings.at[i].length);
	end_table(w);
}

static void put_all(struct writing *w)
{
	const struct profile *p = w->profile;
	struct json *json = &w->json;

	json_object(json, NULL);
	json_text(json, "format", "sonde profile");
	json_number(json, "version", FORMAT_VERSION);
	json_text(json, "about",
		  "A table has columns and rows; the number of a row is its place in it, from 0. "
		  "What a column refers to is the row of that number.");
	json_text(json, "sonde", SONDE_VERSION);
	json_text(json, "title", p->title ? p->title : "");
	json_text(json, "command", p->command ? p->command : "");
	json_text(json, "mode", p->mode ? p->mode : "");
	json_number(json, "hz", p->hz);
	json_number(json, "start_unix_ns", p->start_unix_ns);
	json_number(json, "duration_ns", p->duration_ns);
	json_number(json, "total_count", profile_total_count(p));
	json_number(json, "total_weight_ns", profile_total_weight(p));
	json_bool(json, "is_whole", !p->bad && !p->names.bad);
	facts_json_quality(json, "quality", &p->quality);
	put_entries(w);
	put_world(w);
	put_names(w);
	put_strings(w);
	json_end(json);
}

static void json_write(const struct profile *profile, const struct export_options *options,
		       struct out *out)
{
	(void)options; /* everything is in it */
	struct writing w = { .profile = profile, .json = json_make(out) };
	bool good = profile->names.stacks.count && text_table_init(&w.texts, &profile->names);

	if (good)
		put_all(&w);
	if ((!good || w.texts.bad) && !out->errnum)
		out->errnum = ENOMEM;
	text_table_free(&w.texts);
}

const struct exporter json_exporter = {
	.name = "json",
	.extension = ".json",
	.summary = "everything that is known, in tables that explain themselves",
	.write = json_write,
};
