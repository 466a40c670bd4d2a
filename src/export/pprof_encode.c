/* SPDX-License-Identifier: Apache-2.0
 * pprof_encode.c - profile.proto of github.com/google/pprof, which is the specification.
 *
 *	sample     one for each stack of a thread: [samples/count, cpu|wall|lock/nanoseconds],
 *	           leaf first, labels thread_id, thread_name, pid
 *	location   one Line each, ids 1..N in order (Parca insists); a number of `names` is the
 *	           id, and the unnamed 0 stands at the end if it is needed at all
 *	mapping    those of the profile; native addresses are put back to where they ran
 *	period     always there, for every mode: a server that finds none may crash (Parca 0.28)
 *	comment    version, command, every count of the quality record
 *
 * system_name stays empty on purpose: pprof "demangles" a name that equals it, and would
 * make "(garbage collection)" of a mark empty. */
#include "export/pprof_encode.h"

#include "export/facts.h"
#include "export/mappings.h"
#include "export/proto.h"
#include "base/text.h"
#include "export/text_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Field numbers, as in profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING_TABLE,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_COMMENT,
	PROFILE_DEFAULT_SAMPLE_TYPE,

	VALUE_TYPE_TYPE = 1,
	VALUE_TYPE_UNIT,

	SAMPLE_LOCATION_ID = 1,
	SAMPLE_VALUE,
	SAMPLE_LABEL,

	LABEL_KEY = 1,
	LABEL_STR,
	LABEL_NUM,

	MAPPING_ID = 1,
	MAPPING_START,
	MAPPING_LIMIT,
	MAPPING_OFFSET,
	MAPPING_FILENAME,
	MAPPING_BUILD_ID,
	MAPPING_HAS_FUNCTIONS,

	LOCATION_ID = 1,
	LOCATION_MAPPING_ID,
	LOCATION_ADDRESS,
	LOCATION_LINE,

	LINE_FUNCTION_ID = 1,
	LINE_LINE,

	FUNCTION_ID = 1,
	FUNCTION_NAME,
	FUNCTION_FILENAME = 4,
	FUNCTION_START_LINE,
};

enum { FLUSH_AT = 64 * 1024 };

struct encoding {
	const struct profile *profile;
	const struct sink *sink;
	struct mapping_ranges ranges;
	struct text_table strings;
	struct str body;    /* fields of Profile that wait to be flushed */
	struct str message; /* the one being built */
	struct str inner;   /* a message within */
	VEC(u64) ids;
	bool bad;
};

static u32 literal(struct encoding *e, const char *text)
{
	return text_table_literal(&e->strings, text);
}

static u32 text_index(struct encoding *e, u32 string)
{
	return text_table_number(&e->strings, string);
}

static void flush(struct encoding *e)
{
	e->bad |= e->body.bad || e->strings.bad;
	if (!e->bad)
		sink_bytes(e->sink, e->body.text, e->body.length);
	str_clear(&e->body);
}

/* The message is whole: it becomes a field of Profile. */
static void put(struct encoding *e, u32 field)
{
	e->bad |= e->message.bad;
	proto_bytes(&e->body, field, e->message.text, e->message.length);
	str_clear(&e->message);
	if (e->body.length >= FLUSH_AT)
		flush(e);
}

/* ... or a field of the message, when it was the inner one. */
static void put_inner(struct encoding *e, u32 field)
{
	e->bad |= e->inner.bad;
	proto_bytes(&e->message, field, e->inner.text, e->inner.length);
	str_clear(&e->inner);
}

static void put_value_type(struct encoding *e, u32 field, const char *type, const char *unit)
{
	proto_uint(&e->message, VALUE_TYPE_TYPE, literal(e, type));
	proto_uint(&e->message, VALUE_TYPE_UNIT, literal(e, unit));
	put(e, field);
}

static void put_header(struct encoding *e)
{
	const struct profile *profile = e->profile;
	const char *type = facts_weight_type(profile);
	bool has_weights = profile_total_weight(profile) > 0;

	const char *count_type = profile->count_type ? profile->count_type : "samples";

	put_value_type(e, PROFILE_SAMPLE_TYPE, count_type,
		       profile->count_type ? profile->count_unit : "count");
	put_value_type(e, PROFILE_SAMPLE_TYPE, type, "nanoseconds");
	put_value_type(e, PROFILE_PERIOD_TYPE, type, "nanoseconds");
	proto_uint(&e->body, PROFILE_PERIOD, facts_period_ns(profile));
	proto_uint(&e->body, PROFILE_TIME_NANOS, profile->start_unix_ns);
	proto_uint(&e->body, PROFILE_DURATION_NANOS, profile->duration_ns);
	proto_uint(&e->body, PROFILE_DEFAULT_SAMPLE_TYPE,
		   literal(e, has_weights ? type : count_type));
}

