/* SPDX-License-Identifier: Apache-2.0
 * discover.c - three witnesses for where the interpreters hang, and one judge.
 *
 *	section   .PyRuntime, from 3.10 on: survives stripping
 *	symbol    _PyRuntime (3.7 on), exported; interp_head (2.7, 3.6), local
 *	scan      of all words in the image's writable pages: one that closes, or a table's cookie
 *
 * The judge is the closure: interpreters -> interpreter -> its first thread -> back to the interpreter.  It
 * refuses what is mapped but not alive: a second mapping of the same file, made for something else, has a
 * section with the same bytes (CPython gh-144563).  No file name is asked. */
#include "runtimes/python/discover.h"

#include "elf/image.h"
#include "runtimes/python/offsets.h"
#include "runtimes/python/step.h"
#include "runtimes/python/strings.h"
#include "runtimes/python/versions.h"
#include "target/target.h"

#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

enum {
	CHUNK_BYTES = 16 << 10,    /* on the stack of whoever attaches */
	SCAN_BYTES_MAX = 64 << 20, /* of writable pages */
	RODATA_MAX = 64 << 20,
	VERSION_CHARS = 16,
	SCAN_THREADS = 16, /* one of so many runs code */
};

struct place {
	const struct target *target;
	const struct image *image;
	const struct mem *mem;
	u64 bias;
};

/* ---- the judge ----------------------------------------------------------------------------- */

enum closure { CLOSURE_NONE, CLOSURE_EMPTY, CLOSURE_HOLDS };

/* EMPTY: nothing hangs there; it may be about to start. */
static enum closure close_interpreters(const struct mem *mem, const struct python_state *state,
				       u64 head)
{
	u64 interp, thread, back;

	if (!mem_peek(mem, head, &interp, 8))
		return CLOSURE_NONE;
	if (!interp)
		return CLOSURE_EMPTY;
	if (!python_address_ok(interp) ||
	    !mem_peek(mem, interp + state->at.interp_threads, &thread, 8))
		return CLOSURE_NONE;
	if (!thread)
		return CLOSURE_EMPTY;
	return python_interp_of(mem, state, thread, &back) && back == interp ? CLOSURE_HOLDS :
									       CLOSURE_NONE;
}

