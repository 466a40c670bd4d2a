/* SPDX-License-Identifier: Apache-2.0
 * plan.c - transactions over a stack that this test itself moves (stack.h); in the last test a thread changes it all the time. */
#include "stack.h"

#include <pthread.h>
#include <stdatomic.h>

static void a_standing_stack_holds_and_then_costs_one_call(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(transaction(f, false), PLAN_HELD);
	plan_end(f->plan, true, true);
	assert_int_equal(f->count, 3);
	assert_int_equal(plan_stats(f->plan).unplanned, 1);
	u64 calls = plan_stats(f->plan).calls;
	for (u32 i = 0; i < 200; i++) { /* past a trim */
		assert_int_equal(transaction(f, false), PLAN_HELD);
		assert_int_equal(f->count, 3);
		assert_int_equal(f->ids[0], FRAMES - 3);
		plan_end(f->plan, true, true);
	}
	assert_int_equal(plan_stats(f->plan).unplanned, 1);
	assert_int_equal(plan_stats(f->plan).calls - calls, 200);
}

static void a_changed_frame_is_a_conflict(void **state)
{
	struct fixture *f = *state;

	plan_begin(f->plan, &f->set, false);
	walk(f);
	f->stack->cells[FRAMES - 2].id = 1000;
	assert_int_equal(plan_settle(f->plan), PLAN_MOVED);
	assert_true(plan_saw_motion(f->plan));
	plan_end(f->plan, true, true);
}

static void a_changed_head_is_a_conflict(void **state)
{
	struct fixture *f = *state;

	plan_begin(f->plan, &f->set, false);
	walk(f);
	f->stack->top = FRAMES - 2;
	assert_int_equal(plan_settle(f->plan), PLAN_MOVED);
	plan_end(f->plan, true, true);
}

static void a_drifting_word_is_none(void **state)
{
	struct fixture *f = *state;

	plan_begin(f->plan, &f->set, false);
	walk(f);
	f->stack->cells[FRAMES - 3].pos = 77;
	assert_int_equal(plan_settle(f->plan), PLAN_HELD);
	plan_end(f->plan, true, true);
}

static void a_stopped_thread_needs_one_copy(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(transaction(f, true), PLAN_HELD);
	plan_end(f->plan, true, true);
	assert_int_equal(transaction(f, true), PLAN_HELD);
	assert_int_equal(f->count, 3);
	plan_end(f->plan, true, true);
}

static void a_deeper_stack_is_learned(void **state)
{
	struct fixture *f = *state;

	transaction(f, false);
	plan_end(f->plan, true, true);
	f->stack->top = 0;
	assert_int_equal(transaction(f, false), PLAN_HELD);
	assert_int_equal(f->count, FRAMES);
	plan_end(f->plan, true, true);
	u64 unplanned = plan_stats(f->plan).unplanned;
	assert_int_equal(transaction(f, false), PLAN_HELD);
	plan_end(f->plan, true, true);
	assert_int_equal(plan_stats(f->plan).unplanned, unplanned);
}

/* A walk of the head alone, with what lies near it. */
static u64 near_walk(struct fixture *f)
{
	const struct mem *mem = plan_mem(f->plan);
	u64 top = 0, near = 0, counter = 0;

	plan_begin(f->plan, &f->set, false);
	assert_true(mem_read(mem, (u64)&f->stack->top, &top, 8));
	assert_true(mem_peek(mem, (u64)&f->stack->near, &near, 8));
	assert_true(mem_peek_last(mem, (u64)&f->stack->counter, &counter, 8));
	plan_head_done(f->plan, 0);
	assert_int_equal(plan_settle(f->plan), PLAN_HELD);
	plan_end(f->plan, true, true);
	assert_int_equal(top, f->stack->top);
	return near * 1000 + counter;
}

/* [near and head] [head] [counter]: what may be read first comes with the first head, the counter does not. */
static void what_lies_near_the_head_is_read_with_it(void **state)
{
	struct fixture *f = *state;

	f->stack->near = 3;
	f->stack->counter = 4;
	near_walk(f);
	for (u32 i = 0; i < 3; i++) {
		f->stack->near++;
		f->stack->top--;
		u64 ranges = plan_stats(f->plan).ranges;
		assert_int_equal(near_walk(f), f->stack->near * 1000 + 4);
		assert_int_equal(plan_stats(f->plan).ranges - ranges, 3);
	}
}

