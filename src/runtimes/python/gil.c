/* SPDX-License-Identifier: Apache-2.0
 * gil.c - see gil.h.
 *
 *	3.12 on        a struct that the interpreter leads to
 *	3.7 to 3.11    at the beginning of the runtime
 *	3.6            variables of ceval.c, in the image beside the one that says who holds it
 *	2.7            a semaphore on the heap, to which a variable beside that one leads
 *
 * Of the semaphores that variables of 2.7 lead to it is the one that threads wait for.  While none does, it cannot be told from
 * the others; who waits for one of these by then waits for it. */
#include "runtimes/python/gil.h"

#include "runtimes/python/interpreters.h"
#include "runtimes/python/step.h"

enum {
	GIL_BYTES = 256,
	RUNTIME_GIL_BYTES = 2048,
	VARIABLES_BYTES = 1 << 16, /* ceval.c's and pystate.c's are less than 20 kB apart in 3.6 */
	SEMAPHORE_BYTES = 16,
	SOUGHT_WORDS = 2048, /* before and behind; in 2.7 they are up to 4.5 kB apart */
	PART_WORDS = 64,
	PARTS = 2 * SOUGHT_WORDS / PART_WORDS,
	WAITERS_MOST = 1 << 16,
	CANDIDATES_MAX = 1024,
	TRIES = 8, /* who gives it up makes its value 1 for an instant */
};

/* A semaphore of glibc: its value, and how many wait. */
struct semaphore {
	u32 value, waiters;
};

static bool read_semaphore(const struct mem *mem, u64 address, struct semaphore *out)
{
	return python_address_ok(address) && mem_peek(mem, address, out, sizeof *out) &&
	       out->value <= 1 && out->waiters < WAITERS_MOST;
}

struct candidates {
	u64 at[CANDIDATES_MAX];
	u32 count;
};

static void add_candidate(const struct mem *mem, u64 address, struct candidates *all)
{
	struct semaphore read;

	for (u32 i = 0; i < all->count; i++)
		if (all->at[i] == address)
			return;
	if (all->count < CANDIDATES_MAX && read_semaphore(mem, address, &read))
		all->at[all->count++] = address;
}

typedef u64 part_words[PART_WORDS];

/* The variables around the one that says who holds it, a part at a time. */
static bool read_part(const struct mem *mem, const struct python_state *state, u32 part,
		      part_words words)
{
	u64 begin = (state->holder & ~7ull) - 8ull * SOUGHT_WORDS;

	return mem_peek(mem, begin + part * sizeof(part_words), words, sizeof(part_words));
}

/* What variables lead to that may be one. */
static void find_candidates(const struct mem *mem, const struct python_state *state,
			    struct candidates *out)
{
	part_words words;

	for (u32 part = 0; part < PARTS; part++)
		if (read_part(mem, state, part, words))
			for (u32 i = 0; i < PART_WORDS; i++)
				add_candidate(mem, words[i], out);
}

/* Does one lead to this? */
static bool is_led_to(const struct mem *mem, const struct python_state *state, u64 address)
{
	part_words words;

	for (u32 part = 0; part < PARTS; part++)
		if (read_part(mem, state, part, words))
			for (u32 i = 0; i < PART_WORDS; i++)
				if (words[i] == address)
					return true;
	return false;
}

/* The one that is waited for. 0: none, or several. */
static u64 find_waited_for(const struct mem *mem, const struct candidates *all)
{
	u64 found = 0;

	for (u32 i = 0; i < all->count; i++) {
		struct semaphore read;
		if (!read_semaphore(mem, all->at[i], &read) || read.value || !read.waiters)
			continue;
		if (found)
			return 0;
		found = all->at[i];
	}
	return found;
}

static bool has_several_threads(const struct mem *mem, const struct python_state *state)
{
	struct vm_thread thread;
	u64 where = 0;

	return python_next_thread(mem, state, &where, &thread) == STEP_MORE &&
	       python_next_thread(mem, state, &where, &thread) == STEP_MORE;
}

void python_find_gil(const struct mem *mem, struct python_state *state)
{
	struct candidates all = { 0 };

	if (python_major(state) > 2 || !state->holder || !has_several_threads(mem, state))
		return;
	find_candidates(mem, state, &all);
	for (u32 i = 0; i < TRIES && !state->gil; i++)
		state->gil = find_waited_for(mem, &all);
}

/* That of an interpreter which is not the main one. */
static bool is_another(const struct mem *mem, const struct python_state *state, u64 address)
{
	u64 interp = 0, gil;

	for (u32 i = 0; i < PYTHON_INTERPRETERS_MAX; i++) {
		if (!python_next_interp(mem, state, &interp) || interp == state->main)
			return false;
		if (mem_peek(mem, interp + state->at.interp_gil, &gil, 8) &&
		    address - gil < GIL_BYTES)
			return true;
	}
	return false;
}

bool python_is_gil(const struct mem *mem, const struct python_state *state, u64 address)
{
	if (python_major(state) < 3)
		return state->gil ? address - state->gil < SEMAPHORE_BYTES :
				    state->holder && is_led_to(mem, state, address);
	if (state->gil)
		return address - state->gil < GIL_BYTES || is_another(mem, state, address);
	if (state->runtime)
		return address - state->runtime < RUNTIME_GIL_BYTES;
	return state->holder && address - state->holder + VARIABLES_BYTES < 2 * VARIABLES_BYTES;
}
