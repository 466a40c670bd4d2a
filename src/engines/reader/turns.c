/* SPDX-License-Identifier: Apache-2.0
 * turns.c - see turns.h. */
#include "engines/reader/turns.h"

#include "engines/reader/process.h"

enum { TURNS_MAX = 16 };

static void free_turn(struct reader_turn *turn)
{
	read_set_free(&turn->set);
	look_memory_free(&turn->memory);
}

static struct reader_turn *find(const struct reader_thread *thread, u64 address)
{
	for (u32 i = 0; i < thread->turns.count; i++)
		if (thread->turns.at[i].thread == address)
			return &thread->turns.at[i];
	return NULL;
}

bool turns_have(const struct reader_thread *thread, u64 address)
{
	return find(thread, address) != NULL;
}

static void drop(struct reader_thread *thread, struct reader_turn *turn)
{
	free_turn(turn);
	*turn = thread->turns.at[--thread->turns.count];
}

void turns_switch(struct reader_thread *thread, u64 address)
{
	struct reader_turn now = { .thread = thread->thread,
				   .present = thread->bound_present,
				   .set = thread->set,
				   .memory = thread->memory };
	struct reader_turn *next = find(thread, address);

	thread->thread = address;
	thread->head_used = 0;
	thread->bound_present = true;
	if (next) {
		thread->set = next->set;
		thread->memory = next->memory;
		*next = now;
		return;
	}
	thread->set = (struct read_set){ 0 };
	thread->memory = (struct look_memory){ 0 };
	if (thread->turns.count == TURNS_MAX)
		drop(thread, &thread->turns.at[0]);
	if (!vec_push(&thread->turns, now))
		free_turn(&now);
}

void turns_begin(struct reader_thread *thread)
{
	thread->bound_present = false;
	for (u32 i = 0; i < thread->turns.count; i++)
		thread->turns.at[i].present = false;
}

void turns_meet(struct reader_thread *thread, u64 address)
{
	struct reader_turn *known = find(thread, address);
	struct reader_turn fresh = { .thread = address, .present = true };

	if (address == thread->thread)
		thread->bound_present = true;
	else if (known)
		known->present = true;
	else if (thread->turns.count < TURNS_MAX)
		vec_push(&thread->turns, fresh);
}

void turns_end(struct reader_thread *thread)
{
	for (u32 i = 0; i < thread->turns.count && !thread->bound_present; i++)
		if (thread->turns.at[i].present)
			turns_switch(thread, thread->turns.at[i].thread);
	for (u32 i = thread->turns.count; i-- > 0;)
		if (!thread->turns.at[i].present)
			drop(thread, &thread->turns.at[i]);
}

void turns_free(struct reader_thread *thread)
{
	for (u32 i = 0; i < thread->turns.count; i++)
		free_turn(&thread->turns.at[i]);
	vec_free(&thread->turns);
}
