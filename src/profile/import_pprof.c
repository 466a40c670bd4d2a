/* SPDX-License-Identifier: Apache-2.0
 * import_pprof.c - profile.proto of github.com/google/pprof, gzipped or not.
 *
 * Its parts name each other by ids and string numbers and may stand in any order, so the message
 * is read four times: strings and sample types; mappings and functions; locations, which become
 * frames; samples.  An id that nothing has is an unnamed frame, never an error: what else is there counts.
 *
 *	sample types   the default one or the last is what is weighed: a time becomes nanoseconds, and a
 *	               count beside it the samples; a count alone becomes samples without weight
 *	location       one frame a Line, innermost first: what was inlined is several
 *	labels         thread and process, under the keys that profilers write
 *	language       only where the file says so: a path that ends in .rb, .py or .go; a function
 *	               whose file is its mapping's is machine code
 *
 * Work is bounded by FRAMES_PER_BYTE: a location of many lines, named by many samples, would be their product. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/text.h"
#include "profile/import_proto.h"
#include "profile/import_rows.h"
#include "profile/import_unpack.h"

enum {
	ROWS_MOST = 1 << 25,
	TYPES_MOST = 64,
	DEPTH_MOST = 1 << 16,
	FRAMES_PER_BYTE = 32,
	FRAMES_FREE = 1 << 16,
	HZ_MOST = 1000000,
	WORDS_MOST = 60,
};

struct text {
	const char *at;
	u32 length;
	u32 string; /* of the profile + 1; 0: not asked for yet */
};

struct id_row {
	u64 id;
	u32 value, count;
};

/* Ids are any numbers: rows found by them. */
struct id_map {
	VEC(struct id_row) rows;
	struct table table;
};

struct pprof {
	struct import_rows rows;
	struct profile *profile;
	struct cursor message;
	VEC(struct text) texts;
	struct pprof_value_type types[TYPES_MOST];
	u32 type_count;
	u64 default_type, period, period_unit, first_comment;
	bool is_ours;            /* names are as base/text.h makes them */
	struct str bytes;        /* of such a name */
	struct id_map mappings;  /* value: of the profile's */
	struct id_map functions; /* value: of `files` and the profile's functions */
	struct id_map locations; /* value and count: of `frames` */
	VEC(u32) frames;         /* locations of the profile, innermost first */
	VEC(u64) path;           /* location ids of a sample */
	u32 weight_at, count_at; /* which values; TYPES_MOST: none */
	u64 unit_ns;
	u64 budget; /* frames */
	u64 negative;
	bool truncated, no_memory;
};

/* ---- tables ------------------------------------------------------------------------------- */

static bool same_id(const void *owner, u32 item, const void *key)
{
	return ((const struct id_map *)owner)->rows.at[item].id == *(const u64 *)key;
}

static struct id_row *find_id(const struct id_map *map, u64 id)
{
	if (id && id <= map->rows.count && map->rows.at[id - 1].id == id)
		return &map->rows.at[id - 1]; /* most writers number from 1 */
	u32 found = table_find(&map->table, table_hash(&id, sizeof id), same_id, map, &id);

	return found == TABLE_NONE ? NULL : &map->rows.at[found];
}

/* The first of an id stands. */
static void add_id(struct pprof *p, struct id_map *map, struct id_row row)
{
	if (!row.id || find_id(map, row.id))
		return;
	if (map->rows.count >= ROWS_MOST || !vec_push(&map->rows, row) ||
	    !table_add(&map->table, table_hash(&row.id, sizeof row.id), map->rows.count - 1))
		p->no_memory = true;
}

static void free_map(struct id_map *map)
{
	vec_free(&map->rows);
	table_free(&map->table);
}

static struct text text_of(const struct pprof *p, u64 number)
{
	static const struct text none = { "", 0, 1 };

	return number < p->texts.count ? p->texts.at[number] : none;
}

static bool is_same(struct text text, const char *wanted, size_t length)
{
	return text.length == length && (!length || !memcmp(text.at, wanted, length));
}

static bool is_text(const struct pprof *p, u64 number, const char *wanted)
{
	return is_same(text_of(p, number), wanted, strlen(wanted));
}