static bool accept(const struct place *place, struct python_state *state, u64 head, u8 source,
		   struct err *err)
{
	switch (close_interpreters(place->mem, state, head)) {
	case CLOSURE_HOLDS:
		state->interpreters = head;
		state->runtime_source = source;
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

/* "3.9.2" as PY_VERSION_HEX of a final release; 0: it is none. */
static u32 version_of(const char text[VERSION_CHARS])
{
	unsigned major, minor, micro;
	int end = 0;

	if (sscanf(text, "%1u.%2u.%2u%n", &major, &minor, &micro, &end) != 3 ||
	    (text[end] && text[end] != '+') || (major != 2 && major != 3))
		return 0;
	return (u32)major << 24 | (u32)minor << 16 | (u32)micro << 8 | 0xf0;
}

static bool symbol_address(const struct place *place, const char *name, u64 *addr)
{
	struct image_symbol symbol;

	if (!image_symbol_named(place->image, name, &symbol) || !symbol.section ||
	    symbol.type == STT_TLS)
		return false;
	*addr = place->bias + symbol.value;
	return true;
}

typedef bool version_fn(void *arg, u32 version);

/* Each string of the read-only data that ends in a version: linkers let a string be the end of another.  Up to
 * 3.10 nothing says which of them is Python's, but the closure does. */
static bool each_version_string(const struct place *place, version_fn *fn, void *arg)
{
	struct image_section section;
	char bytes[CHUNK_BYTES + VERSION_CHARS];

	if (!image_section_named(place->image, ".rodata", &section) || section.size > RODATA_MAX)
		return false;
	for (u64 at = 0; at < section.size; at += CHUNK_BYTES) {
		u64 left = section.size - at;
		u32 length = (u32)(left < sizeof bytes ? left : sizeof bytes);
		memset(bytes, 0, sizeof bytes);
		if (!image_bytes(place->image, section.address + at, bytes, length))
			return false;
		for (u32 i = 1; i + VERSION_CHARS <= sizeof bytes && i < length; i++) {
			if ((bytes[i] != '2' && bytes[i] != '3') || bytes[i + 1] != '.' ||
			    isdigit((u8)bytes[i - 1]) || bytes[i - 1] == '.')
				continue;
			char text[VERSION_CHARS];
			memcpy(text, bytes + i, sizeof text);
			text[sizeof text - 1] = 0;
			u32 version = version_of(text);
			if (version && fn(arg, version))
				return true;
		}
	}
	return false;
}

/* ---- the runtime --------------------------------------------------------------------------- */

struct attempt {
	const struct place *place;
	struct python_state *state;
	u64 runtime; /* 0: none: the variable is looked for */
	u8 source;
	struct err *err;
};

static bool find_variable(const struct place *place, struct python_state *state, struct err *err);

/* Is it this version? */
static bool try_version(void *arg, u32 version)
{
	struct attempt *attempt = arg;
	struct python_state *state = attempt->state;

	state->version = version;
	if (!python_versions_find(state))
		return false;
	if (state->facts & PYTHON_HAS_NO_RUNTIME)
		return find_variable(attempt->place, state, attempt->err);
	if (!attempt->runtime)
		return false;
	state->runtime = attempt->runtime;
	return accept(attempt->place, state, attempt->runtime + state->at.runtime_interpreters,
		      attempt->source, attempt->err);
}

/* The runtime is at `runtime`, if that is one. */
static bool try_runtime(const struct place *place, struct python_state *state, u64 runtime,
			u8 source, struct err *err)
{
	struct attempt attempt = { place, state, runtime, source, err };
	bool free_threaded;
	u64 addr;
	u32 version;

	if (python_offsets_version(place->mem, runtime, &state->version, &free_threaded)) {
		python_versions_facts(state, free_threaded);
		state->runtime = runtime;
		return python_offsets_read(place->mem, runtime, state, err) &&
		       accept(place, state, runtime + state->at.runtime_interpreters, source, err);
	}
	if (symbol_address(place, "Py_Version", &addr) && mem_peek(place->mem, addr, &version, 4))
		return try_version(&attempt, version);
	return each_version_string(place, try_version, &attempt);
}

/* ---- the variable, to 3.6 ------------------------------------------------------------------ */

/* Called for each word of the image's writable pages. True ends the scan. */
typedef bool word_fn(const struct place *place, struct python_state *state, u64 addr, u64 word);

static bool scan_segment(const struct place *place, struct python_state *state,
			 const struct image_segment *segment, word_fn *fn)
{
	u64 words[CHUNK_BYTES / 8];
	u64 at = (place->bias + segment->address + 7) & ~7ull;
	u64 end = place->bias + segment->address + segment->memory_size;

	if (segment->memory_size > SCAN_BYTES_MAX)
		end = at + SCAN_BYTES_MAX;
	while (at + 8 <= end) {
		u64 length = end - at < CHUNK_BYTES ? (end - at) & ~7ull : CHUNK_BYTES;
		if (!mem_peek(place->mem, at, words, (u32)length))
			return false;
		for (u32 i = 0; i < length / 8; i++)
			if (fn(place, state, at + i * 8ull, words[i]))
				return true;
		at += length;
	}
	return false;
}

static bool scan(const struct place *place, struct python_state *state, word_fn *fn)
{
	struct image_segment segment;

	for (u32 i = 0; i < image_segment_count(place->image); i++)
		if (image_segment(place->image, i, &segment) && segment.type == PT_LOAD &&
		    (segment.flags & PF_W) && scan_segment(place, state, &segment, fn))
			return true;
	return false;
}

/* Does the thread run a frame whose code has a name? */
static bool has_named_frame(const struct mem *mem, const struct python_state *state, u64 thread)
{
	struct str name = { 0 };
	struct walk walk;
	struct frame frame;
	u64 string;

	bool good = python_begin(mem, state, thread, &walk) == STEP_MORE &&
		    python_step(mem, state, &walk, &frame) == STEP_MORE &&
		    mem_peek(mem, frame.id + state->at.code_name, &string, 8) &&
		    python_read_string(mem, state, string, &name) && name.length && !name.bad;
	str_free(&name);
	return good;
}

/* A list of two also leads back to where it began: what is found by scanning must run code, too. */
static bool word_is_interpreter(const struct place *place, struct python_state *state, u64 addr,
				u64 word)
{
	struct vm_thread thread;
	u64 where = 0;

	if (!python_address_ok(word) || !target_mapping_at(place->target, word) ||
	    close_interpreters(place->mem, state, addr) != CLOSURE_HOLDS)
		return false;
	state->interpreters = addr;
	state->runtime_source = PYTHON_FROM_MEMORY;
	for (u32 i = 0; i < SCAN_THREADS &&
			python_next_thread(place->mem, state, &where, &thread) == STEP_MORE;
	     i++)
		if (has_named_frame(place->mem, state, thread.thread))
			return true;
	state->interpreters = 0;
	return false;
}

static bool find_variable(const struct place *place, struct python_state *state, struct err *err)
{
	u64 head;

	if (symbol_address(place, "_PyThreadState_Current", &head))
		state->holder = head;
	if (symbol_address(place, "interp_head", &head))
		return accept(place, state, head, PYTHON_FROM_SYMBOL, err);
	return scan(place, state, word_is_interpreter) ||
	       err_set(err, ERR_NOT_READY, "%s: no interpreter with a thread found",
		       image_name(place->image));
}

/* ---- the answer ---------------------------------------------------------------------------- */

/* What each Python exports, whatever its version. */
static bool is_python(const struct image *image)
{
	static const char *const names[] = { "_PyRuntime", "PyEval_EvalFrameEx", "Py_BytesMain",
					     "Py_Main" };
	struct image_section section;
	struct image_symbol symbol;

	if (image_section_named(image, ".PyRuntime", &section))
		return true;
	for (u32 i = 0; i < COUNT_OF(names); i++)
		if (image_symbol_named(image, names[i], &symbol) && symbol.section)
			return true;
	return false;
}

static bool discover_at(const struct place *place, struct python_state *state, struct err *err)
{
	struct image_section section;
	struct attempt attempt = { place, state, 0, PYTHON_FROM_MEMORY, err };
	u64 runtime;

	memset(state, 0, sizeof *state);
	if (image_section_named(place->image, ".PyRuntime", &section) && section.address)
		return try_runtime(place, state, place->bias + section.address, PYTHON_FROM_SECTION,
				   err);
	if (symbol_address(place, "_PyRuntime", &runtime))
		return try_runtime(place, state, runtime, PYTHON_FROM_SYMBOL, err);
	return each_version_string(place, try_version, &attempt);
}

bool python_discover(const struct target *target, const struct image *image,
		     struct python_state *state, struct err *err)
{
	struct place place = { .target = target, .image = image, .mem = &target->mem.mem };
	struct err why = { 0 };

	if (!is_python(image))
		return err_set(err, ERR_NOT_MINE, "%s: not a Python", image_name(image));
	err_set(&why, ERR_NOT_MINE, "%s: of no Python that sonde knows", image_name(image));
	for (u32 i = 0; i < target->maps.all.count; i++) {
		const struct mapping *mapping = &target->maps.all.at[i];
		struct err one = { 0 };
		if (!mapping->executable || !target_load_bias(target, mapping, image, &place.bias))
			continue;
		if (discover_at(&place, state, &one))
			return true;
		if (one.code && (why.code == ERR_NOT_MINE || one.code == ERR_NOT_READY))
			why = one;
	}
	if (err)
		*err = why;
	return false;
}
