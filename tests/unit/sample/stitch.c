/* SPDX-License-Identifier: Apache-2.0
 * stitch.c - two lists become one.
 *
 * Native frames are small letters and L for a loop (l for one of the second VM), d for what enters one, managed ones capitals, with a * behind one
 * through which a loop was entered, a digit behind one that says in which native frame that is (0: the innermost), and a . behind
 * what is written in C.  A loop with a ! has just begun, or is about to end. Leaf first. */
#include "check.h"

#include "sample/stitch.h"

#include <string.h>

enum { ROOM = 32, FRAME_BYTES = 64 };

static u32 frames_of(const char *text, struct frame out[ROOM])
{
	u32 count = 0;

	for (; *text; text++) {
		if (*text == '*' || *text == '!') {
			out[count - 1].flags |= FRAME_ENTRY;
			continue;
		}
		if (*text >= '0' && *text <= '9') {
			out[count - 1].flags |= FRAME_ENTRY | FRAME_PLACED;
			out[count - 1].at = FRAME_BYTES * (u64)(*text - '0' + 1) + 8;
			continue;
		}
		if (*text == '.') {
			out[count - 1].flags |= FRAME_C;
			continue;
		}
		out[count] = (struct frame){ .id = (u64)*text,
					     .at = FRAME_BYTES * ((u64)count + 1),
					     .kind = *text < 'a' && *text != 'L' ? FRAME_MANAGED :
										   FRAME_NATIVE,
					     .flags = *text == 'L' || *text == 'l' ? FRAME_LOOP :
						      *text == 'd'                 ? FRAME_ENTRY :
										     0,
					     .pos = *text == 'l' };
		count++;
	}
	return count;
}

enum ends {
	CUT_OFF,
	WHOLE,
	LINKED, /* whole, and the managed ones may end first */
	ROOTED, /* and are known not to */
};

static struct stitched join(const char *native, const char *managed, const char *second,
			    enum ends ends, u32 room, char text[ROOM + 1])
{
	struct frame natives[ROOM], manageds[STITCH_VMS][ROOM], out[ROOM];
	struct stitch in = { .native = natives,
			     .native_count = frames_of(native, natives),
			     .is_whole = ends != CUT_OFF };

	for (u32 i = 0; i < STITCH_VMS; i++)
		in.vms[i] = (struct stitch_list){ .frames = manageds[i],
						  .count = frames_of(i ? second : managed,
								     manageds[i]),
						  .is_whole = ends != CUT_OFF,
						  .is_linked = ends >= LINKED,
						  .is_rooted = ends == ROOTED };
	struct stitched result = stitch(&in, out, room);
	for (u32 i = 0; i < result.count; i++)
		text[i] = (char)out[i].id;
	text[result.count] = '\0';
	return result;
}

struct row {
	const char *native, *managed, *one;
	u32 leftover, missing;
	bool is_cut_off;
};

static void assert_rows(const struct row *rows, u32 count, enum ends ends)
{
	for (u32 i = 0; i < count; i++) {
		char one[ROOM + 1];
		struct stitched got = join(rows[i].native, rows[i].managed, "",
					   rows[i].is_cut_off ? CUT_OFF : ends, ROOM, one);
		assert_string_equal(one, rows[i].one);
		assert_int_equal(got.leftover, rows[i].leftover);
		assert_int_equal(got.missing, rows[i].missing);
		assert_false(got.is_cut);
	}
}

