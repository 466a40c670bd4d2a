/* SPDX-License-Identifier: Apache-2.0
 * repeat.c - what need not be walked: callers that stay, and a leaf that does but for its place. */
#include "stack.h"

/* Walked once with its callers, which are known from then on. */
static void settle_with_callers(struct fixture *f)
{
	for (u32 i = 0; i < 3; i++) {
		assert_int_equal(transaction(f, false), PLAN_HELD);
		(void)plan_end(f->plan, true, true);
	}
	f->asks = true;
}

static void callers_that_stay_are_not_walked(void **state)
{
	struct fixture *f = *state;

	settle_with_callers(f);
	for (u32 i = 0; i < 200; i++) { /* past a trim, and into one copy only */
		f->stack->cells[FRAMES - 3].pos++;
		assert_int_equal(transaction(f, false), PLAN_HELD);
		assert_true(f->repeated);
		assert_false(plan_end(f->plan, true, true));
	}
	f->stack->cells[FRAMES - 3].id = 700; /* another leaf is called by the same */
	assert_int_equal(transaction(f, false), PLAN_HELD);
	assert_true(f->repeated);
	assert_int_equal(f->ids[0], 700);
}

/* Between what is taken of them lies what is their own business. */
static void callers_may_change_where_nobody_looks(void **state)
{
	struct fixture *f = *state;

	f->ids_only = true;
	settle_with_callers(f);
	for (u32 i = 0; i < 50; i++) {
		f->stack->cells[FRAMES - 2].pos += i / 25;
		assert_int_equal(transaction(f, false), PLAN_HELD);
		assert_true(f->repeated);
		plan_end(f->plan, true, true);
	}
	f->stack->cells[FRAMES - 1].id = 500;
	assert_int_equal(transaction(f, false), PLAN_HELD);
	assert_false(f->repeated);
	assert_int_equal(f->ids[2], 500);
	plan_end(f->plan, true, true);
}

static void a_caller_that_changed_is_walked(void **state)
{
	struct fixture *f = *state;

	settle_with_callers(f);
	f->stack->cells[FRAMES - 2].id = 500;
	assert_int_equal(transaction(f, false), PLAN_HELD);
	assert_false(f->repeated);
	assert_int_equal(f->ids[1], 500);
	assert_true(plan_end(f->plan, true, true)); /* and is what they are compared with */
	assert_int_equal(transaction(f, false), PLAN_HELD);
	assert_true(f->repeated);
	plan_end(f->plan, true, true);
}

/* What a walker only peeks at of a caller can be what tells one function from another. */
static void a_caller_that_drifted_is_walked(void **state)
{
	struct fixture *f = *state;

	settle_with_callers(f);
	f->stack->cells[FRAMES - 1].pos = 9;
	assert_int_equal(transaction(f, false), PLAN_HELD);
	assert_false(f->repeated);
	assert_true(plan_end(f->plan, true, true));
	f->stack->cells[FRAMES - 1].pos = 0; /* as it was before: not what was walked last */
	assert_int_equal(transaction(f, false), PLAN_HELD);
	assert_false(f->repeated);
	plan_end(f->plan, true, true);
}

static void a_caller_that_changes_meanwhile_is_a_conflict(void **state)
{
	struct fixture *f = *state;

	settle_with_callers(f);
	f->stack->cells[FRAMES - 3].id =
		ELSEWHERE; /* what was not planned makes a second copy follow */
	plan_begin(f->plan, &f->set, false);
	walk(f);
	assert_true(f->repeated);
	f->stack->cells[FRAMES - 1].id = 501;
	assert_int_equal(plan_settle(f->plan), PLAN_MOVED);
	plan_end(f->plan, false, true);
}

/* One that may be left out; was it? */
static bool is_left_out(struct fixture *f)
{
	plan_begin(f->plan, &f->set, false);
	bool whole = plan_is_repeated(f->plan, &f->has_place, &f->place);
	if (!whole)
		walk(f);
	assert_int_equal(plan_settle(f->plan), PLAN_HELD);
	plan_end(f->plan, true, true);
	return whole;
}

