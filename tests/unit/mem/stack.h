/* SPDX-License-Identifier: Apache-2.0
 * stack.h - a stack that a test itself moves, and transactions over it.
 *
 * The stack is an array of frames in our own memory, read through the kernel like any other process's.  Between the first walk
 * and plan_settle() a test changes what it likes. */
#pragma once
#include "check.h"

#include "mem/plan.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FRAMES = 64, PAGE = 4096, ELSEWHERE = 999 /* a leaf of which another word is read */ };

struct cell {
	u64 id;  /* must hold */
	u64 pos; /* may drift */
};

/* Head and frames on pages of their own; frames grow down from the end, as Ruby's do. */
struct stack {
	_Alignas(PAGE) volatile u64 top; /* index of the leaf */
	volatile u64 near;               /* taken with the head, may drift */
	volatile u64 counter;            /* to be read last */
	volatile u64 constant;
	_Alignas(PAGE) volatile struct cell cells[FRAMES];
};

struct fixture {
	struct stack *stack;
	struct mem_live live;
	struct plan *plan;
	struct read_set set;
	u64 ids[FRAMES], count; /* of the last walk, leaf first */
	bool fault;
	bool asks;       /* whether the callers are what they were */
	bool repeated;   /* they were */
	bool ids_only;   /* of the callers */
	bool has_places; /* where the leaf is is read as such */
	u32 peeks;       /* and so many words that it does not go by */
	bool has_place;  /* of a walk that was left out */
	u64 place;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	f->stack = mmap(NULL, sizeof *f->stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	assert_true(f->stack != MAP_FAILED);
	mem_live_init(&f->live, (u32)getpid());
	f->plan = plan_new(&f->live);
	f->stack->top = FRAMES - 3;
	for (u32 i = 0; i < FRAMES; i++)
		f->stack->cells[i].id = i;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	munmap(f->stack, sizeof *f->stack);
	plan_free(f->plan);
	read_set_free(&f->set);
	mem_live_fini(&f->live);
	free(f);
	return 0;
}

static void walk(struct fixture *f)
{
	const struct mem *mem = plan_mem(f->plan);
	u64 top = 0;

	f->count = 0;
	for (u32 i = 0; i < f->peeks; i++)
		mem_peek(mem, (u64)&f->stack->near, &top, sizeof top);
	f->fault = !mem_read(mem, (u64)&f->stack->top, &top, sizeof top);
	plan_head_done(f->plan, 0);
	for (u64 i = top; i < FRAMES && !f->fault; i++) {
		u64 pos;
		u64 at = (u64)&f->stack->cells[i];
		bool is_place = f->has_places && !f->count;
		f->fault = !mem_read(mem, at, &f->ids[f->count], 8) ||
			   (is_place && !mem_place(mem, at + 8, &pos)) ||
			   (!is_place && !(f->ids_only && f->count) &&
			    !mem_peek(mem, at + 8, &pos, 8));
		if (!f->count && f->ids[0] == ELSEWHERE)
			f->fault |= !mem_read(mem, (u64)&f->stack->constant, &pos, 8);
		if (!f->count++ && (f->repeated = plan_leaf_done(f->plan, f->asks)))
			return;
	}
}

static enum plan_verdict transaction(struct fixture *f, bool still)
{
	plan_begin(f->plan, &f->set, still);
	walk(f);
	return plan_settle(f->plan);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