static u32 location_id(const struct encoding *e, u32 location)
{
	return location ? location : e->profile->names.locations.count;
}

static u32 function_id(const struct encoding *e, u32 function)
{
	return function ? function : e->profile->names.functions.count;
}

static void put_label(struct encoding *e, const char *key, u32 str, u64 num)
{
	proto_uint(&e->inner, LABEL_KEY, literal(e, key));
	proto_uint(&e->inner, LABEL_STR, str);
	proto_uint(&e->inner, LABEL_NUM, num);
	put_inner(e, SAMPLE_LABEL);
}

static void put_sample(struct encoding *e, const struct profile_entry *entry)
{
	const struct profile *profile = e->profile;
	const struct profile_thread *thread = &profile->threads.at[entry->thread];
	const struct name_stack *stacks = profile->names.stacks.at;
	const u64 values[] = { entry->count, entry->weight };

	vec_clear(&e->ids);
	for (u32 s = entry->stack; s && !e->bad; s = stacks[s].outer)
		e->bad |= !vec_push(&e->ids, location_id(e, stacks[s].location));
	proto_packed(&e->message, SAMPLE_LOCATION_ID, e->ids.at, e->ids.count);
	proto_packed(&e->message, SAMPLE_VALUE, values, COUNT_OF(values));
	put_label(e, "thread_id", 0, thread->tid);
	if (thread->name)
		put_label(e, "thread_name", text_index(e, thread->name), 0);
	put_label(e, "pid", 0, profile->processes.at[thread->process].pid);
	put(e, PROFILE_SAMPLE);
}

static void put_location(struct encoding *e, u32 number, u8 *mapping_has_names)
{
	const struct profile *profile = e->profile;
	const struct name_location *location = &profile->names.locations.at[number];
	u32 mapping = mapping_ranges_find(&e->ranges, &profile->names, location);

	proto_uint(&e->message, LOCATION_ID, location_id(e, number));
	proto_uint(&e->message, LOCATION_MAPPING_ID, mapping);
	if (mapping) {
		const struct profile_mapping *m = &profile->mappings.at[mapping - 1];
		proto_uint(&e->message, LOCATION_ADDRESS, location->address - m->offset + m->start);
		mapping_has_names[mapping - 1] = 1;
	}
	proto_uint(&e->inner, LINE_FUNCTION_ID, function_id(e, location->function));
	proto_uint(&e->inner, LINE_LINE, location->line);
	put_inner(e, LOCATION_LINE);
	put(e, PROFILE_LOCATION);
}

static void put_function(struct encoding *e, u32 number)
{
	const struct name_function *function = &e->profile->names.functions.at[number];

	proto_uint(&e->message, FUNCTION_ID, function_id(e, number));
	proto_uint(&e->message, FUNCTION_NAME,
		   function->name ? text_index(e, function->name) : literal(e, "(unnamed)"));
	proto_uint(&e->message, FUNCTION_FILENAME,
		   text_index(e, function->path ? function->path : function->image));
	proto_uint(&e->message, FUNCTION_START_LINE, function->first_line);
	put(e, PROFILE_FUNCTION);
}

static void put_mapping(struct encoding *e, u32 number, bool has_names)
{
	const struct profile_mapping *m = &e->profile->mappings.at[number];

	proto_uint(&e->message, MAPPING_ID, number + 1);
	proto_uint(&e->message, MAPPING_START, m->start);
	proto_uint(&e->message, MAPPING_LIMIT, m->end);
	proto_uint(&e->message, MAPPING_OFFSET, m->offset);
	proto_uint(&e->message, MAPPING_FILENAME, text_index(e, m->path));
	proto_uint(&e->message, MAPPING_BUILD_ID, text_index(e, m->build_id));
	/* Set, it keeps pprof from looking for symbols itself. */
	proto_uint(&e->message, MAPPING_HAS_FUNCTIONS, has_names);
	put(e, PROFILE_MAPPING);
}

