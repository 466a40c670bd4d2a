/* SPDX-License-Identifier: Apache-2.0
 * kernel-kept-names.c - what was kept is read as it was, and nothing else is. */
#include "check.h"

#include "engines/kernel/kept_names.h"

#include <stdlib.h>
#include <string.h>

enum { CODE = 0x7000, LABEL = 0x9000, LINES = 0xb000, TYPE = 0x400000 };

static bool live_read(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	(void)mem, (void)addr, (void)hold;
	memset(dst, 0xee, len);
	return true;
}

static const struct mem live = { .read = live_read };

struct fixture {
	struct kept_names *kept;
	struct kernel_named named;
	size_t size;
};

static void set_piece(struct kernel_named *named, enum name_place place, u64 addr, u32 at,
		      const char *text)
{
	named->pieces[place] = (struct kernel_piece){ addr, at, (u32)strlen(text) };
	memcpy(named->bytes + at, text, strlen(text));
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	f->kept = kept_names_new();
	f->named.id = CODE;
	f->named.owner = 7;
	set_piece(&f->named, NAME_FUNCTION, CODE, 0, "the code object");
	set_piece(&f->named, NAME_LABEL, LABEL, 100, "its name");
	set_piece(&f->named, NAME_LINES, LINES, 200, "its lines");
	f->size = offsetof(struct kernel_named, bytes) + 209;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	kept_names_free(f->kept);
	free(f);
	return 0;
}

static const struct mem *find(struct fixture *f, u64 incarnation, u64 id, u64 owner)
{
	struct frame frame = { .id = id, .owner = owner };

	return kept_names_find(f->kept, incarnation, &frame, &live);
}

static void it_is_found_by_all_that_it_is(void **state)
{
	struct fixture *f = *state;

	assert_null(find(f, 1, CODE, 7));
	kept_names_add(f->kept, 1, &f->named, f->size);
	assert_non_null(find(f, 1, CODE, 7));
	assert_null(find(f, 2, CODE, 7));     /* another process */
	assert_null(find(f, 1, CODE, 8));     /* another function at its address */
	assert_null(find(f, 1, CODE + 8, 7)); /* another address */
}

static void a_read_is_of_one_piece_as_a_whole(void **state)
{
	static const struct {
		u64 addr;
		u32 len;
		enum mem_hold hold;
		const char *text; /* NULL: it cannot be read */
	} cases[] = {
		{ CODE, 15, MEM_HOLDS, "the code object" },
		{ CODE + 4, 4, MEM_DRIFTS, "code" },
		{ LABEL, 8, MEM_HOLDS, "its name" },
		{ LINES + 4, 5, MEM_CONSTANT, "lines" },
		{ CODE + 4, 12, MEM_HOLDS, NULL }, /* past its end */
		{ CODE - 1, 4, MEM_HOLDS, NULL },  /* before it */
		{ CODE + 15, 1, MEM_HOLDS, NULL },
		{ TYPE, 4, MEM_HOLDS, NULL },
		{ TYPE, 4, MEM_CONSTANT, "\xee\xee\xee\xee" }, /* what stays is there still */
	};
	struct fixture *f = *state;
	char got[16];

	kept_names_add(f->kept, 1, &f->named, f->size);
	const struct mem *mem = find(f, 1, CODE, 7);
	for (u32 i = 0; i < COUNT_OF(cases); i++) {
		bool good = mem->read(mem, cases[i].addr, got, cases[i].len, cases[i].hold);
		assert_int_equal(good, cases[i].text != NULL);
		if (good)
			assert_memory_equal(got, cases[i].text, cases[i].len);
	}
}

static void what_ends_early_is_not_kept(void **state)
{
	struct fixture *f = *state;

	kept_names_add(f->kept, 1, &f->named, f->size - 1);
	kept_names_add(f->kept, 1, &f->named, offsetof(struct kernel_named, bytes) - 1);
	f->named.pieces[NAME_PATH] = (struct kernel_piece){ LABEL, UINT32_MAX, 2 };
	kept_names_add(f->kept, 1, &f->named, f->size);
	assert_null(find(f, 1, CODE, 7));
}

/* The kernel keeps none again that it has seen: of so many as it remembers none may be forgotten. */
static void none_takes_the_place_of_another(void **state)
{
	struct fixture *f = *state;

	for (u32 i = 0; i < KERNEL_SEEN_MAX; i++) {
		f->named.id = CODE + 8 * i;
		kept_names_add(f->kept, 1, &f->named, f->size);
	}
	for (u32 i = 0; i < KERNEL_SEEN_MAX; i++)
		assert_non_null(find(f, 1, CODE + 8 * i, 7));
}

static void the_oldest_are_forgotten(void **state)
{
	struct fixture *f = *state;
	u32 count = 100000, first = 0;

	for (u32 i = 0; i < count; i++) {
		f->named.id = CODE + 8 * i;
		kept_names_add(f->kept, 1, &f->named, f->size);
		assert_non_null(find(f, 1, CODE + 8 * i, 7));
	}
	while (first < count && !find(f, 1, CODE + 8 * first, 7))
		first++;
	assert_in_range(first, count / 4, count - KERNEL_SEEN_MAX);
	for (u32 i = first; i < count; i++)
		assert_non_null(find(f, 1, CODE + 8 * i, 7));
}

static void what_is_kept_again_is_new(void **state)
{
	struct fixture *f = *state;
	char got[8];

	kept_names_add(f->kept, 1, &f->named, f->size);
	set_piece(&f->named, NAME_LABEL, LABEL, 100, "a second");
	kept_names_add(f->kept, 1, &f->named, f->size);
	const struct mem *mem = find(f, 1, CODE, 7);
	assert_true(mem->read(mem, LABEL, got, sizeof got, MEM_HOLDS));
	assert_memory_equal(got, "a second", sizeof got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_is_found_by_all_that_it_is, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_read_is_of_one_piece_as_a_whole, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_ends_early_is_not_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(none_takes_the_place_of_another, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_oldest_are_forgotten, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_kept_again_is_new, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