static u64 constant_walk(struct fixture *f, u64 generation, bool believed, bool sure)
{
	const struct mem *mem = plan_mem(f->plan);
	u64 top = 0, value = 0;

	plan_begin(f->plan, &f->set, false);
	assert_true(mem_read(mem, (u64)&f->stack->top, &top, 8));
	plan_head_done(f->plan, generation);
	assert_true(mem_read(mem, (u64)&f->stack->cells[top], &value, 8));
	assert_true(mem_constant(mem, (u64)&f->stack->constant, &value, 8));
	assert_int_equal(plan_settle(f->plan), PLAN_HELD);
	plan_end(f->plan, believed, sure);
	return value;
}

/* The next walk is by plan, and its epoch is not the first of its kind. */
static void learn_constant_walk(struct fixture *f)
{
	f->stack->constant = 8;
	assert_int_equal(constant_walk(f, 1, true, true), 8); /* an epoch read late is no proof */
	f->stack->constant = 9;
	assert_int_equal(constant_walk(f, 1, true, true), 9); /* nor is one that may be new */
	f->stack->constant = 10;
}

static void a_constant_is_read_once_a_generation(void **state)
{
	struct fixture *f = *state;

	learn_constant_walk(f);
	assert_int_equal(constant_walk(f, 1, true, true), 10);
	f->stack->constant = 11;
	assert_int_equal(constant_walk(f, 1, true, true), 10);
	assert_int_equal(constant_walk(f, 2, true, true), 11);
	f->stack->constant = 12; /* what was met may have died in the epoch before */
	assert_int_equal(constant_walk(f, 2, true, true), 12);
	f->stack->constant = 13;
	assert_int_equal(constant_walk(f, 2, true, true), 12);
	assert_int_equal(constant_walk(f, 0, true, true), 13); /* not known: nothing is kept */
	f->stack->constant = 14;
	assert_int_equal(constant_walk(f, 0, true, true), 14);
}

static void assert_teaches_none(struct fixture *f, bool believed, bool sure)
{
	learn_constant_walk(f);
	assert_int_equal(constant_walk(f, 1, believed, sure), 10);
	f->stack->constant = 11;
	assert_int_equal(constant_walk(f, 1, true, true), 11);
}

/* What it took for an object may have been none. */
static void a_walk_that_is_not_believed_teaches_no_constant(void **state)
{
	assert_teaches_none(*state, false, true);
}

/* What an earlier call left may lead to what is dead, and another's soon. */
static void a_walk_that_is_not_sure_of_its_leaf_teaches_no_constant(void **state)
{
	struct fixture *f = *state;

	assert_teaches_none(f, true, false);
	f->stack->constant = 12;
	assert_int_equal(constant_walk(f, 1, true, false), 11); /* but goes by what is known */
}

/* Walks until one copy is enough; gives the ranges of a walk then. */
static u64 settle_down(struct fixture *f)
{
	u64 ranges = 0;

	for (u32 i = 0; i < 100; i++) {
		ranges = plan_stats(f->plan).ranges;
		assert_int_equal(transaction(f, false), PLAN_HELD);
		plan_end(f->plan, true, true);
		ranges = plan_stats(f->plan).ranges - ranges;
	}
	return ranges;
}

static void a_thread_that_stays_is_copied_once(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(settle_down(f), 2); /* [head] [body] */
	f->stack->cells[FRAMES - 3].pos++;   /* the leaf's place drifts */
	assert_int_equal(transaction(f, false), PLAN_HELD);
	assert_false(plan_saw_motion(f->plan)); /* since the last walk: not now */
	plan_end(f->plan, true, true);
}

static void a_thread_that_went_on_is_copied_again(void **state)
{
	struct fixture *f = *state;

	settle_down(f);
	f->stack->top--;
	f->stack->cells[FRAMES - 2].id = 500;
	u64 calls = plan_stats(f->plan).calls;
	assert_int_equal(transaction(f, false), PLAN_HELD);
	plan_end(f->plan, true, true);
	assert_int_equal(plan_stats(f->plan).calls - calls, 2);
	assert_int_equal(f->count, 4);
	assert_int_equal(f->ids[2], 500);
	assert_int_equal(transaction(f, false), PLAN_HELD);
	plan_end(f->plan, true, true);
	assert_int_equal(plan_stats(f->plan).calls - calls, 3);
}

