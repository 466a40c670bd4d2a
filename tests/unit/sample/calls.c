/* SPDX-License-Identifier: Apache-2.0
 * calls.c - what stands of a stack that was read while it moved. */
#include "check.h"

#include "sample/calls.h"

#include <string.h>

/* Functions of the program: main calls foo, foo calls baz and bob, baz calls map. */
enum { MAIN = 100, FOO, BAZ, BOB, MAP };

static struct frame frame(u64 id, u32 pos)
{
	return (struct frame){ .id = id, .owner = id * 10, .pos = pos, .kind = FRAME_MANAGED };
}

/* Threads of one program, perhaps of other processes; and one of another program. */
static const struct calls_whose ours = { 1, 11 }, another = { 1, 12 }, stranger = { 1, 13 };
static const struct calls_whose other_program = { 2, 21 };

#define JUDGED_OF(calls, whose, stack, doubts) \
	calls_believe(calls, &(whose), stack, COUNT_OF(stack), 0, doubts)
#define JUDGED(calls, stack, doubts) JUDGED_OF(calls, ours, stack, doubts)
#define BELIEVED(calls, stack) (JUDGED(calls, stack, CALLS_DOUBT_ALL) == CALLS_BELIEVED)

enum { LINKED = CALLS_DOUBT_ALL | CALLS_LINKED };

static void learn_program(struct calls *calls)
{
	struct frame map[] = { frame(MAP, 1), frame(BAZ, 5), frame(FOO, 7), frame(MAIN, 3) };
	struct frame bob[] = { frame(BOB, 2), frame(FOO, 8), frame(MAIN, 3) };

	for (u32 i = 0; i < 3; i++) {
		JUDGED(calls, map, CALLS_DOUBT_ALL);
		JUDGED(calls, bob, CALLS_DOUBT_ALL);
	}
}

static void proven_calls_stand(void **state)
{
	struct calls calls = { 0 };
	struct frame stack[] = { frame(BOB, 9), frame(FOO, 8), frame(MAIN, 3) };

	(void)state;
	learn_program(&calls);
	assert_int_equal(calls_standing(&calls, &ours, stack, COUNT_OF(stack)), 3);
	calls_fini(&calls);
}

static void what_was_seen_once_may_be_an_accident(void **state)
{
	struct calls calls = { 0 };
	struct frame stack[] = { frame(BOB, 9), frame(FOO, 8), frame(MAIN, 3) };

	(void)state;
	assert_false(BELIEVED(&calls, stack));
	assert_false(BELIEVED(&calls, stack));
	assert_true(BELIEVED(&calls, stack));
	calls_fini(&calls);
}

static void nothing_stands_before_anything_is_proven(void **state)
{
	struct calls calls = { 0 };
	struct frame stack[] = { frame(FOO, 8), frame(MAIN, 3) };

	(void)state;
	assert_int_equal(calls_standing(&calls, &ours, stack, COUNT_OF(stack)), 0);
	calls_fini(&calls);
}

static void a_call_that_never_was_does_not_stand(void **state)
{
	struct calls calls = { 0 };
	struct frame stack[] = { frame(FOO, 7), frame(BOB, 2), frame(FOO, 8), frame(MAIN, 3) };

	(void)state;
	learn_program(&calls);
	assert_int_equal(calls_standing(&calls, &ours, stack, COUNT_OF(stack)), 3);
	assert_int_equal(stack[1].id, BOB);
	calls_fini(&calls);
}

static void a_replaced_caller_is_put_back(void **state)
{
	struct calls calls = { 0 };
	/* baz has returned and bob lies in its slot, over baz's old map */
	struct frame stack[] = { frame(MAP, 1), frame(BOB, 2), frame(FOO, 8), frame(MAIN, 3) };

	(void)state;
	stack[1].flags = FRAME_C;
	learn_program(&calls);
	assert_int_equal(calls_standing(&calls, &ours, stack, COUNT_OF(stack)), 4);
	assert_int_equal(stack[1].id, BAZ);
	assert_int_equal(stack[1].flags, 0);
	assert_int_equal(stack[1].owner, BAZ * 10);
	assert_int_equal(stack[1].pos, 5);
	assert_int_equal(stack[2].pos, 7); /* from where foo calls baz */
	calls_fini(&calls);
}