/* The profile's number of a string. */
static u32 string_of(struct pprof *p, u64 number)
{
	if (number >= p->texts.count)
		return 0;
	struct text *text = &p->texts.at[number];
	if (!text->string)
		text->string = (p->is_ours ?
					import_string(&p->profile->names, &p->bytes, text->at,
						      text->length) :
					names_string(&p->profile->names, text->at, text->length)) +
			       1;
	return text->string - 1;
}

/* ---- strings and types -------------------------------------------------------------------- */

static u64 unit_of(const struct pprof *p, u64 unit)
{
	static const struct {
		const char *names[3];
		u64 ns;
	} units[] = { { { "nanoseconds", "nanosecond", "ns" }, 1 },
		      { { "microseconds", "microsecond", "us" }, NS_PER_US },
		      { { "milliseconds", "millisecond", "ms" }, NS_PER_MS },
		      { { "seconds", "second", "s" }, NS_PER_S } };

	for (u32 i = 0; i < COUNT_OF(units); i++)
		for (u32 n = 0; n < COUNT_OF(units[i].names); n++)
			if (is_text(p, unit, units[i].names[n]))
				return units[i].ns;
	return 0;
}

static bool get_head_field(struct pprof *p, struct proto_field *field)
{
	struct pprof_value_type type;

	switch (field->number) {
	case PPROF_STRING_TABLE:
		if (p->texts.count >= ROWS_MOST ||
		    !vec_push(&p->texts, (struct text){ (const char *)field->bytes.at,
							(u32)cursor_left(&field->bytes), 0 }))
			p->no_memory = true;
		break;
	case PPROF_SAMPLE_TYPE:
		if (p->type_count < TYPES_MOST)
			return pprof_get_value_type(field->bytes, &p->types[p->type_count++]);
		break;
	case PPROF_PERIOD_TYPE:
		if (!pprof_get_value_type(field->bytes, &type))
			return false;
		p->period_unit = type.unit;
		break;
	case PPROF_PERIOD:
		p->period = field->value;
		break;
	case PPROF_TIME_NANOS:
		p->profile->start_unix_ns = field->value <= INT64_MAX ? field->value : 0;
		break;
	case PPROF_DURATION_NANOS:
		p->profile->duration_ns = field->value <= INT64_MAX ? field->value : 0;
		break;
	case PPROF_COMMENT:
		while (!p->first_comment && proto_number(field, &p->first_comment))
			;
		break;
	case PPROF_DEFAULT_SAMPLE_TYPE:
		p->default_type = field->value;
		break;
	}
	return true;
}

static bool is_count(const struct pprof *p, u32 type)
{
	return is_text(p, p->types[type].unit, "count");
}

/* A type or a unit, as text that stands in any file. */
static const char *words_of(struct pprof *p, u64 number)
{
	struct names *names = &p->profile->names;
	struct text text = text_of(p, number);

	str_clear(&p->bytes);
	text_add_safe(&p->bytes, text.at, text.length < WORDS_MOST ? text.length : WORDS_MOST, 0);
	names->bad |= p->bytes.bad;
	return names->strings.at[names_string(names, p->bytes.text, p->bytes.length)].text;
}

/* Of what the time is: a mode of ours, or what the file calls it. */
static void set_mode(struct pprof *p, u64 type)
{
	static const struct {
		const char *type, *mode;
	} modes[] = { { "cpu", "cpu" },       { "wall", "wall" },
		      { "lock", "gvl" },      { "exception", "exception" },
		      { "offcpu", "offcpu" }, { "latency", "event" } };

	for (u32 i = 0; i < COUNT_OF(modes); i++) {
		/* others have locks, exceptions and latencies of their own */
		if (is_text(p, type, modes[i].type) && (i < 2 || p->is_ours)) {
			p->profile->mode = modes[i].mode;
			return;
		}
	}
	p->profile->weight_type = words_of(p, type);
}

static void set_count(struct pprof *p, u32 at)
{
	p->count_at = at;
	if (is_count(p, at) && is_text(p, p->types[at].type, "samples"))
		return;
	p->profile->count_type = words_of(p, p->types[at].type);
	p->profile->count_unit = words_of(p, p->types[at].unit);
}

