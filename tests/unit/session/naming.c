/* SPDX-License-Identifier: Apache-2.0
 * naming.c - names stay right while what they are read from changes.
 *
 * The "program" is our own memory: a frame's id is the address of a cell that holds its name. */
#include "check.h"

#include "base/clock.h"
#include "session/naming.h"
#include "target/target.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct cell {
	char name[32];
	u32 first_line;
	u64 code;
};

struct fixture {
	struct names names;
	struct naming *naming;
	struct target target;
	struct sample_source source;
	struct sample *sample;
	struct cell cells[4];
};

/* What the fake runtime does and was asked; the runtime's functions know no fixture. */
static u64 generation;
static u32 times_read;
static bool is_live;
static u64 gone_owner;
static u16 owned_flags;

static bool name_frame(const struct mem *mem, const void *state, const struct frame *frame,
		       struct frame_name *out)
{
	struct cell cell;

	(void)state;
	times_read++;
	if (!mem_read(mem, frame->id, &cell, sizeof cell) || !cell.name[0] ||
	    (frame->owner && frame->owner == gone_owner))
		return false;
	str_add_text(&out->label, cell.name);
	out->line = frame->pos;
	out->first_line = cell.first_line;
	out->code = cell.code;
	return true;
}

static const struct runtime fake = { .name = "fake", .name_frame = name_frame };

static const struct runtime *runtime_of(const struct sample_source *source, u16 kind,
					const void **state)
{
	(void)source;
	*state = NULL;
	return kind == FRAME_MANAGED ? &fake : NULL;
}

static u64 generation_now(const struct sample_source *source)
{
	(void)source;
	return generation;
}

static bool frame_is_live(const struct sample_source *source, const struct frame *frame)
{
	(void)source;
	(void)frame;
	return is_live;
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	names_init(&f->names);
	f->naming = naming_new(&f->names, NAMING_LINES);
	mem_live_init(&f->target.mem, (u32)getpid());
	f->sample = calloc(1, sizeof *f->sample + 8 * sizeof(struct frame));
	f->source = (struct sample_source){ .target = &f->target,
					    .mem = &f->target.mem.mem,
					    .incarnation = 1,
					    .runtime_of = runtime_of,
					    .generation_now = generation_now,
					    .frame_is_live = frame_is_live,
					    .thread_name = "" };
	for (u32 i = 0; i < COUNT_OF(f->cells); i++)
		snprintf(f->cells[i].name, sizeof f->cells[i].name, "function_%u", i);
	generation = 7;
	times_read = 0;
	is_live = false;
	gone_owner = 0;
	owned_flags = 0;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	naming_free(f->naming);
	names_free(&f->names);
	mem_live_fini(&f->target.mem);
	free(f->sample);
	free(f);
	return 0;
}

/* A sample of cells 0 (leaf) to depth - 1 (root) on a thread, taken in generation `of`. */
static u32 take_on(struct fixture *f, u32 tid, u32 depth, u64 of)
{
	*f->sample = (struct sample){ .tid = tid, .generation = of, .depth = depth };
	for (u32 i = 0; i < depth; i++)
		f->sample->frames[i] = (struct frame){ .id = (u64)(uintptr_t)&f->cells[i],
						       .pos = 10 + i,
						       .kind = FRAME_MANAGED };
	return naming_stack(f->naming, f->sample, &f->source);
}

static u32 take(struct fixture *f, u32 depth, u64 of)
{
	return take_on(f, 1, depth, of);
}

/* One of the root, cell 3, alone. */
static void take_another(struct fixture *f, u64 of, u64 time_ns)
{
	*f->sample = (struct sample){ .generation = of, .depth = 1, .time_ns = time_ns };
	f->sample->frames[0] = (struct frame){ .id = (u64)(uintptr_t)&f->cells[3],
					       .kind = FRAME_MANAGED };
	naming_stack(f->naming, f->sample, &f->source);
}

