/* SPDX-License-Identifier: Apache-2.0
 * radix.c - in order, all of them, and equals as they were. */
#include "base/radix.h"
#include "base/rng.h"
#include "check.h"

#include <stddef.h>

enum { COUNT_MAX = 4000 };

struct item {
	u32 place; /* before */
	u64 key;
	u8 rest[9];
};

/* `mask`: of the keys' bits. */
static void check_order(struct rng *rng, u32 count, u64 base, u64 mask)
{
	static struct item items[COUNT_MAX], spare[COUNT_MAX];
	static u64 keys[COUNT_MAX];
	static bool seen[COUNT_MAX];

	memset(seen, 0, sizeof seen);
	for (u32 i = 0; i < count; i++) {
		keys[i] = base + (rng_u64(rng) & mask);
		items[i] = (struct item){ .place = i, .key = keys[i], .rest = { (u8)i } };
	}
	radix_order(items, spare, count, sizeof items[0], offsetof(struct item, key));
	for (u32 i = 0; i < count; i++) {
		const struct item *item = &items[i];
		assert_in_range(item->place, 0, count - 1);
		assert_false(seen[item->place]);
		seen[item->place] = true;
		assert_int_equal(item->key, keys[item->place]);
		assert_int_equal(item->rest[0], (u8)item->place);
		if (!i)
			continue;
		assert_true(item[-1].key <= item->key);
		if (item[-1].key == item->key)
			assert_true(item[-1].place < item->place);
	}
}

static void any_keys(void **state)
{
	static const u64 masks[] = { 0, 1, 0x7ff, 0x800, 0xfff000, UINT32_MAX, UINT64_MAX };
	struct rng rng = { 11 };
	(void)state;

	for (u32 i = 0; i < sizeof masks / sizeof masks[0]; i++)
		for (u32 count = 0; count <= COUNT_MAX; count += count < 4 ? 1 : 799)
			check_order(&rng, count, i % 2 ? 0 : 0x400000, masks[i]);
	check_order(&rng, 100, UINT64_MAX - 0xff, 0xff);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(any_keys) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