/* Which value is the weight, and which the number of samples. */
static void choose_types(struct pprof *p, struct load_result *result)
{
	u32 chosen = p->type_count - 1;
	struct text name;

	p->profile->mode = "";
	p->weight_at = p->count_at = TYPES_MOST;
	name = text_of(p, p->default_type);
	for (u32 i = 0; name.length && i < p->type_count; i++)
		if (is_same(text_of(p, p->types[i].type), name.at, name.length))
			chosen = i;
	p->unit_ns = unit_of(p, p->types[chosen].unit);
	if (!p->unit_ns) {
		set_count(p, chosen);
		if (!is_count(p, chosen))
			snprintf(result->missing, sizeof result->missing,
				 "it measures %s, where sonde measures samples",
				 p->profile->count_unit);
		return;
	}
	p->weight_at = chosen;
	for (u32 i = 0; i < p->type_count && p->count_at == TYPES_MOST; i++)
		if (is_count(p, i))
			set_count(p, i);
	set_mode(p, p->types[chosen].type);
}

static void set_rate(struct pprof *p)
{
	u64 unit = unit_of(p, p->period_unit);

	if (unit && p->period && p->period <= NS_PER_S / unit)
		p->profile->hz = (u32)(NS_PER_S / (p->period * unit));
	if (p->profile->hz > HZ_MOST)
		p->profile->hz = 0;
}

/* What it is of: as we say it ourselves, else the first mapping, which is the program. */
static void set_title(struct pprof *p, u64 comment)
{
	static const char ours[] = "profile of: ";
	struct text text = text_of(p, comment);

	if (text.length <= strlen(ours) || memcmp(text.at, ours, strlen(ours)) != 0)
		return;
	u32 string = string_of(p, comment);
	p->profile->title = p->profile->names.strings.at[string].text + strlen(ours);
}

/* ---- code --------------------------------------------------------------------------------- */

static void add_mapping(struct pprof *p, const struct pprof_mapping *from)
{
	struct profile_mapping mapping = { .start = from->start,
					   .end = from->limit > from->start ? from->limit :
									      from->start,
					   .offset = from->offset,
					   .path = string_of(p, from->filename),
					   .build_id = string_of(p, from->build_id) };
	u32 number = p->profile->mappings.count;

	if (!*p->profile->title && mapping.path)
		p->profile->title = p->profile->names.strings.at[mapping.path].text;
	if (!vec_push(&p->profile->mappings, mapping))
		p->no_memory = true;
	else
		add_id(p, &p->mappings, (struct id_row){ from->id, number, 0 });
}

static void add_function(struct pprof *p, const struct pprof_function *from)
{
	struct names *names = &p->profile->names;
	struct text name = text_of(p, from->name), path = text_of(p, from->filename);
	enum frame_mark mark = path.length ? MARK_COUNT : import_mark(name.at, name.length);
	struct name_function function = {
		.name = string_of(p, from->name),
		.path = string_of(p, from->filename),
		.language = names_text(names, import_language(path.at, path.length)),
		.first_line = from->start_line < UINT32_MAX ? (u32)from->start_line : 0,
	};
	u32 number = mark < MARK_COUNT ? names->locations.at[names_mark(names, mark)].function :
					 names_function(names, &function);

	add_id(p, &p->functions, (struct id_row){ from->id, number, 0 });
}

/* A function whose file is that of the mapping: machine code, by its image. */
static u32 native_function(struct pprof *p, u32 number, const struct profile_mapping *mapping)
{
	struct name_function function = p->profile->names.functions.at[number];

	if (!mapping || !mapping->path || function.path != mapping->path)
		return number;
	function.image = function.path;
	function.path = 0;
	function.language = names_text(&p->profile->names, "native");
	return names_function(&p->profile->names, &function);
}

/* A location without a line was never given a name: its address is one. */
static u32 address_frame(struct pprof *p, const struct profile_mapping *mapping, u64 address)
{
	struct names *names = &p->profile->names;
	char text[32];

	snprintf(text, sizeof text, "0x%llx", (unsigned long long)address);
	struct name_function function = { .name = names_text(names, text),
					  .language = names_text(names, "native"),
					  .image = mapping ? mapping->path : 0 };
	struct name_location location = { .function = names_function(names, &function),
					  .address = address };
	return names_location(names, &location);
}