/* Elsewhere: first a place without it, then one where it is. */
static bool kept_read(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	struct cell cell = { .name = "kept" };

	(void)mem, (void)addr, (void)hold;
	memcpy(dst, &cell, len);
	return true;
}

static bool empty_read(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	(void)mem, (void)addr, (void)dst, (void)len, (void)hold;
	return false;
}

static const struct mem kept = { .read = kept_read }, empty = { .read = empty_read };

static const struct mem *elsewhere(const struct sample_source *source, const struct frame *frame,
				   u32 number)
{
	(void)source, (void)frame;
	return number == 0 ? &empty : number == 1 ? &kept : NULL;
}

static const char *leaf_name(const struct fixture *f, u32 stack)
{
	const struct name_location *location =
		&f->names.locations.at[f->names.stacks.at[stack].location];

	return f->names.strings.at[f->names.functions.at[location->function].name].text;
}

static void a_name_is_read_once_a_generation(void **state)
{
	struct fixture *f = *state;
	u32 stack = take(f, 3, 7);

	assert_string_equal(leaf_name(f, stack), "function_0");
	assert_int_equal(f->names.stacks.at[stack].depth, 3);
	assert_int_equal(times_read, 3);
	assert_int_equal(take(f, 3, 7), stack);
	assert_int_equal(times_read, 3);
}

static void a_name_that_is_gone_is_read_elsewhere(void **state)
{
	struct fixture *f = *state;

	f->source.elsewhere = elsewhere;
	assert_string_equal(leaf_name(f, take(f, 1, 7)), "function_0");
	f->cells[0].name[0] = 0;
	generation = 8; /* has run meanwhile: what was kept is as it was before */
	assert_string_equal(leaf_name(f, take(f, 1, 6)), "kept");
	assert_int_equal(naming_unnamed(f->naming), 0);
}

static void the_same_bytes_are_the_same_name(void **state)
{
	struct fixture *f = *state;
	u32 stack = take(f, 3, 7);

	generation = 8;
	assert_int_equal(take(f, 3, 8), stack);
	assert_int_equal(times_read, 3); /* one vectored look at the witnesses, no name read */
}

/* Whoever was looked at before, on whichever thread, in whichever process. */
static void a_stack_is_its_own(void **state)
{
	struct fixture *f = *state;
	u32 two = take(f, 2, 7), three = take(f, 3, 7), of_both[2];

	for (u32 tid = 1; tid < 100; tid++) {
		assert_int_equal(take_on(f, tid, 2 + tid % 2, 7), tid % 2 ? three : two);
		assert_int_equal(take_on(f, 200 - tid, 3 - tid % 2, 7), tid % 2 ? two : three);
	}
	assert_int_equal(times_read, 3);
	for (u32 i = 0; i < 2; i++) {
		f->source.incarnation++;
		snprintf(f->cells[1].name, sizeof f->cells[1].name, "process_%u", i);
		of_both[i] = take(f, 2, 7);
		assert_string_equal(leaf_name(f, f->names.stacks.at[of_both[i]].outer),
				    f->cells[1].name);
	}
	assert_int_not_equal(of_both[0], of_both[1]);
}

static void other_bytes_are_another_name(void **state)
{
	struct fixture *f = *state;

	take(f, 2, 7);
	generation = 8;
	strcpy(f->cells[0].name, "reused");
	assert_string_equal(leaf_name(f, take(f, 2, 8)), "reused");
	assert_int_equal(times_read, 3);
}

static void without_a_generation_every_name_is_checked(void **state)
{
	struct fixture *f = *state;

	generation = 0;
	take(f, 1, 0);
	strcpy(f->cells[0].name, "other");
	assert_string_equal(leaf_name(f, take(f, 1, 0)), "other");
}

