/* SPDX-License-Identifier: Apache-2.0
 * machine.c - see machine.h.
 *
 *	            static TLS            struct pthread
 *	... | ruby_current_ec ... | tp: header ... keys[] ... |
 *	             own_word < 0                  own_word > 0
 *
 * A pthread_t is the thread pointer (glibc, musl).  A variable in static TLS is in front of it, a value under a
 * pthread key behind it (glibc keeps the first 32 there), or where a word behind it leads (musl: to the thread's keys, which for the
 * first thread lie near it by chance).  Of several places that hold the word, one behind stands, and
 * another is asked when that is empty: Python clears its variable when it gives up the GIL, and neither the key nor, from
 * 3.15 on, its second variable. */
#include "engines/kernel/machine.h"

#include "elf/image.h"
#include "unwind/functions.h"

#include <string.h>

#define LOG_DOMAIN LOG_kernel
#include "base/log.h"

enum {
	WINDOW_FRONT = 16 << 10,
	WINDOW_BEHIND = 4 << 10,
	WINDOW_WORDS = (WINDOW_FRONT + WINDOW_BEHIND) / 8,
	PIECE = 512, /* read at once: what is mapped ends somewhere */
	PIECE_WORDS = PIECE / 8,
	OWN_WORDS = 32, /* of a thread's own, in which one leads to its keys */
	DTV = 1,        /* of them, leads to variables in TLS: x86-64's ABI has it there */
	KEYS_MAX = 128, /* PTHREAD_KEYS_MAX of musl */
	KEYS_ASKED = 4, /* threads */
	THREADS_ASKED = 64,
	LIST_TRIES = 16,
	THREADS_MOST = 1 << 16,
	FRAMES_ASKED = 256,
	PARTS_MAX = 2,
	SHELLS_MAX = 2,
	DOORS_MAX = 32, /* Ruby 2.5 has 18 */
	/* Of a loop whose code does not say where it links its frame. */
	BEGIN_BYTES = 0x6d,
	CALL_BYTES = 5,       /* x86-64 */
	THIN_BYTES = 4 << 10, /* no loop with 100 instructions in it has so few */
};

_Static_assert((int)KERNEL_STATE_MAX == (int)RUNTIME_STATE_MAX, "a state is copied whole");

/* ---- the word ------------------------------------------------------------------------------ */

/* Adds the weight to those places around a thread pointer that hold the word. */
static void look_around(const struct mem *mem, u64 pointer, u64 word, u16 weight,
			u16 at[WINDOW_WORDS])
{
	u64 begin = (pointer & ~7ull) - WINDOW_FRONT, piece[PIECE / 8];

	for (u32 i = 0; i < WINDOW_WORDS; i += COUNT_OF(piece)) {
		if (!mem_peek(mem, begin + i * 8ull, piece, sizeof piece))
			continue;
		for (u32 j = 0; j < COUNT_OF(piece); j++)
			at[i + j] += piece[j] == word ? weight : 0;
	}
}

/* Behind the pointer rather than in front, and near to it, of those with so many; the place is taken. */
static s32 choose(u16 at[WINDOW_WORDS], u16 most)
{
	u32 middle = WINDOW_FRONT / 8, found = WINDOW_WORDS;

	for (u32 i = middle; i < WINDOW_WORDS && found == WINDOW_WORDS; i++)
		found = at[i] == most ? i : found;
	for (u32 i = middle; i-- > 0 && found == WINDOW_WORDS;)
		found = at[i] == most ? i : found;
	if (!most || found == WINDOW_WORDS)
		return 0;
	at[found] = 0;
	return ((s32)found - (s32)middle) * 8;
}

enum listing {
	LISTING_TORN,
	LISTING_WHOLE,
	LISTING_WITH_FIRST,
};

/* Counts, over all known threads, where a word that leads to the thread was found. The first thread is long-lived, so the word's
 * true place is among its own. Threads that are starting or ending may hold it only on their stacks, which also lie near the
 * thread pointer, and at equal distances. */
static enum listing count_words(const struct machine *machine, const struct target *target,
				const struct mem *mem, u16 at[WINDOW_WORDS])
{
	const struct runtime *runtime = machine->attached->runtime;
	const void *state = machine->attached->state;
	enum step step = STEP_MORE;
	bool has_first = false;
	u64 where = 0;

	memset(at, 0, WINDOW_WORDS * sizeof at[0]);
	for (u32 n = 0; n < THREADS_ASKED && step == STEP_MORE; n++) {
		struct vm_thread thread = { 0 };
		step = runtime->next_thread(mem, state, &where, &thread);
		if (step != STEP_MORE || !thread.native)
			continue;
		u64 word = runtime->own_word(mem, state, thread.thread);
		bool is_first = word && thread.tid == target->inner_pid;
		if (word)
			look_around(mem, thread.native, word, is_first ? THREADS_ASKED : 1, at);
		has_first |= is_first;
	}
	if (step != STEP_MORE && step != STEP_DONE)
		return LISTING_TORN;
	return has_first ? LISTING_WITH_FIRST : LISTING_WHOLE;
}

