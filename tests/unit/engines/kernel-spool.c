/* SPDX-License-Identifier: Apache-2.0
 * kernel-spool.c - records come out as they went in, also while more are put. */
#include "check.h"

#include "engines/kernel/spool.h"

#include <stdlib.h>
#include <string.h>

static void assert_next(struct spool *spool, const char *text)
{
	struct spooled *record = spool_take(spool);

	assert_non_null(record);
	assert_int_equal(record->size, strlen(text));
	assert_memory_equal(record->bytes, text, record->size);
	free(record);
}

static void an_empty_one_has_none(void **state)
{
	struct spool spool = { 0 };

	(void)state;
	assert_null(spool_take(&spool));
	assert_true(spool_put(&spool, "one", 3));
	assert_next(&spool, "one");
	assert_null(spool_take(&spool));
	assert_int_equal(spool.bytes, 0);
	spool_free(&spool);
}

static void the_first_comes_first(void **state)
{
	struct spool spool = { 0 };

	(void)state;
	assert_true(spool_put(&spool, "one", 3));
	assert_true(spool_put(&spool, "second", 6));
	assert_int_equal(spool.bytes, 9);
	assert_next(&spool, "one");
	assert_true(spool_put(&spool, "third", 5));
	assert_next(&spool, "second");
	assert_next(&spool, "third");
	assert_null(spool_take(&spool));
}

static void what_is_left_is_freed(void **state)
{
	struct spool spool = { 0 };

	(void)state;
	assert_true(spool_put(&spool, "one", 3));
	assert_true(spool_put(&spool, "second", 6));
	spool_free(&spool);
	assert_null(spool.first);
	assert_null(spool.last);
	assert_int_equal(spool.bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_one_has_none),
		cmocka_unit_test(the_first_comes_first),
		cmocka_unit_test(what_is_left_is_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