/* The collector ran after the sample: what lies there now may be something else. */
static void a_name_in_doubt_is_not_given(void **state)
{
	struct fixture *f = *state;

	generation = 9;
	assert_string_equal(leaf_name(f, take(f, 1, 7)), "(unnamed)");
	assert_int_equal(naming_unnamed(f->naming), 1);
}

static void a_frame_that_is_still_there_has_its_name(void **state)
{
	struct fixture *f = *state;

	generation = 9;
	is_live = true;
	assert_string_equal(leaf_name(f, take(f, 1, 7)), "function_0");
	assert_int_equal(naming_unnamed(f->naming), 0);
}

/* It was that function since before the fork, and is it in the child behind a collection. */
static void a_name_is_inherited_from_before_the_fork(void **state)
{
	struct fixture *f = *state;

	take(f, 2, 7);
	f->source.incarnation = 2;
	f->source.forked_from = 1;
	f->source.forked_ns = clock_now_ns();
	generation = 9;
	assert_string_equal(leaf_name(f, take(f, 1, 7)), "function_0");
	strcpy(f->cells[1].name, "reused");
	f->sample->frames[0].id = (u64)(uintptr_t)&f->cells[1];
	assert_string_equal(leaf_name(f, naming_stack(f->naming, f->sample, &f->source)),
			    "(unnamed)");
}

/* In the parent it came to be known behind the fork, when it could have been another. */
static void a_name_learned_since_the_fork_is_not_inherited(void **state)
{
	struct fixture *f = *state;

	f->source.forked_ns = clock_now_ns() - 1;
	take(f, 1, 7);
	f->source.incarnation = 2;
	f->source.forked_from = 1;
	generation = 9;
	assert_string_equal(leaf_name(f, take(f, 1, 7)), "(unnamed)");
}

static void a_promised_name_is_given_when_it_is_proven(void **state)
{
	struct fixture *f = *state;

	generation = 9;
	u32 stack = take(f, 1, 7);
	assert_string_equal(leaf_name(f, stack), "(unnamed)");
	take(f, 1, 9);
	assert_string_equal(leaf_name(f, stack), "function_0");
	assert_int_equal(naming_unnamed(f->naming), 0);
}

static void a_promise_is_not_kept_for_another_function(void **state)
{
	struct fixture *f = *state;

	generation = 9;
	u32 stack = take(f, 1, 7);
	strcpy(f->cells[0].name, "reused");
	assert_string_equal(leaf_name(f, take(f, 1, 9)), "reused");
	assert_string_equal(leaf_name(f, stack), "(unnamed)");
	assert_int_equal(naming_unnamed(f->naming), 1);
}

/* It is never met again: a collection later the same function is still there. */
static void a_name_that_outlives_a_collection_is_given(void **state)
{
	struct fixture *f = *state;

	generation = 9;
	u32 stack = take(f, 1, 7);
	take_another(f, 9, NS_PER_MS); /* so soon nothing is proven */
	assert_string_equal(leaf_name(f, stack), "(unnamed)");
	take_another(f, 9, NS_PER_S);
	assert_string_equal(leaf_name(f, stack), "function_0");
	assert_int_equal(naming_unnamed(f->naming), 0);
}

static void a_name_is_in_doubt_until_a_collection(void **state)
{
	struct fixture *f = *state;

	generation = 9;
	u32 stack = take(f, 1, 7);
	generation = 7; /* as it is of the sample: nothing can have been put there since */
	take_another(f, 7, NS_PER_S);
	assert_string_equal(leaf_name(f, stack), "(unnamed)");
}

/* What lay there when the name was read is gone already: so may have been what had been there before. */
static void a_name_that_does_not_outlive_a_collection_is_not_given(void **state)
{
	struct fixture *f = *state;

	generation = 9;
	u32 stack = take(f, 2, 7);
	strcpy(f->cells[0].name, "reused");
	take_another(f, 9, NS_PER_S);
	assert_string_equal(leaf_name(f, stack), "(unnamed)");
	naming_settle(f->naming);
	assert_string_equal(leaf_name(f, stack), "(unnamed)");
	assert_int_equal(naming_unnamed(f->naming), 1 + 1);
}

