/* SPDX-License-Identifier: Apache-2.0
 * discover.c - four witnesses for where the interpreters hang, and one judge.
 *
 *	section   .PyRuntime, from 3.10 on: survives stripping
 *	symbol    _PyRuntime (3.7 on), exported; interp_head (2.7, 3.6), local
 *	code      PyInterpreterState_Head(), exported: returns interp_head (2.7, 3.6)
 *	scan      of all words in the image's writable pages: to 3.6 one that closes; where even the section
 *	          headers were taken away, the cookie of the table that 3.13 and later have
 *
 * The judge is the closure: interpreters -> one that has a thread -> its first -> back to the interpreter.  It
 * refuses what is mapped but not alive: a second mapping of the same file, made for something else, has a
 * section with the same bytes (CPython gh-144563).  No file name is asked. */
#include "runtimes/python/discover.h"

#include "elf/image.h"
#include "runtimes/python/interned.h"
#include "runtimes/python/offsets.h"
#include "runtimes/python/step.h"
#include "runtimes/python/strings.h"
#include "runtimes/python/versions.h"
#include "target/getter.h"
#include "target/loaded.h"
#include "target/target.h"

#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

enum {
	CHUNK_BYTES = 16 << 10, /* on the stack of whoever attaches */
	RODATA_MAX = 64 << 20,
	VERSION_CHARS = 16,
	UNKNOWN_MAX = 4,
	RUNTIME_HEAD = 48, /* to 3.10: flags, then where the interpreters hang */
	SCAN_THREADS = 16, /* one of so many runs code */
	SCAN_LOOKS = 8,    /* in one of so many looks at it */
	SCAN_STEPS = 8,
	SCAN_FRONT = 16, /* interpreters that were made later */
};

/* ---- the judge ----------------------------------------------------------------------------- */

enum closure { CLOSURE_NONE, CLOSURE_EMPTY, CLOSURE_HOLDS };

/* EMPTY: nothing hangs there; it may be about to start. From 3.13 on an interpreter that runs nothing has no thread,
 * and the newest comes first. */
static enum closure close_interpreters(const struct mem *mem, const struct python_state *state,
				       u64 head)
{
	u64 interp, thread, back;

	if (!mem_peek(mem, head, &interp, 8))
		return CLOSURE_NONE;
	for (u32 i = 0; i < PYTHON_EMPTY_MAX && interp; i++) {
		if (!python_address_ok(interp) ||
		    !mem_peek(mem, interp + state->at.interp_threads, &thread, 8))
			return CLOSURE_NONE;
		if (thread)
			return python_interp_of(mem, state, thread, &back) && back == interp ?
				       CLOSURE_HOLDS :
				       CLOSURE_NONE;
		if (!mem_peek(mem, interp + state->at.interp_next, &interp, 8))
			return CLOSURE_NONE;
	}
	return CLOSURE_EMPTY;
}

static bool accept(const struct loaded *place, struct python_state *state, u64 head, u8 source,
		   struct err *err)
{
	switch (close_interpreters(place->mem, state, head)) {
	case CLOSURE_HOLDS:
		state->interpreters = head;
		state->runtime_source = source;
		(void)loaded_symbol(place, "_Py_NoneStruct", &state->none);
		return true;
	case CLOSURE_EMPTY:
		return err_set(err, ERR_NOT_READY, "%s: the interpreter has not started",
			       image_name(place->image));
	default:
		return err_set(err, ERR_NOT_MINE, "%s: no interpreter hangs on _PyRuntime",
			       image_name(place->image));
	}
}

/* ---- the version --------------------------------------------------------------------------- */

/* What each Python exports, whatever its version. */
static bool exports_python(const struct image *image)
{
	static const char *const names[] = { "_PyRuntime", "PyEval_EvalFrameEx", "Py_BytesMain",
					     "Py_Main" };
	struct image_symbol symbol;

	for (u32 i = 0; i < COUNT_OF(names); i++)
		if (image_symbol_named(image, names[i], &symbol) && symbol.section)
			return true;
	return false;
}

typedef bool version_fn(void *arg, u32 version);

/* A version begins with "2." or "3.", where no longer number does.  `bytes` go on for VERSION_CHARS behind the
 * dots that are looked at. */
