/* SPDX-License-Identifier: Apache-2.0
 * recording.c - see recording.h.
 *
 * Every number of the file is looked up in a map to the number that the profile gave, so that no
 * number is trusted and a row that was lost in a damaged block is the unnamed one. */
#include "profile/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "profile/recording_blocks.h"

/* The profile's number for a number of the file. */
struct number_map {
	VEC(u32) to;
	u64 rows; /* seen */
};

/* Samples of one thread that wait for their weight. */
struct waiting {
	VEC(struct recorded_sample) samples;
	u64 paid, paid_samples; /* for the estimate of those that are never paid */
};

struct reading {
	struct profile *profile;
	struct recording_state *state;
	recording_fn *each;
	void *arg;
	u64 unit_ns;
	struct number_map strings, functions, locations, stacks, leaves, processes, threads;
	VEC(struct waiting) waiting; /* by thread of the profile */
	VEC(u32) ledger;             /* our field for one of the file, or NO_FIELD */
	VEC(u8) rows;
	bool no_memory;
};

enum { NO_FIELD = UINT32_MAX };

bool is_recording(struct in *in)
{
	return in_fill(in, RECORDING_SIGNATURE_SIZE) >= RECORDING_SIGNATURE_SIZE &&
	       !memcmp(in_bytes(in), RECORDING_SIGNATURE, RECORDING_SIGNATURE_SIZE);
}

/* ---- numbers ------------------------------------------------------------------------------ */

static u32 mapped(const struct number_map *map, u32 number)
{
	return number < map->to.count ? map->to.at[number] : 0;
}

static bool is_mapped(const struct number_map *map, u32 number)
{
	return number < map->to.count && map->to.at[number] != PROFILE_NONE;
}

static bool map_set(struct reading *reading, struct number_map *map, u64 number, u32 to,
		    u32 missing)
{
	if (number >= RECORDING_TABLE_MAX || number > map->rows + RECORDING_GAP_MAX)
		return false;
	map->rows++;
	if (number >= map->to.count) {
		if (!vec_grow(&map->to, (u32)number + 1)) {
			reading->no_memory = true;
			return false;
		}
		while (map->to.count <= number)
			map->to.at[map->to.count++] = missing;
	}
	map->to.at[number] = to;
	return true;
}

/* ---- rows --------------------------------------------------------------------------------- */

struct section {
	struct cursor cursor;
	u64 first;
	u32 count;
	void *rows; /* decoded, for tables */
};

/* The head of a section, and its rows. */
static bool begin_rows(struct reading *reading, struct cursor bytes,
		       const struct recording_table *table, struct section *out)
{
	size_t length = cursor_left(&bytes);
	u64 first = cursor_uleb(&bytes), count = cursor_uleb(&bytes);

	if (bytes.bad || !recording_may_have(count, length) || first > RECORDING_TABLE_MAX)
		return false;
	*out = (struct section){ .cursor = bytes, .first = first, .count = (u32)count };
	if (!table->row_size)
		return true;
	size_t size = (size_t)count * table->row_size;
	if (!vec_grow(&reading->rows, (u32)size)) {
		reading->no_memory = true;
		return false;
	}
	if (size)
		memset(reading->rows.at, 0, size);
	out->rows = reading->rows.at;
	return recording_get_rows(&out->cursor, table, out->rows, (u32)count);
}

static bool get_strings(struct reading *reading, struct section *section)
{
	struct cursor lengths = section->cursor;

	for (u32 i = 0; i < section->count; i++)
		cursor_uleb(&section->cursor);
	for (u32 i = 0; i < section->count; i++) {
		u64 length = cursor_uleb(&lengths);
		const char *text = cursor_take(&section->cursor, length);
		if (!text)
			return false;
		u32 string = names_string(&reading->profile->names, text, length);
		if (!map_set(reading, &reading->strings, section->first + i, string, 0))
			return false;
	}
	return true;
}

static bool get_functions(struct reading *reading, struct section *section)
{
	struct name_function *rows = section->rows;

	for (u32 i = 0; i < section->count; i++) {
		struct name_function function = {
			.name = mapped(&reading->strings, rows[i].name),
			.path = mapped(&reading->strings, rows[i].path),
			.language = mapped(&reading->strings, rows[i].language),
			.first_line = rows[i].first_line,
			.flags = rows[i].flags,
			.image = mapped(&reading->strings, rows[i].image),
		};
		u32 number = names_function(&reading->profile->names, &function);
		if (!map_set(reading, &reading->functions, section->first + i, number, 0))
			return false;
	}
	return true;
}