static void at_the_end_a_program_that_reuses_nothing_is_believed(void **state)
{
	struct fixture *f = *state;

	generation = 9;
	u32 stack = take(f, 1, 7);
	naming_settle(f->naming);
	assert_string_equal(leaf_name(f, stack), "function_0");
	assert_int_equal(naming_unnamed(f->naming), 0);
}

static u32 take_owned_at(struct fixture *f, u64 owner, u64 of, u64 time_ns)
{
	*f->sample = (struct sample){ .generation = of, .depth = 1, .time_ns = time_ns };
	f->sample->frames[0] = (struct frame){ .id = (u64)(uintptr_t)&f->cells[3],
					       .owner = owner,
					       .kind = FRAME_MANAGED,
					       .flags = owned_flags };
	return naming_stack(f->naming, f->sample, &f->source);
}

static u32 take_owned(struct fixture *f, u64 owner, u64 of)
{
	return take_owned_at(f, owner, of, 0);
}

/* Whoever it is called as, other code at an address is a reuse. */
static void other_code_at_an_address_ends_all_belief(void **state)
{
	struct fixture *f = *state;

	take_owned(f, 1, 7);
	generation = 9;
	u32 stack = take(f, 1, 7);
	f->cells[3].first_line = 10;
	take_owned(f, 2, 9);
	naming_settle(f->naming);
	assert_string_equal(leaf_name(f, stack), "(unnamed)");
}

/* A method of two classes has one code, and a name of each. */
static void the_same_code_by_another_name_is_no_reuse(void **state)
{
	struct fixture *f = *state;

	take_owned(f, 1, 7);
	generation = 9;
	u32 stack = take(f, 1, 7);
	strcpy(f->cells[3].name, "alias");
	take_owned(f, 2, 9);
	naming_settle(f->naming);
	assert_string_equal(leaf_name(f, stack), "function_0");
}

/* By whom it was called is gone before that could be read. */
static const char *name_without_owner(struct fixture *f, u64 time_ns)
{
	gone_owner = 3;
	return leaf_name(f, take_owned_at(f, gone_owner, 7, time_ns));
}

static void code_that_is_what_it_was_has_the_name_that_it_had(void **state)
{
	struct fixture *f = *state;

	take_owned(f, 1, 7);
	assert_string_equal(name_without_owner(f, clock_now_ns()), "function_3");
	assert_int_equal(naming_unnamed(f->naming), 0);
}

/* It is known later, at the end. */
static void code_that_gets_a_name_had_it_before(void **state)
{
	struct fixture *f = *state;
	u64 before = clock_now_ns();

	gone_owner = 3;
	u32 stack = take_owned_at(f, gone_owner, 7, before);
	assert_string_equal(leaf_name(f, stack), "(unnamed)");
	take_owned(f, 1, 7);
	assert_string_equal(name_without_owner(f, before), "(unnamed)");
	naming_settle(f->naming);
	assert_string_equal(leaf_name(f, stack), "function_3");
	assert_int_equal(naming_unnamed(f->naming), 0);
}

/* What is there by then may have come meanwhile, and nothing that is known of the frame speaks against it. */
static void a_c_function_that_gets_a_name_had_it_before_or_not(void **state)
{
	struct fixture *f = *state;
	u64 before = clock_now_ns();

	owned_flags = FRAME_C;
	assert_string_equal(name_without_owner(f, before), "(unnamed)");
	take_owned(f, 1, 7);
	naming_settle(f->naming);
	assert_int_equal(naming_unnamed(f->naming), 1);
	assert_string_equal(name_without_owner(f, clock_now_ns()), "function_3");
}

