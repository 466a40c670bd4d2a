/* SPDX-License-Identifier: Apache-2.0
 * order.c - spans in the order of their addresses, against taking the least again and again. */
#include "unwind/order.h"

#include "base/rng.h"
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>

enum { COUNT_MAX = 3000 };

static bool is_before(const struct unwind_span *a, const struct unwind_span *b)
{
	if (a->begin != b->begin)
		return a->begin < b->begin;
	if (a->source != b->source)
		return a->source < b->source;
	return a->end < b->end;
}

static void order_slowly(struct unwind_span *spans, u32 count)
{
	for (u32 i = 1; i < count; i++)
		for (u32 k = i; k && is_before(&spans[k], &spans[k - 1]); k--) {
			struct unwind_span other = spans[k];
			spans[k] = spans[k - 1];
			spans[k - 1] = other;
		}
}

/* `range`: of the addresses; a small one has many that are the same. */
static void check(struct rng *rng, u32 count, u64 base, u64 range)
{
	struct unwind_span *spans = calloc(count + 1, sizeof *spans);
	struct unwind_span *expected = calloc(count + 1, sizeof *spans);

	assert_non_null(spans);
	assert_non_null(expected);
	for (u32 i = 0; i < count; i++) {
		spans[i].begin = base + (range ? rng_u64(rng) % range : rng_u64(rng));
		spans[i].end = spans[i].begin + rng_below(rng, 5);
		spans[i].source = (u8)rng_below(rng, 3);
		spans[i].rule = (u16)i;
	}
	memcpy(expected, spans, count * sizeof *spans);
	order_slowly(expected, count);
	assert_true(unwind_order(spans, count));
	for (u32 i = 0; i < count; i++) {
		assert_int_equal(spans[i].begin, expected[i].begin);
		assert_int_equal(spans[i].end, expected[i].end);
		assert_int_equal(spans[i].source, expected[i].source);
		assert_int_equal(spans[i].rule, expected[i].rule);
	}
	free(spans);
	free(expected);
}

static void any_order(void **state)
{
	struct rng rng = { 7 };

	(void)state;

	for (u32 count = 0; count < 20; count++)
		check(&rng, count, 0, 10);
	check(&rng, COUNT_MAX, 0x555555554000, 1 << 12);
	check(&rng, COUNT_MAX, 0x1000, 700 << 20);
	check(&rng, COUNT_MAX, 0, 0); /* all of 64 bits */
	check(&rng, COUNT_MAX, UINT64_MAX - 100, 100);
}

/* Some that come behind many that are in order already. */
static void some_more(void **state)
{
	struct unwind_span spans[1000];
	struct rng rng = { 11 };

	(void)state;
	for (u32 more = 0; more <= 600; more += 50) {
		u32 count = COUNT_OF(spans), first = count - more;
		for (u32 i = 0; i < count; i++)
			spans[i] = (struct unwind_span){
				.begin = i < first ? i * 8 : rng_below(&rng, 8000),
				.source = i >= first,
			};
		assert_true(unwind_order(spans, count));
		u32 later = 0;
		for (u32 i = 0; i < count; i++) {
			later += spans[i].source;
			assert_false(i && is_before(&spans[i], &spans[i - 1]));
		}
		assert_int_equal(later, more);
	}
}

/* A compiler's sections: each in order, one behind the other. */
static void runs(void **state)
{
	struct unwind_span spans[300];

	(void)state;
	for (u32 i = 0; i < COUNT_OF(spans); i++)
		spans[i] = (struct unwind_span){ .begin = i % 3 * 0x100000 + i / 3 * 16 };
	assert_true(unwind_order(spans, COUNT_OF(spans)));
	for (u32 i = 1; i < COUNT_OF(spans); i++)
		assert_true(spans[i - 1].begin < spans[i].begin);
	assert_true(unwind_order(spans, COUNT_OF(spans)));
	assert_true(unwind_order(NULL, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order),
		cmocka_unit_test(some_more),
		cmocka_unit_test(runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
