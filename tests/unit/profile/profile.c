/* SPDX-License-Identifier: Apache-2.0
 * profile.c - samples are counted where they belong, and no nanosecond is lost or made. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "profile/profile.h"
#include "sample/failing_memory.h"

static u32 line_stack(struct profile *profile, u32 outer, u32 line)
{
	struct name_location location = { .line = line };
	return names_stack(&profile->names, outer, names_location(&profile->names, &location));
}

static void equal_stacks_of_a_thread_are_one_entry(void **state)
{
	(void)state;
	struct profile p;
	assert_true(profile_init(&p));
	u32 process = profile_process(&p, 42, 7, "ruby");
	u32 main = profile_thread(&p, process, 42, 0, "main"),
	    other = profile_thread(&p, process, 43, 0, "");
	u32 a = line_stack(&p, 0, 1), b = line_stack(&p, a, 2);
	profile_add(&p, main, a, 10, 0);
	profile_add(&p, main, a, 11, 0);
	profile_add(&p, main, b, 5, 0);
	profile_add(&p, other, a, 3, SAMPLE_MOVING);
	assert_int_equal(p.entries.count, 3);
	assert_int_equal(p.entries.at[0].count, 2);
	assert_int_equal(p.entries.at[0].weight, 21);
	assert_int_equal(profile_total_count(&p), 4);
	assert_int_equal(profile_total_weight(&p), 29);
	profile_free(&p);
}

static void identity_is_pid_and_start_time_and_names_may_change(void **state)
{
	(void)state;
	struct profile p;
	assert_true(profile_init(&p));
	u32 first = profile_process(&p, 42, 7, "sh");
	assert_int_equal(profile_process(&p, 42, 7, "ruby"), first);     /* it exec'd */
	assert_int_not_equal(profile_process(&p, 42, 8, "ruby"), first); /* the pid was reused */
	assert_string_equal(p.names.strings.at[p.processes.at[first].name].text, "ruby");

	u32 thread = profile_thread(&p, first, 42, 0, "ruby");
	assert_int_equal(profile_thread(&p, first, 42, 0, "puma 1"), thread);
	assert_int_equal(profile_thread(&p, first, 42, 0, NULL), thread);
	assert_int_equal(profile_thread(&p, first, 42, 0, ""), thread);
	assert_string_equal(p.names.strings.at[p.threads.at[thread].name].text, "puma 1");
	assert_int_equal(profile_thread(&p, 99, 42, 0, "no such process"), PROFILE_NONE);
	profile_free(&p);
}

/* Native threads are used again: each life has the row of its name. */
static void lives_of_one_tid_have_rows_by_name(void **state)
{
	(void)state;
	struct profile p;
	assert_true(profile_init(&p));
	u32 process = profile_process(&p, 1, 1, "ruby");
	u32 first = profile_thread(&p, process, 9, 1, "ruby");
	assert_int_equal(profile_thread(&p, process, 9, 1, "worker 1"), first); /* renamed */
	u32 second = profile_thread(&p, process, 9, 2, "worker 2");
	assert_int_not_equal(second, first);
	assert_int_equal(profile_thread(&p, process, 9, 3, "worker 1"), first);
	/* what was the third's until now is also the first's: it keeps its name when the third leaves */
	u32 third = profile_thread(&p, process, 9, 3, "worker 3");
	assert_int_not_equal(third, first);
	assert_string_equal(p.names.strings.at[p.threads.at[first].name].text, "worker 1");
	assert_int_equal(profile_thread(&p, process, 9, 3, "worker 3"), third);
	assert_int_equal(profile_thread(&p, process, 9, 3, ""), third);
	assert_int_equal(p.threads.count, 3);
	profile_free(&p);
}

/* A server that names a thread after each request: none of its samples walks past all of them. */
static void names_of_one_tid_do_not_cost_their_square(void **state)
{
	enum { NAMES = 200000 };
	(void)state;
	struct profile p;
	char name[16];
	assert_true(profile_init(&p));
	u32 process = profile_process(&p, 1, 1, "ruby");
	for (u32 i = 0; i < NAMES; i++) {
		snprintf(name, sizeof name, "request %u", i);
		assert_int_equal(profile_thread(&p, process, 9, i, name), i);
		assert_int_equal(p.threads.at[i].nth, i);
	}
	for (u32 i = 0; i < NAMES; i++)
		assert_int_equal(profile_thread(&p, process, 9, i, NULL), i);
	assert_int_equal(p.threads.count, NAMES);
	profile_free(&p);
}

static void a_share_is_paid_in_proportion_and_exactly(void **state)
{
	(void)state;
	struct profile p;
	assert_true(profile_init(&p));
	u32 process = profile_process(&p, 1, 1, "x");
	u32 busy = profile_thread(&p, process, 1, 0, ""),
	    sleeper = profile_thread(&p, process, 2, 0, "");
	u32 a = line_stack(&p, 0, 1), b = line_stack(&p, 0, 2);
	profile_add(&p, busy, a, 0, SAMPLE_UNPAID);
	profile_add(&p, busy, a, 0, SAMPLE_UNPAID);
	profile_add(&p, busy, b, 0, SAMPLE_UNPAID);
	profile_add(&p, busy, b, 1000, 0); /* paid by itself: gets nothing of the share */
	profile_add(&p, sleeper, a, 0, 0);
	assert_false(profile_share(&p, sleeper, 100)); /* nobody to pay */
	assert_true(profile_share(&p, busy, 100));
	assert_int_equal(p.entries.at[0].weight, 66);
	assert_int_equal(p.entries.at[1].weight, 1034);
	assert_int_equal(profile_total_weight(&p), 1100);
	assert_false(profile_share(&p, busy, 100)); /* paid once */
	assert_false(profile_share(&p, 99, 1));
	assert_int_equal(profile_total_weight(&p), 1100);
	/* The next period starts from zero. */
	profile_add(&p, busy, a, 0, SAMPLE_UNPAID);
	assert_true(profile_share(&p, busy, 7));
	assert_int_equal(p.entries.at[0].weight, 73);
	profile_free(&p);
}