static bool get_locations(struct reading *reading, struct section *section)
{
	struct name_location *rows = section->rows;

	for (u32 i = 0; i < section->count; i++) {
		struct name_location location = {
			.function = mapped(&reading->functions, rows[i].function),
			.line = rows[i].line,
			.address = rows[i].address,
		};
		u32 number = names_location(&reading->profile->names, &location);
		if (!map_set(reading, &reading->locations, section->first + i, number, 0))
			return false;
	}
	return true;
}

static bool get_replaced(struct reading *reading, struct section *section)
{
	struct name_replaced *rows = section->rows;

	for (u32 i = 0; i < section->count; i++) {
		u32 location = mapped(&reading->locations, rows[i].location);
		u32 by = mapped(&reading->locations, rows[i].by);
		if (location && by)
			names_replace(&reading->profile->names, location, by);
	}
	return true;
}

/* A stack whose outer one was lost hangs on what there is of it: nothing. It is not shown as whole. */
static bool get_stacks(struct reading *reading, struct section *section)
{
	struct name_stack *rows = section->rows;

	for (u32 i = 0; i < section->count; i++) {
		u64 number = section->first + i;
		u32 outer = rows[i].outer;
		u32 stack = PROFILE_NONE;
		if (number == 0)
			stack = 0; /* the empty one */
		else if (outer < number && is_mapped(&reading->stacks, outer))
			stack = names_stack(&reading->profile->names, reading->stacks.to.at[outer],
					    mapped(&reading->locations, rows[i].location));
		if (!map_set(reading, &reading->stacks, number, stack, PROFILE_NONE))
			return false;
	}
	return true;
}

static bool get_leaves(struct reading *reading, struct section *section)
{
	struct recorded_leaf *rows = section->rows;

	for (u32 i = 0; i < section->count; i++) {
		bool known = is_mapped(&reading->stacks, rows[i].stack);
		u32 stack = known ? reading->stacks.to.at[rows[i].stack] : PROFILE_NONE;
		if (!map_set(reading, &reading->leaves, section->first + i, stack, PROFILE_NONE))
			return false;
	}
	return true;
}

static const char *text_of(const struct reading *reading, u32 string)
{
	return reading->profile->names.strings.at[mapped(&reading->strings, string)].text;
}

static bool get_processes(struct reading *reading, struct section *section)
{
	struct recorded_process *rows = section->rows;

	for (u32 i = 0; i < section->count; i++) {
		u32 number = profile_process(reading->profile, rows[i].pid, rows[i].start_time,
					     text_of(reading, rows[i].name));
		if (!map_set(reading, &reading->processes, rows[i].number, number, PROFILE_NONE))
			return false;
	}
	return true;
}

static bool get_threads(struct reading *reading, struct section *section)
{
	struct recorded_thread *rows = section->rows;

	for (u32 i = 0; i < section->count; i++) {
		const struct recorded_thread *row = &rows[i];
		if (!is_mapped(&reading->processes, row->process))
			return false;
		/* a row of the recorder's profile is a life: one that is renamed stays what it is */
		u32 number = profile_thread(reading->profile,
					    reading->processes.to.at[row->process], row->tid,
					    row->number, text_of(reading, row->name));
		if (!map_set(reading, &reading->threads, row->number, number, PROFILE_NONE))
			return false;
	}
	return true;
}

static bool get_mappings(struct reading *reading, struct section *section)
{
	struct profile_mapping *rows = section->rows;

	for (u32 i = 0; i < section->count; i++) {
		struct profile_mapping row = rows[i];
		if (!is_mapped(&reading->processes, row.process))
			return false;
		row.process = reading->processes.to.at[row.process];
		row.path = mapped(&reading->strings, row.path);
		row.build_id = mapped(&reading->strings, row.build_id);
		if (!vec_push(&reading->profile->mappings, row)) {
			reading->no_memory = true;
			return false;
		}
	}
	return true;
}