/* Adds 1 to those of a thread's keys that hold the word, by the word in front of the keys. */
static void look_behind(const struct mem *mem, u64 pointer, u64 word, u8 found[OWN_WORDS][KEYS_MAX])
{
	u64 own[OWN_WORDS], keys[KEYS_MAX];

	if (!mem_peek(mem, pointer, own, sizeof own))
		return;
	for (u32 i = 0; i < OWN_WORDS; i++) {
		bool may_lead = own[i] >= 4096 && !(own[i] & 7) && !(own[i] >> 47) &&
				own[i] != pointer && i != DTV;
		for (u32 k = 0; may_lead && k < KEYS_MAX; k++) {
			if (k % PIECE_WORDS == 0)
				may_lead = mem_peek(mem, own[i] + 8ull * k, keys + k, PIECE);
			found[i][k] += may_lead && keys[k] == word;
		}
	}
}

/* Where all that are asked have it; by the word that led to them before, if one did. */
static bool find_keys(struct machine *machine, const struct mem *mem)
{
	const struct runtime *runtime = machine->attached->runtime;
	const void *state = machine->attached->state;
	u8 found[OWN_WORDS][KEYS_MAX] = { 0 };
	u64 where = 0;
	u32 asked = 0;

	for (u32 n = 0; n < THREADS_ASKED && asked < KEYS_ASKED; n++) {
		struct vm_thread thread = { 0 };
		if (runtime->next_thread(mem, state, &where, &thread) != STEP_MORE)
			break;
		u64 word = thread.native ? runtime->own_word(mem, state, thread.thread) : 0;
		if (word) {
			look_behind(mem, thread.native, word, found);
			asked++;
		}
	}
	u32 known = machine->keys_at / 8u;
	for (u32 i = known; i < (known ? known + 1 : OWN_WORDS); i++)
		for (u32 k = 0; asked && k < KEYS_MAX; k++)
			if (found[i][k] == asked) {
				machine->keys_at = (u16)(8 * i);
				machine->key_at = (u16)(8 * k);
				return true;
			}
	return false;
}

/* A list that changes as it is read may end anywhere: it is read again. (A host may run the VM on other threads than its first.)
 * False: there is none that can be believed. */
static bool find_own_word(struct machine *machine, const struct target *target,
			  const struct mem *mem)
{
	u16 at[WINDOW_WORDS], most = 0;
	enum listing listing = LISTING_TORN;

	machine->own_word = machine->second_word = 0;
	machine->keys_at = machine->key_at = 0;
	if (find_keys(machine, mem))
		return true;
	for (u32 i = 0; i < LIST_TRIES && listing != LISTING_WITH_FIRST; i++)
		listing = count_words(machine, target, mem, at);
	for (u32 i = 0; i < WINDOW_WORDS; i++)
		most = at[i] > most ? at[i] : most;
	if (listing == LISTING_WITH_FIRST && most < THREADS_ASKED)
		most = 0; /* the first one has none: what others have is on their stacks */
	machine->own_word = choose(at, most);
	machine->second_word = choose(at, most);
	return listing != LISTING_TORN;
}

bool machine_word_moved(struct machine *machine, const struct mem *mem)
{
	u16 before = machine->key_at;

	return machine->keys_at && find_keys(machine, mem) && machine->key_at != before;
}

bool machine_has_word(const struct machine *machine)
{
	return machine->own_word || machine->keys_at;
}

u64 machine_word(const struct machine *machine, const struct mem *mem, u64 pointer)
{
	const s32 places[] = { machine->own_word, machine->second_word };
	u64 word = 0, keys;

	for (u32 i = 0; i < COUNT_OF(places) && !word; i++)
		if (places[i] && !mem_peek(mem, pointer + (u64)(s64)places[i], &word, 8))
			return 0;
	if (machine->keys_at && (!mem_peek(mem, pointer + machine->keys_at, &keys, 8) ||
				 !mem_peek(mem, keys + machine->key_at, &word, 8)))
		return 0;
	return word;
}

