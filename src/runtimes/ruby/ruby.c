/* SPDX-License-Identifier: Apache-2.0
 * ruby.c - CRuby 2.5 to 4.0, and later ones as far as they stay alike.
 *
 *	layout.h     names of the numbers, the state       versions.c   the numbers
 *	step.h       threads, stacks, frames               calibrate.c  the same, from life
 *	discover.c   where the VM is                       decode.c     small functions' code
 *	names.c      labels and paths                      lines.c      positions
 *	symbols.c    names of IDs                          objects.c    String and Array */
#include "elf/image.h"
#include "runtimes/ruby/attach.h"
#include "runtimes/ruby/calibrate.h"
#include "runtimes/ruby/discover.h"
#include "runtimes/ruby/names.h"
#include "runtimes/ruby/step.h"
#include "runtimes/runtime.h"
#include "target/loaded.h"
#include "target/target.h"

#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(struct ruby_state) <= RUNTIME_STATE_MAX, "a state crosses into BPF maps");

/* ---- attach -------------------------------------------------------------------------------- */

/* "3.3.13": read where it runs, so that the file need not be the one that was loaded. */
static bool read_version(const struct loaded *place, struct ruby_state *state, struct err *err)
{
	unsigned major, minor, patch;
	char text[16] = { 0 };
	u64 addr;

	if (!loaded_symbol(place, "ruby_version", &addr) ||
	    !mem_peek(place->mem, addr, text, sizeof text - 1) ||
	    sscanf(text, "%3u.%3u.%3u", &major, &minor, &patch) != 3)
		return err_set(err, ERR_NOT_READY, "%s: ruby_version is not readable",
			       image_name(place->image));
	state->major = (u16)major;
	state->minor = (u16)minor;
	state->patch = (u16)patch;
	return true;
}

/* It starts; or, of a version that the table does not know, its numbers are others: which, time tells. */
static bool is_not_ready(const struct ruby_state *state, enum ruby_match match,
			 const struct image *image, const char *why, struct err *err)
{
	if (match == RUBY_MATCH_EXACT)
		return err_set(err, ERR_NOT_READY, "%s: %s", image_name(image), why);
	return err_set(err, ERR_NOT_READY, "%s: %s (Ruby %u.%u.%u is newer than sonde's table)",
		       image_name(image), why, state->major, state->minor, state->patch);
}

bool ruby_attach_by(const struct target *target, const struct image *image, u32 ways,
		    struct ruby_state *state, struct err *err)
{
	struct loaded place;

	memset(state, 0, sizeof *state);
	if (!ruby_find_image(target, image, &place, err) || !read_version(&place, state, err))
		return false;
	enum ruby_match match = ruby_versions_find(state);
	if (match == RUBY_MATCH_NONE)
		return err_set(err, ERR_UNSUPPORTED,
			       "%s: Ruby %u.%u.%u is too old: 2.5 is the oldest that is known",
			       image_name(image), state->major, state->minor, state->patch);
	if (ways & RUBY_BY_CODE)
		ruby_decode_numbers(&place, state);
	if (!ruby_find_vm(&place, state, ways))
		return is_not_ready(state, match, image, "no VM with a running main thread found",
				    err);
	if (!ruby_calibrate(target, place.mem, state))
		return is_not_ready(state, match, image, "its threads could not be walked", err);
	/* Symbols come before the first frame: without either, it is just being set up. */
	if (!ruby_find_ids(&place, state, ways & RUBY_BY_SYMBOL ? RUBY_BY_ALL : RUBY_BY_SCAN) &&
	    !ruby_main_has_frames(place.mem, state))
		return is_not_ready(state, match, image, "the interpreter is being set up", err);
	ruby_calibrate_classes(&place, state);
	if (err)
		*err = (struct err){ 0 };
	if (match == RUBY_MATCH_NEAREST)
		(void)err_set(
			err, ERR_NONE,
			"Ruby %u.%u.%u is newer than sonde's table: the nearest version's numbers "
			"are used, checked in the process",
			state->major, state->minor, state->patch);
	return true;
}

