/* SPDX-License-Identifier: Apache-2.0
 * otlp.c - an ExportProfilesServiceRequest, what an OpenTelemetry collector takes; not compressed.
 *
 *	resource_profiles   one for each process: process.pid, service.name; keys are plain
 *	                    strings, because receivers do not know references there yet
 *	profiles            samples/count with the time of each row, and the weights
 *	                    (cpu/nanoseconds): one profile has one type
 *	sample              a stack of a thread; thread.id and thread.name are its attributes
 *	dictionary          seven tables, element 0 of each is the empty one
 *
 * The idea: an element of a table is its bytes.  They are interned like strings, so that equal
 * ones are one, the number is the place, and number 0, the empty string, is the empty
 * message.  Nothing is in a table that nobody asked for. */
#include "base/cleanup.h"
#include "base/text.h"
#include "export/exporter.h"
#include "export/facts.h"
#include "export/kinds.h"
#include "export/mappings.h"
#include "export/otlp_fields.h"
#include "export/proto.h"
#include "export/sample_rows.h"
#include "export/text_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MOST = 4 << 20 };

struct writing {
	const struct profile *profile;
	struct out *out;
	struct sample_rows rows; /* of a thread by stack */
	bool is_timed;
	u32 *thread_of, *next_thread; /* by process, by thread: a thread + 1 */
	struct mapping_ranges ranges;
	struct text_table strings;
	struct names mappings, locations, functions, attributes, stacks; /* as strings: elements */
	u32 *location_of;                    /* by location of the profile: element + 1 */
	u32 *stack_of;                       /* by stack: element + 1 */
	struct str message, inner, leaf;     /* being built: an element, in it, in that */
	struct str profiles, body, resource; /* Profile, ScopeProfiles, ResourceProfiles */
	VEC(u64) numbers;
	VEC(u64) quality; /* attributes */
	bool bad;
};

/* ---- the dictionary ---- */

static u32 literal(struct writing *w, const char *text)
{
	return text_table_literal(&w->strings, text);
}

/* The element that is in `message`. */
static u32 intern(struct writing *w, struct names *table, struct str *message)
{
	u32 number = names_string(table, message->text ? message->text : "", message->length);

	w->bad |= message->bad || table->bad;
	str_clear(message);
	return number;
}

static void add_any_text(struct str *value, const char *text, size_t length)
{
	proto_bytes(value, OTLP_ANY_STRING, text, length);
}

/* proto_uint() leaves a zero out, which in a oneof would be no value at all. */
static void add_any_number(struct str *value, u64 number)
{
	if (number)
		proto_uint(value, OTLP_ANY_INT, number);
	else
		str_add(value, (const u8[]){ OTLP_ANY_INT << 3, 0 }, 2);
}

/* An attribute of the dictionary; its value is in `leaf`. */
static u32 attribute(struct writing *w, const char *key, const char *unit)
{
	proto_uint(&w->inner, OTLP_ATTRIBUTE_KEY, literal(w, key));
	proto_bytes(&w->inner, OTLP_ATTRIBUTE_VALUE, w->leaf.text, w->leaf.length);
	proto_uint(&w->inner, OTLP_ATTRIBUTE_UNIT, unit ? literal(w, unit) : 0);
	w->bad |= w->leaf.bad;
	str_clear(&w->leaf);
	return intern(w, &w->attributes, &w->inner);
}

static u32 text_attribute(struct writing *w, const char *key, u32 string)
{
	u32 number = text_table_number(&w->strings, string);
	const struct name_string *text = &w->strings.texts.strings.at[number];

	add_any_text(&w->leaf, text->text, text->length);
	return attribute(w, key, NULL);
}

static u32 number_attribute(struct writing *w, const char *key, u64 value, const char *unit)
{
	add_any_number(&w->leaf, value);
	return attribute(w, key, unit);
}

static u32 mapping_element(struct writing *w, u32 number)
{
	const struct profile_mapping *m = &w->profile->mappings.at[number];
	u64 id = m->build_id ? text_attribute(w, "process.executable.build_id.gnu", m->build_id) :
			       0;

	proto_uint(&w->message, OTLP_MAPPING_START, m->start);
	proto_uint(&w->message, OTLP_MAPPING_LIMIT, m->end);
	proto_uint(&w->message, OTLP_MAPPING_OFFSET, m->offset);
	proto_uint(&w->message, OTLP_MAPPING_FILENAME, text_table_number(&w->strings, m->path));
	proto_packed(&w->message, OTLP_MAPPING_ATTRIBUTES, &id, m->build_id != 0);
	return intern(w, &w->mappings, &w->message);
}

