/* SPDX-License-Identifier: Apache-2.0
 * timeline.c - no sample is lost, whatever the order and however wide the slots become. */
#include "check.h"

#include "base/rng.h"
#include "profile/timeline.h"

enum { MS = 1000000 };

static u64 total(const struct timeline *timeline)
{
	u64 sum = 0;

	for (u32 i = 0; i < timeline->cells.count; i++)
		sum += timeline->cells.at[i].count;
	return sum;
}

static void is_settled(const struct timeline *timeline)
{
	for (u32 i = 1; i < timeline->cells.count; i++) {
		const struct timeline_cell *a = &timeline->cells.at[i - 1], *b = a + 1;
		assert_true(a->slot < b->slot || (a->slot == b->slot && a->entry < b->entry));
	}
}

static void equal_cells_are_one(void **state)
{
	(void)state;
	struct timeline timeline = { .cells_most = 1000 };
	timeline_add(&timeline, 5 * MS, 1);
	timeline_add(&timeline, 1 * MS, 2);
	timeline_add(&timeline, 5 * MS, 1);
	timeline_add(&timeline, 5 * MS, 0);
	timeline_add(&timeline, 0, UINT32_MAX); /* none */
	timeline_settle(&timeline);
	is_settled(&timeline);
	assert_int_equal(timeline.cells.count, 3);
	assert_int_equal(total(&timeline), 4);
	assert_int_equal(timeline.cells.at[0].entry, 2);
	assert_int_equal(timeline.cells.at[2].entry, 1);
	assert_int_equal(timeline.cells.at[2].count, 2);
	timeline_free(&timeline);
}

static void memory_is_bounded_and_no_sample_is_lost(void **state)
{
	(void)state;
	struct timeline timeline = { .cells_most = 5000 };
	struct rng rng = { 3 };
	u64 time = 0;
	for (u32 i = 1; i <= 200000; i++) {
		time += rng_below(&rng, 20 * MS);
		/* samples whose weight came late are handed out late */
		u64 late = rng_below(&rng, 1000 * MS);
		timeline_add(&timeline, time > late ? time - late : 0, (u32)rng_below(&rng, 40));
		assert_true(timeline.cells.count <= 5000);
	}
	assert_int_equal(total(&timeline), 200000);
	timeline_settle(&timeline);
	is_settled(&timeline);
	assert_int_equal(total(&timeline), 200000);
	assert_true(timeline.slot_ns * timeline_slots(&timeline) >= time);
	timeline_free(&timeline);
}

/* A file may say that a sample was taken in the year 2500. */
static void no_time_is_too_far(void **state)
{
	(void)state;
	struct timeline timeline = { .cells_most = 10 };
	timeline_add(&timeline, 1, 1);
	timeline_add(&timeline, UINT64_MAX, 2);
	timeline_add(&timeline, UINT64_MAX / 2, 2);
	timeline_settle(&timeline);
	assert_int_equal(total(&timeline), 3);
	timeline_free(&timeline);
}

static void without_cells_nothing_is_kept(void **state)
{
	(void)state;
	struct timeline timeline = { 0 };
	timeline_add(&timeline, 1, 1);
	timeline_settle(&timeline);

	assert_int_equal(timeline.cells.count, 0);
	assert_int_equal(timeline_slots(&timeline), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_cells_are_one),
		cmocka_unit_test(memory_is_bounded_and_no_sample_is_lost),
		cmocka_unit_test(no_time_is_too_far),
		cmocka_unit_test(without_cells_nothing_is_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