static void a_thread_that_goes_on_is_a_conflict(void **state)
{
	struct fixture *f = *state;

	settle_down(f);
	f->stack->cells[FRAMES - 2].id = 500;
	plan_begin(f->plan, &f->set, false);
	walk(f);
	f->stack->cells[FRAMES - 2].id = 501;
	assert_int_equal(plan_settle(f->plan), PLAN_MOVED);
	assert_true(plan_saw_motion(f->plan));
	plan_end(f->plan, false, true);
	assert_int_equal(f->ids[1], 500);
}

/* The fixture's walk, and a copy more behind it: of a thread that stays, and of one that goes on meanwhile. */
static void assert_stands(struct fixture *f, bool still, bool goes_on, bool stands)
{
	assert_int_equal(transaction(f, still), PLAN_HELD);
	if (goes_on)
		f->stack->cells[FRAMES - 2].id++;
	assert_int_equal(plan_stands(f->plan), stands);
	plan_end(f->plan, true, true);
}

static void what_is_read_last_goes_with_what_stands(void **state)
{
	struct fixture *f = *state;

	assert_stands(f, false, false, true); /* all of it late: a second copy, and a third */
	assert_stands(f, false, true, false);
	assert_stands(f, false, false, true);
	assert_stands(f, true, true, true); /* a stopped one goes nowhere */
	settle_down(f);
	u64 calls = plan_stats(f->plan).calls;
	assert_stands(f, false, false, true);
	assert_int_equal(plan_stats(f->plan).calls - calls, 2);
	assert_stands(f, false, true, false);
	assert_stands(f, false, false, true);
}

/* What was not believed is no place to be compared with. */
static void what_is_not_believed_is_not_proven(void **state)
{
	struct fixture *f = *state;
	u64 ranges = 0;

	for (u32 i = 0; i < 100; i++) {
		ranges = plan_stats(f->plan).ranges;
		assert_int_equal(transaction(f, false), PLAN_HELD);
		plan_end(f->plan, false, true);
		ranges = plan_stats(f->plan).ranges - ranges;
	}
	assert_int_equal(ranges, 5); /* [head] [body] [head] [body] [head] */
}

/* One plan reads many threads in turn: what one of them needs room for moves the copies of all. */
static void a_deeper_thread_in_between_changes_nothing(void **state)
{
	struct fixture *f = *state;
	struct read_set other = { 0 };

	settle_down(f);
	for (u32 i = 0; i < 40; i++) {
		struct read_set mine = f->set;
		f->stack->top = FRAMES - 4 - i;
		f->set = other;
		assert_int_equal(transaction(f, false), PLAN_HELD);
		plan_end(f->plan, true, true);
		other = f->set;
		f->set = mine;
		f->stack->top = FRAMES - 3;
		f->stack->cells[FRAMES - 2].id = 100 + i;
		assert_int_equal(transaction(f, false), PLAN_HELD);
		assert_int_equal(f->count, 3);
		assert_int_equal(f->ids[1], 100 + i);
		plan_end(f->plan, true, true);
	}
	read_set_free(&other);
}

static void walk_once(struct fixture *f, u64 leaf, u64 id)
{
	f->stack->top = leaf;
	f->stack->cells[leaf].id = id;
	assert_int_equal(transaction(f, false), PLAN_HELD);
	plan_end(f->plan, true, true);
}

/* How many walks there are from one trim to the next. */
static u32 walks_of_a_period(struct fixture *f)
{
	u32 most = 0;

	do {
		most = f->set.walks;
		walk_once(f, FRAMES - 3, 1);
	} while (f->set.walks);
	return most + 1;
}

/* The only walk of a period that uses a range is one that changes the plan, and the last: the range stays. */
static void what_a_late_walk_used_is_not_let_go_of(void **state)
{
	struct fixture *f = *state;

	walk_once(f, FRAMES - 3, ELSEWHERE);
	u32 period = walks_of_a_period(f);
	while (f->set.walks < period - 1)
		walk_once(f, FRAMES - 3, 1);
	walk_once(f, 3, ELSEWHERE);
	assert_int_equal(f->set.walks, 0);
	u64 unplanned = plan_stats(f->plan).unplanned;
	walk_once(f, 3, ELSEWHERE);
	assert_int_equal(plan_stats(f->plan).unplanned, unplanned);
}

