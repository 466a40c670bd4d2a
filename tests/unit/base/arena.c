/* SPDX-License-Identifier: Apache-2.0
 * arena.c - memory is aligned, zeroed, apart, and given back whole. */
#include "base/arena.h"
#include "check.h"
#include <string.h>

static void pieces_are_aligned_zeroed_and_apart(void **state)
{
	struct arena arena = { 0 };
	char *piece[2000];
	(void)state;

	for (u32 i = 0; i < COUNT_OF(piece); i++) {
		size_t size = 1 + i % 97;
		piece[i] = arena_alloc(&arena, size);
		assert_non_null(piece[i]);
		assert_int_equal((uintptr_t)piece[i] % 16, 0);
		for (size_t n = 0; n < size; n++)
			assert_int_equal(piece[i][n], 0);
		memset(piece[i], (int)(i & 0x7f) | 1, size);
	}
	for (u32 i = 0; i < COUNT_OF(piece); i++)
		for (size_t n = 0; n < 1 + i % 97; n++)
			assert_int_equal(piece[i][n], (i & 0x7f) | 1);
	arena_free(&arena);
	assert_null(arena.last);
	assert_int_equal(arena.total, 0);
}

static void a_piece_larger_than_a_block_gets_its_own(void **state)
{
	struct arena arena = { 0 };
	(void)state;

	char *small = arena_alloc(&arena, 8);
	char *large = arena_alloc(&arena, 1 << 20);
	char *after = arena_alloc(&arena, 8);
	assert_non_null(small);
	assert_non_null(large);
	assert_non_null(after);
	memset(large, 0xff, 1 << 20);
	assert_int_equal(small[0], 0);
	assert_int_equal(after[0], 0);
	assert_true(arena.total >= (1 << 20) + 16);
	arena_free(&arena);
}

static void copies_end_with_nul_and_keep_inner_nuls(void **state)
{
	struct arena arena = { 0 };
	(void)state;

	char *copy = arena_copy(&arena, "a\0bXXXX", 3);
	assert_memory_equal(copy, "a\0b\0", 4);
	assert_string_equal(arena_copy(&arena, "", 0), "");
	arena_free(&arena);
}

static void absurd_sizes_are_refused(void **state)
{
	struct arena arena = { 0 };
	(void)state;

	assert_null(arena_alloc(&arena, SIZE_MAX));
	assert_null(arena_alloc(&arena, SIZE_MAX - 14));
	assert_null(arena_alloc(&arena, SIZE_MAX / 2));
	assert_non_null(arena_alloc(&arena, 1));
	arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_are_aligned_zeroed_and_apart),
		cmocka_unit_test(a_piece_larger_than_a_block_gets_its_own),
		cmocka_unit_test(copies_end_with_nul_and_keep_inner_nuls),
		cmocka_unit_test(absurd_sizes_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
