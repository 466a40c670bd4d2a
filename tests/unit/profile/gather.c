/* SPDX-License-Identifier: Apache-2.0
 * gather.c - growing profiles in one: nothing is lost, nothing is told twice. */
#include "check.h"

#include <string.h>

#include "export/built.h"
#include "profile/gather.h"
#include "sample/failing_memory.h"

struct told {
	u64 count, weight;
	u32 calls;
};

static void on_growth(void *arg, u32 entry, u64 count, u64 weight)
{
	struct told *told = arg;

	(void)entry;
	told->count += count;
	told->weight += weight;
	told->calls++;
}

static void taking_again_tells_what_is_new(void **state)
{
	struct gather gather;
	struct gather_source source = { 0 };
	struct profile from;
	struct told told = { 0 };

	(void)state;
	assert_true(gather_init(&gather) && profile_init(&from));
	built_lines(&from, "main;work (/a.rb:1) 3\nmain;work (/a.rb:1);sort [c] 2\n");
	built_facts(&from);
	gather_take(&gather, &source, &from, on_growth, &told);
	assert_int_equal(told.calls, 2);
	gather_take(&gather, &source, &from, on_growth, &told);
	assert_int_equal(told.calls, 2);
	built_lines(&from, "main;work (/a.rb:1) 4\nthread other (9);idle 1\n");
	gather_take(&gather, &source, &from, on_growth, &told);
	assert_int_equal(told.calls, 4);
	assert_int_equal(told.count, 10);
	assert_int_equal(told.weight, 10 * (u64)BUILT_WEIGHT_NS);
	assert_int_equal(profile_total_count(&gather.profile), 10);
	assert_int_equal(gather.profile.threads.count, 2);
	assert_string_equal(gather.profile.title, from.title);
	assert_false(gather.profile.bad);
	gather_source_free(&source);
	gather_free(&gather);
	profile_free(&from);
}

/* The same function of two processes is one, and each thread stays its own. */
static void processes_share_names_and_ledgers_add_up(void **state)
{
	struct gather gather;
	struct gather_source sources[2] = { 0 };
	struct profile from[2];
	struct told told = { 0 };

	(void)state;
	assert_true(gather_init(&gather) && profile_init(&from[0]) && profile_init(&from[1]));
	built_lines(&from[0], "process a (1);thread t (1);first;work (/a.rb:1) 3\n");
	built_lines(&from[1], "process b (2);thread t (2);work (/a.rb:1) 5\n");
	for (u32 i = 0; i < 2; i++) {
		built_facts(&from[i]);
		gather_take(&gather, &sources[i], &from[i], on_growth, &told);
		gather_take(&gather, &sources[i], &from[i], on_growth, &told);
	}
	assert_int_equal(gather.profile.names.functions.count, 3); /* the unnamed, first, work */
	assert_int_equal(gather.profile.threads.count, 2);
	assert_int_equal(gather.profile.processes.count, 2);
	assert_int_equal(gather.profile.quality.samples, 8);
	assert_int_equal(gather.profile.quality.expected, 8);
	assert_int_equal(gather.profile.quality.own_cpu_ns, 80 * NS_PER_MS); /* of one sonde */
	assert_string_equal(gather.profile.title, "2 programs");
	for (u32 i = 0; i < 2; i++) {
		gather_source_free(&sources[i]);
		profile_free(&from[i]);
	}
	gather_free(&gather);
}

static void a_renamed_thread_has_its_new_name(void **state)
{
	struct gather gather;
	struct gather_source source = { 0 };
	struct profile from;
	struct told told = { 0 };

	(void)state;
	assert_true(gather_init(&gather) && profile_init(&from));
	built_lines(&from, "thread early (7);work 1\n");
	gather_take(&gather, &source, &from, on_growth, &told);
	profile_thread(&from, 0, 7, 0, "late");
	gather_take(&gather, &source, &from, on_growth, &told);
	const struct names *names = &gather.profile.names;
	assert_string_equal(names->strings.at[gather.profile.threads.at[0].name].text, "late");
	gather_source_free(&source);
	gather_free(&gather);
	profile_free(&from);
}

static u32 gathered_name(const struct gather *gather)
{
	const struct names *names = &gather->profile.names;
	u32 location = names->stacks.at[gather->profile.entries.at[0].stack].location;

	return names->functions.at[names->locations.at[location].function].name;
}

/* Replaced before and after it was taken; with a second source, whose nameless frame is another one, not at all. */
static void what_is_named_late_has_its_name(void **state)
{
	struct gather gather;
	struct gather_source source = { 0 }, second = { 0 };
	struct profile from, other;
	struct told told = { 0 };

	(void)state;
	assert_true(gather_init(&gather) && profile_init(&from) && profile_init(&other));
	built_lines(&from, "(unnamed) 1\nknown 1\nother 1\n");
	built_lines(&other, "(unnamed) 1\n");
	u32 leaf[3];
	for (u32 i = 0; i < COUNT_OF(leaf); i++)
		leaf[i] = from.names.stacks.at[from.entries.at[i].stack].location;
	gather_take(&gather, &source, &from, on_growth, &told);
	assert_string_equal(gather.profile.names.strings.at[gathered_name(&gather)].text,
			    "(unnamed)");
	names_replace(&from.names, leaf[0], leaf[1]);
	gather_take(&gather, &source, &from, on_growth, &told);
	assert_string_equal(gather.profile.names.strings.at[gathered_name(&gather)].text, "known");
	assert_int_equal(gather.profile.names.replaced.count, 1);
	gather_take(&gather, &second, &other, on_growth, &told);
	names_replace(&from.names, leaf[0], leaf[2]);
	gather_take(&gather, &source, &from, on_growth, &told);
	assert_string_equal(gather.profile.names.strings.at[gathered_name(&gather)].text, "known");
	assert_int_equal(gather.profile.names.replaced.count, 1);
	assert_false(gather.profile.bad);
	gather_source_free(&source);
	gather_source_free(&second);
	gather_free(&gather);
	profile_free(&from);
	profile_free(&other);
}

static void out_of_memory_is_said_and_breaks_nothing(void **state)
{
	struct profile from;
	bool worked = false;

	(void)state;
	assert_true(profile_init(&from));
	built_lines(&from, "main;work (/a.rb:1);sort [c] 2\nthread o (9);main;x (/b.rb:2) 3\n");
	built_facts(&from);
	for (long n = 0; !worked; n++) {
		struct gather gather;
		struct gather_source source = { 0 };
		struct told told = { 0 };
		failing_memory_after(n);
		bool made = gather_init(&gather);
		if (made)
			gather_take(&gather, &source, &from, on_growth, &told);
		failing_memory_after(-1);
		worked = made && !gather.profile.bad;
		assert_true(!worked || told.count == 5);
		gather_source_free(&source);
		gather_free(&gather);
	}
	profile_free(&from);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(taking_again_tells_what_is_new),
		cmocka_unit_test(processes_share_names_and_ledgers_add_up),
		cmocka_unit_test(a_renamed_thread_has_its_new_name),
		cmocka_unit_test(what_is_named_late_has_its_name),
		cmocka_unit_test(out_of_memory_is_said_and_breaks_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
