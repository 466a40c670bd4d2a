/* SPDX-License-Identifier: Apache-2.0
 * python.c - CPython 2.7 and 3.6 to 3.15.
 *
 *	layout.h     names of the numbers, the state       versions.c   the numbers, to 3.12
 *	step.h       threads, frames                       offsets.c    the process's own, from 3.13
 *	discover.c   where the interpreters hang
 *	names.c      labels and paths                      lines.c      positions
 *	strings.c    str and bytes
 *	locals.c     variables                             values.c     objects as repr() shows them
 *	tasks.c      asyncio: what waits where             find_tasks.c where they are listed
 *	waiters.c    and for whom                          attributes.c what an instance has
 *	containers.c dict and set                          types.c      names of types
 *	loops.c      and on what thread                    interpreters.c all of them
 *	gil.c        where the lock is                     interned.c   the strings that are
 *	repr.c       texts and floats as repr() has them */
#include "runtimes/python/discover.h"
#include "runtimes/python/gil.h"
#include "runtimes/python/interpreters.h"
#include "runtimes/python/locals.h"
#include "runtimes/python/names.h"
#include "runtimes/python/step.h"
#include "runtimes/python/tasks.h"
#include "runtimes/python/threads.h"
#include "runtimes/python/versions.h"
#include "runtimes/runtime.h"
#include "target/pthread_tid.h"
#include "target/target.h"

enum {
	TRIES = 8, /* the process runs on: a thread that ends meanwhile looks like a proof of the contrary */
	THREADS_MAX = 64, /* so many are proof enough */
	CODES_MAX = 64,
	VERSIONS_APART =
		1
		<< 20, /* code that was made since what runs was made, and functions that were changed */
};

_Static_assert(sizeof(struct python_state) <= RUNTIME_STATE_MAX, "a state crosses into BPF maps");

/* The first threads, and where their tids are. */
static void find_pthread_tid(const struct target *target, struct python_state *state)
{
	const struct mem *mem = &target->mem.mem;
	u64 natives[THREADS_MAX], where = 0;
	struct vm_thread thread;
	u32 count = 0;

	while (count < THREADS_MAX && python_next_thread(mem, state, &where, &thread) == STEP_MORE)
		natives[count++] = thread.native;
	state->pthread_tid = target_find_pthread_tid(target, mem, natives, count, 0);
	state->pthread_source = state->pthread_tid ? PYTHON_FROM_MEMORY : PYTHON_FROM_NOWHERE;
}

/* Code objects that run, and their versions. */
struct versions {
	u64 code[CODES_MAX];
	u32 version[CODES_MAX], count, highest;
	bool bad; /* one has none, or two have the same */
};

static void add_version(struct versions *versions, u64 code, u32 version)
{
	for (u32 i = 0; i < versions->count; i++) {
		if (versions->code[i] == code)
			return;
		versions->bad |= versions->version[i] == version;
	}
	versions->bad |= !version;
	if (version > versions->highest)
		versions->highest = version;
	if (versions->count == CODES_MAX)
		return;
	versions->code[versions->count] = code;
	versions->version[versions->count++] = version;
}

/* Each interpreter counts for itself. */
static void read_versions(const struct mem *mem, const struct python_state *state, u64 interp,
			  struct versions *versions)
{
	struct vm_thread thread;
	u64 where = 0, its = 0;
	u32 version;

	for (u32 i = 0; i < THREADS_MAX; i++) {
		struct walk walk;
		struct frame frame = { 0 };
		if (python_next_thread(mem, state, &where, &thread) != STEP_MORE)
			return;
		if (!python_interp_of(mem, state, thread.thread, &its) || its != interp)
			continue;
		enum step step = python_begin(mem, state, thread.thread, &walk);
		for (u32 n = 0; step_goes_on(step) && n < CODES_MAX; n++) {
			step = python_step(mem, state, &walk, &frame);
			if (step == STEP_MORE &&
			    mem_peek(mem, frame.id + state->at.code_version, &version, 4))
				add_version(versions, frame.id, version);
		}
	}
}

