/* SPDX-License-Identifier: Apache-2.0
 * vec.c - arrays of any type grow and keep what they hold. */
#include "base/vec.h"
#include "check.h"

static void pushes_keep_their_order(void **state)
{
	VEC(u64) v = { 0 };
	(void)state;

	for (u64 i = 0; i < 10000; i++)
		assert_true(vec_push(&v, i * i));
	assert_int_equal(v.count, 10000);
	assert_true(v.room >= v.count);
	for (u64 i = 0; i < 10000; i++)
		assert_true(v.at[i] == i * i);
	vec_free(&v);
	assert_null(v.at);
	assert_int_equal(v.count, 0);
	assert_int_equal(v.room, 0);
}

static void structs_are_pushed_as_literals(void **state)
{
	struct pair {
		u32 a, b;
	};
	VEC(struct pair) v = { 0 };
	(void)state;

	assert_true(vec_push(&v, (struct pair){ 1, 2 }));
	assert_true(vec_push(&v, (struct pair){ .b = 4 }));
	assert_int_equal(v.at[0].b, 2);
	assert_int_equal(v.at[1].a, 0);
	assert_int_equal(v.at[1].b, 4);
	vec_free(&v);
}

static void what_is_reached_is_zero_and_the_rest_stays(void **state)
{
	VEC(u64) v = { 0 };
	(void)state;

	assert_true(vec_push(&v, 7));
	for (u32 i = 0; i < 6; i++)
		assert_true(vec_push(&v, 9));
	v.count = 1; /* what lies behind it is old */
	assert_true(vec_reach(&v, 0));
	assert_int_equal(v.count, 1);
	assert_true(vec_reach(&v, 1000));
	assert_int_equal(v.count, 1001);
	assert_int_equal(v.at[0], 7);
	for (u32 i = 1; i < v.count; i++)
		assert_int_equal(v.at[i], 0);
	assert_false(vec_reach(&v, UINT32_MAX));
	assert_int_equal(v.count, 1001);
	vec_free(&v);
}

static void a_copy_holds_what_the_other_holds(void **state)
{
	VEC(u64) from = { 0 }, to = { 0 };
	(void)state;

	assert_true(vec_copy(&to, &from)); /* nothing of nothing */
	assert_int_equal(to.count, 0);
	for (u64 i = 0; i < 100; i++)
		assert_true(vec_push(&from, i));
	assert_true(vec_push(&to, 9));
	assert_true(vec_copy(&to, &from));
	assert_int_equal(to.count, 100);
	assert_memory_equal(to.at, from.at, 100 * sizeof *to.at);
	assert_true(to.at != from.at);
	from.count = 3;
	assert_true(vec_copy(&to, &from));
	assert_int_equal(to.count, 3);
	vec_free(&from);
	vec_free(&to);
}

static void clear_keeps_the_room(void **state)
{
	VEC(u8) v = { 0 };
	(void)state;

	assert_true(vec_grow(&v, 100));
	assert_int_equal(v.count, 0);
	u32 room = v.room;
	assert_true(room >= 100);
	assert_true(vec_push(&v, 1));
	vec_clear(&v);
	assert_int_equal(v.count, 0);
	assert_int_equal(v.room, room);
	vec_free(&v);
}

static void the_first_that_does_not_hold_is_found(void **state)
{
	VEC(u32) v = { 0 };

	(void)state;
	assert_int_equal(vec_first_not(&v, one, *one < 5), 0);
	for (u32 i = 0; i < 9; i++) {
		assert_true(vec_push(&v, 2 * i));
		for (u32 wanted = 0; wanted < 20; wanted++) {
			u32 below = (wanted + 1) / 2;
			assert_int_equal(vec_first_not(&v, one, *one < wanted),
					 below < v.count ? below : v.count);
		}
	}
	vec_free(&v);
}

/* 2^31 items of 8 GiB each do not fit any address space; reallocarray sees the overflow. */
static void too_much_is_refused_and_nothing_is_lost(void **state)
{
	void *at = NULL;
	u32 room = 0;
	volatile size_t huge = (size_t)1 << 33; /* or the compiler sees it coming, and warns */
	(void)state;

	assert_true(vec_grow_bytes(&at, &room, 8, 16));
	void *before = at;
	assert_false(vec_grow_bytes(&at, &room, UINT32_MAX, 16));
	assert_false(vec_grow_bytes(&at, &room, 1u << 31, huge));
	assert_ptr_equal(at, before);
	assert_int_equal(room, 8);
	free(at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pushes_keep_their_order),
		cmocka_unit_test(structs_are_pushed_as_literals),
		cmocka_unit_test(what_is_reached_is_zero_and_the_rest_stays),
		cmocka_unit_test(a_copy_holds_what_the_other_holds),
		cmocka_unit_test(clear_keeps_the_room),
		cmocka_unit_test(the_first_that_does_not_hold_is_found),
		cmocka_unit_test(too_much_is_refused_and_nothing_is_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