/* What samples are worth: ten that weigh the same are more than one that weighs as much as nine others. */
static void squares_are_of_the_samples_that_were_taken(void **state)
{
	(void)state;
	struct profile p;
	assert_true(profile_init(&p));
	u32 thread = profile_thread(&p, profile_process(&p, 1, 1, "x"), 1, 0, "");
	u32 a = line_stack(&p, 0, 1), b = line_stack(&p, 0, 2);
	profile_add(&p, thread, a, 30, 0);
	profile_add(&p, thread, a, 0, SAMPLE_UNPAID);
	profile_add(&p, thread, b, 0, SAMPLE_UNPAID);
	assert_true(profile_share(&p, thread, 80));
	assert_float_equal(p.entries.at[0].weight_squares, 30 * 30 + 40 * 40, 0);
	assert_float_equal(p.entries.at[1].weight_squares, 40 * 40, 0);
	profile_add_more(&p, 1, 9); /* it stands for ten */
	assert_float_equal(p.entries.at[0].count_squares, 2, 0);
	assert_float_equal(p.entries.at[1].count_squares, 100, 0);
	profile_add_counted(&p, thread, b, 4, 80);
	assert_float_equal(p.entries.at[1].count_squares, 104, 0);
	assert_float_equal(p.entries.at[1].weight_squares, 40 * 40 + 4 * 20 * 20, 0);
	profile_free(&p);
}

static void random_shares_sum_to_the_nanosecond(void **state)
{
	(void)state;
	struct rng rng = { 20 };
	struct profile p;
	u64 handed = 0, samples = 0;
	assert_true(profile_init(&p));
	u32 process = profile_process(&p, 1, 1, "x");
	for (u32 i = 0; i < 20000; i++) {
		u32 thread = profile_thread(&p, process, (u32)rng_below(&rng, 5), 0, NULL);
		u64 weight = rng_below(&rng, 8) ? rng_below(&rng, 1000000007) : UINT64_MAX >> 20;
		if (rng_below(&rng, 9)) {
			u32 stack = line_stack(&p, 0, (u32)rng_below(&rng, 50));
			profile_add(&p, thread, stack, 12345, SAMPLE_UNPAID); /* not the weight */
			samples++;
		} else if (profile_share(&p, thread, weight)) {
			handed += weight;
			assert_int_equal(p.threads.at[thread].unpaid.count, 0);
		}
		assert_true(p.threads.at[thread].unpaid.count <= 50);
	}
	assert_true(handed > 0);
	assert_int_equal(profile_total_weight(&p), handed);
	assert_int_equal(profile_total_count(&p), samples);
	profile_free(&p);
}

static void a_path_has_one_source_and_is_found_at_once(void **state)
{
	enum { PATHS = 300000 };
	(void)state;
	struct profile p;
	assert_true(profile_init(&p));
	for (u32 i = 0; i < 2 * PATHS; i++)
		profile_add_source(&p, i % PATHS, i);
	assert_false(p.bad);
	assert_int_equal(p.sources.count, PATHS);
	for (u32 i = 0; i < PATHS; i++)
		assert_int_equal(p.sources.at[i].text, i);
	profile_free(&p);
}

static bool fill(struct profile *p)
{
	if (!profile_init(p))
		return false;
	for (u32 i = 0; i < 400; i++) {
		u32 process = profile_process(p, i % 70, 1, "x");
		u32 thread = profile_thread(p, process, i % 90, 0, "thread");
		profile_add(p, thread, line_stack(p, 0, i), 0, SAMPLE_UNPAID);
		profile_share(p, thread, 9);
	}
	return !p->bad && !p->names.bad;
}

static void no_memory_is_said(void **state)
{
	(void)state;
	long n = 0;
	bool worked = false;
	while (!worked) {
		struct profile p;
		failing_memory_after(n++);
		worked = fill(&p);
		failing_memory_after(-1);
		assert_true(worked || p.bad || p.names.bad);
		assert_int_equal(p.entries.count, p.entry_table.count);
		assert_int_equal(p.thread_keys.count, p.thread_table.count);
		assert_int_equal(p.processes.count, p.process_table.count);
		profile_add(&p, PROFILE_NONE, 0, 1, 0);
		profile_free(&p);
	}
	assert_true(n > 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_stacks_of_a_thread_are_one_entry),
		cmocka_unit_test(identity_is_pid_and_start_time_and_names_may_change),
		cmocka_unit_test(lives_of_one_tid_have_rows_by_name),
		cmocka_unit_test(names_of_one_tid_do_not_cost_their_square),
		cmocka_unit_test(a_share_is_paid_in_proportion_and_exactly),
		cmocka_unit_test(squares_are_of_the_samples_that_were_taken),
		cmocka_unit_test(random_shares_sum_to_the_nanosecond),
		cmocka_unit_test(a_path_has_one_source_and_is_found_at_once),
		cmocka_unit_test(no_memory_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