static void forget(struct python_state *state, enum python_field field)
{
	*python_field_at(&state->at, field) = 0;
	state->source[field] = PYTHON_FROM_NOWHERE;
}

/* Versions are numbers of their own, and the next one is above them, and not far: else these are other
 * numbers, and sonde does without. */
static void check_versions(const struct mem *mem, struct python_state *state)
{
	struct versions versions = { 0 };
	u64 interp = 0;
	u32 next;

	if (!state->at.code_version)
		return;
	if (python_first_interp(mem, state, &interp))
		read_versions(mem, state, interp, &versions);
	if (versions.bad || !versions.count)
		forget(state, PYTHON_code_version);
	if (!state->at.interp_version)
		return;
	if (versions.bad || !versions.count ||
	    !mem_peek(mem, interp + state->at.interp_version, &next, 4) ||
	    next <= versions.highest || next - versions.highest > VERSIONS_APART)
		forget(state, PYTHON_interp_version);
}

static bool is_thread(const struct mem *mem, const struct python_state *state, u64 address)
{
	struct vm_thread thread;
	u64 where = 0;

	while (python_next_thread(mem, state, &where, &thread) == STEP_MORE)
		if (thread.thread == address)
			return true;
	return false;
}

/* Patch releases have moved it. What it says is a thread or nobody; one that has just begun or ended is neither. */
static void find_holder(const struct mem *mem, struct python_state *state)
{
	u64 place = state->runtime + state->at.runtime_holder, holder;

	if (state->holder || !state->at.runtime_holder)
		return;
	for (u32 i = 0; i < TRIES && !state->holder; i++)
		if (mem_peek(mem, place, &holder, 8) && (!holder || is_thread(mem, state, holder)))
			state->holder = place;
	if (!state->holder)
		forget(state, PYTHON_runtime_holder);
}

static bool python_attach(const struct target *target, const struct image *image, void *state_,
			  struct err *err)
{
	struct python_state *state = state_;

	if (!python_discover(target, image, state, err))
		return false;
	find_holder(&target->mem.mem, state);
	for (u32 i = 0; i < TRIES && !state->pthread_tid; i++)
		find_pthread_tid(target, state);
	if (state->at.interp_gil &&
	    (!python_first_interp(&target->mem.mem, state, &state->main) ||
	     !mem_peek(&target->mem.mem, state->main + state->at.interp_gil, &state->gil, 8)))
		state->main = state->gil = 0;
	check_versions(&target->mem.mem, state);
	if (err)
		*err = (struct err){ 0 };
	return true;
}

/* ---- describe ------------------------------------------------------------------------------ */

static const char *source_text(u8 source)
{
	static const char *const texts[] = {
		[PYTHON_FROM_NOWHERE] = "not known",
		[PYTHON_FROM_TABLE] = "table",
		[PYTHON_FROM_PROCESS] = "said by the process",
		[PYTHON_FROM_SECTION] = "section .PyRuntime",
		[PYTHON_FROM_SYMBOL] = "symbol",
		[PYTHON_FROM_CODE] = "decoded from code",
		[PYTHON_FROM_MEMORY] = "found in the process",
	};

	return source < COUNT_OF(texts) ? texts[source] : "?";
}

static void python_describe(const void *state_, struct str *out)
{
	struct python_state state = *(const struct python_state *)state_;

	str_addf(out, "Python %u.%u.%u%s\n", python_major(&state), python_minor(&state),
		 python_micro(&state), state.facts & PYTHON_FREE_THREADED ? ", free-threaded" : "");
	str_addf(out, "  %-20s %#14llx  %s\n", "interpreters",
		 (unsigned long long)state.interpreters, source_text(state.runtime_source));
	str_addf(out, "  %-20s %14u  %s\n", "pthread.tid", state.pthread_tid,
		 source_text(state.pthread_source));
	if (state.interned)
		str_addf(out, "  %-20s %#14llx  %s\n", "interned",
			 (unsigned long long)state.interned, source_text(PYTHON_FROM_MEMORY));
	if (!state.at.runtime_collecting && !state.at.interp_collecting)
		str_addf(out, "  %-20s %14s  not known: garbage collection is not shown\n",
			 "collecting", "-");
	for (u32 i = 0; i < PYTHON_FIELD_COUNT; i++)
		if (state.source[i] != PYTHON_FROM_NOWHERE)
			str_addf(out, "  %-20s %14u  %s\n", python_field_name(i),
				 *python_field_at(&state.at, i), source_text(state.source[i]));
}