static void code_that_has_two_names_is_not_named_by_chance(void **state)
{
	struct fixture *f = *state;

	take_owned(f, 1, 7);
	strcpy(f->cells[3].name, "alias");
	take_owned(f, 2, 7);
	assert_string_equal(name_without_owner(f, clock_now_ns()), "(unnamed)");
	naming_settle(f->naming);
	assert_int_equal(naming_unnamed(f->naming), 1);
}

/* Elsewhere in the source, or on the same line. */
static void other_code_has_not_the_name_of_what_was_there(void **state)
{
	struct fixture *f = *state;

	take_owned(f, 1, 7);
	f->cells[3].code = 5;
	assert_string_equal(name_without_owner(f, clock_now_ns()), "(unnamed)");
	f->cells[3].code = 0;
	f->cells[3].first_line = 10;
	assert_string_equal(name_without_owner(f, clock_now_ns()), "(unnamed)");
	naming_settle(f->naming);
	assert_int_equal(naming_unnamed(f->naming), 2);
}

static void memory_that_is_no_function_has_no_name(void **state)
{
	struct fixture *f = *state;

	f->cells[0].name[0] = 0;
	assert_string_equal(leaf_name(f, take(f, 2, 7)), "(unnamed)");
	f->sample->frames[0].kind = FRAME_MANAGED + 5; /* no such runtime */
	assert_string_equal(leaf_name(f, naming_stack(f->naming, f->sample, &f->source)),
			    "(unnamed)");
}

static const char *event_name(const struct sample_source *source, u64 event)
{
	(void)source;
	return event == 1 ? "syscall-exit:read" : NULL;
}

static const char *name_of_error(struct fixture *f, u32 error)
{
	*f->sample = (struct sample){ .depth = 1 };
	f->sample->frames[0] = (struct frame){ .id = 1, .pos = error, .kind = FRAME_EVENT };
	f->source.event_name = event_name;
	return leaf_name(f, naming_stack(f->naming, f->sample, &f->source));
}

static void errors_have_names(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(name_of_error(f, 0), "syscall-exit:read");
	assert_string_equal(name_of_error(f, 2), "syscall-exit:read ENOENT");
	assert_string_equal(name_of_error(f, 512), "syscall-exit:read ERESTARTSYS");
	assert_string_equal(name_of_error(f, 515), "syscall-exit:read ENOIOCTLCMD");
	assert_string_equal(name_of_error(f, 516), "syscall-exit:read ERESTART_RESTARTBLOCK");
	assert_string_equal(name_of_error(f, 517), "syscall-exit:read error 517");
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_name_is_read_once_a_generation),
		TEST(a_name_that_is_gone_is_read_elsewhere),
		TEST(a_name_is_inherited_from_before_the_fork),
		TEST(a_name_learned_since_the_fork_is_not_inherited),
		TEST(the_same_bytes_are_the_same_name),
		TEST(a_stack_is_its_own),
		TEST(other_bytes_are_another_name),
		TEST(without_a_generation_every_name_is_checked),
		TEST(a_name_in_doubt_is_not_given),
		TEST(errors_have_names),
		TEST(a_frame_that_is_still_there_has_its_name),
		TEST(a_promised_name_is_given_when_it_is_proven),
		TEST(a_promise_is_not_kept_for_another_function),
		TEST(a_name_that_outlives_a_collection_is_given),
		TEST(a_name_is_in_doubt_until_a_collection),
		TEST(a_name_that_does_not_outlive_a_collection_is_not_given),
		TEST(at_the_end_a_program_that_reuses_nothing_is_believed),
		TEST(other_code_at_an_address_ends_all_belief),
		TEST(the_same_code_by_another_name_is_no_reuse),
		TEST(code_that_is_what_it_was_has_the_name_that_it_had),
		TEST(code_that_gets_a_name_had_it_before),
		TEST(a_c_function_that_gets_a_name_had_it_before_or_not),
		TEST(code_that_has_two_names_is_not_named_by_chance),
		TEST(other_code_has_not_the_name_of_what_was_there),
		TEST(memory_that_is_no_function_has_no_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
