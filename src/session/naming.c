/* SPDX-License-Identifier: Apache-2.0
 * naming.c - see naming.h. */
#include "session/naming.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "session/natives.h"
#include "target/target.h"

#define LOG_DOMAIN LOG_session

enum {
	/* Witness bytes kept; past that the cache starts over, which is slow once and right. */
	WITNESS_MAX = 12 << 20, /* below what a tape holds */
	ANY_PLACE = 0xffff,     /* flags of a key that stands for a function, not for a frame */
	ANY_OWNER = 0xfffe,     /* and for code, whoever it was called as */
	/* Frames of one sample that are looked for on the stack again, a walk each. */
	CONFIRM_MAX = 64,
};

/* An object that was on a stack this recently has hardly been freed, swept and its address reused. Programs that were never
 * seen to reuse addresses get this benefit of the doubt; after a longer delay (we lost the CPU) they do not. */
static const u64 SURELY_ALIVE_NS = 10 * NS_PER_MS;

/* A name in doubt is asked for again so much later: what was put in a dead one's place meanwhile has hardly outlived that. */
static const u64 DOUBT_NS = 100 * NS_PER_MS;

struct frame_key {
	u64 incarnation, id, owner;
	u32 pos;
	u16 kind, flags;
};

struct named {
	struct frame_key key;
	u64 generation;
	u32 location;
	u32 first_read, read_count; /* the witness: reads of naming->witness */
	bool known;
	bool was_kept; /* of bytes that are as they were in the sample */
	bool steady; /* read anew, it was the function that it had been when the sample was taken */
	u64 since_ns;   /* of what stands for a function: when it was first seen to be it */
	u64 code;       /* of what stands for code, and with a bare name: struct frame_name's */
	bool has_names; /* of the same: more than one, by whom it is called as */
	bool is_bare; /* who called it was gone: `location` has the name that the code has by itself */
	/* given out while it had no name, and kept when the name that it seemed to have is proven */
	u32 promise, promised_function;
	u32 promises; /* how often */
};

/* A name that was read when it may have been too late, or a bare one. */
struct doubt {
	u32 item;
	u64 generation; /* of the sample */
	u64 due_ns;     /* UINT64_MAX: at the end */
};

struct naming {
	struct names *names;
	struct natives natives;
	VEC(struct named) all;
	struct table table;
	struct tape witness;
	/* The last stack, and what its outermost frames lead to, root first, as far as it was named without a doubt: a
	 * busy program's next sample shares most of it. */
	u64 last_incarnation, last_generation;
	VEC(struct frame) last_frames;
	VEC(u32) last_stacks;
	VEC(u32) found; /* item of `all`, a frame each of the present sample */
	VEC(u32) stale; /* items to be validated */
	VEC(struct doubt) doubts;
	u64 ask_again_ns; /* some of them, not before */
	VEC(struct mem_span) spans;
	VEC(u8) again;
	struct frame_name name;
	enum naming_detail detail;
	bool churns;
	u64 unnamed;
	u64 promised; /* locations, ever */
};

struct naming *naming_new(struct names *names, enum naming_detail detail)
{
	struct naming *naming = calloc(1, sizeof *naming);

	if (naming) {
		naming->names = names;
		naming->detail = detail;
		natives_init(&naming->natives, names, detail == NAMING_FUNCTIONS);
	}
	return naming;
}

void naming_free(struct naming *naming)
{
	if (!naming)
		return;
	natives_free(&naming->natives);
	vec_free(&naming->all);
	table_free(&naming->table);
	tape_free(&naming->witness);
	vec_free(&naming->last_frames);
	vec_free(&naming->last_stacks);
	vec_free(&naming->found);
	vec_free(&naming->stale);
	vec_free(&naming->doubts);
	vec_free(&naming->spans);
	vec_free(&naming->again);
	str_free(&naming->name.label);
	str_free(&naming->name.path);
	free(naming);
}

