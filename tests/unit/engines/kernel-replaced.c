/* SPDX-License-Identifier: Apache-2.0
 * kernel-replaced.c - which code of a place a sample's is. */
#include "check.h"

#include "base/clock.h"
#include "engines/kernel/replaced.h"

enum { AT = 0x1000, END = 0x3000 };

static void between_the_change_and_the_table_a_walk_is_wrong(void **unused)
{
	struct replaced replaced = { 0 };

	(void)unused;
	assert_int_equal(replaced_at(&replaced, AT, 1), 0);
	replaced_note(&replaced, AT, END, 1000);
	/* who asks about a time before it knows what came behind it */
	assert_int_equal(replaced_at(&replaced, AT, 999), REPLACED_UNKNOWN);
	/* and until it could be asked, what was before it */
	assert_int_equal(replaced_at(&replaced, AT, 1000), REPLACED_UNKNOWN | REPLACED_UNHEARD);
	assert_int_equal(replaced_at(&replaced, END - 1, UINT64_MAX),
			 REPLACED_UNKNOWN | REPLACED_UNHEARD);
	assert_int_equal(replaced_at(&replaced, END, 1000), 0);
	assert_int_equal(replaced_at(&replaced, AT - 1, 1000), 0);
	replaced_is_told(&replaced, 2000);
	assert_int_equal(replaced_at(&replaced, AT, 999), REPLACED_UNKNOWN);
	assert_int_equal(replaced_at(&replaced, AT, 2000), REPLACED_UNHEARD);
	assert_int_equal(replaced_at(&replaced, AT, 2001), 0);
	/* a second one does not lengthen the first */
	replaced_note(&replaced, AT, END, 5000);
	assert_int_equal(replaced_at(&replaced, AT, 3000), REPLACED_UNKNOWN);
	replaced_is_told(&replaced, 6000);
	assert_int_equal(replaced_at(&replaced, AT, 6000), REPLACED_UNHEARD);
	assert_int_equal(replaced_at(&replaced, AT, 6001), 0);
	/* two before the kernel was told once: the code between them is not known any more, and its walk was wrong */
	replaced_note(&replaced, AT, END, 7000);
	replaced_note(&replaced, AT, END, 8000);
	replaced_is_told(&replaced, 9000);
	assert_int_equal(replaced_at(&replaced, AT, 7500), REPLACED_UNKNOWN | REPLACED_UNHEARD);
	assert_int_equal(replaced_at(&replaced, AT, 8500), REPLACED_UNHEARD);
	replaced_clear(&replaced);
	assert_int_equal(replaced_at(&replaced, AT, 8500), 0);
	replaced_free(&replaced);
}

static void what_is_old_is_forgotten_but_its_place(void **unused)
{
	struct replaced replaced = { 0 };
	u64 now = NS_PER_S;

	(void)unused;
	assert_false(replaced_ever(&replaced, AT, END));
	for (u32 i = 0; i < 1000; i++, now += NS_PER_S) {
		replaced_note(&replaced, AT, END, now);
		replaced_is_told(&replaced, now + 1);
	}
	assert_true(replaced.of_late.count < 20);
	assert_int_equal(replaced.places.count, 1);
	replaced_note(&replaced, 1, 2, now);
	assert_true(replaced_ever(&replaced, AT, END));
	assert_true(replaced_ever(&replaced, END - 1, END + 1));
	assert_false(replaced_ever(&replaced, END, END + 1));
	assert_false(replaced_ever(&replaced, 2, AT));
	/* many are no reason to keep ever more */
	for (u64 i = 1; i < 1000; i++)
		replaced_note(&replaced, i << 20, (i << 20) + 1, now);
	assert_true(replaced.places.count < 100);
	replaced_free(&replaced);
}

static void a_doubt_is_of_all_places_until_they_are_read(void **unused)
{
	struct replaced replaced = { 0 }, copy = { 0 };

	(void)unused;
	replaced_doubt(&replaced, 1000);
	assert_int_equal(replaced_at(&replaced, AT, 999), 0);
	assert_int_equal(replaced_at(&replaced, AT, 1000), REPLACED_UNHEARD);
	assert_false(replaced_ever(&replaced, AT, END)); /* nothing is known to have been */
	assert_true(replaced_copy(&copy, &replaced));
	assert_int_equal(replaced_end_doubt(&replaced), 1000);
	assert_int_equal(replaced_end_doubt(&replaced), 0);
	assert_int_equal(replaced_at(&replaced, AT, 1000), 0);
	/* an earlier one is what counts */
	replaced_doubt(&copy, 500);
	assert_int_equal(replaced_end_doubt(&copy), 500);
	replaced_free(&replaced);
	replaced_free(&copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(between_the_change_and_the_table_a_walk_is_wrong),
		cmocka_unit_test(what_is_old_is_forgotten_but_its_place),
		cmocka_unit_test(a_doubt_is_of_all_places_until_they_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