static void settle_whole(struct fixture *f)
{
	u32 walks = 0;

	f->asks = f->has_places = true;
	while (!is_left_out(f))
		assert_true(++walks < 32);
}

static void what_stays_but_for_its_place_is_not_walked(void **state)
{
	struct fixture *f = *state;

	settle_whole(f);
	u64 calls = plan_stats(f->plan).calls, unplanned = plan_stats(f->plan).unplanned;
	for (u32 i = 0; i < 200; i++) { /* past some trims */
		f->stack->cells[FRAMES - 3].pos = i;
		assert_true(is_left_out(f));
		assert_true(f->has_place);
		assert_int_equal(f->place, i);
	}
	assert_int_equal(plan_stats(f->plan).calls - calls, 200);
	assert_int_equal(plan_stats(f->plan).unplanned, unplanned);
}

static void another_leaf_is_walked(void **state)
{
	struct fixture *f = *state;

	settle_whole(f);
	f->stack->cells[FRAMES - 3].id = 700;
	assert_false(is_left_out(f));
	assert_int_equal(f->ids[0], 700);
	settle_whole(f);
	f->stack->top = FRAMES - 2;
	assert_false(is_left_out(f));
	assert_int_equal(f->ids[0], FRAMES - 2);
	settle_whole(f);
	f->stack->cells[FRAMES - 1].id = 701;
	assert_false(is_left_out(f));
	assert_int_equal(f->ids[1], 701);
}

/* The place of one frame says nothing about another's. */
static void what_took_two_places_is_walked(void **state)
{
	struct fixture *f = *state;
	u64 word;

	settle_whole(f);
	f->stack->cells[FRAMES - 3].id = 700;
	for (u32 i = 0; i < 32; i++) {
		plan_begin(f->plan, &f->set, false);
		assert_false(plan_is_repeated(f->plan, &f->has_place, &f->place));
		assert_true(mem_place(plan_mem(f->plan), (u64)&f->stack->near, &word));
		walk(f);
		assert_int_equal(plan_settle(f->plan), PLAN_HELD);
		plan_end(f->plan, true, true);
	}
}

/* What drifts all the time is compared, and learned ever more seldom. */
static void what_drifts_is_walked(void **state)
{
	struct fixture *f = *state;
	u32 learned = 0;

	f->peeks = 1;
	settle_whole(f);
	for (u32 i = 0; i < 256; i++) {
		f->stack->near++;
		plan_begin(f->plan, &f->set, false);
		assert_false(plan_is_repeated(f->plan, &f->has_place, &f->place));
		walk(f);
		assert_true(f->repeated);
		assert_int_equal(plan_settle(f->plan), PLAN_HELD);
		learned += plan_end(f->plan, true, true);
	}
	assert_in_range(learned, 1, 9); /* 1, 2, 4 ... 256 */
}

/* What else is read of it, and not by plan, makes a second copy follow. */
static void a_leaf_that_changes_meanwhile_is_a_conflict(void **state)
{
	struct fixture *f = *state;
	const struct mem *mem = plan_mem(f->plan);

	for (u32 changes = 0; changes < 3; changes++) {
		u64 word;
		read_set_free(&f->set);
		settle_whole(f);
		plan_begin(f->plan, &f->set, false);
		assert_true(plan_is_repeated(f->plan, &f->has_place, &f->place));
		assert_true(mem_read(mem, (u64)&f->stack->cells[0], &word, 8));
		f->stack->cells[FRAMES - 3].id += changes == 1;
		f->stack->top -= changes == 2;
		assert_int_equal(plan_settle(f->plan), changes ? PLAN_MOVED : PLAN_HELD);
		plan_end(f->plan, !changes, true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(callers_that_stay_are_not_walked),
		TEST(callers_may_change_where_nobody_looks),
		TEST(a_caller_that_changed_is_walked),
		TEST(a_caller_that_drifted_is_walked),
		TEST(a_caller_that_changes_meanwhile_is_a_conflict),
		TEST(what_stays_but_for_its_place_is_not_walked),
		TEST(another_leaf_is_walked),
		TEST(what_took_two_places_is_walked),
		TEST(what_drifts_is_walked),
		TEST(a_leaf_that_changes_meanwhile_is_a_conflict),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