static bool versions_in(const char *bytes, u32 length, version_fn *fn, void *arg)
{
	const char *end = bytes + length, *dot = bytes + 2;

	while (dot < end && (dot = memchr(dot, '.', (size_t)(end - dot)))) {
		const char *first = dot++ - 1;
		if ((*first != '2' && *first != '3') || isdigit((u8)first[-1]) || first[-1] == '.')
			continue;
		char text[VERSION_CHARS];
		memcpy(text, first, sizeof text);
		text[sizeof text - 1] = 0;
		u32 version = python_versions_number(text);
		if (version && fn(arg, version))
			return true;
	}
	return false;
}

/* Each string of some linked addresses that ends in a version: linkers let a string be the end of another. */
static bool versions_within(const struct loaded *place, u64 address, u64 size, version_fn *fn,
			    void *arg)
{
	char bytes[CHUNK_BYTES + VERSION_CHARS];

	for (u64 at = 0; at < size && at < RODATA_MAX; at += CHUNK_BYTES) {
		u64 left = size - at;
		u32 length = (u32)(left < sizeof bytes ? left : sizeof bytes);
		memset(bytes, 0, sizeof bytes);
		if (!image_bytes(place->image, address + at, bytes, length))
			return false;
		/* what begins at the end of this chunk, and not in the next one */
		if (versions_in(bytes, length < CHUNK_BYTES + 2 ? length : CHUNK_BYTES + 2, fn,
				arg))
			return true;
	}
	return false;
}

/* Up to 3.10 nothing says which of the strings in the read-only data is Python's version, but the closure does. */
static bool each_version_string(const struct loaded *place, version_fn *fn, void *arg)
{
	struct image_section section;
	struct image_segment segment;

	if (image_section_named(place->image, ".rodata", &section))
		return versions_within(place, section.address, section.size, fn, arg);
	for (u32 i = 0; image_segment(place->image, i, &segment); i++)
		if (segment.type == PT_LOAD && !(segment.flags & PF_W) &&
		    versions_within(place, segment.address, segment.file_size, fn, arg))
			return true;
	return false;
}

/* ---- the runtime --------------------------------------------------------------------------- */

struct attempt {
	const struct loaded *place;
	struct python_state *state;
	u64 runtime; /* 0: none: the variable is looked for */
	u32 refused; /* a version that it was not, of a string that can be there twice */
	u32 unknown[UNKNOWN_MAX]; /* look like Python's, and are none that sonde knows */
	u32 unknown_count;
	u8 source;
	struct err *err;
};

static bool find_variable(const struct loaded *place, struct python_state *state, struct err *err);

static void note_unknown(struct attempt *attempt, u32 version)
{
	for (u32 i = 0; i < attempt->unknown_count; i++)
		if (attempt->unknown[i] == version)
			return;
	if (attempt->unknown_count < UNKNOWN_MAX)
		attempt->unknown[attempt->unknown_count++] = version;
}

/* Is it this version? */
static bool try_version(void *arg, u32 version)
{
	struct attempt *attempt = arg;
	struct python_state *state = attempt->state;

	state->version = version;
	if (version == attempt->refused)
		return false;
	if (!python_versions_find(state)) {
		note_unknown(attempt, version);
		return false;
	}
	attempt->refused = version;
	if (state->facts & PYTHON_HAS_NO_RUNTIME)
		return find_variable(attempt->place, state, attempt->err);
	if (!attempt->runtime)
		return false;
	state->runtime = attempt->runtime;
	return accept(attempt->place, state, attempt->runtime + state->at.runtime_interpreters,
		      attempt->source, attempt->err);
}

/* A Python, but which? Other strings of its image look like versions, too. */
static bool refuse_unknown(const struct attempt *attempt)
{
	char texts[UNKNOWN_MAX * 2 * VERSION_CHARS] = "";
	u32 used = 0;

	for (u32 i = 0; i < attempt->unknown_count; i++) {
		const struct python_state one = { .version = attempt->unknown[i] };
		bool is_early = python_level(&one) < PYTHON_CANDIDATE;
		used += (u32)snprintf(texts + used, sizeof texts - used, "%s%u.%u.%u%s",
				      i ? " or " : "", python_major(&one), python_minor(&one),
				      python_micro(&one), is_early ? " (pre-release)" : "");
	}
	return err_set(attempt->err, ERR_UNSUPPORTED,
		       "%s: Python %s: sonde knows 2.7, 3.6 and later, from the first release "
		       "candidate on",
		       image_name(attempt->place->image), texts);
}

