/* SPDX-License-Identifier: Apache-2.0
 * mappings.c - a mapping that is found holds the address, and one that holds it is found. */
#include "check.h"

#include "base/rng.h"
#include "export/mappings.h"

static bool holds(const struct profile_mapping *m, u32 image, u64 address)
{
	return m->path == image && m->end > m->start && address >= m->offset &&
	       address - m->offset < m->end - m->start;
}

static u32 function_in(struct profile *p, u32 image)
{
	struct name_function function = { .image = image };

	return names_function(&p->names, &function);
}

static void what_holds_an_address_is_found(void **state)
{
	enum { IMAGES = 4, MAPPINGS = 300, SPAN = 2000 };
	struct rng rng = { 7 };
	struct mapping_ranges ranges;
	struct profile p;

	(void)state;
	assert_true(profile_init(&p));
	for (u32 i = 0; i < MAPPINGS; i++) {
		struct profile_mapping m = { .start = 100 + rng_below(&rng, 50),
					     .offset = rng_below(&rng, SPAN),
					     .path = (u32)rng_below(&rng, IMAGES) };
		m.end = m.start + rng_below(&rng, 12);
		if (rng_below(&rng, 20) == 0)
			m.end = m.start - 1; /* no mapping at all */
		assert_true(vec_push(&p.mappings, m));
	}
	assert_true(mapping_ranges_make(&ranges, &p));
	for (u32 image = 0; image < IMAGES; image++) {
		for (u64 address = 0; address < SPAN + 20; address++) {
			struct name_location at = { .function = function_in(&p, image),
						    .address = address };
			u32 found = mapping_ranges_find(&ranges, &p.names, &at);
			bool is_held = false;
			for (u32 i = 0; image && i < MAPPINGS; i++)
				is_held |= holds(&p.mappings.at[i], image, address);
			assert_int_equal(found != 0, is_held);
			if (found)
				assert_true(holds(&p.mappings.at[found - 1], image, address));
		}
	}
	mapping_ranges_free(&ranges);
	profile_free(&p);
}

/* Processes with the same file at the same place: the first one's. And any numbers do no harm. */
static void the_first_process_has_it(void **state)
{
	static const struct profile_mapping mappings[] = {
		{ .start = 0x5000, .end = 0x6000, .offset = 0x1000, .path = 1 },
		{ .start = 0x9000, .end = 0xa000, .offset = 0x1000, .path = 1 },
		{ .start = 0, .end = UINT64_MAX, .offset = UINT64_MAX - 1, .path = 1 },
	};
	struct mapping_ranges ranges;
	struct profile p;

	(void)state;
	assert_true(profile_init(&p));
	for (u32 i = 0; i < COUNT_OF(mappings); i++)
		assert_true(vec_push(&p.mappings, mappings[i]));
	assert_true(mapping_ranges_make(&ranges, &p));
	struct name_location at = { .function = function_in(&p, 1), .address = 0x1fff };
	assert_int_equal(mapping_ranges_find(&ranges, &p.names, &at), 1);
	at.address = 0x2000;
	assert_int_equal(mapping_ranges_find(&ranges, &p.names, &at), 0);
	mapping_ranges_free(&ranges);
	profile_free(&p);
}

static void many_are_not_their_square(void **state)
{
	enum { MANY = 300000 };
	struct mapping_ranges ranges;
	struct profile p;

	(void)state;
	assert_true(profile_init(&p));
	for (u32 i = 0; i < MANY; i++) {
		struct profile_mapping m = {
			.start = i, .end = i + 1, .offset = MANY - i, .path = 1
		};
		assert_true(vec_push(&p.mappings, m));
	}
	assert_true(mapping_ranges_make(&ranges, &p));
	struct name_location at = { .function = function_in(&p, 1) };
	for (u32 i = 0; i < MANY; i++) {
		at.address = MANY - i;
		assert_int_equal(mapping_ranges_find(&ranges, &p.names, &at), i + 1);
	}
	mapping_ranges_free(&ranges);
	profile_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_holds_an_address_is_found),
		cmocka_unit_test(the_first_process_has_it),
		cmocka_unit_test(many_are_not_their_square),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