void naming_prepare_natives(struct naming *naming)
{
	natives_prepare(&naming->natives);
}

void naming_find_parts(struct naming *naming, struct profile *profile)
{
	natives_find_parts(&naming->natives, profile);
}

u64 naming_unnamed(const struct naming *naming)
{
	return naming->unnamed;
}

static bool same_key(const void *owner, u32 item, const void *key)
{
	const struct naming *naming = owner;
	return !memcmp(&naming->all.at[item].key, key, sizeof(struct frame_key));
}

/* The cache's item for a key, added if need be; TABLE_NONE when out of memory. */
static u32 item_for(struct naming *naming, const struct frame_key *key)
{
	u64 hash = table_hash(key, sizeof *key);
	u32 item = table_find(&naming->table, hash, same_key, naming, key);

	if (item != TABLE_NONE)
		return item;
	item = naming->all.count;
	if (!vec_push(&naming->all, (struct named){ .key = *key }) ||
	    !table_add(&naming->table, hash, item))
		return TABLE_NONE;
	return item;
}

static u32 item_of(struct naming *naming, const struct sample_source *source,
		   const struct frame *frame)
{
	struct frame_key key;

	memset(&key, 0, sizeof key); /* compared as bytes */
	/* a file's code is the same for all that map it */
	if (frame->kind >= FRAME_MANAGED || !frame->owner)
		key.incarnation = source->incarnation;
	key.id = frame->id;
	key.owner = frame->owner;
	key.pos = frame->pos;
	key.kind = frame->kind;
	/* a caller's pos is behind its call, a leaf's may be anywhere: their lines can differ */
	key.flags = frame->flags & (FRAME_C | FRAME_LEAF);
	return item_for(naming, &key);
}

/* Stands for the function of these addresses, wherever in it they stood. */
static u32 function_item(struct naming *naming, const struct frame_key *of, u64 incarnation)
{
	struct frame_key key = *of;

	key.incarnation = incarnation;
	key.pos = 0;
	key.flags = ANY_PLACE;
	return item_for(naming, &key);
}

/* Stands for the code of that address, whoever it is called as. */
static u32 code_item(struct naming *naming, const struct frame_key *of)
{
	struct frame_key key = *of;

	key.pos = 0;
	key.owner = 0;
	key.flags = ANY_OWNER;
	return item_for(naming, &key);
}

/* Is that code, whoever it was called as, what was read now? */
static bool is_code(const struct naming *naming, const struct named *named, u32 function, u64 code)
{
	const struct name_function *all = naming->names->functions.at;

	return named->known && named->code == code &&
	       all[named->location].path == all[function].path &&
	       all[named->location].first_line == all[function].first_line;
}

/* The address comes to mean other code if it lies elsewhere in the source; one that is called as another's method is not. */
static void note_code(struct naming *naming, const struct frame_key *of, u32 function)
{
	u32 item = code_item(naming, of);

	if (item == TABLE_NONE)
		return;
	struct named *named = &naming->all.at[item];
	bool was = is_code(naming, named, function, naming->name.code);
	naming->churns |= named->known && !was;
	named->has_names = was && (named->has_names || named->location != function);
	if (!was)
		named->since_ns = clock_now_ns();
	named->location = function;
	named->code = naming->name.code;
	named->known = true;
}

/* Was this the function of these addresses at that time? Notes that it is now. */
static bool is_function_of(struct naming *naming, const struct frame_key *of, u32 function,
			   u64 time_ns)
{
	u32 item = function_item(naming, of, of->incarnation);

	if (item == TABLE_NONE)
		return false;
	struct named *named = &naming->all.at[item];
	bool was = named->known && named->location == function;
	/* addresses of this program come to mean other functions: from now on nothing is assumed */
	naming->churns |= named->known && !was;
	if (!was)
		named->since_ns = clock_now_ns();
	named->location = function;
	named->known = true;
	return was && named->since_ns <= time_ns;
}