/* By the VM's own list, for those that keep no word (Python 2.7). */
void machine_riders(const struct machine *machine, const struct target *target,
		    machine_rider_fn *fn, void *arg)
{
	const struct runtime *runtime = machine->attached->runtime;
	target_threads threads = { 0 };
	u64 where = 0;

	if (target->nested && !target_read_threads(target, &threads, NULL))
		return;
	for (u32 n = 0; n < THREADS_MOST; n++) {
		struct vm_thread thread = { 0 };
		if (runtime->next_thread(&target->mem.mem, machine->attached->state, &where,
					 &thread) != STEP_MORE)
			break;
		u32 tid = target->nested ? 0 : thread.tid;
		for (u32 i = 0; i < threads.count && !tid; i++)
			if (threads.at[i].inner_tid == thread.tid)
				tid = threads.at[i].tid;
		if (thread.tid && tid)
			fn(arg, tid, thread.thread);
	}
	vec_free(&threads);
}

/* ---- the loop ------------------------------------------------------------------------------ */

static void add_part(struct machine_code *code, const struct unwind_function *function,
		     enum machine_part part)
{
	if (code->loop_count < MACHINE_LOOPS_MAX)
		code->loops[code->loop_count++] = (struct machine_loop){ function->begin,
									 function->end, part };
}

/* The function around it, and its cold parts. */
static void add_whole(struct machine_code *code, const struct unwind_functions *functions,
		      const struct unwind_function *function, enum machine_part part)
{
	struct unwind_function parts[PARTS_MAX];
	u32 count = unwind_function_parts(functions, function, parts, PARTS_MAX);

	add_part(code, function, part);
	for (u32 i = 0; i < count && i < PARTS_MAX; i++)
		add_part(code, &parts[i], part);
}

static void add_doors(struct machine_code *code, const struct unwind_functions *functions,
		      const struct unwind_function *function)
{
	struct unwind_function doors[DOORS_MAX];
	u32 count = unwind_function_doors(functions, function, doors, DOORS_MAX);

	for (u32 i = 0; i < count && i < DOORS_MAX; i++)
		add_part(code, &doors[i], MACHINE_DOOR);
}

static void add_links(struct machine_code *code, const struct unwind_functions *functions,
		      const struct attached *attached)
{
	const struct runtime *runtime = attached->runtime;
	struct runtime_links links;
	struct image_symbol check;

	if (!runtime->links || !runtime->links(attached->state, &links))
		return;
	u64 store = unwind_function_store(functions, code->loops[0].begin, links.offset);
	if (store)
		code->begin_bytes = (u32)(store - code->loops[0].begin) + 1;
	if (!image_symbol_named(functions->image, links.check, &check))
		return;
	for (u32 i = 0; i < code->loop_count; i++) {
		struct unwind_function part = { code->loops[i].begin, code->loops[i].end, false };
		if (code->loops[i].part == MACHINE_LOOP)
			code->end_count += unwind_function_text_calls(
				functions, &part, check.value, links.text_argument,
				code->ends + code->end_count, MACHINE_ENDS_MAX - code->end_count);
	}
}

static bool is_thin(const struct machine_code *code)
{
	u64 bytes = 0;

	for (u32 i = 0; i < code->loop_count; i++)
		bytes += code->loops[i].end - code->loops[i].begin;
	return bytes < THIN_BYTES;
}

/* As linked. Who has many callers has no shell: it is one itself, or does its own work first. */
static void search(struct machine_code *code, const struct attached *attached,
		   const struct image *image, u64 address)
{
	struct unwind_functions functions = { 0 };
	struct unwind_function shells[SHELLS_MAX];

	const struct unwind_function *loop = unwind_functions_read(&functions, image) ?
						     unwind_function_at(&functions, address) :
						     NULL;
	if (loop) {
		add_whole(code, &functions, loop, MACHINE_LOOP);
		code->is_thin = is_thin(code);
		code->begin_bytes = BEGIN_BYTES;
		add_links(code, &functions, attached);
		u32 count = unwind_function_callers(&functions, loop, shells, SHELLS_MAX);
		bool has_shells = count && count <= SHELLS_MAX;
		for (u32 i = 0; has_shells && i < count; i++)
			add_whole(code, &functions, &shells[i], MACHINE_SHELL);
		for (u32 i = 0; has_shells && i < count; i++)
			add_doors(code, &functions, &shells[i]);
		if (!has_shells)
			add_doors(code, &functions, loop);
	}
	unwind_functions_free(&functions);
}

static void move(struct machine_code *code, u64 by)
{
	for (u32 i = 0; i < code->loop_count; i++) {
		code->loops[i].begin += by;
		code->loops[i].end += by;
	}
	for (u32 i = 0; i < code->end_count; i++)
		code->ends[i] += by;
}

/* Ruby's address is that of one instruction's code: any in the same function leads to the same answer. */
static bool is_answer_for(const struct machine_known *known, u32 file, u64 linked)
{
	bool inside = known->address == linked;

	for (u32 i = 0; i < known->code.loop_count; i++) {
		const struct machine_loop *loop = &known->code.loops[i];
		inside |= loop->part == MACHINE_LOOP && linked >= loop->begin && linked < loop->end;
	}
	return known->file == file && inside;
}