static bool get_parts(struct reading *reading, struct section *section)
{
	struct profile_part *rows = section->rows;

	for (u32 i = 0; i < section->count; i++) {
		struct profile_part row = { mapped(&reading->locations, rows[i].location),
					    mapped(&reading->locations, rows[i].part) };
		if (!row.location || !row.part)
			continue;
		if (!vec_push(&reading->profile->parts, row)) {
			reading->no_memory = true;
			return false;
		}
	}
	return true;
}

static bool get_sources(struct reading *reading, struct section *section)
{
	struct profile_source *rows = section->rows;

	for (u32 i = 0; i < section->count; i++) {
		u32 path = mapped(&reading->strings, rows[i].path);
		if (path)
			profile_add_source(reading->profile, path,
					   mapped(&reading->strings, rows[i].text));
	}
	return true;
}

/* ---- samples ------------------------------------------------------------------------------ */

static struct waiting *waiting_of(struct reading *reading, u32 thread)
{
	if (!vec_reach(&reading->waiting, thread)) {
		reading->no_memory = true;
		return NULL;
	}
	return &reading->waiting.at[thread];
}

static void hand_out(struct reading *reading, const struct recorded_sample *row, u64 weight)
{
	struct recording_sample sample = { .time_ns = row->time * reading->unit_ns,
					   .weight = weight,
					   .thread = row->thread,
					   .stack = row->leaf,
					   .kind = row->kind,
					   .flags = row->flags & ~SAMPLE_UNPAID,
					   .more = row->more };

	reading->state->samples++;
	if (sample.time_ns > reading->state->last_ns)
		reading->state->last_ns = sample.time_ns;
	reading->each(reading->arg, &sample);
}

/* Numbers become the profile's. */
static void take_sample(struct reading *reading, struct recorded_sample *row)
{
	if (!is_mapped(&reading->threads, row->thread) || !is_mapped(&reading->leaves, row->leaf)) {
		reading->state->bad_samples++;
		return;
	}
	row->thread = reading->threads.to.at[row->thread];
	row->leaf = reading->leaves.to.at[row->leaf]; /* its stack, from here on */
	if (!(row->flags & SAMPLE_UNPAID)) {
		hand_out(reading, row, row->weight);
		return;
	}
	struct waiting *waiting = waiting_of(reading, row->thread);
	if (!waiting || !vec_push(&waiting->samples, *row))
		reading->no_memory = true;
}

/* Each gets the difference of two rounded-down running sums: the parts sum to the whole. */
static void share(struct reading *reading, struct waiting *waiting, u64 weight)
{
	u64 paid = 0, count = waiting->samples.count;

	for (u32 i = 0; i < count; i++) {
		u64 due = (u64)((unsigned __int128)weight * (i + 1) / count);
		hand_out(reading, &waiting->samples.at[i], due - paid);
		paid = due;
	}
	waiting->paid += weight;
	waiting->paid_samples += count;
	vec_clear(&waiting->samples);
}

static void take_share(struct reading *reading, const struct recorded_share *row)
{
	if (!is_mapped(&reading->threads, row->thread))
		return;
	struct waiting *waiting = waiting_of(reading, reading->threads.to.at[row->thread]);
	if (waiting && waiting->samples.count)
		share(reading, waiting, row->weight);
}

/* The recorder was killed before their weight was known: they weigh what those before them did. */
static void estimate_rest(struct reading *reading)
{
	u32 hz = reading->profile->hz;

	for (u32 i = 0; i < reading->waiting.count; i++) {
		struct waiting *waiting = &reading->waiting.at[i];
		u64 each = waiting->paid_samples ? waiting->paid / waiting->paid_samples :
			   hz                    ? NS_PER_S / hz :
						   0;
		if (reading->state->ended)
			each = 0; /* nothing was left to share */
		else
			reading->state->estimated += waiting->samples.count;
		share(reading, waiting, each * waiting->samples.count);
	}
}

/* ---- blocks ------------------------------------------------------------------------------- */

static bool get_quality(struct reading *reading, struct cursor cursor)
{
	u64 count = cursor_uleb(&cursor);

	for (u64 i = 0; i < count && !cursor.bad; i++) {
		u64 field = cursor_uleb(&cursor), value = cursor_uleb(&cursor);
		if (cursor.bad || field >= reading->ledger.count)
			return false;
		if (reading->ledger.at[field] != NO_FIELD)
			memcpy((u8 *)&reading->profile->quality +
				       quality_fields[reading->ledger.at[field]].offset,
			       &value, sizeof value);
	}
	return !cursor.bad;
}

