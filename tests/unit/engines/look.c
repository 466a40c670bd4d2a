/* SPDX-License-Identifier: Apache-2.0
 * look.c - what is shown of a stack that led elsewhere while it was read.
 *
 * The runtime is one of this test: frames are a list in our own memory, and a thread is the word that leads to the
 * innermost.  `lost` is a frame that the thread gives up, and another one takes, while it is read.  How far a frame has
 * come is a word behind it. */
#include "check.h"

#include "engines/reader/look.h"

#include <unistd.h>

enum { MAIN = 100, WORK, OTHER, SHARED, FRAMES_MOST = 8 };

struct link {
	u64 id, caller, place;
};

static u32 steps; /* so many were taken */

static struct link mine[] = { { .id = MAIN }, { .id = WORK }, { .id = SHARED } };
static struct link others[] = { { .id = MAIN }, { .id = OTHER }, { .id = SHARED } };
static u64 my_leaf, other_leaf;
static struct link *lost;

static void chain(struct link *links, u32 count)
{
	for (u32 i = 0; i < count; i++)
		links[i].caller = i ? (u64)(uintptr_t)&links[i - 1] : 0;
}

static enum step list_begin(const struct mem *mem, const void *state, u64 thread, struct walk *walk)
{
	(void)state;
	walk->flags = WALK_LINKED;
	if (!mem_read(mem, thread, &walk->cursor, sizeof walk->cursor))
		return STEP_FAULT;
	if (lost && thread == (u64)(uintptr_t)&my_leaf) {
		lost->caller = (u64)(uintptr_t)&others[1];
		my_leaf = (u64)(uintptr_t)&mine[1];
	}
	return STEP_MORE;
}

static enum step list_step(const struct mem *mem, const void *state, struct walk *walk,
			   struct frame *frame)
{
	struct link link;
	u64 place = walk->cursor + offsetof(struct link, place);

	(void)state;
	steps++;
	if (!walk->cursor)
		return STEP_DONE;
	if (!mem_read(mem, walk->cursor, &link, offsetof(struct link, place)) ||
	    !(walk->depth ? mem_read(mem, place, &link.place, 8) :
			    mem_place(mem, place, &link.place)) ||
	    walk->depth++ > FRAMES_MOST)
		return STEP_FAULT;
	*frame = (struct frame){ .id = link.id, .pos = (u32)link.place, .at = walk->cursor };
	walk->cursor = link.caller;
	return STEP_MORE;
}

static u32 list_pos(const void *state, u64 word)
{
	(void)state;
	return (u32)word;
}

static const struct runtime list = {
	.name = "list", .begin = list_begin, .step = list_step, .pos_of = list_pos
};

struct fixture {
	struct mem_live live;
	struct look look;
	struct read_set sets[2];
	struct look_memory memories[2];
	bool is_calm;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	mem_live_init(&f->live, (u32)getpid());
	assert_true(look_init(&f->look, &f->live));
	chain(mine, COUNT_OF(mine));
	chain(others, COUNT_OF(others));
	my_leaf = (u64)(uintptr_t)&mine[2];
	other_leaf = (u64)(uintptr_t)&others[2];
	lost = NULL;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	look_fini(&f->look);
	for (u32 i = 0; i < COUNT_OF(f->sets); i++) {
		read_set_free(&f->sets[i]);
		look_memory_free(&f->memories[i]);
	}
	mem_live_fini(&f->live);
	free(f);
	return 0;
}

static struct look_result look_at_thread(struct fixture *f, u32 which)
{
	struct look_subject subject = { .runtime = &list,
					.kind = FRAME_MANAGED,
					.thread = (u64)(uintptr_t)(which ? &other_leaf : &my_leaf),
					.program = 1,
					.process = 1,
					.set = &f->sets[which],
					.memory = &f->memories[which],
					.restless = !f->is_calm };
	struct look_result result;

	assert_true(look_at(&f->look, &subject, &result));
	return result;
}