/* Has it been that function since before the process was forked, in the one that it was forked from? */
static bool was_inherited(struct naming *naming, const struct frame_key *of, u32 function,
			  const struct sample_source *source)
{
	u32 item = source->forked_from ? function_item(naming, of, source->forked_from) :
					 TABLE_NONE;

	if (item == TABLE_NONE)
		return false;
	const struct named *named = &naming->all.at[item];
	return named->known && named->location == function && named->since_ns <= source->forked_ns;
}

/* How many of the outermost frames are those of the last stack, of which so many can be: mostly all but the leaf, or all. */
static u32 common_frames(const struct naming *naming, const struct sample *sample, u32 most)
{
	u32 callers = most - 1, common = 0;

	if (!most)
		return 0;
	const struct frame *end = sample->frames + sample->depth;
	const struct frame *last_end = naming->last_frames.at + naming->last_frames.count;
	if (callers && !memcmp(end - callers, last_end - callers, callers * sizeof *end))
		common = callers;
	while (common < most && !memcmp(end - common - 1, last_end - common - 1, sizeof *end))
		common++;
	return common;
}

/* How many of the outermost frames have the names that they had in the last stack; this one takes its place. */
static u32 shared_frames(struct naming *naming, const struct sample *sample,
			 const struct sample_source *source)
{
	bool is_later = sample->generation && sample->generation == naming->last_generation &&
			source->incarnation == naming->last_incarnation;
	u32 known = is_later ? naming->last_stacks.count : 0, depth = sample->depth;
	u32 shared = common_frames(naming, sample, known < depth ? known : depth);
	bool is_as_deep = naming->last_frames.count == depth;

	naming->last_stacks.count = shared;
	naming->last_generation = sample->generation;
	naming->last_incarnation = source->incarnation;
	vec_clear(&naming->last_frames);
	if (!vec_grow(&naming->last_frames, depth)) {
		naming->last_stacks.count = 0; /* out of memory: looked up each time */
		return shared;
	}
	if (depth)
		memcpy(naming->last_frames.at, sample->frames,
		       (is_as_deep ? depth - shared : depth) * sizeof *sample->frames);
	naming->last_frames.count = depth;
	return shared;
}

/* Of the frame behind those that are known. */
static void remember(struct naming *naming, u32 stack)
{
	if (!naming->last_frames.count || vec_push(&naming->last_stacks, stack))
		return;
	vec_clear(&naming->last_frames); /* out of memory: looked up each time */
	vec_clear(&naming->last_stacks);
}

/* The kernel's own (include/linux/errno.h), of a call that a signal has interrupted: the program never sees them, since the call
 * begins anew or returns EINTR. And the driver's "no such ioctl". */
static const char *error_name(u32 error)
{
	static const char *const own[] = { "ERESTARTSYS", "ERESTARTNOINTR", "ERESTARTNOHAND",
					   "ENOIOCTLCMD", "ERESTART_RESTARTBLOCK" };
	enum { FIRST_OWN = 512 };

	if (error >= FIRST_OWN && error < FIRST_OWN + COUNT_OF(own))
		return own[error - FIRST_OWN];
	return error ? strerrorname_np((int)error) : NULL;
}

/* "syscall:openat", or "syscall-exit:openat ENOENT" */
static u32 event_location(struct naming *naming, const struct frame *frame,
			  const struct sample_source *source)
{
	struct names *names = naming->names;
	const char *name = source->event_name ? source->event_name(source, frame->id) : NULL;
	const char *error = error_name(frame->pos);
	struct name_function function = { .language = names_text(names, "event") };
	struct name_location location = { 0 };
	struct str text = { 0 };

	str_add_text(&text, name ? name : "");
	if (error)
		str_addf(&text, " %s", error);
	else if (frame->pos)
		str_addf(&text, " error %u", frame->pos);
	function.name = names_string(names, text.text, text.length);
	str_free(&text);
	location.function = names_function(names, &function);
	return names_location(names, &location);
}