static bool add_location(struct pprof *p, struct cursor bytes)
{
	struct pprof_location from;
	struct pprof_line line;

	if (!pprof_get_location(bytes, &from))
		return false;
	const struct id_row *mapped = find_id(&p->mappings, from.mapping);
	const struct profile_mapping *mapping = mapped ? &p->profile->mappings.at[mapped->value] :
							 NULL;
	u64 address = mapping && from.address >= mapping->start ?
			      from.address - mapping->start + mapping->offset :
			      from.address;
	u32 first = p->frames.count;
	while (pprof_next_line(&from.lines, &line)) {
		const struct id_row *row = find_id(&p->functions, line.function);
		u32 function = native_function(p, row ? row->value : 0, mapping);
		bool native = p->profile->names.functions.at[function].image != 0;
		struct name_location location = { .function = function,
						  .line = line.line < UINT32_MAX ? (u32)line.line :
										   0,
						  .address = native ? address : 0 };
		if (!vec_push(&p->frames, names_location(&p->profile->names, &location)))
			p->no_memory = true;
	}
	if (p->frames.count == first && !vec_push(&p->frames, address_frame(p, mapping, address)))
		p->no_memory = true;
	add_id(p, &p->locations, (struct id_row){ from.id, first, p->frames.count - first });
	return !from.lines.bad;
}

/* ---- samples ------------------------------------------------------------------------------ */

struct sample_labels {
	u64 pid, tid;
	u32 process_name, thread_name; /* strings */
};

static bool is_one_of(const struct pprof *p, u64 key, const char *const *words)
{
	for (; *words; words++)
		if (is_text(p, key, *words))
			return true;
	return false;
}

static u64 number_of(const struct pprof *p, const struct pprof_label *label)
{
	struct text text = text_of(p, label->str);
	u64 number = 0;

	if (!text.length)
		return label->num;
	for (u32 i = 0; i < text.length && i < 10; i++) {
		if (text.at[i] < '0' || text.at[i] > '9')
			return 0;
		number = number * 10 + (u64)(text.at[i] - '0');
	}
	return number;
}

static bool take_label(struct pprof *p, struct cursor bytes, struct sample_labels *out)
{
	static const char *const tid[] = { "thread_id", "tid",    "thread native id",
					   "thread id", "thread", NULL };
	static const char *const pid[] = { "pid", "process_id", "process id", NULL };
	static const char *const thread_name[] = { "thread_name", "thread name", "thread_comm",
						   NULL };
	static const char *const process_name[] = { "process_name", "process name", "comm", NULL };
	struct pprof_label label;

	if (!pprof_get_label(bytes, &label))
		return false;
	if (is_one_of(p, label.key, tid))
		out->tid = number_of(p, &label);
	else if (is_one_of(p, label.key, pid))
		out->pid = number_of(p, &label);
	else if (is_one_of(p, label.key, thread_name))
		out->thread_name = string_of(p, label.str);
	else if (is_one_of(p, label.key, process_name))
		out->process_name = string_of(p, label.str);
	return true;
}

/* The stack of a list of location ids, innermost first; the outermost are left out when there are too many. */
static u32 stack_of(struct pprof *p)
{
	struct names *names = &p->profile->names;
	u64 depth = 0;
	u32 stack = 0, first = 0, count = p->path.count;

	while (first < count) {
		const struct id_row *row = find_id(&p->locations, p->path.at[first]);
		depth += row ? row->count : 1;
		if (depth > DEPTH_MOST)
			break;
		first++;
	}
	if (depth > p->budget) {
		p->budget = 0;
		return 0;
	}
	p->budget -= depth;
	if (first < count) {
		p->truncated = true;
		stack = names_stack(names, 0, names_mark(names, MARK_TRUNCATED));
	}
	while (first-- > 0) {
		const struct id_row *row = find_id(&p->locations, p->path.at[first]);
		if (!row)
			stack = names_stack(names, stack, 0);
		for (u32 i = row ? row->count : 0; i-- > 0;)
			stack = names_stack(names, stack, p->frames.at[row->value + i]);
	}
	return stack;
}