static void two_lists_become_one(void **state)
{
	static const struct row rows[] = {
		{ "abLms", "XYZ*", "abXYZms", 0, 0, false },
		{ "Lms", "XYZ*", "XYZms", 0, 0, false },
		{ "aLbLms", "AB*CD*", "aABbCDms", 0, 0, false },
		/* one right on top of the other: a block called by C code that was inlined */
		{ "aLLs", "A*B*", "aABs", 0, 0, false },
		{ "abc", "", "abc", 0, 0, false },
		/* the native stack was cut: the managed frames go on */
		{ "aLb", "AB*CD*", "aABbCD", 0, 0, true },
		{ "a", "AB*", "aAB", 0, 0, true },
		{ "aLbLs", "A*", "aAbLs", 0, 1, true },
		/* the two do not go together */
		{ "aLbLs", "A*", "aLbAs", 0, 1, false },
		{ "aLbLcLs", "A*", "aLbAcLs", 0, 2, false },
		{ "aLs", "A*BC*", "AaBCs", 1, 0, false },
		{ "aLbLs", "A*B*C*", "AaBbCs", 1, 0, false },
		{ "as", "A*", "Aas", 1, 0, false },
		{ "", "AB*", "AB", 2, 0, false },
		{ "aLs", "AB", "aABs", 0, 0, false },
		/* C has pushed a frame, and not noted yet that it enters a loop through it */
		{ "abLs", "BC.A*", "BabCAs", 1, 0, false },
		{ "aLbLs", "BC.A*", "aBbCAs", 0, 0, false },
		/* nor does a fiber that begins in C */
		{ "abLcs", "BA*D.E.", "abBADEcs", 0, 0, false },
		{ "aLbLcs", "C*BA*D.", "aCbBADcs", 0, 0, false },
		{ "abs", "D.E.", "abDEs", 0, 0, false },
		/* what it has pushed is where it belongs: that one frame, and right there */
		{ "dbLs", "B*A*", "BdbAs", 0, 0, false },
		{ "adbLs", "B*A*", "BadbAs", 0, 0, false },
		{ "dbLs", "CB*A*", "CBdbAs", 2, 0, false },
		{ "aLdbs", "B*A*", "BaAdbs", 1, 0, false },
		/* C that calls C needs no loop */
		{ "abLs", "B.C.A*", "abBCAs", 0, 0, false },
	};

	(void)state;
	assert_rows(rows, COUNT_OF(rows), WHOLE);
}

static void frames_without_a_loop_are_counted(void **state)
{
	char one[ROOM + 1];

	(void)state;
	assert_int_equal(join("abs", "AB*", "", WHOLE, ROOM, one).on_top[0], 2);
	assert_int_equal(join("dbLs", "B*A*", "", WHOLE, ROOM, one).on_top[0], 1);
	assert_int_equal(join("aLbLs", "B*A*", "", WHOLE, ROOM, one).on_top[0], 0);
	assert_int_equal(join("dbLs", "A*", "C*", WHOLE, ROOM, one).on_top[1], 1);
}

/* Who has switched to a coroutine, or called another interpreter, is outside. */
static void a_list_may_end_before_the_native_stack_does(void **state)
{
	static const struct row rows[] = {
		{ "aLbLcLs", "A*B*", "aAbBcLs", 0, 1, false },
		{ "LbLcLs", "A*B*", "AbBcLs", 0, 1, false },
		{ "LbLcLds", "A*", "AbLcLds", 0, 2, false },
		{ "LbLs", "A*", "AbLs", 0, 1, false },
		/* one has just begun: that one is not filled yet */
		{ "L!bLs", "A*", "LbAs", 0, 1, false },
		{ "L!bLcLs", "A*", "LbAcLs", 0, 2, false },
		{ "L!bLs", "A*B*", "AbBs", 0, 0, false },
		/* one is about to end, and calls what checks its result */
		{ "aL!bLs", "A*", "aLbAs", 0, 1, false },
		{ "aL!bLs", "A*B*", "aAbBs", 0, 0, false },
		/* a frame that is pushed, as ever */
		{ "abLs", "A*B*", "AabBs", 1, 0, false },
		{ "dbLs", "B*A*", "BdbAs", 0, 0, false },
		{ "", "A*", "A", 1, 0, false },
	};

	(void)state;
	assert_rows(rows, COUNT_OF(rows), LINKED);
}