/* Of two threads one moves a lot: the other's function, which is seen as often, is not its. */
static void what_is_rare_among_the_restless_need_not_be(void **state)
{
	struct calls calls = { 0 };
	struct frame still[] = { frame(MAP, 1), frame(BOB, 2), frame(FOO, 8), frame(MAIN, 3) };
	struct frame restless[] = { frame(MAP, 1), frame(BAZ, 2), frame(FOO, 8), frame(MAIN, 3) };

	(void)state;
	for (u32 i = 0; i < 1000; i++) {
		JUDGED_OF(&calls, another, still, 0);
		JUDGED(&calls, restless, CALLS_DOUBT_ALL);
	}
	assert_int_equal(calls_standing(&calls, &another, still, COUNT_OF(still)), 4);
	assert_int_equal(still[1].id, BOB);
	assert_int_equal(JUDGED_OF(&calls, another, still, CALLS_DOUBT_ALL), CALLS_BELIEVED);
	calls_fini(&calls);
}

/* Two threads call the same functions, by another one and from another line: of the one that runs seldom, too. */
static void what_is_rare_among_threads_need_not_be(void **state)
{
	struct calls calls = { 0 };
	struct frame rare[] = { frame(MAP, 1), frame(BOB, 2), frame(FOO, 8), frame(MAIN, 3) };
	struct frame often[] = { frame(MAP, 1), frame(BAZ, 2), frame(FOO, 8), frame(MAIN, 4) };

	(void)state;
	for (u32 i = 0; i < 10000; i++)
		JUDGED(&calls, often, CALLS_DOUBT_ALL);
	for (u32 i = 0; i < 20; i++)
		JUDGED_OF(&calls, another, rare, CALLS_DOUBT_ALL);
	assert_int_equal(calls_standing(&calls, &another, rare, COUNT_OF(rare)), 4);
	assert_int_equal(rare[1].id, BOB);
	assert_int_equal(rare[3].pos, 3);
	assert_int_equal(JUDGED_OF(&calls, another, rare, CALLS_DOUBT_ALL), CALLS_BELIEVED);
	calls_fini(&calls);
}

/* Of a thread that is new nothing is known to be usual: its stack ends there, and is not given what others do. */
static void nothing_is_put_back_from_other_threads(void **state)
{
	struct calls calls = { 0 };
	struct frame rare[] = { frame(MAP, 1), frame(BOB, 2), frame(FOO, 8), frame(MAIN, 3) };
	struct frame often[] = { frame(MAP, 1), frame(BAZ, 2), frame(FOO, 8), frame(MAIN, 3) };

	(void)state;
	for (u32 i = 0; i < 1000; i++)
		JUDGED(&calls, often, CALLS_DOUBT_ALL);
	for (u32 i = 0; i < 4; i++)
		JUDGED_OF(&calls, another, rare, CALLS_DOUBT_ALL);
	assert_int_equal(calls_standing(&calls, &stranger, rare, COUNT_OF(rare)), 3);
	assert_int_equal(rare[1].id, BOB);
	calls_fini(&calls);
}

/* Two functions begin threads and call the same one: the one that is seldom seen there is not the other. */
static void a_root_is_not_replaced(void **state)
{
	struct calls calls = { 0 };
	struct frame rare[] = { frame(BAZ, 5), frame(FOO, 7), frame(MAIN, 3) };
	struct frame often[] = { frame(BAZ, 5), frame(FOO, 7), frame(BOB, 3) };

	(void)state;
	for (u32 i = 0; i < 1000; i++)
		JUDGED(&calls, often, CALLS_DOUBT_ALL);
	for (u32 i = 0; i < 3; i++)
		JUDGED(&calls, rare, CALLS_DOUBT_ALL);
	assert_int_equal(calls_standing(&calls, &ours, rare, COUNT_OF(rare)), 3);
	assert_int_equal(rare[2].id, MAIN);
	assert_true(BELIEVED(&calls, rare));
	calls_fini(&calls);
}