typedef bool get_fn(struct reading *reading, struct section *section);
static get_fn *const getters[SECTION_COUNT] = {
	[SECTION_STRINGS] = get_strings,     [SECTION_FUNCTIONS] = get_functions,
	[SECTION_LOCATIONS] = get_locations, [SECTION_STACKS] = get_stacks,
	[SECTION_PROCESSES] = get_processes, [SECTION_THREADS] = get_threads,
	[SECTION_MAPPINGS] = get_mappings,   [SECTION_SOURCES] = get_sources,
	[SECTION_LEAVES] = get_leaves,       [SECTION_PARTS] = get_parts,
	[SECTION_REPLACED] = get_replaced,
};

/* Samples and shares of a chunk belong together: a share is of the samples before it. */
static bool get_samples(struct reading *reading, struct cursor samples, struct cursor shares)
{
	struct section section;
	VEC(struct recorded_share) shared = { 0 };
	bool good = true;
	u32 done = 0;

	if (cursor_left(&shares)) {
		good = begin_rows(reading, shares, &recording_tables[SECTION_SHARES], &section) &&
		       vec_grow(&shared, section.count + 1);
		if (good && section.count)
			memcpy(shared.at, section.rows, section.count * sizeof *shared.at);
		shared.count = good ? section.count : 0;
	}
	section.count = 0;
	if (cursor_left(&samples))
		good &= begin_rows(reading, samples, &recording_tables[SECTION_SAMPLES], &section);
	struct recorded_sample *rows = section.rows;
	for (u32 i = 0; good && i <= section.count; i++) {
		for (; done < shared.count && shared.at[done].before <= i; done++)
			take_share(reading, &shared.at[done]);
		if (i < section.count)
			take_sample(reading, &rows[i]);
	}
	vec_free(&shared);
	return good;
}

static bool get_chunk(struct reading *reading, struct cursor cursor)
{
	struct cursor samples = cursor_make("", 0), shares = samples;
	bool good = true;

	while (good && cursor_left(&cursor)) {
		u8 id = cursor_u8(&cursor);
		u64 length = cursor_uleb(&cursor);
		const u8 *bytes = cursor_take(&cursor, length);
		struct section section;
		if (!bytes)
			return false;
		struct cursor inside = cursor_make(bytes, length);
		if (id == SECTION_SAMPLES)
			samples = inside;
		else if (id == SECTION_SHARES)
			shares = inside;
		else if (id == SECTION_QUALITY)
			good = get_quality(reading, inside);
		else if (id < SECTION_COUNT && getters[id])
			good = begin_rows(reading, inside, &recording_tables[id], &section) &&
			       getters[id](reading, &section);
	}
	return good && get_samples(reading, samples, shares);
}

static const char *kept(struct reading *reading, const char *text, size_t length)
{
	struct names *names = &reading->profile->names;
	u32 string = names_string(names, text, length);

	return names->strings.at[string].text;
}

static void get_ledger_names(struct reading *reading, const char *list)
{
	vec_clear(&reading->ledger);
	while (*list) {
		size_t length = strcspn(list, " ");
		u32 field = 0;
		while (field < quality_field_count &&
		       (strlen(quality_fields[field].name) != length ||
			memcmp(quality_fields[field].name, list, length) != 0))
			field++;
		if (!vec_push(&reading->ledger, field < quality_field_count ? field : NO_FIELD))
			reading->no_memory = true;
		list += length + strspn(list + length, " ");
	}
}

/* Up to a second: more is no unit of time, and would overflow. */
static u64 unit_of(const char *value)
{
	u64 unit = strtoull(value, NULL, 10);

	return unit && unit <= NS_PER_S ? unit : 1;
}

