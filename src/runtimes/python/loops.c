/* SPDX-License-Identifier: Apache-2.0
 * loops.c - see loops.h.
 *
 *	task -> its loop, the first word behind the head (fut_loop) -> _thread_id: an int, the pthread_t of a thread
 *
 * While the loop does not run that is None.  Loops that are not asyncio's own need not have it. */
#include "runtimes/python/loops.h"

#include "runtimes/python/attributes.h"
#include "runtimes/python/step.h"
#include "runtimes/python/types.h"

enum {
	DIGITS = 3, /* of 30 bits */
	DIGIT_BITS = 30,
	TAGGED_MINOR = 12, /* from here on the number of digits stands above three bits */
	TAG_BITS = 3,
};

/* A positive int of 64 bits. */
static bool read_number(const struct mem *mem, const struct python_state *state, u64 object,
			u64 *number)
{
	u64 head = object + state->at.bytes_length, count;
	u32 digits[DIGITS];

	if (!python_is_of_type(mem, state, object, "int") || !mem_peek(mem, head, &count, 8))
		return false;
	if (python_minor(state) >= TAGGED_MINOR)
		count >>= TAG_BITS;
	if (!count || count > DIGITS || !mem_peek(mem, head + 8, digits, (u32)count * 4))
		return false;
	*number = 0;
	for (u32 i = 0; i < count; i++)
		*number |= (u64)digits[i] << i * DIGIT_BITS;
	return true;
}

/* Of several the native thread has, one an interpreter, the newest. */
static u64 thread_on(const struct mem *mem, const struct python_state *state, u64 native)
{
	struct vm_thread thread;
	u64 where = 0;

	while (python_next_thread(mem, state, &where, &thread) == STEP_MORE)
		if (thread.native == native)
			return thread.thread;
	return 0;
}

u64 python_loop_thread(const struct mem *mem, const struct python_state *state, u64 task,
		       struct python_loop *last)
{
	u64 loop, ident, native;

	if (!mem_peek(mem, task + state->at.bytes_length, &loop, 8) || !python_address_ok(loop))
		return 0;
	if (loop == last->loop)
		return last->thread;
	last->loop = loop;
	last->thread = python_find_attribute(mem, state, loop, "_thread_id", &ident) &&
				       read_number(mem, state, ident, &native) ?
			       thread_on(mem, state, native) :
			       0;
	return last->thread;
}