/* What was not read before is read as the walk asks for it, and it moves meanwhile. */
static struct look_result look_at_mine_moving(struct fixture *f, struct link *given_up)
{
	read_set_free(&f->sets[0]);
	f->sets[0] = (struct read_set){ 0 };
	lost = given_up;
	return look_at_thread(f, 0);
}

/* Mine is seen more often than what is taken for an accident, the other one all the time. */
static void learn(struct fixture *f)
{
	for (u32 i = 0; i < 1000; i++) {
		look_at_thread(f, 1);
		if (i % 200 == 0)
			look_at_thread(f, 0);
	}
}

static void what_holds_is_shown(void **state)
{
	struct fixture *f = *state;

	learn(f);
	assert_true(look_at_thread(f, 1).complete);
	assert_int_equal(f->look.stack.count, 3);
	assert_int_equal(f->look.stack.at[1].id, OTHER);
	assert_int_equal(f->look.stack.at[2].id, MAIN);
}

static void a_loop_is_not_walked_anew(void **state)
{
	struct fixture *f = *state;

	f->is_calm = true;
	learn(f);
	for (u32 i = 0; i < 100; i++) {
		steps = 0;
		others[2].place = i;
		assert_true(look_at_thread(f, 1).complete);
		assert_int_equal(steps, 0);
		assert_int_equal(f->look.stack.count, 3);
		assert_int_equal(f->look.stack.at[0].id, SHARED);
		assert_int_equal(f->look.stack.at[0].pos, i);
		assert_int_equal(f->look.stack.at[2].id, MAIN);
	}
	others[1].place = 7;
	assert_true(look_at_thread(f, 1).complete);
	assert_int_not_equal(steps, 0);
	assert_int_equal(f->look.stack.at[1].pos, 7);
	others[1].place = others[2].place = 0;
}

/* A set is read for one thread and then for another, as VMs that run by turns on a native thread are. */
static void a_thread_is_not_another(void **state)
{
	struct fixture *f = *state;

	learn(f);
	u64 word = other_leaf, *alias = &word;
	struct look_subject subject = { .runtime = &list,
					.kind = FRAME_MANAGED,
					.thread = (u64)(uintptr_t)alias,
					.program = 1,
					.process = 1,
					.set = &f->sets[1],
					.memory = &f->memories[1] };
	struct look_result result;
	word = (u64)(uintptr_t)&others[1];
	assert_true(look_at(&f->look, &subject, &result));
	assert_int_equal(f->look.stack.at[f->look.stack.count - 2].id, OTHER);
	assert_int_not_equal(f->look.stack.at[0].id, SHARED);
}

/* The walk is another thread's whole stack, which was seen often: not this one's. */
static void frames_of_another_thread_are_not_shown(void **state)
{
	struct fixture *f = *state;

	learn(f);
	assert_true(look_at_mine_moving(f, &mine[2]).flags & SAMPLE_MOVING);
	assert_int_equal(f->look.stack.at[0].id, MARK_MOVING);
	for (u32 i = 1; i < f->look.stack.count; i++)
		assert_int_not_equal(f->look.stack.at[i].id, OTHER);
}

/* Of a thread whose root is another at each call of its host's, too, what it has done itself is known. */
static void of_its_own_frames_what_it_is_known_for_stands(void **state)
{
	struct fixture *f = *state;

	learn(f);
	f->memories[0].root_at = 0;
	assert_true(look_at_mine_moving(f, &others[2]).flags & SAMPLE_MOVING);
	assert_int_equal(f->look.stack.count, 4);
	assert_int_equal(f->look.stack.at[1].id, SHARED);
	assert_int_equal(f->look.stack.at[2].id, WORK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_holds_is_shown, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_loop_is_not_walked_anew, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_thread_is_not_another, set_up, tear_down),
		cmocka_unit_test_setup_teardown(frames_of_another_thread_are_not_shown, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(of_its_own_frames_what_it_is_known_for_stands,
						set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