static void add_loop(struct machine *machine, struct unwind_space *space, machine_cache *cache,
		     u64 address)
{
	const struct unwind_range *range = unwind_space_at(space, address);
	u32 at = 0;

	if (!range || !range->file)
		return;
	struct machine_known known = { .file = range->file->number,
				       .address = address - range->bias };
	while (at < cache->count && !is_answer_for(&cache->at[at], known.file, known.address))
		at++;
	if (at < cache->count) {
		machine->code = cache->at[at].code;
	} else {
		search(&known.code, machine->attached, range->file->image, known.address);
		machine->code = known.code;
		vec_push(cache, known);
	}
	move(&machine->code, range->bias);
}

/* By way of a frame of any thread. */
static u64 loop_by_frame(const struct attached *attached, const struct mem *mem)
{
	const struct runtime *runtime = attached->runtime;
	const void *state = attached->state;
	u64 where = 0, address = 0;

	for (u32 n = 0; n < THREADS_ASKED && !address; n++) {
		struct vm_thread thread = { 0 };
		struct walk walk = { 0 };
		struct frame frame = { 0 };
		if (runtime->next_thread(mem, state, &where, &thread) != STEP_MORE)
			break;
		enum step step = runtime->begin(mem, state, thread.thread, &walk);
		for (u32 i = 0; step_goes_on(step) && !address && i < FRAMES_ASKED; i++) {
			step = runtime->step(mem, state, &walk, &frame);
			if (step == STEP_MORE)
				address = runtime->loop_of(mem, state, &frame);
		}
	}
	return address;
}

static u64 loop_in(const struct unwind_range *range, const char *const *names)
{
	struct image_symbol symbol;

	for (const char *const *name = names; range->file && *name; name++)
		if (image_symbol_named(range->file->image, *name, &symbol))
			return symbol.value + range->bias;
	return 0;
}

/* In its own image, where it nearly always is; a program may hold what a library defines (a copy relocation). */
static u64 loop_by_symbol(const struct attached *attached, struct unwind_space *space)
{
	const char *const *names = attached->runtime->loop_symbols;

	if (!names)
		return 0;
	const struct unwind_range *own = unwind_space_at(space, attached->code);
	u64 loop = own ? loop_in(own, names) : 0;

	for (u32 i = 0; i < space->ranges.count && !loop; i++)
		loop = loop_in(&space->ranges.at[i], names);
	return loop;
}

enum machine_part machine_part_at(const struct machine *machine, u64 place)
{
	const struct machine_code *code = &machine->code;

	for (u32 i = 0; i < code->loop_count; i++)
		if (place >= code->loops[i].begin && place < code->loops[i].end)
			return code->loops[i].part;
	return MACHINE_NONE;
}

bool machine_begins_at(const struct machine *machine, u64 place)
{
	const struct machine_code *code = &machine->code;

	return code->loop_count && place - code->loops[0].begin < code->begin_bytes;
}

bool machine_ends_at(const struct machine *machine, u64 place)
{
	for (u32 i = 0; i < machine->code.end_count; i++)
		if (place - machine->code.ends[i] <= CALL_BYTES)
			return true;
	return false;
}

/* ---- both ---------------------------------------------------------------------------------- */

bool machine_find(struct machine *machine, struct attached *attached, struct unwind_space *space,
		  machine_cache *cache, struct err *err)
{
	const struct mem *mem = &space->target->mem.mem;
	const struct runtime *runtime = attached->runtime;

	*machine = (struct machine){ .attached = attached };
	if (runtime->own_word && !find_own_word(machine, space->target, mem))
		return err_set(err, ERR_NOT_READY,
			       "process %u: the threads of %s could not be listed",
			       space->target->pid, runtime->name);
	log_debug(1, "process %u: %s: words at %d, %d", space->target->pid, runtime->name,
		  machine->own_word, machine->second_word);
	u64 loop = runtime->loop_of ? loop_by_frame(attached, mem) :
				      loop_by_symbol(attached, space);
	if (loop)
		add_loop(machine, space, cache, loop);
	bool has_none = !runtime->loop_of && !runtime->loop_symbols;
	return machine->code.loop_count || has_none ||
	       err_set(err, ERR_NOT_READY, "process %u: which function runs %s was not found",
		       space->target->pid, runtime->name);
}

void machine_tell(const struct machine *machine, struct kernel_machine *out)
{
	*out = (struct kernel_machine){ .kind = machine->attached->kind,
					.own_word = machine->own_word,
					.keys_at = machine->keys_at,
					.key_at = machine->key_at,
					.second_word = machine->second_word };
	memcpy(out->state, machine->attached->state, sizeof out->state);
}
