/* SPDX-License-Identifier: Apache-2.0
 * sample_rows.c - rows in time, nothing lost on the way, and few enough. */
#include "check.h"

#include "base/clock.h"
#include "base/rng.h"
#include "export/sample_rows.h"
#include "export/written.h"

static void check_sums(const struct sample_rows *rows, const struct profile *p)
{
	u64 count = 0, weight = 0;

	for (u32 t = 0; t < p->threads.count; t++)
		for (u32 i = rows->first[t]; i < rows->first[t + 1]; i++) {
			assert_int_equal(rows->at[i].thread, t);
			if (i > rows->first[t])
				assert_true(rows->at[i].time_ns >= rows->at[i - 1].time_ns);
			if (rows->slot_ns)
				assert_true(rows->at[i].time_ns < p->duration_ns);
			count += rows->at[i].count;
			weight += rows->at[i].weight;
		}
	assert_int_equal(rows->first[p->threads.count], rows->count);
	assert_int_equal(count, profile_total_count(p));
	assert_int_equal(weight, profile_total_weight(p));
}

static void without_times_there_is_a_row_for_each_entry(void **state)
{
	struct profile p;
	struct sample_rows rows;
	(void)state;

	written_sample(&p);
	assert_true(sample_rows_make(&rows, &p, 100));
	assert_int_equal(rows.count, 4);
	assert_int_equal(rows.slot_ns, 0);
	check_sums(&rows, &p);
	sample_rows_free(&rows);
	profile_free(&p);
}

static void with_times_they_are_in_order(void **state)
{
	struct profile p;
	struct sample_rows rows;
	(void)state;

	written_sample(&p);
	written_times(&p);
	assert_true(sample_rows_make(&rows, &p, 100));
	assert_int_equal(rows.count, 20);
	assert_true(rows.slot_ns > 0);
	check_sums(&rows, &p);
	sample_rows_free(&rows);
	/* A timeline that has lost a sample would lose its weight: it is not used. */
	p.timeline.cells.at[0].count = 0;
	assert_true(sample_rows_make(&rows, &p, 100));
	assert_int_equal(rows.slot_ns, 0);
	check_sums(&rows, &p);
	sample_rows_free(&rows);
	profile_free(&p);
}

static void too_many_become_fewer(void **state)
{
	struct profile p;
	struct rng rng = { .state = 7 };
	u32 before = 0;
	(void)state;

	assert_true(profile_init(&p));
	p.timeline.cells_most = 1 << 20;
	u32 thread = profile_thread(&p, profile_process(&p, 1, 1, "ruby"), 1, 0, "main");
	for (u32 i = 0; i < 5000; i++) {
		char name[16];
		snprintf(name, sizeof name, "f%u", (u32)rng_below(&rng, 50));
		u32 stack = names_stack(&p.names, 0, built_location(&p.names, name, strlen(name)));
		timeline_add(&p.timeline, i * NS_PER_MS * 3,
			     profile_add(&p, thread, stack, 1 + rng_below(&rng, 1000), 0));
	}
	p.duration_ns = 15 * NS_PER_S;
	for (u32 most = 4096; most >= 64; most /= 4) {
		struct sample_rows rows;
		assert_true(sample_rows_make(&rows, &p, most));
		assert_true(rows.count <= most);
		assert_true(rows.count > before / 16);
		assert_true(rows.slot_ns >= p.timeline.slot_ns);
		check_sums(&rows, &p);
		before = rows.count;
		sample_rows_free(&rows);
	}
	/* Not fewer than entries: no order is left. */
	struct sample_rows rows;
	assert_true(sample_rows_make(&rows, &p, 1));
	assert_int_equal(rows.count, p.entries.count);
	check_sums(&rows, &p);
	sample_rows_free(&rows);
	profile_free(&p);
}

static void an_empty_profile_has_none(void **state)
{
	struct profile p;
	struct sample_rows rows;
	(void)state;

	assert_true(profile_init(&p));
	assert_true(sample_rows_make(&rows, &p, 100));
	assert_int_equal(rows.count, 0);
	sample_rows_free(&rows);
	profile_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_times_there_is_a_row_for_each_entry),
		cmocka_unit_test(with_times_they_are_in_order),
		cmocka_unit_test(too_many_become_fewer),
		cmocka_unit_test(an_empty_profile_has_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