/* By the strings in its image. */
static bool try_versions(struct attempt *attempt)
{
	if (each_version_string(attempt->place, try_version, attempt))
		return true;
	if (attempt->refused || !attempt->unknown_count || !exports_python(attempt->place->image))
		return false;
	return refuse_unknown(attempt);
}

/* Nothing has been written there yet: reading through the image for a version can wait. */
static bool is_untouched(const struct mem *mem, u64 runtime)
{
	static const u8 nothing[RUNTIME_HEAD];
	u8 head[RUNTIME_HEAD];

	return mem_peek(mem, runtime, head, sizeof head) && !memcmp(head, nothing, sizeof head);
}

/* The runtime is at `runtime`, if that is one. */
static bool try_runtime(const struct loaded *place, struct python_state *state, u64 runtime,
			u8 source, struct err *err)
{
	struct attempt attempt = {
		.place = place, .state = state, .runtime = runtime, .source = source, .err = err
	};
	bool free_threaded;
	u64 addr;
	u32 version;

	if (python_offsets_version(place->mem, runtime, &state->version, &free_threaded)) {
		python_versions_facts(state, free_threaded);
		state->runtime = runtime;
		return python_offsets_read(place->mem, runtime, state, err) &&
		       accept(place, state, runtime + state->at.runtime_interpreters, source, err);
	}
	if (is_untouched(place->mem, runtime))
		return err_set(err, ERR_NOT_READY, "%s: the interpreter has not started",
			       image_name(place->image));
	if (loaded_symbol(place, "Py_Version", &addr) && mem_peek(place->mem, addr, &version, 4))
		return try_version(&attempt, version);
	return try_versions(&attempt);
}

/* ---- the variable, to 3.6 ------------------------------------------------------------------ */

static bool find_frame(const struct mem *mem, const struct python_state *state, u64 thread,
		       struct frame *frame)
{
	struct walk walk;
	enum step step = python_begin(mem, state, thread, &walk);

	for (u32 i = 0; i < SCAN_STEPS && step_goes_on(step); i++) {
		step = python_step(mem, state, &walk, frame);
		if (step == STEP_MORE)
			return true;
	}
	return false;
}

/* Does the thread run a frame whose code has a name?  It runs while it is asked. */
static bool has_named_frame(const struct mem *mem, const struct python_state *state, u64 thread)
{
	struct str name = { 0 };
	struct frame frame;
	bool good = false;
	u64 string;

	for (u32 i = 0; i < SCAN_LOOKS && !good; i++)
		good = find_frame(mem, state, thread, &frame) &&
		       mem_peek(mem, frame.id + state->at.code_name, &string, 8) &&
		       python_read_string(mem, state, string, &name) && name.length && !name.bad;
	str_free(&name);
	return good;
}

/* A list of two also leads back to where it began: what is found by scanning must run code, too. */
static bool word_is_interpreter(const struct loaded *place, void *state_, u64 addr,
				const u64 word[3])
{
	struct python_state *state = state_;
	struct vm_thread thread;
	u64 where = 0;

	if (!python_address_ok(word[2]) || !loaded_is_on_heap(place, word[2]) ||
	    close_interpreters(place->mem, state, addr) != CLOSURE_HOLDS)
		return false;
	state->interpreters = addr;
	state->runtime_source = PYTHON_FROM_MEMORY;
	(void)loaded_symbol(place, "_Py_NoneStruct", &state->none);
	for (u32 i = 0; i < SCAN_THREADS &&
			python_next_thread(place->mem, state, &where, &thread) == STEP_MORE;
	     i++)
		if (has_named_frame(place->mem, state, thread.thread))
			return true;
	state->interpreters = 0;
	return false;
}

