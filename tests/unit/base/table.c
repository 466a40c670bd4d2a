/* SPDX-License-Identifier: Apache-2.0
 * table.c - items are found by hash and by equality, never by hash alone. */
#include "base/table.h"
#include "check.h"
#include <string.h>

struct keys {
	u64 at[20000];
};

static bool same_key(const void *owner, u32 item, const void *key)
{
	return ((const struct keys *)owner)->at[item] == *(const u64 *)key;
}

static void all_are_found_and_others_are_not(void **state)
{
	static struct keys keys;
	struct table table = { 0 };
	(void)state;

	for (u32 i = 0; i < COUNT_OF(keys.at); i++) {
		keys.at[i] = (u64)i * 3;
		u64 hash = table_hash(&keys.at[i], sizeof keys.at[i]);
		assert_int_equal(table_find(&table, hash, same_key, &keys, &keys.at[i]),
				 TABLE_NONE);
		assert_true(table_add(&table, hash, i));
	}
	for (u32 i = 0; i < COUNT_OF(keys.at); i++) {
		u64 absent = (u64)i * 3 + 1;
		assert_int_equal(table_find(&table, table_hash(&keys.at[i], 8), same_key, &keys,
					    &keys.at[i]),
				 i);
		assert_int_equal(
			table_find(&table, table_hash(&absent, 8), same_key, &keys, &absent),
			TABLE_NONE);
	}
	assert_int_equal(table.count, COUNT_OF(keys.at));
	/* A power of two, and never so full that a search for an absent key is long. */
	assert_int_equal(table.size & (table.size - 1), 0);
	assert_true((u64)table.count * 10 <= (u64)table.size * 7 + 10);
	table_free(&table);
}

static void equal_hashes_are_told_apart(void **state)
{
	static struct keys keys;
	struct table table = { 0 };
	(void)state;

	for (u32 i = 0; i < 200; i++) {
		keys.at[i] = i;
		assert_true(table_add(&table, 7, i));
	}
	for (u32 i = 0; i < 200; i++)
		assert_int_equal(table_find(&table, 7, same_key, &keys, &keys.at[i]), i);
	u64 absent = 200;
	assert_int_equal(table_find(&table, 7, same_key, &keys, &absent), TABLE_NONE);
	table_free(&table);
}

static void a_cleared_table_is_empty_and_usable(void **state)
{
	static struct keys keys;
	struct table table = { 0 };
	(void)state;

	keys.at[0] = 5;
	table_clear(&table);
	assert_true(table_add(&table, 1, 0));
	table_clear(&table);
	assert_int_equal(table.count, 0);
	assert_int_equal(table_find(&table, 1, same_key, &keys, &keys.at[0]), TABLE_NONE);
	assert_true(table_add(&table, 1, 0));
	assert_int_equal(table_find(&table, 1, same_key, &keys, &keys.at[0]), 0);
	table_free(&table);
	assert_int_equal(table_find(&table, 1, same_key, &keys, &keys.at[0]), TABLE_NONE);
}

static void the_hash_is_stable_within_the_process(void **state)
{
	(void)state;

	assert_true(table_hash("abc", 3) == table_hash("abc", 3));
	assert_true(table_hash("abc", 3) != table_hash("abd", 3));
	assert_true(table_hash("abc", 3) != table_hash("abc", 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_found_and_others_are_not),
		cmocka_unit_test(equal_hashes_are_told_apart),
		cmocka_unit_test(a_cleared_table_is_empty_and_usable),
		cmocka_unit_test(the_hash_is_stable_within_the_process),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