/* Asked for what the thread itself has done: three sightings are not few beside forty that moved. */
static void what_moved_is_counted_once(void **state)
{
	struct calls calls = { 0 };
	const struct calls_whose itself = { ours.thread, ours.thread };

	(void)state;
	learn_program(&calls);
	for (u32 i = 0; i < 40; i++) {
		struct frame stack[] = { frame(BOB, 9), frame(FOO, 8), frame(MAIN, 3) };
		assert_int_equal(calls_standing(&calls, &itself, stack, COUNT_OF(stack)), 3);
	}
	calls_fini(&calls);
}

/* Of another process, bob may call map: what is in the slot here cannot be told. */
static void nothing_is_put_back_from_other_processes(void **state)
{
	struct calls calls = { 0 };
	struct frame stack[] = { frame(MAP, 1), frame(BOB, 2), frame(FOO, 8), frame(MAIN, 3) };

	(void)state;
	learn_program(&calls);
	assert_int_equal(calls_standing(&calls, &another, stack, COUNT_OF(stack)), 3);
	assert_int_equal(stack[1].id, BOB);
	calls_fini(&calls);
}

static void a_function_that_is_new_is_not_replaced(void **state)
{
	struct calls calls = { 0 };
	struct frame stack[] = { frame(MAP, 1), frame(300, 2), frame(FOO, 8), frame(MAIN, 3) };

	(void)state;
	learn_program(&calls);
	assert_int_equal(calls_standing(&calls, &ours, stack, COUNT_OF(stack)), 2);
	calls_fini(&calls);
}

static void an_ambiguous_caller_is_not_guessed(void **state)
{
	struct calls calls = { 0 };
	/* foo's other callee calls map too: which of them it was cannot be told */
	struct frame other[] = { frame(MAP, 1), frame(200, 5), frame(FOO, 9), frame(MAIN, 3) };
	struct frame stack[] = { frame(MAP, 1), frame(BOB, 2), frame(FOO, 8), frame(MAIN, 3) };

	(void)state;
	learn_program(&calls);
	for (u32 i = 0; i < 3; i++)
		(void)BELIEVED(&calls, other);
	assert_int_equal(calls_standing(&calls, &ours, stack, COUNT_OF(stack)), 3);
	assert_int_equal(stack[1].id, BOB);
	calls_fini(&calls);
}

/* Two fibers of one shape: deep_n calls loop, loop a block of deep_n's, the block work. Only the third
 * fiber was met in work; a stack of the fifth is not made one of both. */
static void what_does_not_go_with_the_outer_frames_is_not_put_back(void **state)
{
	enum { LOOP = 300, WORK, YIELD, DEEP = 400, BLOCK = 500 };
	struct calls calls = { 0 };
	struct frame third[] = { frame(WORK, 1), frame(BLOCK + 3, 5), frame(LOOP, 0),
				 frame(DEEP + 3, 2), frame(MAIN, 3) };
	struct frame yields[] = { frame(YIELD, 1), frame(BLOCK + 5, 6), frame(LOOP, 0),
				  frame(DEEP + 5, 2), frame(MAIN, 3) };
	struct frame fifth[] = { frame(WORK, 1), frame(BLOCK + 5, 5), frame(LOOP, 0),
				 frame(DEEP + 5, 2), frame(MAIN, 3) };

	(void)state;
	for (u32 i = 0; i < 20; i++) {
		(void)BELIEVED(&calls, third);
		(void)BELIEVED(&calls, yields);
	}
	assert_int_equal(calls_standing(&calls, &ours, fifth, COUNT_OF(fifth)), 4);
	assert_int_equal(fifth[1].id, BLOCK + 5);
	calls_fini(&calls);
}