static u32 function_element(struct writing *w, u32 number)
{
	const struct name_function *f = &w->profile->names.functions.at[number];

	proto_uint(&w->message, OTLP_FUNCTION_NAME,
		   f->name ? text_table_number(&w->strings, f->name) : literal(w, "(unnamed)"));
	proto_uint(&w->message, OTLP_FUNCTION_FILENAME,
		   text_table_number(&w->strings, f->path ? f->path : f->image));
	proto_uint(&w->message, OTLP_FUNCTION_START_LINE, f->first_line);
	return intern(w, &w->functions, &w->message);
}

static u32 location_element(struct writing *w, u32 number)
{
	const struct profile *profile = w->profile;
	const struct name_location *location = &profile->names.locations.at[number];
	const struct kind *kind = &kinds[kind_of(&profile->names, location->function)];
	u32 mapping = mapping_ranges_find(&w->ranges, &profile->names, location), element = 0;
	u32 function = function_element(w, location->function);
	u64 type = 0;

	if (mapping)
		element = mapping_element(w, mapping - 1);
	if (kind->frame_type) {
		add_any_text(&w->leaf, kind->frame_type, strlen(kind->frame_type));
		type = attribute(w, "profile.frame.type", NULL);
	}
	proto_uint(&w->message, OTLP_LOCATION_MAPPING, element);
	if (mapping) {
		const struct profile_mapping *m = &profile->mappings.at[mapping - 1];
		proto_uint(&w->message, OTLP_LOCATION_ADDRESS,
			   location->address - m->offset + m->start);
	}
	proto_uint(&w->inner, OTLP_LINE_FUNCTION, function);
	proto_uint(&w->inner, OTLP_LINE_LINE, location->line);
	proto_bytes(&w->message, OTLP_LOCATION_LINES, w->inner.text, w->inner.length);
	w->bad |= w->inner.bad;
	str_clear(&w->inner);
	proto_packed(&w->message, OTLP_LOCATION_ATTRIBUTES, &type, kind->frame_type != NULL);
	return intern(w, &w->locations, &w->message);
}

static u32 mark_element(struct writing *w, enum frame_mark mark)
{
	proto_uint(&w->message, OTLP_FUNCTION_NAME, literal(w, frame_mark_text(mark)));
	u32 function = intern(w, &w->functions, &w->message);

	proto_uint(&w->inner, OTLP_LINE_FUNCTION, function);
	proto_bytes(&w->message, OTLP_LOCATION_LINES, w->inner.text, w->inner.length);
	w->bad |= w->inner.bad;
	str_clear(&w->inner);
	return intern(w, &w->locations, &w->message);
}

/* Leaf first. A stack of which nothing was seen says so: element 0 would be "not set". */
static u32 stack_element(struct writing *w, u32 stack)
{
	const struct name_stack *stacks = w->profile->names.stacks.at;

	if (w->stack_of[stack])
		return w->stack_of[stack] - 1;
	vec_clear(&w->numbers);
	for (u32 s = stack; s && !w->bad; s = stacks[s].outer) {
		u32 *element = &w->location_of[stacks[s].location];
		if (!*element)
			*element = location_element(w, stacks[s].location) + 1;
		w->bad |= !vec_push(&w->numbers, *element - 1);
	}
	if (!stack)
		w->bad |= !vec_push(&w->numbers, mark_element(w, MARK_UNREADABLE));
	proto_packed(&w->message, OTLP_STACK_LOCATIONS, w->numbers.at, w->numbers.count);
	u32 number = intern(w, &w->stacks, &w->message);
	w->stack_of[stack] = number + 1;
	return number;
}

/* ---- profiles ---- */

static void put_type(struct writing *w, u32 field, const char *type, const char *unit)
{
	proto_uint(&w->message, OTLP_VALUE_TYPE_TYPE, literal(w, type));
	proto_uint(&w->message, OTLP_VALUE_TYPE_UNIT, literal(w, unit));
	proto_bytes(&w->profiles, field, w->message.text, w->message.length);
	w->bad |= w->message.bad;
	str_clear(&w->message);
}