static void put_code(struct encoding *e)
{
	const struct profile *profile = e->profile;
	const struct names *names = &profile->names;
	u8 *mapping_has_names = calloc(1, profile->mappings.count + 1);
	bool unnamed_location = false, unnamed_function = false;

	if (!mapping_has_names) {
		e->bad = true;
		return;
	}
	for (u32 i = 1; i < names->stacks.count; i++)
		unnamed_location |= !names->stacks.at[i].location;
	for (u32 i = 1; i < names->locations.count; i++) {
		put_location(e, i, mapping_has_names);
		unnamed_function |= !names->locations.at[i].function;
	}
	if (unnamed_location)
		put_location(e, 0, mapping_has_names);
	for (u32 i = 1; i < names->functions.count; i++)
		put_function(e, i);
	if (unnamed_location || unnamed_function)
		put_function(e, 0);
	for (u32 i = 0; i < profile->mappings.count; i++)
		put_mapping(e, i, mapping_has_names[i]);
	free(mapping_has_names);
}

/* Takes the line's text, and leaves it empty for the next one. */
static void put_comment(struct encoding *e, const char *what, struct str *line)
{
	struct str comment = { 0 };

	str_addf(&comment, "%s: ", what);
	text_add_safe(&comment, line->text, line->length, 0);
	e->bad |= comment.bad || line->bad;
	if (!e->bad)
		proto_uint(&e->body, PROFILE_COMMENT, literal(e, comment.text));
	str_free(&comment);
	str_clear(line);
}

/* Nothing when there is nothing to say. */
static void put_comment_text(struct encoding *e, const char *what, const char *text)
{
	struct str line = { 0 };

	if (!text || !*text)
		return;
	str_add_text(&line, text);
	put_comment(e, what, &line);
	str_free(&line);
}

/* "lost: late 0, gone 3": one line a group, because `pprof -top` prints all lines above its table. */
static void put_quality(struct encoding *e)
{
	const struct quality *q = &e->profile->quality;
	struct str line = { 0 };

	str_addf(&line, "expected %" PRIu64 ", taken %" PRIu64, q->expected, q->taken);
	put_comment(e, "attempts", &line);
#define X(name, text) \
	str_addf(&line, "%s" #name " %" PRIu64, line.length ? ", " : "", q->lost.name);
	QUALITY_LOSSES(X)
#undef X
	put_comment(e, "lost", &line);
#define X(name, text) str_addf(&line, "%s" #name " %" PRIu64, line.length ? ", " : "", q->name);
	QUALITY_COUNTS(X)
#undef X
	put_comment(e, "counts", &line);
	str_addf(&line, "own_cpu_ns %" PRIu64 ", attach_cpu_ns %" PRIu64 ", span_ns %" PRIu64,
		 q->own_cpu_ns, q->attach_cpu_ns, q->end_ns - q->begin_ns);
	put_comment(e, "cost", &line);
	str_free(&line);
}

static void put_comments(struct encoding *e)
{
	const struct profile *profile = e->profile;
	const struct quality *q = &profile->quality;
	const bool is_missing = profile->bad || profile->names.bad;

	put_comment_text(e, "sonde", SONDE_VERSION);
	put_comment_text(e, "profile of", profile->title);
	put_comment_text(e, "command", profile->command);
	put_comment_text(e, "engine", q->engine);
	put_quality(e);
	put_comment_text(e, "warning", q->warning);
	put_comment_text(e, "warning",
			 is_missing ? "out of memory while recording: something is missing" : "");
}

static void put_strings(struct encoding *e)
{
	for (u32 i = 0; i < e->strings.texts.strings.count; i++) {
		const struct name_string *text = &e->strings.texts.strings.at[i];
		proto_bytes(&e->body, PROFILE_STRING_TABLE, text->text, text->length);
		if (e->body.length >= FLUSH_AT)
			flush(e);
	}
}

bool pprof_encode(const struct profile *profile, const struct sink *sink)
{
	struct encoding e = { .profile = profile, .sink = sink };

	e.bad = !text_table_init(&e.strings, &profile->names) ||
		!mapping_ranges_make(&e.ranges, profile);
	if (!e.bad) {
		put_header(&e);
		for (u32 i = 0; i < profile->entries.count; i++)
			put_sample(&e, &profile->entries.at[i]);
		put_code(&e);
		put_comments(&e);
		put_strings(&e); /* last: the others add to them */
		flush(&e);
	}
	text_table_free(&e.strings);
	mapping_ranges_free(&e.ranges);
	str_free(&e.body);
	str_free(&e.message);
	str_free(&e.inner);
	vec_free(&e.ids);
	return !e.bad;
}