static void a_place_that_moved_on_is_set_right(void **state)
{
	struct calls calls = { 0 };
	struct frame stack[] = { frame(BAZ, 5), frame(FOO, 8), frame(MAIN, 3) };

	(void)state;
	learn_program(&calls);
	assert_int_equal(calls_standing(&calls, &ours, stack, COUNT_OF(stack)), 3);
	assert_int_equal(stack[1].pos, 7);
	calls_fini(&calls);
}

/* foo's last line was met over bob that had returned, before any other: it is no place to give to others. */
static void a_place_seen_once_is_not_given(void **state)
{
	struct calls calls = { 0 };
	struct frame early[] = { frame(BOB, 2), frame(FOO, 9), frame(MAIN, 3) };
	struct frame right[] = { frame(BOB, 2), frame(FOO, 8), frame(MAIN, 3) };
	struct frame stack[] = { frame(BOB, 2), frame(FOO, 8), frame(MAIN, 3) };

	(void)state;
	(void)BELIEVED(&calls, early);
	for (u32 seen = 1; seen <= 6; seen++) {
		for (u32 i = 0; i < 3; i++) {
			stack[1].pos = 8 + i % 2;
			u32 standing = calls_standing(&calls, &ours, stack, COUNT_OF(stack));
			assert_true(standing < 3 || stack[1].pos == 8);
			assert_true(standing == 3 || seen < 6);
		}
		(void)BELIEVED(&calls, right);
	}
	calls_fini(&calls);
}

/* bob ends sooner than a read: it holds once in a hundred sightings, and then half the time only what is left
 * of it, with foo on its next line. */
static void a_place_of_what_seldom_holds_must_dominate(void **state)
{
	struct calls calls = { 0 };
	struct frame right[] = { frame(BOB, 2), frame(FOO, 8), frame(MAIN, 3) };
	struct frame late[] = { frame(BOB, 2), frame(FOO, 9), frame(MAIN, 3) };

	(void)state;
	for (u32 i = 0; i < 40; i++) {
		const struct frame *held = i % 3 == 1 ? late : right;
		assert_int_equal(calls_believe(&calls, &ours, held, 3, 0, CALLS_DOUBT_ALL),
				 CALLS_DOUBTED);
		for (u32 k = 0; k < 100; k++) {
			struct frame moving[] = { frame(BOB, 2), frame(FOO, 8 + k % 2),
						  frame(MAIN, 3) };
			assert_true(calls_standing(&calls, &ours, moving, COUNT_OF(moving)) < 3);
		}
	}
	for (u32 i = 0; i < 200; i++)
		(void)BELIEVED(&calls, right);
	assert_true(BELIEVED(&calls, right));
	assert_false(BELIEVED(&calls, late));
	assert_int_equal(calls_standing(&calls, &ours, late, COUNT_OF(late)), 3);
	assert_int_equal(late[1].pos, 8);
	calls_fini(&calls);
}

static void programs_are_kept_apart(void **state)
{
	struct calls calls = { 0 };
	struct frame stack[] = { frame(BOB, 9), frame(FOO, 8), frame(MAIN, 3) };

	(void)state;
	learn_program(&calls);
	assert_int_equal(calls_standing(&calls, &other_program, stack, COUNT_OF(stack)), 0);
	calls_fini(&calls);
}

/* A wrong stack that held now and then: rare beside the right one, it is found out. */
static void what_is_rare_between_its_neighbours_is_not_believed(void **state)
{
	struct calls calls = { 0 };
	struct frame right[] = { frame(MAP, 1), frame(BAZ, 5), frame(FOO, 7), frame(MAIN, 3) };
	struct frame wrong[] = { frame(MAP, 1), frame(BOB, 2), frame(FOO, 8), frame(MAIN, 3) };
	struct frame moving[] = { frame(MAP, 1), frame(BOB, 2), frame(FOO, 8), frame(MAIN, 3) };

	(void)state;
	learn_program(&calls);
	assert_false(BELIEVED(&calls, wrong));
	for (u32 i = 0; i < 200; i++)
		assert_true(BELIEVED(&calls, right));
	for (u32 i = 0; i < 3; i++)
		assert_false(BELIEVED(&calls, wrong));
	assert_int_equal(calls_standing(&calls, &ours, moving, COUNT_OF(moving)), 4);
	assert_int_equal(moving[1].id, BAZ);
	assert_int_equal(moving[2].pos, 7);
	calls_fini(&calls);
}