static void what_no_walk_uses_is_let_go_of(void **state)
{
	struct fixture *f = *state;

	walk_once(f, FRAMES - 3, 1);
	walk_once(f, FRAMES - 3, 1);
	u32 ranges = f->set.ranges.count;
	walk_once(f, FRAMES - 3, ELSEWHERE);
	assert_int_equal(f->set.ranges.count, ranges + 1);
	for (u32 i = 2 * walks_of_a_period(f); i > 0; i--)
		walk_once(f, FRAMES - 3, 1);
	assert_int_equal(f->set.ranges.count, ranges);
}

/* Nor is a plan put together anew for nothing. */
static void a_plan_that_is_in_use_stays(void **state)
{
	struct fixture *f = *state;

	walk_once(f, FRAMES - 3, 1);
	for (u32 i = 2 * walks_of_a_period(f); i > 0; i--) {
		walk_once(f, FRAMES - 3, 1);
		assert_true(f->set.fetch.spans.count);
	}
}

/* A leaf's notes are none of its callers': these are compared without the leaf, by what was read for them. */
static void a_note_is_of_the_leaf_or_of_its_callers(void **state)
{
	struct fixture *f = *state;
	const struct mem *mem = plan_mem(f->plan);
	u64 value = 0;

	plan_begin(f->plan, &f->set, false);
	mem_note(mem, 0x1000, 42);
	assert_true(mem_recall(mem, 0x1000, &value));
	assert_int_equal(value, 42);
	assert_false(mem_recall(mem, 0x1008, &value));
	plan_leaf_done(f->plan, false);
	assert_false(mem_recall(mem, 0x1000, &value));
	mem_note(mem, 0x1000, 43);
	assert_true(mem_recall(mem, 0x1000, &value));
	assert_int_equal(value, 43);
	plan_begin(f->plan, &f->set, false);
	assert_false(mem_recall(mem, 0x1000, &value));
}