static void begin_sample(struct writing *w, u32 stack, u32 number)
{
	const struct profile_thread *thread = &w->profile->threads.at[number];
	u32 element = stack_element(w, stack);
	u64 attributes[2] = { number_attribute(w, "thread.id", thread->tid, NULL) };

	if (thread->name)
		attributes[1] = text_attribute(w, "thread.name", thread->name);
	proto_uint(&w->message, OTLP_SAMPLE_STACK, element);
	proto_packed(&w->message, OTLP_SAMPLE_ATTRIBUTES, attributes, 1 + (thread->name != 0));
}

static void end_sample(struct writing *w)
{
	proto_bytes(&w->profiles, OTLP_PROFILE_SAMPLES, w->message.text, w->message.length);
	w->bad |= w->message.bad;
	str_clear(&w->message);
}

/* Rows of one thread by stack, then time. */
static int by_stack(const void *a, const void *b)
{
	const struct sample_row *x = a, *y = b;

	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/* A time for each row.  Without values each counts 1; where a row stands for several hits, as those of a probe do,
 * there is a value for each time, and not a time for each hit. */
static void put_times(struct writing *w, const struct sample_row *row, u32 count, bool is_each_one)
{
	vec_clear(&w->numbers);
	for (u32 i = 0; i < count && !is_each_one && !w->bad; i++)
		w->bad |= !vec_push(&w->numbers, row[i].count);
	proto_packed(&w->message, OTLP_SAMPLE_VALUES, w->numbers.at, w->numbers.count);
	vec_clear(&w->numbers);
	for (u32 i = 0; i < count && !w->bad; i++)
		w->bad |= !vec_push(&w->numbers, w->profile->start_unix_ns + row[i].time_ns);
	proto_packed_fixed(&w->message, OTLP_SAMPLE_TIMESTAMPS, w->numbers.at, w->numbers.count);
}

/* What a stack weighs; or how often it was seen, and when. */
static void put_values(struct writing *w, const struct sample_row *row, u32 count, bool weights)
{
	u64 sum = 0;

	for (u32 i = 0; i < count; i++)
		sum += weights ? row[i].weight : row[i].count;
	if (w->is_timed && !weights)
		put_times(w, row, count, sum == count);
	else
		proto_packed(&w->message, OTLP_SAMPLE_VALUES, &sum, 1);
}

static void put_samples(struct writing *w, u32 process, bool weights)
{
	const struct sample_row *rows = w->rows.at;

	for (u32 t = w->thread_of[process]; t && !w->bad; t = w->next_thread[t - 1]) {
		u32 end = w->rows.first[t];
		for (u32 i = w->rows.first[t - 1], next; i < end && !w->bad; i = next) {
			for (next = i + 1; next < end && rows[next].stack == rows[i].stack;)
				next++;
			begin_sample(w, rows[i].stack, t - 1);
			put_values(w, &rows[i], next - i, weights);
			end_sample(w);
		}
	}
}

static void put_profile(struct writing *w, u32 process, bool weights)
{
	const struct profile *p = w->profile;
	const char *type = facts_weight_type(p);

	const char *count_type = p->count_type ? p->count_type : "samples";
	const char *count_unit = p->count_type ? p->count_unit : "count";

	put_type(w, OTLP_PROFILE_SAMPLE_TYPE, weights ? type : count_type,
		 weights ? "nanoseconds" : count_unit);
	put_samples(w, process, weights);
	proto_fixed(&w->profiles, OTLP_PROFILE_TIME, p->start_unix_ns);
	proto_uint(&w->profiles, OTLP_PROFILE_DURATION, p->duration_ns);
	put_type(w, OTLP_PROFILE_PERIOD_TYPE, type, "nanoseconds");
	proto_uint(&w->profiles, OTLP_PROFILE_PERIOD, facts_period_ns(p));
	proto_packed(&w->profiles, OTLP_PROFILE_ATTRIBUTES, w->quality.at, w->quality.count);
	proto_bytes(&w->body, OTLP_SCOPE_PROFILES_PROFILES, w->profiles.text, w->profiles.length);
	w->bad |= w->profiles.bad;
	str_clear(&w->profiles);
}

/* ---- resources ---- */

/* A KeyValue whose value is in `leaf`. */
static void put_key_value(struct writing *w, struct str *to, u32 field, const char *key)
{
	proto_bytes(&w->inner, OTLP_KEY_VALUE_KEY, key, strlen(key));
	proto_bytes(&w->inner, OTLP_KEY_VALUE_VALUE, w->leaf.text, w->leaf.length);
	proto_bytes(to, field, w->inner.text, w->inner.length);
	w->bad |= w->inner.bad || w->leaf.bad;
	str_clear(&w->inner);
	str_clear(&w->leaf);
}

static void put_text_value(struct writing *w, struct str *to, u32 field, const char *key,
			   const char *text)
{
	struct str safe = { 0 };

	if (!text || !*text)
		return;
	text_add_safe(&safe, text, strlen(text), 0);
	add_any_text(&w->leaf, safe.text, safe.length);
	w->bad |= safe.bad;
	str_free(&safe);
	put_key_value(w, to, field, key);
}

/* service.name as the conventions want it of who does not know it. */
static void put_resource(struct writing *w, u32 number)
{
	const struct profile_process *process = &w->profile->processes.at[number];
	const char *name = w->profile->names.strings.at[process->name].text;
	char service[300];

	snprintf(service, sizeof service, "unknown_service%s%s", *name ? ":" : "", name);
	put_text_value(w, &w->message, OTLP_RESOURCE_ATTRIBUTES, "service.name", service);
	add_any_number(&w->leaf, process->pid);
	put_key_value(w, &w->message, OTLP_RESOURCE_ATTRIBUTES, "process.pid");
	put_text_value(w, &w->message, OTLP_RESOURCE_ATTRIBUTES, "process.executable.name", name);
	proto_bytes(&w->resource, OTLP_RESOURCE_PROFILES_RESOURCE, w->message.text,
		    w->message.length);
	w->bad |= w->message.bad;
	str_clear(&w->message);
}

static void put_scope(struct writing *w)
{
	const struct profile *p = w->profile;

	proto_bytes(&w->message, OTLP_SCOPE_NAME, "sonde", 5);
	proto_bytes(&w->message, OTLP_SCOPE_VERSION, SONDE_VERSION, strlen(SONDE_VERSION));
	put_text_value(w, &w->message, OTLP_SCOPE_ATTRIBUTES, "sonde.title", p->title);
	put_text_value(w, &w->message, OTLP_SCOPE_ATTRIBUTES, "sonde.command", p->command);
	put_text_value(w, &w->message, OTLP_SCOPE_ATTRIBUTES, "sonde.engine", p->quality.engine);
	put_text_value(w, &w->message, OTLP_SCOPE_ATTRIBUTES, "sonde.warning", p->quality.warning);
	proto_bytes(&w->body, OTLP_SCOPE_PROFILES_SCOPE, w->message.text, w->message.length);
	w->bad |= w->message.bad;
	str_clear(&w->message);
}

static void put_process(struct writing *w, u32 process, bool has_weights)
{
	put_resource(w, process);
	put_scope(w);
	put_profile(w, process, false);
	if (has_weights)
		put_profile(w, process, true);
	proto_bytes(&w->resource, OTLP_RESOURCE_PROFILES_SCOPES, w->body.text, w->body.length);
	w->bad |= w->body.bad;
	str_clear(&w->body);
	proto_bytes(&w->message, OTLP_REQUEST_RESOURCE_PROFILES, w->resource.text,
		    w->resource.length);
	w->bad |= w->message.bad || w->resource.bad;
	if (!w->bad)
		out_bytes(w->out, w->message.text, w->message.length);
	str_clear(&w->message);
	str_clear(&w->resource);
}

static void put_table(struct writing *w, u32 field, const struct names *table)
{
	for (u32 i = 0; i < table->strings.count; i++)
		proto_bytes(&w->body, field, table->strings.at[i].text,
			    table->strings.at[i].length);
}

static void put_dictionary(struct writing *w)
{
	static const u8 zeros[16];

	put_table(w, OTLP_DICTIONARY_MAPPINGS, &w->mappings);
	put_table(w, OTLP_DICTIONARY_LOCATIONS, &w->locations);
	put_table(w, OTLP_DICTIONARY_FUNCTIONS, &w->functions);
	/* Some readers insist on the length of the two ids. */
	proto_bytes(&w->inner, OTLP_LINK_TRACE_ID, zeros, 16);
	proto_bytes(&w->inner, OTLP_LINK_SPAN_ID, zeros, 8);
	proto_bytes(&w->body, OTLP_DICTIONARY_LINKS, w->inner.text, w->inner.length);
	put_table(w, OTLP_DICTIONARY_STRINGS, &w->strings.texts);
	put_table(w, OTLP_DICTIONARY_ATTRIBUTES, &w->attributes);
	put_table(w, OTLP_DICTIONARY_STACKS, &w->stacks);
	proto_bytes(&w->message, OTLP_REQUEST_DICTIONARY, w->body.text, w->body.length);
	w->bad |= w->inner.bad || w->body.bad || w->message.bad || w->strings.bad;
	if (!w->bad)
		out_bytes(w->out, w->message.text, w->message.length);
}

static void note_count(void *arg, const char *name, u64 value)
{
	struct writing *w = arg;
	char key[64];

	snprintf(key, sizeof key, "sonde.%s", name);
	u64 number = number_attribute(w, key, value, strstr(name, "_ns") ? "ns" : NULL);
	w->bad |= !vec_push(&w->quality, number);
}

/* Chains of the threads that have samples, by process; their rows by stack. */
static void sort_rows(struct writing *w)
{
	const struct profile *p = w->profile;

	for (u32 i = p->threads.count; i-- > 0;) {
		u32 first = w->rows.first[i], count = w->rows.first[i + 1] - first;
		u32 *head = &w->thread_of[p->threads.at[i].process];
		if (!count)
			continue;
		qsort(w->rows.at + first, count, sizeof *w->rows.at, by_stack);
		w->next_thread[i] = *head;
		*head = i + 1;
	}
}

static void put_all(struct writing *w)
{
	const struct profile *p = w->profile;
	bool has_weights = profile_total_weight(p) > 0;

	sort_rows(w);
	facts_each_count(&p->quality, note_count, w);
	for (u32 i = 0; i < p->processes.count && !w->bad; i++)
		if (w->thread_of[i])
			put_process(w, i, has_weights);
	put_dictionary(w);
}

static bool init(struct writing *w)
{
	const struct profile *p = w->profile;

	if (!p->names.stacks.count || !text_table_init(&w->strings, &p->names) ||
	    !names_init(&w->mappings) || !names_init(&w->locations) || !names_init(&w->functions) ||
	    !names_init(&w->attributes) || !names_init(&w->stacks) ||
	    !sample_rows_make(&w->rows, p, ROWS_MOST) || !mapping_ranges_make(&w->ranges, p))
		return false;
	w->is_timed = w->rows.slot_ns;
	w->location_of = calloc((size_t)p->names.locations.count + 1, sizeof *w->location_of);
	w->stack_of = calloc((size_t)p->names.stacks.count + 1, sizeof *w->stack_of);
	w->thread_of = calloc((size_t)p->processes.count + 1, sizeof *w->thread_of);
	w->next_thread = calloc((size_t)p->threads.count + 1, sizeof *w->next_thread);
	return w->location_of && w->stack_of && w->thread_of && w->next_thread;
}

static void fini(struct writing *w)
{
	struct names *tables[] = { &w->mappings, &w->locations, &w->functions, &w->attributes,
				   &w->stacks };
	struct str *texts[] = { &w->message,  &w->inner, &w->leaf,
				&w->profiles, &w->body,  &w->resource };

	for (u32 i = 0; i < COUNT_OF(tables); i++)
		names_free(tables[i]);
	for (u32 i = 0; i < COUNT_OF(texts); i++)
		str_free(texts[i]);
	text_table_free(&w->strings);
	mapping_ranges_free(&w->ranges);
	free(w->location_of);
	free(w->stack_of);
	free(w->thread_of);
	free(w->next_thread);
	sample_rows_free(&w->rows);
	vec_free(&w->numbers);
	vec_free(&w->quality);
}

static void otlp_write(const struct profile *profile, const struct export_options *options,
		       struct out *out)
{
	(void)options; /* threads and weights are always in it */
	struct writing w = { .profile = profile, .out = out };

	w.bad = !init(&w);
	if (!w.bad)
		put_all(&w);
	if (w.bad && !out->errnum)
		out->errnum = ENOMEM;
	fini(&w);
}

const struct exporter otlp_exporter = {
	.name = "otlp",
	.extension = ".otlp",
	.summary = "an OTLP profiles request (v1development), for OpenTelemetry collectors",
	.write = otlp_write,
};