/* Code of files and of the kernel does not move, so its name is looked up once. */
static void name_native(struct naming *naming, const struct frame *frame,
			const struct sample_source *source, struct named *named)
{
	bool is_made = frame->kind == FRAME_NATIVE && !frame->owner; /* at run time: it may move */

	if (!named->known && frame->kind == FRAME_EVENT)
		named->location = event_location(naming, frame, source);
	else if (!named->known || is_made)
		named->location = natives_location(&naming->natives, frame, source);
	named->known = true;
}

/* The items of the innermost `count`. */
static bool find_frames(struct naming *naming, const struct sample *sample, u32 count,
			const struct sample_source *source)
{
	vec_clear(&naming->found);
	vec_clear(&naming->stale);
	for (u32 i = 0; i < count; i++) {
		const struct frame *frame = &sample->frames[i];
		u32 item = frame->kind == FRAME_MARK ? 0 : item_of(naming, source, frame);
		if (item == TABLE_NONE || !vec_push(&naming->found, item))
			return false;
		if (frame->kind == FRAME_MARK)
			continue;
		struct named *named = &naming->all.at[item];
		if (frame->kind < FRAME_MANAGED) {
			name_native(naming, frame, source, named);
			continue;
		}
		bool fresh = named->known && sample->generation &&
			     named->generation == sample->generation;
		if (!fresh && !vec_push(&naming->stale, i))
			return false;
	}
	return true;
}

/* ---- validating by witness --------------------------------------------------------------- */

static bool gather_witness(struct naming *naming, const struct named *named, u32 *bytes)
{
	for (u32 i = 0; i < named->read_count; i++) {
		const struct tape_read *read = &naming->witness.reads.at[named->first_read + i];
		/* dst is an offset until the buffer's place is known */
		if (!vec_push(
			    &naming->spans,
			    (struct mem_span){ read->addr, (void *)(uintptr_t)*bytes, read->len }))
			return false;
		*bytes += read->len;
	}
	return true;
}

static bool witness_holds(const struct naming *naming, const struct named *named, u32 span,
			  u32 spans_read)
{
	if (span + named->read_count > spans_read)
		return false;
	for (u32 i = 0; i < named->read_count; i++) {
		const struct tape_read *read = &naming->witness.reads.at[named->first_read + i];
		if (memcmp(naming->spans.at[span + i].dst, naming->witness.bytes.at + read->at,
			   read->len))
			return false;
	}
	return true;
}

/* Takes from `stale` what is still true. */
static void validate(struct naming *naming, const struct sample *sample,
		     const struct sample_source *source)
{
	u32 bytes = 0, kept = 0, span = 0;

	vec_clear(&naming->spans);
	for (u32 i = 0; i < naming->stale.count; i++) {
		const struct named *named = &naming->all.at[naming->found.at[naming->stale.at[i]]];
		if (named->known && !gather_witness(naming, named, &bytes))
			return;
	}
	if (!naming->spans.count || !vec_grow(&naming->again, bytes))
		return;
	for (u32 i = 0; i < naming->spans.count; i++)
		naming->spans.at[i].dst = naming->again.at + (uintptr_t)naming->spans.at[i].dst;
	u32 read = mem_live_readv(&source->target->mem, naming->spans.at, naming->spans.count);
	for (u32 i = 0; i < naming->stale.count; i++) {
		struct named *named = &naming->all.at[naming->found.at[naming->stale.at[i]]];
		bool holds = named->known && witness_holds(naming, named, span, read);
		span += named->known ? named->read_count : 0;
		if (holds)
			named->generation = sample->generation;
		else
			naming->stale.at[kept++] = naming->stale.at[i];
	}
	naming->stale.count = kept;
}

/* ---- reading names ----------------------------------------------------------------------- */