static u64 positive(struct pprof *p, const u64 *values, u32 at)
{
	if (at == TYPES_MOST || values[at] <= INT64_MAX)
		return at == TYPES_MOST ? 0 : values[at];
	p->negative++;
	return 0;
}

static void add_values(struct pprof *p, const struct sample_labels *labels, const u64 *values)
{
	u64 count = positive(p, values, p->count_at), weight = positive(p, values, p->weight_at);

	if (weight && weight > (UINT64_C(1) << 62) / p->unit_ns) {
		p->rows.too_much = true;
		return;
	}
	weight *= p->unit_ns;
	if (weight && p->count_at == TYPES_MOST) {
		u64 each = p->profile->hz ? NS_PER_S / p->profile->hz : weight;
		count = weight >= each ? (weight + each / 2) / each : 1;
	}
	if (!count && !weight)
		return;
	u32 stack = stack_of(p);
	u32 thread = import_thread(&p->rows, labels->pid <= UINT32_MAX ? (u32)labels->pid : 0,
				   p->profile->names.strings.at[labels->process_name].text,
				   labels->tid <= UINT32_MAX ? (u32)labels->tid : 0,
				   labels->thread_name);
	import_add(&p->rows, thread, stack, count, weight);
}

static bool add_sample(struct pprof *p, struct cursor bytes)
{
	struct sample_labels labels = { 0 };
	u64 values[TYPES_MOST] = { 0 }, value;
	struct proto_field field;
	u32 value_count = 0;

	vec_clear(&p->path);
	while (proto_next(&bytes, &field)) {
		if (field.number == 1) {
			while (proto_number(&field, &value))
				p->no_memory |= !vec_push(&p->path, value);
		} else if (field.number == 2) {
			while (proto_number(&field, &value))
				if (value_count < p->type_count)
					values[value_count++] = value;
		} else if (field.number == 3 && field.wire == PROTO_BYTES &&
			   !take_label(p, field.bytes, &labels)) {
			return false;
		}
		bytes.bad |= field.bytes.bad;
	}
	if (!bytes.bad)
		add_values(p, &labels, values);
	return !bytes.bad;
}

/* ---- the whole ---------------------------------------------------------------------------- */

enum pass { PASS_HEAD, PASS_CODE, PASS_LOCATIONS, PASS_SAMPLES, PASS_COUNT };

static bool take_field(struct pprof *p, enum pass pass, struct proto_field *field, bool is_message)
{
	struct pprof_mapping mapping;
	struct pprof_function function;
	u64 comment;

	if (pass == PASS_HEAD)
		return get_head_field(p, field);
	if (pass == PASS_CODE && field->number == PPROF_COMMENT)
		while (proto_number(field, &comment))
			set_title(p, comment);
	if (!is_message)
		return true;
	if (pass == PASS_CODE && field->number == PPROF_MAPPING) {
		if (!pprof_get_mapping(field->bytes, &mapping))
			return false;
		add_mapping(p, &mapping);
	} else if (pass == PASS_CODE && field->number == PPROF_FUNCTION) {
		if (!pprof_get_function(field->bytes, &function))
			return false;
		add_function(p, &function);
	} else if (pass == PASS_LOCATIONS && field->number == PPROF_LOCATION) {
		return add_location(p, field->bytes);
	} else if (pass == PASS_SAMPLES && field->number == PPROF_SAMPLE) {
		return add_sample(p, field->bytes);
	}
	return true;
}