static void get_pair(struct reading *reading, const char *name, const char *value)
{
	struct profile *profile = reading->profile;

	if (!strcmp(name, "title"))
		profile->title = value;
	else if (!strcmp(name, "command"))
		profile->command = value;
	else if (!strcmp(name, "mode"))
		profile->mode = value;
	else if (!strcmp(name, "engine"))
		snprintf(profile->quality.engine, sizeof profile->quality.engine, "%s", value);
	else if (!strcmp(name, "warning"))
		snprintf(profile->quality.warning, sizeof profile->quality.warning, "%s", value);
	else if (!strcmp(name, "hz"))
		profile->hz = (u32)strtoul(value, NULL, 10);
	else if (!strcmp(name, "start_unix_ns"))
		profile->start_unix_ns = strtoull(value, NULL, 10);
	else if (!strcmp(name, "unit_ns"))
		reading->unit_ns = unit_of(value);
	else if (!strcmp(name, "ledger"))
		get_ledger_names(reading, value);
}

static bool get_info(struct reading *reading, struct cursor cursor)
{
	while (cursor_left(&cursor)) {
		u64 length = cursor_uleb(&cursor);
		const char *name = cursor_take(&cursor, length);
		u64 value_length = cursor_uleb(&cursor);
		const char *value = cursor_take(&cursor, value_length);
		if (!name || !value)
			return false;
		get_pair(reading, kept(reading, name, length), kept(reading, value, value_length));
	}
	return true;
}

static bool get_block(struct reading *reading, const struct block_view *block)
{
	struct cursor cursor = cursor_make(block->payload, block->size);

	switch (block->type) {
	case BLOCK_INFO:
		return get_info(reading, cursor);
	case BLOCK_CHUNK:
		reading->state->chunks++;
		return get_chunk(reading, cursor);
	case BLOCK_END:
		reading->state->ended = true;
		return true;
	default:
		return true; /* of a later writer */
	}
}

static void reading_free(struct reading *reading)
{
	struct number_map *const maps[] = { &reading->strings,   &reading->functions,
					    &reading->locations, &reading->stacks,
					    &reading->leaves,    &reading->processes,
					    &reading->threads };

	for (u32 i = 0; i < COUNT_OF(maps); i++)
		vec_free(&maps[i]->to);
	for (u32 i = 0; i < reading->waiting.count; i++)
		vec_free(&reading->waiting.at[i].samples);
	vec_free(&reading->waiting);
	vec_free(&reading->ledger);
	vec_free(&reading->rows);
}

bool recording_read(struct in *in, struct profile *profile, recording_fn *each, void *arg,
		    struct recording_state *state, struct err *err)
{
	struct reading reading = {
		.profile = profile, .state = state, .each = each, .arg = arg, .unit_ns = 1
	};
	struct block_source source;
	struct block_view block;

	*state = (struct recording_state){ 0 };
	block_source_begin(&source, in);
	while (!reading.no_memory && block_source_next(&source, &block))
		if (!get_block(&reading, &block))
			source.damaged += block.size;
	estimate_rest(&reading);
	state->damaged = source.damaged;
	state->cut = source.cut;
	state->newer = source.newer;
	u64 span = profile->quality.end_ns - profile->quality.begin_ns;
	profile->duration_ns = state->ended || span > state->last_ns ? span : state->last_ns;
	block_source_end(&source);
	reading_free(&reading);
	if (reading.no_memory || profile->bad || profile->names.bad)
		return err_no_memory(err);
	if (in->errnum)
		return err_sys(err, in->errnum, "reading stopped after %llu bytes",
			       (unsigned long long)in->offset);
	return true;
}

void recording_describe(const struct recording_state *state, char *text, size_t room)
{
	struct str words = { 0 };

	if (!state->ended)
		str_addf(&words,
			 "it ends without its last block, as when sonde was killed: what came "
			 "after %.1f s is missing",
			 (double)state->last_ns / 1e9);
	if (state->damaged)
		str_addf(&words, "%s%llu bytes of it are damaged", words.length ? "; " : "",
			 (unsigned long long)state->damaged);
	if (state->bad_samples)
		str_addf(&words, "%s%llu samples have lost their names and are left out",
			 words.length ? "; " : "", (unsigned long long)state->bad_samples);
	if (state->estimated)
		str_addf(&words, "%sthe weight of %llu samples is missing and was estimated",
			 words.length ? "; " : "", (unsigned long long)state->estimated);
	if (state->newer)
		str_addf(&words, "%sparts are of format version %u, newer than this sonde (%u)",
			 words.length ? "; " : "", state->newer, RECORDING_VERSION);
	snprintf(text, room, "%s", words.text ? words.text : "");
	str_free(&words);
}