static void memory_that_goes_away_is_no_crash(void **state)
{
	struct fixture *f = *state;

	transaction(f, false);
	plan_end(f->plan, true, true);
	munmap((void *)&f->stack->cells, PAGE);
	transaction(f, false);
	assert_true(f->fault);
	plan_end(f->plan, true, true);
	assert_true(mmap((void *)&f->stack->cells, PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED);
	assert_int_equal(transaction(f, false), PLAN_HELD);
	assert_int_equal(f->count, 3);
	plan_end(f->plan, true, true);
}

static void an_address_that_wraps_is_refused(void **state)
{
	struct fixture *f = *state;
	u64 word;

	plan_begin(f->plan, &f->set, false);
	assert_false(mem_read(plan_mem(f->plan), UINT64_MAX - 3, &word, 8));
	assert_false(mem_read(plan_mem(f->plan), 0, &word, 8));
	plan_settle(f->plan);
	plan_end(f->plan, true, true);
}

/* ---- a stack that moves all the time ------------------------------------------------------ */

struct mover {
	struct stack *stack;
	_Atomic bool stop;
};

/* Legal stacks: the upper bits of every frame's id are made of its caller's, from 1 at the root; the others are drawn, so that none
 * comes back (a mix of two stacks that lies in memory twice, between heads that are equal, is taken for a stack: at 2 ns a call and
 * with two ids for each caller that was one of ten million). Frames are published the way VMs do: filled, then the head. */
enum { DRAWN_BITS = 48 };

static u64 made_of(u64 caller)
{
	return (caller * 0x9e3779b97f4a7c15) >> DRAWN_BITS;
}

static void *move(void *arg)
{
	struct mover *mover = arg;
	struct stack *stack = mover->stack;
	u64 random = 1;

	while (!atomic_load_explicit(&mover->stop, memory_order_relaxed)) {
		u64 top = stack->top;
		random = random * 6364136223846793005 + 1442695040888963407;
		if ((random >> 40) % 16 < 8 && top > FRAMES - 20) {
			stack->cells[top - 1].id = made_of(stack->cells[top].id) << DRAWN_BITS |
						   random >> (64 - DRAWN_BITS);
			atomic_signal_fence(memory_order_seq_cst);
			stack->top = top - 1;
		} else if (top < FRAMES - 1) {
			stack->top = top + 1;
		}
	}
	return NULL;
}

static void what_holds_is_legal_while_it_moves(void **state)
{
	struct fixture *f = *state;
	struct mover mover = { .stack = f->stack };
	u32 held = 0, illegal = 0;
	pthread_t thread;

	f->stack->top = FRAMES - 1;
	f->stack->cells[FRAMES - 1].id = 1;
	assert_int_equal(pthread_create(&thread, NULL, move, &mover), 0);
	for (u32 i = 0; i < 20000; i++) {
		if (transaction(f, false) == PLAN_HELD) {
			held++;
			illegal += f->count == 0 || f->ids[f->count - 1] != 1;
			for (u64 k = 0; k + 1 < f->count; k++)
				illegal += f->ids[k] >> DRAWN_BITS != made_of(f->ids[k + 1]);
		}
		plan_end(f->plan, true, true);
	}
	atomic_store(&mover.stop, true);
	pthread_join(thread, NULL);
	assert_int_equal(illegal, 0);
	/* and at rest everything holds: the test would pass on nothing otherwise */
	assert_int_equal(transaction(f, false), PLAN_HELD);
	plan_end(f->plan, true, true);
	print_message("%u of 20000 transactions held\n", held);
}

struct follower {
	_Alignas(PAGE) volatile u64 number;  /* a head */
	_Alignas(PAGE) volatile u64 follows; /* set to it, behind it */
	_Alignas(PAGE) volatile u64 frame;
	_Atomic bool stop;
};

static void *follow(void *arg)
{
	struct follower *follower = arg;

	for (u64 n = 1; !atomic_load_explicit(&follower->stop, memory_order_relaxed); n++) {
		follower->number = n;
		atomic_signal_fence(memory_order_seq_cst);
		follower->follows = n;
	}
	return NULL;
}

/* What is behind the head in time was read behind the head when it is ahead of it. */
static void what_leads_to_the_head_is_read_before_it(void **state)
{
	struct fixture *f = *state;
	static struct follower follower;
	const struct mem *mem = plan_mem(f->plan);
	u32 ahead = 0, moved = 0;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, follow, &follower), 0);
	for (u32 i = 0; i < 20000; i++) {
		u64 number = 0, follows = 0, frame = 0;

		plan_begin(f->plan, &f->set, false);
		assert_true(mem_peek(mem, (u64)&follower.follows, &follows, 8));
		assert_true(mem_read(mem, (u64)&follower.number, &number, 8));
		plan_head_done(f->plan, 0);
		assert_true(mem_read(mem, (u64)&follower.frame, &frame, 8));
		moved += plan_settle(f->plan) == PLAN_MOVED;
		ahead += follows > number;
		plan_end(f->plan, false, true);
	}
	atomic_store(&follower.stop, true);
	pthread_join(thread, NULL);
	assert_int_equal(ahead, 0);
	print_message("%u of 20000 moved\n", moved);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_standing_stack_holds_and_then_costs_one_call),
		TEST(a_changed_frame_is_a_conflict),
		TEST(a_changed_head_is_a_conflict),
		TEST(a_drifting_word_is_none),
		TEST(a_stopped_thread_needs_one_copy),
		TEST(a_deeper_stack_is_learned),
		TEST(what_lies_near_the_head_is_read_with_it),
		TEST(a_constant_is_read_once_a_generation),
		TEST(a_walk_that_is_not_believed_teaches_no_constant),
		TEST(a_walk_that_is_not_sure_of_its_leaf_teaches_no_constant),
		TEST(a_thread_that_stays_is_copied_once),
		TEST(a_thread_that_went_on_is_copied_again),
		TEST(a_thread_that_goes_on_is_a_conflict),
		TEST(what_is_read_last_goes_with_what_stands),
		TEST(what_is_not_believed_is_not_proven),
		TEST(what_a_late_walk_used_is_not_let_go_of),
		TEST(what_no_walk_uses_is_let_go_of),
		TEST(a_plan_that_is_in_use_stays),
		TEST(a_note_is_of_the_leaf_or_of_its_callers),
		TEST(a_deeper_thread_in_between_changes_nothing),
		TEST(memory_that_goes_away_is_no_crash),
		TEST(an_address_that_wraps_is_refused),
		TEST(what_holds_is_legal_while_it_moves),
		TEST(what_leads_to_the_head_is_read_before_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