/* What was sure for long is asked again when a sixteenth more has come. */
static void what_becomes_rare_is_found_out(void **state)
{
	enum { EACH = 3200, MORE = 200000, DUE = EACH / 16 + 1 };
	struct frame rare[] = { frame(BAZ, 2), frame(FOO, 8), frame(MAIN, 3) };
	struct frame common[] = { frame(BAZ, 2), frame(BOB, 9), frame(MAIN, 3) };
	struct calls calls = { 0 };
	u64 most = 0;
	u32 doubted = 0;

	(void)state;
	for (u32 i = 0; i < EACH; i++) {
		JUDGED(&calls, rare, CALLS_DOUBT_ALL);
		JUDGED(&calls, common, CALLS_DOUBT_ALL);
	}
	assert_true(BELIEVED(&calls, rare));
	for (u32 i = 0; i < MORE; i++)
		JUDGED(&calls, common, CALLS_DOUBT_ALL);
	for (u32 i = 0; i < DUE; i++)
		doubted += !BELIEVED(&calls, rare);
	assert_int_not_equal(doubted, 0);
	for (u32 i = 0; i < calls.seen.count; i++)
		most = calls.seen.at[i].count > most ? calls.seen.at[i].count : most;
	assert_in_range(most, (MORE + 2 * EACH) * 15 / 16, MORE + 2 * EACH + DUE + 1);
	calls_fini(&calls);
}

/* Of a hundred, three or four can be what one in a hundred is. */
static void few_beside_a_leader_are_not_believed(void **state)
{
	struct calls calls = { 0 };
	struct frame right[] = { frame(MAP, 1), frame(BAZ, 5), frame(FOO, 7), frame(MAIN, 3) };
	struct frame other[] = { frame(MAP, 1), frame(BOB, 2), frame(FOO, 7), frame(MAIN, 3) };

	(void)state;
	for (u32 i = 0; i < 100; i++)
		JUDGED(&calls, right, CALLS_DOUBT_ALL);
	for (u32 i = 0; i < 7; i++)
		assert_false(BELIEVED(&calls, other));
	assert_true(BELIEVED(&calls, other));
	calls_fini(&calls);
}

/* A visitor: one function calls a hundred others, which all call the same. None is rare. */
static void many_between_the_same_neighbours_are_all_believed(void **state)
{
	struct calls calls = { 0 };

	(void)state;
	for (u32 round = 0; round < 5; round++)
		for (u64 visit = 0; visit < 100; visit++) {
			struct frame stack[] = { frame(MAP, 1), frame(1000 + visit, 5),
						 frame(FOO, 7), frame(MAIN, 3) };
			bool believed = BELIEVED(&calls, stack);
			assert_true(believed || round < 4);
		}
	calls_fini(&calls);
}

/* bob's slot is taken by map, which baz called before: stopped or not, such a stack holds. */
static void a_leftover_leaf_is_found_by_both_its_places(void **state)
{
	struct calls calls = { 0 };
	struct frame right[] = { frame(MAP, 1), frame(BAZ, 5), frame(FOO, 7), frame(MAIN, 3) };
	struct frame deeper[] = { frame(200, 1), frame(BOB, 2), frame(FOO, 8), frame(MAIN, 3) };
	struct frame wrong[] = { frame(MAP, 1), frame(BOB, 2), frame(FOO, 8), frame(MAIN, 3) };

	(void)state;
	for (u32 i = 0; i < 30; i++)
		assert_int_equal(JUDGED(&calls, right, CALLS_DOUBT_LEAF), CALLS_BELIEVED);
	for (u32 i = 0; i < 200; i++)
		assert_int_equal(JUDGED(&calls, deeper, CALLS_DOUBT_LEAF), CALLS_BELIEVED);
	/* A thirtieth of map's true sightings: too many to be rare among these alone. */
	assert_int_equal(JUDGED(&calls, wrong, CALLS_DOUBT_LEAF), CALLS_LEFTOVER);
	assert_int_equal(JUDGED(&calls, wrong, 0), CALLS_BELIEVED);
	calls_fini(&calls);
}