/* ---- the contract -------------------------------------------------------------------------- */

static enum step next_thread(const struct mem *mem, const void *state, u64 *where,
			     struct vm_thread *out)
{
	return python_next_thread(mem, state, where, out);
}

static enum step begin(const struct mem *mem, const void *state, u64 thread, struct walk *walk)
{
	return python_begin(mem, state, thread, walk);
}

static enum step step(const struct mem *mem, const void *state, struct walk *walk,
		      struct frame *out)
{
	enum step step = python_step(mem, state, walk, out);

	if (step == STEP_FAULT && python_mend(mem, state, walk))
		return python_step(mem, state, walk, out);
	return step;
}

static u32 pos_of(const void *state, u64 word)
{
	return python_object_pos(state, word);
}

static bool has_turns(const struct mem *mem, const void *state)
{
	return python_has_turns(mem, state);
}

static bool raises(const struct mem *mem, const void *state, u64 thread)
{
	return python_raises(mem, state, thread);
}

static const char *raises_lacks(const void *state_)
{
	const struct python_state *state = state_;

	if (!state->none)
		return "where None is (_Py_NoneStruct)";
	return state->at.thread_raising ? NULL : "where a thread keeps its exception";
}

static bool has_lock(const void *state)
{
	return !(((const struct python_state *)state)->facts & PYTHON_FREE_THREADED);
}

static bool holds_lock(const struct mem *mem, const void *state, u64 thread)
{
	u64 interp;

	return python_interp_of(mem, state, thread, &interp) &&
	       python_holder(mem, state, interp) == thread;
}

static bool is_lock(const struct mem *mem, const void *state, u64 address)
{
	return python_is_gil(mem, state, address);
}

static u64 own_word(const struct mem *mem, const void *state, u64 thread)
{
	(void)mem;
	return python_major(state) < 3 ? 0 : thread; /* 2.7 keeps a list instead */
}

/* From 3.6 on the second only calls the first. */
static const char *const loop_symbols[] = { "_PyEval_EvalFrameDefault", "PyEval_EvalFrameEx",
					    NULL };

/* What a call gave is checked when the function has left its frame, and when one of C has returned; only the first says where
 * (Objects/call.c, `where`). */
static bool links(const void *state_, struct runtime_links *out)
{
	const struct python_state *state = state_;

	*out = (struct runtime_links){ .offset = state->at.thread_frame,
				       .check = "_Py_CheckFunctionResult",
				       .text_argument = python_minor(state) >= 9 ? 3 : 2 };
	return state->facts & PYTHON_FRAME_IS_OBJECT;
}

/* From 3.15 on it keeps frame pointers. */
static enum runtime_jit jit(const void *state)
{
	u32 minor = python_minor(state);

	return python_major(state) == 3 && (minor == 13 || minor == 14) ? JIT_JUMPS_ON :
									  JIT_KEEPS_FRAMES;
}

extern const struct runtime python_runtime;
const struct runtime python_runtime = {
	.name = "python",
	.lock = "GIL",
	.waits = MARK_GIL,
	.jit = jit,
	.state_size = sizeof(struct python_state),
	.attach = python_attach,
	.next_thread = next_thread,
	.begin = begin,
	.step = step,
	.pos_of = pos_of,
	.name_frame = python_name_frame,
	.has_turns = has_turns,
	.find_names = python_find_threads,
	.is_lock = is_lock,
	.holds_lock = holds_lock,
	.has_lock = has_lock,
	.locals = python_add_locals,
	.raises = raises,
	.raises_lacks = raises_lacks,
	.tasks = &python_runtime_tasks,
	.own_word = own_word,
	.loop_symbols = loop_symbols,
	.links = links,
	.describe = python_describe,
};