static u32 location_of(struct naming *naming, const struct runtime *runtime,
		       const struct frame_name *name)
{
	struct names *names = naming->names;
	struct name_function function = {
		.name = names_string(names, name->label.text, name->label.length),
		.path = names_string(names, name->path.text, name->path.length),
		.language = names_text(names, runtime->name),
		.first_line = name->first_line,
		.flags = name->flags,
	};
	struct name_location location = { .function = names_function(names, &function),
					  .line = naming->detail == NAMING_FUNCTIONS ?
							  name->first_line :
							  name->line };

	if (naming->detail == NAMING_COLUMNS) {
		location.end_line = name->end_line;
		location.column = name->column;
		location.end_column = name->end_column;
	}
	return names_location(names, &location);
}

/* What is read on the way is the witness. */
static bool read_name_from(struct naming *naming, const struct mem *mem, const struct frame *frame,
			   const struct sample_source *source, struct named *named)
{
	const void *state;
	const struct runtime *runtime = source->runtime_of(source, frame->kind, &state);
	struct frame_name *name = &naming->name;
	struct mem_record record;

	if (!runtime)
		return false;
	str_clear(&name->label);
	str_clear(&name->path);
	name->line = name->first_line = name->flags = 0;
	name->end_line = name->column = name->end_column = 0;
	name->code = 0;
	mem_record_init(&record, mem, &naming->witness);
	named->first_read = naming->witness.reads.count;
	if (!runtime->name_frame(&record.mem, state, frame, name) || name->label.bad ||
	    name->path.bad || naming->witness.bad)
		return false;
	named->read_count = naming->witness.reads.count - named->first_read;
	return true;
}

static bool read_name_elsewhere(struct naming *naming, const struct frame *frame,
				const struct sample_source *source, struct named *named)
{
	const struct mem *mem;

	/* Is it as it was in the sample even now that it was read? */
	for (u32 i = 0; source->elsewhere && (mem = source->elsewhere(source, frame, i)); i++)
		if (read_name_from(naming, mem, frame, source, named) &&
		    source->elsewhere(source, frame, i) == mem)
			return true;
	return false;
}

/* The code of a bare name is known by one other name: it has that. */
static bool take_code_name(struct naming *naming, u32 item, u64 time_ns)
{
	u32 same = code_item(naming, &naming->all.at[item].key);

	if (same == TABLE_NONE)
		return false;
	const struct named *code = &naming->all.at[same];
	struct named *named = &naming->all.at[item];
	struct name_location at = naming->names->locations.at[named->location];
	if (code->has_names || code->since_ns > time_ns ||
	    !is_code(naming, code, at.function, named->code))
		return false;
	at.function = code->location;
	named->location = names_location(naming->names, &at);
	return true;
}

/* By whom it was called is gone (Ruby's Method#call makes a method entry for the time of the call): if the code is what it was
 * before the sample, it has the name that it had. */
static void read_code(struct naming *naming, const struct frame *frame, u64 time_ns,
		      const struct sample_source *source, u32 item)
{
	struct named *named = &naming->all.at[item];
	struct frame code = *frame;
	const void *state;

	code.owner = 0;
	if (!frame->owner || !read_name_from(naming, source->mem, &code, source, named))
		return;
	named->location = location_of(naming, source->runtime_of(source, frame->kind, &state),
				      &naming->name);
	named->code = naming->name.code;
	named->was_kept = false;
	bool is_known = take_code_name(naming, item, time_ns), was_bare = named->is_bare;
	named = &naming->all.at[item];
	named->known = named->steady = is_known;
	named->is_bare = !is_known;
	if (named->is_bare && !was_bare)
		naming->names->bad |= !vec_push(&naming->doubts,
						(struct doubt){ item, 0, UINT64_MAX });
}