/* Whatever its number: it is called from here only, or from a place that calls many. */
static void a_rare_leaf_is_no_leftover(void **state)
{
	struct calls calls = { 0 };
	struct frame often[] = { frame(200, 1), frame(BOB, 2), frame(FOO, 8), frame(MAIN, 3) };
	struct frame rare[] = { frame(201, 1), frame(BOB, 2), frame(FOO, 8), frame(MAIN, 3) };
	struct frame elsewhere[] = { frame(MAP, 1), frame(BAZ, 5), frame(MAIN, 3) };
	struct frame visit[] = { frame(MAP, 1), frame(FOO, 9), frame(MAIN, 3) };
	struct frame other[] = { frame(300, 1), frame(FOO, 9), frame(MAIN, 3) };

	(void)state;
	assert_int_equal(JUDGED(&calls, rare, CALLS_DOUBT_LEAF), CALLS_BELIEVED);
	for (u32 i = 0; i < 500; i++) {
		JUDGED(&calls, often, CALLS_DOUBT_LEAF);
		JUDGED(&calls, elsewhere, CALLS_DOUBT_LEAF);
		other[0].id = 300 + i % 20;
		JUDGED(&calls, other, CALLS_DOUBT_LEAF);
	}
	assert_int_equal(JUDGED(&calls, rare, CALLS_DOUBT_LEAF), CALLS_BELIEVED);
	assert_int_equal(JUDGED(&calls, visit, CALLS_DOUBT_LEAF), CALLS_BELIEVED);
	calls_fini(&calls);
}

static void marks_end_what_stands(void **state)
{
	struct calls calls = { 0 };
	struct frame stack[] = { frame(BOB, 9), frame(FOO, 8), frame(MAIN, 3) };

	(void)state;
	learn_program(&calls);
	stack[1].kind = FRAME_MARK;
	assert_int_equal(calls_standing(&calls, &ours, stack, COUNT_OF(stack)), 1);
	calls_fini(&calls);
}

/* Two loops share all their neighbours: each pair and each triple was seen, but not from that line. */
static void neighbours_of_two_paths_do_not_make_a_third(void **state)
{
	struct calls calls = { 0 };
	struct frame map[] = { frame(MAP, 1), frame(BAZ, 5), frame(FOO, 7), frame(MAIN, 3) };
	struct frame bob[] = { frame(BOB, 2), frame(BAZ, 5), frame(FOO, 7), frame(MAIN, 4) };
	struct frame mixed[] = { frame(BOB, 2), frame(BAZ, 5), frame(FOO, 7), frame(MAIN, 3) };

	(void)state;
	for (u32 i = 0; i < 9; i++)
		assert_int_equal(JUDGED(&calls, map, LINKED), JUDGED(&calls, bob, LINKED));
	assert_int_equal(calls_standing_linked(&calls, &ours, map, COUNT_OF(map)), 4);
	assert_int_equal(calls_standing_linked(&calls, &ours, bob, COUNT_OF(bob)), 4);
	assert_int_equal(calls_standing_linked(&calls, &ours, mixed, COUNT_OF(mixed)), 3);
	calls_fini(&calls);
}

/* A generator whose link to its caller was cut before both copies were read looks like a thread's first. */
static void what_is_called_is_no_root(void **state)
{
	struct calls calls = { 0 };
	struct frame whole[] = { frame(BOB, 2), frame(FOO, 8), frame(MAIN, 3) };
	struct frame cut[] = { frame(BOB, 2) };

	(void)state;
	for (u32 i = 0; i < 100; i++)
		JUDGED(&calls, whole, LINKED);
	for (u32 i = 0; i < 20; i++)
		assert_int_equal(JUDGED(&calls, cut, LINKED), CALLS_DOUBTED);
	assert_int_equal(JUDGED(&calls, whole, LINKED), CALLS_BELIEVED);
	calls_fini(&calls);
}