static bool run_pass(struct pprof *p, enum pass pass, struct err *err)
{
	static const char *const names[] = { "",        "sample type", "sample",
					     "mapping", "location",    "function" };
	struct cursor message = p->message;
	struct proto_field field;
	const u8 *begin = message.at, *at = begin;

	while (proto_next(&message, &field)) {
		bool is_message = field.wire == PROTO_BYTES;
		if (!take_field(p, pass, &field, is_message))
			return err_set(
				err, ERR_BAD_DATA, "at byte %zu of the profile: not a valid %s",
				(size_t)(at - begin),
				field.number < COUNT_OF(names) ? names[field.number] : "field");
		if (p->no_memory)
			return err_no_memory(err);
		if (p->rows.too_much)
			return err_set(err, ERR_BAD_DATA,
				       "its values add up to more than 2^62 nanoseconds");
		if (!p->budget)
			return err_set(
				err, ERR_BAD_DATA,
				"its samples expand to implausibly many inlined frames for a file of %zu bytes",
				(size_t)(p->message.end - p->message.at));
		at = message.at;
	}
	if (message.bad)
		return err_set(err, ERR_BAD_DATA,
			       "at byte %zu of %zu: a field of profile.proto is cut off or damaged",
			       (size_t)(at - begin), (size_t)(message.end - begin));
	if (pass == PASS_HEAD && (!p->type_count || !p->texts.count))
		return err_set(err, ERR_BAD_DATA,
			       "it is no profile.proto: it has no sample types or no strings");
	return true;
}

static void describe(const struct pprof *p, struct load_result *result)
{
	size_t used = strlen(result->missing);

	if (p->negative)
		used += (size_t)snprintf(result->missing + used, sizeof result->missing - used,
					 "%s%llu values are negative and do not count",
					 used ? "; " : "", (unsigned long long)p->negative);
	if (p->truncated && used < sizeof result->missing)
		snprintf(result->missing + used, sizeof result->missing - used,
			 "%sstacks of more than %d frames have their innermost ones only",
			 used ? "; " : "", DEPTH_MOST);
}

static bool read_message(struct pprof *p, struct load_result *result, struct err *err)
{
	for (enum pass pass = 0; pass < PASS_COUNT; pass++) {
		if (!run_pass(p, pass, err))
			return false;
		if (pass == PASS_HEAD) {
			struct text text = text_of(p, p->first_comment);
			p->is_ours = text.length > 7 && !memcmp(text.at, "sonde: ", 7);
			choose_types(p, result);
			set_rate(p);
		}
	}
	if (!*p->profile->title)
		p->profile->title = "pprof profile";
	describe(p, result);
	return true;
}

static bool read_pprof(struct in *in, struct profile *profile, const struct load_options *options,
		       struct load_result *result, struct err *err)
{
	struct pprof *p = calloc(1, sizeof *p);
	size_t size;

	if (!p)
		return err_no_memory(err);
	p->profile = profile;
	import_rows_init(&p->rows, profile, options, result);
	bool good = import_read_all(in, &size, err);
	if (good) {
		p->message = cursor_make(in_bytes(in), size);
		p->budget = FRAMES_FREE + (u64)size * FRAMES_PER_BYTE;
		good = read_message(p, result, err);
	}
	import_rows_free(&p->rows);
	vec_free(&p->texts);
	free_map(&p->mappings);
	free_map(&p->functions);
	free_map(&p->locations);
	vec_free(&p->frames);
	vec_free(&p->path);
	str_free(&p->bytes);
	free(p);
	return good;
}

/* It has no signature: what is whole in the window must be fields of Profile, and either the first is
 * a sample type, as all writers have it, or there are several. Text is none of that. */
static bool is_pprof(struct in *in)
{
	enum {
		NUMBERS = 1 << PPROF_DROP_FRAMES | 1 << PPROF_KEEP_FRAMES | 1 << PPROF_TIME_NANOS |
			  1 << PPROF_DURATION_NANOS | 1 << PPROF_PERIOD | 1 << PPROF_COMMENT |
			  1 << PPROF_DEFAULT_SAMPLE_TYPE | 1 << PPROF_DOC_URL,
		SEVERAL = 3
	};
	struct pprof_value_type type;
	struct proto_field field;
	u32 count = 0;

	size_t have = in_fill(in, 4096);
	struct cursor message = cursor_make(in_bytes(in), have);
	for (; proto_next(&message, &field) && count < SEVERAL; count++) {
		bool is_number = field.wire == PROTO_VARINT;
		if (field.number > PPROF_DOC_URL || (!is_number && field.wire != PROTO_BYTES) ||
		    (is_number && !(NUMBERS >> field.number & 1)))
			return false;
		if (field.number == PPROF_SAMPLE_TYPE)
			return pprof_get_value_type(field.bytes, &type) && type.type;
	}
	return count == SEVERAL;
}

const struct importer pprof_importer = { "pprof", is_pprof, read_pprof };