/* The interpreter that others are made from has a variable of its own, and hangs at the end of the list. */
static bool word_is_in_front(const struct loaded *place, void *state_, u64 addr, const u64 word[3])
{
	struct python_state *state = state_;
	u64 first, interp = word[2];

	if (!python_address_ok(interp) || !loaded_is_on_heap(place, interp) ||
	    !mem_peek(place->mem, state->interpreters, &first, 8) || interp == first)
		return false;
	for (u32 i = 0; i < SCAN_FRONT && interp && interp != first; i++)
		if (!mem_peek(place->mem, interp + state->at.interp_next, &interp, 8))
			return false;
	if (interp != first || close_interpreters(place->mem, state, addr) != CLOSURE_HOLDS)
		return false;
	state->interpreters = addr;
	return true;
}

static bool scan_for_variable(const struct loaded *place, struct python_state *state)
{
	if (!loaded_scan(place, word_is_interpreter, state))
		return false;
	loaded_scan(place, word_is_in_front, state);
	return true;
}

/* A function that returns a variable: where that is. */
static bool variable_by_code(const struct loaded *place, const char *name, u64 *addr)
{
	struct getter getter;

	return getter_named(place, name, &getter) && getter.loads == 1 &&
	       getter_address(place->mem, &getter, 0, addr);
}

static bool find_variable(const struct loaded *place, struct python_state *state, struct err *err)
{
	u64 head;

	if (loaded_symbol(place, "_PyThreadState_Current", &head))
		state->holder = head;
	if (python_major(state) < 3)
		(void)variable_by_code(place, "PyEval_ThreadsInitialized", &state->gil);
	if (loaded_symbol(place, "interp_head", &head))
		return accept(place, state, head, PYTHON_FROM_SYMBOL, err);
	if (variable_by_code(place, "PyInterpreterState_Head", &head))
		return accept(place, state, head, PYTHON_FROM_CODE, err);
	return scan_for_variable(place, state) ||
	       err_set(err, ERR_NOT_READY, "%s: no interpreter with a thread found",
		       image_name(place->image));
}

/* ---- the answer ---------------------------------------------------------------------------- */

/* (An image without section headers may be one.) */
static bool is_python(const struct image *image)
{
	struct image_section section;

	return image_section_named(image, ".PyRuntime", &section) || !image_section_count(image) ||
	       exports_python(image);
}

/* Is this where a table begins? */
static bool word_is_cookie(const struct loaded *place, void *state_, u64 addr, const u64 word[3])
{
	struct python_state *state = state_;
	bool free_threaded;

	state->runtime = addr;
	return word[2] == PYTHON_COOKIE &&
	       python_offsets_version(place->mem, addr, &state->version, &free_threaded);
}

static bool discover_at(const struct loaded *place, struct python_state *state, struct err *err)
{
	struct image_section section;
	struct attempt attempt = {
		.place = place, .state = state, .source = PYTHON_FROM_MEMORY, .err = err
	};
	u64 runtime;

	memset(state, 0, sizeof *state);
	if (image_section_named(place->image, ".PyRuntime", &section) && section.address)
		return try_runtime(place, state, place->bias + section.address, PYTHON_FROM_SECTION,
				   err);
	if (loaded_symbol(place, "_PyRuntime", &runtime))
		return try_runtime(place, state, runtime, PYTHON_FROM_SYMBOL, err);
	if (!image_section_count(place->image) && loaded_scan(place, word_is_cookie, state))
		return try_runtime(place, state, state->runtime, PYTHON_FROM_MEMORY, err);
	return try_versions(&attempt);
}

bool python_discover(const struct target *target, const struct image *image,
		     struct python_state *state, struct err *err)
{
	struct loaded place = { .target = target, .image = image, .mem = &target->mem.mem };
	struct err why = { 0 };

	if (!is_python(image))
		return err_set(err, ERR_NOT_MINE, "%s: not a Python", image_name(image));
	err_set(&why, ERR_NOT_MINE, "%s: of no Python that sonde knows", image_name(image));
	for (u32 i = 0; i < target->maps.all.count; i++) {
		const struct mapping *mapping = &target->maps.all.at[i];
		struct err one = { 0 };
		if (!mapping->executable || !target_load_bias(target, mapping, image, &place.bias))
			continue;
		if (discover_at(&place, state, &one)) {
			state->interned = python_find_interned(&place, state);
			return true;
		}
		if (one.code && (why.code == ERR_NOT_MINE || one.code == ERR_NOT_READY))
			why = one;
	}
	if (err)
		*err = why;
	return false;
}