static void read_name(struct naming *naming, const struct frame *frame, u64 time_ns,
		      const struct sample_source *source, u32 item)
{
	struct named *named = &naming->all.at[item];
	const void *state;

	named->known = named->steady = false;
	named->was_kept = !read_name_from(naming, source->mem, frame, source, named);
	if (named->was_kept && !read_name_elsewhere(naming, frame, source, named)) {
		read_code(naming, frame, time_ns, source, item);
		return;
	}
	named->is_bare = false;
	struct frame_key key = named->key;
	u32 location = location_of(naming, source->runtime_of(source, frame->kind, &state),
				   &naming->name);
	u32 function = naming->names->locations.at[location].function;
	note_code(naming, &key, function); /* may move the items, as does the next */
	bool was_here = is_function_of(naming, &key, function, time_ns);
	bool steady = was_here || was_inherited(naming, &key, function, source);
	named = &naming->all.at[item];
	named->steady = steady;
	named->location = location;
	named->known = true;
}

static void doubt_name(struct naming *naming, u32 item, const struct sample *sample)
{
	struct doubt doubt = { item, sample->generation, sample->time_ns + DOUBT_NS };

	naming->all.at[item].known = false;
	naming->names->bad |= !vec_push(&naming->doubts, doubt);
}

/* The collector has run since the sample was taken: whose names are these? */
static void confirm_names(struct naming *naming, const struct sample *sample,
			  const struct sample_source *source)
{
	for (u32 i = 0; i < naming->stale.count; i++) {
		u32 frame = naming->stale.at[i];
		struct named *named = &naming->all.at[naming->found.at[frame]];
		/* The same name as before the collector ran: it changed its own marks only. */
		if (named->known && (named->steady || named->was_kept))
			continue;
		/* Read once more: before, it had not been seen alive. */
		read_name(naming, &sample->frames[frame], sample->time_ns, source,
			  naming->found.at[frame]);
		named = &naming->all.at[naming->found.at[frame]];
		named->generation = 0;
		bool is_live = i < CONFIRM_MAX && source->frame_is_live &&
			       source->frame_is_live(source, &sample->frames[frame]);
		if (named->known && !is_live)
			doubt_name(naming, naming->found.at[frame], sample);
	}
}

static void read_names(struct naming *naming, const struct sample *sample,
		       const struct sample_source *source)
{
	for (u32 i = 0; i < naming->stale.count; i++) {
		u32 frame = naming->stale.at[i];
		struct named *named = &naming->all.at[naming->found.at[frame]];
		if (named->known && sample->generation && named->generation == sample->generation)
			continue; /* a recursive function's frame: read a moment ago */
		read_name(naming, &sample->frames[frame], sample->time_ns, source,
			  naming->found.at[frame]);
		naming->all.at[naming->found.at[frame]].generation = sample->generation;
	}
	if (sample->generation && source->generation_now(source) != sample->generation &&
	    (naming->churns || !source->frame_is_live ||
	     clock_now_ns() > sample->time_ns + SURELY_ALIVE_NS))
		confirm_names(naming, sample, source);
}

/* A location of its own for a frame whose name is not proven yet. */
static u32 promise_of(struct naming *naming, struct named *named)
{
	struct names *names = naming->names;

	naming->unnamed++;
	named->promises++;
	if (named->promise)
		return named->promise;
	log_debug(1, "no name for the frame %llx of %llx at %x (flags %x, kind %u)%s",
		  (unsigned long long)named->key.id, (unsigned long long)named->key.owner,
		  named->key.pos, named->key.flags, named->key.kind,
		  named->was_kept ? ": its object is not what it was" :
		  named->is_bare  ? ": who called it is gone" :
				    ": it was read too late");
	struct name_function function = { .name = names_text(names, "(unnamed)") };
	struct name_location location = {
		.function = names_function(names, &function),
		.address = ++naming->promised, /* nobody else's */
	};
	named->promise = names_location(names, &location);
	named->promised_function = names->locations.at[named->location].function;
	return named->promise;
}

static void keep_promise(struct naming *naming, struct named *named)
{
	const struct name_location *all = naming->names->locations.at;

	if (!naming->churns && all[named->location].function == named->promised_function) {
		names_replace(naming->names, named->promise, named->location);
		naming->unnamed -= named->promises;
	}
	named->promise = named->promises = 0;
}