/* The outermost frame is one that such a list ended with before: a loop too many is at the leaf, wherever it is in its code. */
static void a_rooted_list_ends_where_the_native_stack_does(void **state)
{
	static const struct row rows[] = {
		{ "LbLcLs", "A*B*", "LbAcBs", 0, 1, false },
		{ "LbLs", "A*", "LbAs", 0, 1, false },
		{ "aLbLs", "A*", "aLbAs", 0, 1, false },
		{ "aLbLs", "A*B*", "aAbBs", 0, 0, false },
	};

	(void)state;
	assert_rows(rows, COUNT_OF(rows), ROOTED);
}

/* Who is called by a loop with no more than one function between is linked to what the loop runs. */
static void a_list_that_ends_between_two_that_are_linked_is_of_another_stack(void **state)
{
	const struct {
		const char *native, *managed;
		enum ends ends;
		bool is_torn;
	} rows[] = {
		{ "aLbLcdeLm", "A*B*", LINKED, false }, /* a coroutine's, and the switch to it */
		{ "aLbLcLm", "A*B*", LINKED, true },
		{ "aLbLLm", "A*B*", LINKED, true }, /* 2.7's loop calls itself */
		{ "aLbLcLm", "A*B*C*", LINKED, false },
		{ "aL!bLcLm", "A*B*", LINKED, false }, /* nor here */
		{ "aLbLcLm", "A*B*", ROOTED, false },  /* the innermost is not linked yet */
		{ "aLbLcLm", "A*B*", WHOLE, false }, /* those of fibers have stacks of their own */
		{ "aLbLcLm", "A*B*", CUT_OFF, false }, /* what is outside is not known */
		{ "aLblcLm", "A*B*", LINKED, false },
		{ "aLbLclm", "A*B*", LINKED, false }, /* another VM's */
		{ "aLbLcL", "", LINKED, false },
	};
	char text[ROOM + 1];
	(void)state;

	for (u32 i = 0; i < COUNT_OF(rows); i++)
		assert_int_equal(
			join(rows[i].native, rows[i].managed, "", rows[i].ends, ROOM, text).is_torn,
			rows[i].is_torn);
}

static void loops_and_segments_are_even_or_not(void **state)
{
	static const struct {
		const char *native, *managed;
		enum ends ends;
		bool is_even;
	} rows[] = {
		{ "LbLs", "A*B*", LINKED, true }, { "aLbLs", "A*B*", ROOTED, true },
		{ "LbLs", "A*", LINKED, false },  { "LbLs", "A*B*C*", LINKED, false },
		{ "abs", "", LINKED, false },     { "LbLs", "A*B*", CUT_OFF, false },
	};

	(void)state;
	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		char one[ROOM + 1];
		struct stitched got = join(rows[i].native, rows[i].managed, "", rows[i].ends, ROOM,
					   one);
		assert_int_equal(got.is_even[0], rows[i].is_even);
		assert_false(got.is_even[1]);
	}
}

static void who_says_its_place_stands_there(void **state)
{
	static const struct row rows[] = {
		{ "aLbLs", "AB1CD3", "aABbCDs", 0, 0, false },
		{ "aLLs", "A1B2", "aABs", 0, 0, false },
		/* loops that are too many are wherever they are */
		{ "aLbLs", "AB3", "aLbABs", 0, 1, false },
		{ "aLbLcLs", "A3", "aLbAcLs", 0, 2, false },
		{ "LbLcLs", "A0B2", "AbBcLs", 0, 1, false },
		{ "LbLcLs", "A0B4", "AbLcBs", 0, 1, false },
		{ "L!bLs", "A0", "AbLs", 0, 1, false },
		/* of the native frames the outer ones are not known */
		{ "aLbLc", "A1B3CD*", "aAbBcCD", 0, 0, true },
		{ "aLb", "A5B7", "aLbAB", 0, 1, true },
		/* its outermost says nothing: the next loop is its own */
		{ "aLbLcLs", "A1BC*", "aAbBCcLs", 0, 1, false },
		{ "aLbLcLs", "A1B", "aAbBcLs", 0, 1, false },
		/* nor do some within */
		{ "aLbLs", "A*B1C3", "aABbCs", 0, 0, false },
		/* a place outside of the stack is none, one in no loop is found no more */
		{ "aLbLs", "A9B*", "aAbBs", 0, 0, false },
		{ "aLbLs", "A0B1C3", "aABbCs", 1, 0, false },
	};

	(void)state;
	assert_rows(rows, COUNT_OF(rows), WHOLE);
	assert_rows(rows, COUNT_OF(rows), LINKED);
}

