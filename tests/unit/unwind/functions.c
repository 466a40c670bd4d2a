/* SPDX-License-Identifier: Apache-2.0
 * functions.c - bounds, callers and cold parts, of this program itself. */
#include "check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/functions.h"

/* Functions as they are in what is released. */
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone, optimize("O2")))
#endif

static volatile unsigned seen;

APART static void called(unsigned n)
{
	seen += n;
	__asm__ volatile("");
}

APART static void calls_once(unsigned n)
{
	called(n);
	seen++;
}

APART static void calls_twice(unsigned n)
{
	called(n);
	seen++;
	called(n + 1);
	seen++;
}

/* As a compiler ends a function that ends with a call. */
__attribute__((naked, used)) static void jumps(void)
{
	__asm__ volatile(".byte 0xe9; .long called - . - 4");
}

__attribute__((noinline, cold)) static void rare(void)
{
	seen++;
	__asm__ volatile("");
}

/* What is unlikely goes into a part of its own, where the compiler makes such. */
APART static void has_a_rare_part(const unsigned char *bytes, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (__builtin_expect(bytes[i] == 255, 0)) {
			rare();
			seen += bytes[i] * 3u;
			rare();
		}
		seen += bytes[i];
	}
}

APART static void is_told(unsigned n, const char *where)
{
	seen += n + (where ? (unsigned char)where[0] : 0);
	__asm__ volatile("");
}

APART static void tells(unsigned n)
{
	is_told(n, NULL);
	seen++;
	is_told(n + 1, "here and nowhere else");
	seen++;
	is_told(n + 2, NULL);
	seen++;
}

__attribute__((naked, used)) static void stores(void)
{
	__asm__ volatile(
		"push %rbx; mov %rcx, 0x18(%rsp); mov %rbx, 0x10(%rbp); mov 0x18(%rbp), %rbx\n"
		"stores_here: mov %rbx, 0x18(%r12); mov %rbx, 0x18(%rbp); ret\n");
}
extern char stores_here[];

static struct image *self(void)
{
	struct image *image = image_open(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), "self",
					 NULL);

	assert_non_null(image);
	return image;
}

static const struct unwind_function *named(const struct unwind_functions *functions,
					   const char *name)
{
	struct image_symbol symbol;

	assert_true(image_symbol_named(functions->image, name, &symbol));
	const struct unwind_function *function = unwind_function_at(functions, symbol.value);
	assert_non_null(function);
	assert_true(function->begin == symbol.value);
	assert_ptr_equal(unwind_function_at(functions, symbol.value + symbol.size - 1), function);
	return function;
}

static void functions_have_bounds_and_callers(void **unused)
{
	struct unwind_function found[4];
	struct unwind_functions functions;
	struct image *image = self();

	(void)unused;
	calls_once(1);
	calls_twice(1);
	assert_true(unwind_functions_read(&functions, image));
	const struct unwind_function *of = named(&functions, "called");
	assert_false(of->is_part);
	assert_int_equal(unwind_function_callers(&functions, of, found, COUNT_OF(found)), 2);
	u64 once = named(&functions, "calls_once")->begin;
	u64 twice = named(&functions, "calls_twice")->begin;
	assert_true((found[0].begin == once && found[1].begin == twice) ||
		    (found[1].begin == once && found[0].begin == twice));
	/* more than there is room for */
	assert_int_equal(unwind_function_callers(&functions, of, found, 1), 2);
	assert_int_equal(unwind_function_callers(&functions, of, found, 0), 1);
	assert_null(unwind_function_at(&functions, 0));
	assert_null(unwind_function_at(&functions, UINT64_MAX));
	unwind_functions_free(&functions);
	image_close(image);
}

static void doors_lead_to_it_by_calls_and_jumps(void **unused)
{
	struct unwind_function found[4];
	struct unwind_functions functions;
	struct image *image = self();

	(void)unused;
	calls_once(1);
	assert_true(unwind_functions_read(&functions, image));
	const struct unwind_function *of = named(&functions, "called");
	u64 once = named(&functions, "calls_once")->begin;
	u64 twice = named(&functions, "calls_twice")->begin;
	u64 jumps = named(&functions, "jumps")->begin;
	assert_int_equal(unwind_function_doors(&functions, of, found, COUNT_OF(found)), 3);
	u32 seen_of[3] = { 0 };
	for (u32 i = 0; i < 3; i++) {
		seen_of[0] += found[i].begin == once;
		seen_of[1] += found[i].begin == twice;
		seen_of[2] += found[i].begin == jumps;
	}
	assert_true(seen_of[0] == 1 && seen_of[1] == 1 && seen_of[2] == 1);
	unwind_functions_free(&functions);
	image_close(image);
}

static void calls_with_a_text_are_told_from_those_without(void **unused)
{
	struct unwind_functions functions;
	struct image *image = self();
	u64 found[4] = { 0 };

	(void)unused;
	tells(1);
	assert_true(unwind_functions_read(&functions, image));
	const struct unwind_function *of = named(&functions, "tells");
	u64 told = named(&functions, "is_told")->begin;
	assert_int_equal(
		unwind_function_text_calls(&functions, of, told, 1, found, COUNT_OF(found)), 1);
	assert_true(found[0] > of->begin && found[0] < of->end);
	assert_int_equal(unwind_function_text_calls(&functions, of, told, 1, found, 0), 0);
	/* not the first argument, nor of another function */
	assert_int_equal(
		unwind_function_text_calls(&functions, of, told, 0, found, COUNT_OF(found)), 0);
	u64 other = named(&functions, "called")->begin;
	assert_int_equal(
		unwind_function_text_calls(&functions, of, other, 1, found, COUNT_OF(found)), 0);
	unwind_functions_free(&functions);
	image_close(image);
}

static void the_first_store_is_found(void **unused)
{
	struct unwind_functions functions;
	struct image *image = self();

	(void)unused;
	assert_true(unwind_functions_read(&functions, image));
	u64 begin = named(&functions, "stores")->begin;
	u64 at = unwind_function_store(&functions, begin, 0x18);
	assert_int_equal(at - begin, (u64)(stores_here - (char *)stores));
	assert_int_equal(unwind_function_store(&functions, begin, 0x7f), 0);
	assert_int_equal(unwind_function_store(&functions, begin, 0x1018), 0);
	assert_int_equal(unwind_function_store(&functions, 0, 0x18), 0);
	unwind_functions_free(&functions);
	image_close(image);
}

static void a_cold_part_is_its_functions(void **unused)
{
	static const unsigned char bytes[] = { 1, 255, 3 };
	struct unwind_function found[4];
	struct unwind_functions functions;
	struct image *image = self();
	struct image_symbol cold;

	(void)unused;
	has_a_rare_part(bytes, sizeof bytes);
	assert_true(unwind_functions_read(&functions, image));
	u32 count = unwind_function_parts(&functions, named(&functions, "has_a_rare_part"), found,
					  COUNT_OF(found));
	if (image_symbol_named(image, "has_a_rare_part.cold", &cold)) {
		assert_int_equal(count, 1);
		assert_true(found[0].begin == cold.value);
		assert_true(found[0].is_part);
	} else {
		assert_int_equal(count, 0); /* clang, or without optimization: it is in one piece */
	}
	unwind_functions_free(&functions);
	image_close(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_have_bounds_and_callers),
		cmocka_unit_test(doors_lead_to_it_by_calls_and_jumps),
		cmocka_unit_test(calls_with_a_text_are_told_from_those_without),
		cmocka_unit_test(the_first_store_is_found),
		cmocka_unit_test(a_cold_part_is_its_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