static bool ruby_attach(const struct target *target, const struct image *image, void *state,
			struct err *err)
{
	return ruby_attach_by(target, image, RUBY_BY_ALL, state, err);
}

/* ---- describe ------------------------------------------------------------------------------ */

static const char *source_text(u8 source)
{
	static const char *const texts[] = {
		[RUBY_FROM_NOWHERE] = "not known",
		[RUBY_FROM_TABLE] = "table",
		[RUBY_FROM_NEIGHBOUR] = "table of the nearest version",
		[RUBY_FROM_SYMBOL] = "symbol",
		[RUBY_FROM_CODE] = "decoded from code",
		[RUBY_FROM_MEMORY] = "found in the process",
	};

	return source < COUNT_OF(texts) ? texts[source] : "?";
}

static void ruby_describe(const void *state_, struct str *out)
{
	struct ruby_state state = *(const struct ruby_state *)state_;

	str_addf(out, "Ruby %u.%u.%u\n", state.major, state.minor, state.patch);
	str_addf(out, "  %-20s %#14llx  %s\n", "vm", (unsigned long long)state.vm,
		 source_text(state.vm_source));
	str_addf(out, "  %-20s %#14llx  %s\n", "symbols", (unsigned long long)state.ids,
		 source_text(state.ids_source));
	str_addf(out, "  %-20s %14u  %s\n", "pthread.tid", state.pthread_tid,
		 source_text(state.pthread_source));
	for (u32 i = 0; i < RUBY_FIELD_COUNT; i++)
		if (state.source[i] != RUBY_FROM_NOWHERE)
			str_addf(out, "  %-20s %14u  %s\n", ruby_field_name(i),
				 *ruby_field_at(&state.at, i), source_text(state.source[i]));
}

/* ---- the contract -------------------------------------------------------------------------- */

static enum step next_thread(const struct mem *mem, const void *state, u64 *where,
			     struct vm_thread *out)
{
	return ruby_next_thread(mem, state, where, out);
}

static enum step begin(const struct mem *mem, const void *state, u64 thread, struct walk *walk)
{
	return ruby_begin(mem, state, thread, walk);
}

static enum step step(const struct mem *mem, const void *state, struct walk *walk,
		      struct frame *out)
{
	return ruby_step(mem, state, walk, out);
}

static bool holds_lock(const struct mem *mem, const void *state, u64 thread)
{
	u64 owner;

	return ruby_owner_beside(mem, state, thread, &owner) && owner == thread;
}

static u64 own_word(const struct mem *mem, const void *state_, u64 thread)
{
	const struct ruby_state *state = state_;
	struct ruby_thread_words words;

	if (!(state->facts & RUBY_HAS_RACTORS))
		return thread;
	return ruby_read_thread(mem, state, thread, &words) ?
		       ruby_thread_word(&words, state->at.thread_ec) :
		       0;
}

/* Instructions are addresses of the code that does them (OPT_DIRECT_THREADED_CODE), and that is in vm_exec_core(). */
static u64 loop_of(const struct mem *mem, const void *state, const struct frame *frame)
{
	struct ruby_body body;
	u64 at, first;

	(void)state;
	if ((frame->flags & FRAME_C) || !mem_peek(mem, frame->id + RUBY_ISEQ_BODY, &at, 8) ||
	    !ruby_address_ok(at) || !mem_peek(mem, at + RUBY_BODY_TYPE, &body, sizeof body) ||
	    !body.size || !ruby_address_ok(body.encoded) || !mem_peek(mem, body.encoded, &first, 8))
		return 0;
	return first;
}

static enum runtime_jit jit(const void *state)
{
	(void)state;
	return JIT_KEEPS_WORDS; /* YJIT */
}

extern const struct runtime ruby_runtime;
const struct runtime ruby_runtime = {
	.name = "ruby",
	.lock = "GVL",
	.waits = MARK_GVL,
	.jit = jit,
	.state_size = sizeof(struct ruby_state),
	.attach = ruby_attach,
	.next_thread = next_thread,
	.begin = begin,
	.step = step,
	.name_frame = ruby_name_frame,
	.holds_lock = holds_lock,
	.own_word = own_word,
	.loop_of = loop_of,
	.describe = ruby_describe,
};