/* Too early for numbers to tell: the place that is known is believed before one that is met once. */
static void an_early_second_place_is_not_believed(void **state)
{
	struct calls calls = { 0 };
	struct frame map[] = { frame(MAP, 1), frame(FOO, 7), frame(MAIN, 3) };
	struct frame second[] = { frame(MAP, 1), frame(FOO, 8), frame(MAIN, 3) };

	(void)state;
	for (u32 i = 0; i < 4; i++)
		(void)BELIEVED(&calls, map);
	assert_true(BELIEVED(&calls, map));
	assert_false(BELIEVED(&calls, second));
	assert_false(BELIEVED(&calls, second));
	assert_true(BELIEVED(&calls, second));
	calls_fini(&calls);
}

/* A caller has gone on to its next line while the callee's slot still holds the last one: it holds one time
 * in 40, and from that line the other is called. */
static void a_place_of_the_next_call_is_not_believed(void **state)
{
	struct calls calls = { 0 };
	struct frame map[] = { frame(MAP, 1), frame(FOO, 7), frame(MAIN, 3) };
	struct frame bob[] = { frame(BOB, 2), frame(FOO, 8), frame(MAIN, 3) };
	struct frame torn[] = { frame(MAP, 1), frame(FOO, 8), frame(MAIN, 3) };

	(void)state;
	for (u32 i = 0; i < 400; i++) {
		JUDGED(&calls, map, LINKED);
		JUDGED(&calls, bob, LINKED);
		if (i % 40 == 0)
			assert_int_equal(JUDGED(&calls, torn, LINKED), CALLS_DOUBTED);
	}
	assert_int_equal(JUDGED(&calls, map, LINKED), CALLS_BELIEVED);
	assert_int_equal(JUDGED(&calls, bob, LINKED), CALLS_BELIEVED);
	calls_fini(&calls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(proven_calls_stand),
		cmocka_unit_test(what_was_seen_once_may_be_an_accident),
		cmocka_unit_test(nothing_stands_before_anything_is_proven),
		cmocka_unit_test(a_call_that_never_was_does_not_stand),
		cmocka_unit_test(a_replaced_caller_is_put_back),
		cmocka_unit_test(what_is_rare_among_the_restless_need_not_be),
		cmocka_unit_test(what_is_rare_among_threads_need_not_be),
		cmocka_unit_test(nothing_is_put_back_from_other_threads),
		cmocka_unit_test(a_root_is_not_replaced),
		cmocka_unit_test(what_moved_is_counted_once),
		cmocka_unit_test(nothing_is_put_back_from_other_processes),
		cmocka_unit_test(a_function_that_is_new_is_not_replaced),
		cmocka_unit_test(an_ambiguous_caller_is_not_guessed),
		cmocka_unit_test(what_does_not_go_with_the_outer_frames_is_not_put_back),
		cmocka_unit_test(a_place_that_moved_on_is_set_right),
		cmocka_unit_test(a_place_seen_once_is_not_given),
		cmocka_unit_test(a_place_of_what_seldom_holds_must_dominate),
		cmocka_unit_test(programs_are_kept_apart),
		cmocka_unit_test(what_is_rare_between_its_neighbours_is_not_believed),
		cmocka_unit_test(what_becomes_rare_is_found_out),
		cmocka_unit_test(few_beside_a_leader_are_not_believed),
		cmocka_unit_test(many_between_the_same_neighbours_are_all_believed),
		cmocka_unit_test(a_leftover_leaf_is_found_by_both_its_places),
		cmocka_unit_test(a_rare_leaf_is_no_leftover),
		cmocka_unit_test(marks_end_what_stands),
		cmocka_unit_test(neighbours_of_two_paths_do_not_make_a_third),
		cmocka_unit_test(what_is_called_is_no_root),
		cmocka_unit_test(an_early_second_place_is_not_believed),
		cmocka_unit_test(a_place_of_the_next_call_is_not_believed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