static void two_stacks_of_a_vm_are_one_by_their_places(void **state)
{
	static const struct {
		const char *frames, *one;
	} rows[] = {
		{ "A1BC3", "" },      { "AB*C", "" },           { "", "" },
		{ "AB5CD1", "CDAB" }, { "AB1C5D3E7", "ABDCE" }, { "A1B5C3", "ACB" },
		{ "A5B1C", "BAC" },   { "A1B7C3D5", "ACDB" },
	};

	(void)state;
	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		struct frame frames[ROOM], out[ROOM];
		char one[ROOM + 1] = "";
		u32 count = frames_of(rows[i].frames, frames);
		if (stitch_by_place(frames, count, out))
			for (u32 j = 0; j < count; j++)
				one[j] = (char)out[j].id;
		assert_string_equal(one, rows[i].one);
	}
}

static void each_loop_has_the_frames_of_its_own_vm(void **state)
{
	static const struct {
		const char *native, *first, *second, *one;
		u32 leftover, missing;
	} rows[] = {
		/* Ruby calls Python, which calls back */
		{ "aLblcLms", "A*BC*", "XY*", "aAbXYcBCms", 0, 0 },
		{ "alLms", "A*", "X*", "aXAms", 0, 0 },
		/* without native frames the first is the inner one */
		{ "", "AB*", "XY*", "ABXY", 4, 0 },
		/* what does not go together, of each by itself */
		{ "aLlms", "A*B*", "X*", "AaBXms", 1, 0 },
		{ "aLlms", "A*", "", "aAlms", 0, 1 },
		/* a VM without a loop of its own stands at the leaf */
		{ "aLms", "X", "A*", "AaXms", 1, 0 },
	};

	(void)state;
	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		char one[ROOM + 1];
		struct stitched got = join(rows[i].native, rows[i].first, rows[i].second, WHOLE,
					   ROOM, one);
		assert_string_equal(one, rows[i].one);
		assert_int_equal(got.leftover, rows[i].leftover);
		assert_int_equal(got.missing, rows[i].missing);
	}
}

static void too_little_room_cuts_the_outermost(void **state)
{
	char one[ROOM + 1];
	struct stitched got = join("aLms", "XYZ*", "", WHOLE, 3, one);

	(void)state;
	assert_string_equal(one, "aXY");
	assert_true(got.is_cut);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_lists_become_one),
		cmocka_unit_test(frames_without_a_loop_are_counted),
		cmocka_unit_test(a_list_may_end_before_the_native_stack_does),
		cmocka_unit_test(a_rooted_list_ends_where_the_native_stack_does),
		cmocka_unit_test(a_list_that_ends_between_two_that_are_linked_is_of_another_stack),
		cmocka_unit_test(loops_and_segments_are_even_or_not),
		cmocka_unit_test(who_says_its_place_stands_there),
		cmocka_unit_test(two_stacks_of_a_vm_are_one_by_their_places),
		cmocka_unit_test(each_loop_has_the_frames_of_its_own_vm),
		cmocka_unit_test(too_little_room_cuts_the_outermost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