static u32 named_location(struct naming *naming, struct named *named)
{
	if (!named->known)
		return promise_of(naming, named);
	if (named->promise)
		keep_promise(naming, named);
	return named->location;
}

/* ---- names in doubt ---------------------------------------------------------------------- */

/* Is the function that was read for it still there, after another collection? */
static void ask_again(struct naming *naming, u32 item, const struct sample *sample,
		      const struct sample_source *source)
{
	struct frame_key key = naming->all.at[item].key;
	struct frame frame = { .id = key.id,
			       .owner = key.owner,
			       .pos = key.pos,
			       .kind = key.kind,
			       .flags = key.flags };

	read_name(naming, &frame, sample->time_ns, source, item);
	struct named *named = &naming->all.at[item];
	named->generation = 0;
	if (named->known && named->promise)
		keep_promise(naming, named);
}

static void ask_again_when_due(struct naming *naming, const struct sample *sample,
			       const struct sample_source *source)
{
	u32 kept = 0;

	if (!naming->doubts.count || sample->time_ns < naming->ask_again_ns)
		return;
	naming->ask_again_ns = sample->time_ns + DOUBT_NS / 4;
	for (u32 i = 0; i < naming->doubts.count; i++) {
		struct doubt doubt = naming->doubts.at[i];
		bool is_due = sample->time_ns >= doubt.due_ns &&
			      sample->generation != doubt.generation &&
			      naming->all.at[doubt.item].key.incarnation == source->incarnation;
		if (is_due)
			ask_again(naming, doubt.item, sample, source);
		else
			naming->doubts.at[kept++] = doubt;
	}
	naming->doubts.count = kept;
}

/* What code it was is known, for its place lies in that; by what name it was called may be by now.  A C function has no place. */
static bool name_bare(struct naming *naming, u32 item)
{
	if ((naming->all.at[item].key.flags & FRAME_C) || !take_code_name(naming, item, UINT64_MAX))
		return false;
	struct named *named = &naming->all.at[item];
	named->promised_function = naming->names->locations.at[named->location].function;
	return true;
}

void naming_settle(struct naming *naming)
{
	for (u32 i = 0; i < naming->doubts.count; i++) {
		u32 item = naming->doubts.at[i].item;
		if (naming->all.at[item].is_bare && !name_bare(naming, item))
			continue;
		struct named *named = &naming->all.at[item];
		if (named->promise)
			keep_promise(naming, named);
	}
	vec_clear(&naming->doubts);
}

static void start_over_when_full(struct naming *naming)
{
	if (naming->witness.bytes.count < WITNESS_MAX && !naming->witness.bad)
		return;
	naming_settle(naming);
	vec_clear(&naming->all);
	table_clear(&naming->table);
	tape_clear(&naming->witness);
}

u32 naming_stack(struct naming *naming, const struct sample *sample,
		 const struct sample_source *source)
{
	u32 shared = shared_frames(naming, sample, source), inner = sample->depth - shared;
	u32 stack = shared ? naming->last_stacks.at[shared - 1] : 0;
	bool sure = sample->generation;

	start_over_when_full(naming);
	ask_again_when_due(naming, sample, source);
	if (!find_frames(naming, sample, inner, source)) {
		naming->names->bad = true;
		return 0;
	}
	if (naming->stale.count)
		validate(naming, sample, source);
	if (naming->stale.count)
		read_names(naming, sample, source);
	for (u32 i = inner; i-- > 0;) {
		const struct frame *frame = &sample->frames[i];
		u32 location;
		if (frame->kind == FRAME_MARK) {
			location = names_mark(naming->names, (enum frame_mark)frame->id);
		} else {
			struct named *named = &naming->all.at[naming->found.at[i]];
			location = named_location(naming, named);
			sure = sure && named->known;
		}
		stack = names_stack(naming->names, stack, location);
		if (sure)
			remember(naming, stack);
	}
	return stack;
}
