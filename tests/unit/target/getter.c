/* SPDX-License-Identifier: Apache-2.0
 * getter.c - getters as compilers made them, byte by byte. */
#include "target/getter.h"

#include "base/rng.h"
#include "unit/memory.h"

enum { CODE = 0x10000 };

static bool decode(const u8 *bytes, u32 length, struct getter *out)
{
	struct memory memory;

	memory_init(&memory, CODE, 4096);
	memory_put(&memory, CODE, bytes, length);
	bool ok = getter_read(&memory.mem, CODE, out);
	free(memory.bytes);
	return ok;
}
#define DECODE(getter, ...) \
	decode((const u8[]){ __VA_ARGS__ }, sizeof((const u8[]){ __VA_ARGS__ }), getter)

static void a_getter_through_the_got(void **state)
{
	struct getter getter;

	(void)state;
	/* Debian's 3.1.2, rb_gc_count */
	assert_true(DECODE(&getter, 0x48, 0x8b, 0x05, 0x81, 0xe7, 0x2d, 0x00, 0x48, 0x8b, 0x00,
			   0x48, 0x8b, 0x80, 0x50, 0x04, 0x00, 0x00, 0x48, 0x8b, 0x80, 0xb8, 0x01,
			   0x00, 0x00, 0xc3));
	assert_int_equal(getter.base, CODE + 7 + 0x2de781);
	assert_int_equal(getter.loads, 4);
	assert_int_equal(getter.displacement[0], 0);
	assert_int_equal(getter.displacement[2], 1104);
	assert_int_equal(getter.displacement[3], 440);
	/* rb_during_gc */
	assert_true(DECODE(&getter, 0x48, 0x8b, 0x05, 0xa1, 0xe7, 0x2d, 0x00, 0x48, 0x8b, 0x00,
			   0x48, 0x8b, 0x80, 0x50, 0x04, 0x00, 0x00, 0x0f, 0xb6, 0x40, 0x10, 0xc0,
			   0xe8, 0x05, 0x83, 0xe0, 0x01, 0xc3));
	assert_int_equal(getter.loads, 4);
	assert_int_equal(getter.displacement[3], 16);
	assert_int_equal(getter.shift, 5);
}

static void a_getter_with_a_test_for_null(void **state)
{
	struct getter getter;

	(void)state;
	/* Debian's 3.4.11, rb_during_gc */
	assert_true(DECODE(&getter, 0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x8d, 0x05, 0x85, 0xc3, 0x3d,
			   0x00, 0x48, 0x8b, 0x00, 0x48, 0x85, 0xc0, 0x74, 0x15, 0x48, 0x8b, 0x80,
			   0x10, 0x05, 0x00, 0x00, 0x0f, 0xb6, 0x40, 0x14, 0xc0, 0xe8, 0x05, 0x83,
			   0xe0, 0x01, 0xc3));
	assert_int_equal(getter.base, CODE + 11 + 0x3dc385);
	assert_int_equal(getter.loads, 3);
	assert_int_equal(getter.displacement[0], 0);
	assert_int_equal(getter.displacement[1], 1296);
	assert_int_equal(getter.displacement[2], 20);
	assert_int_equal(getter.shift, 5);
}

static void a_getter_that_calls_another(void **state)
{
	struct getter getter;

	(void)state;
	/* Debian's 3.4.11, rb_gc_count */
	assert_true(DECODE(&getter, 0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 0x08, 0xe8, 0x73,
			   0x10, 0xf3, 0xff, 0x48, 0x8b, 0x80, 0xf0, 0x03, 0x00, 0x00, 0x48, 0x83,
			   0xc4, 0x08, 0xc3));
	assert_int_equal(getter.base, 0);
	assert_int_equal(getter.loads, 1);
	assert_int_equal(getter.displacement[0], 1008);
}

static void a_variable_that_is_compared(void **state)
{
	struct getter getter;

	(void)state;
	/* 2.7.17, PyEval_ThreadsInitialized */
	assert_true(DECODE(&getter, 0x31, 0xc0, 0x48, 0x83, 0x3d, 0x04, 0xbb, 0x4c, 0x00, 0x00,
			   0x0f, 0x95, 0xc0, 0xc3));
	assert_int_equal(getter.base, CODE + 10 + 0x4cbb04);
	assert_int_equal(getter.loads, 1);
	assert_int_equal(getter.displacement[0], 0);
	/* add to it instead */
	assert_false(DECODE(&getter, 0x48, 0x83, 0x05, 0x04, 0xbb, 0x4c, 0x00, 0x01, 0xc3));
}

static void comparisons_of_rb_id2str(void **state)
{
	struct getter getter;

	(void)state;
	/* 3.4.11: ends in a jump */
	assert_true(DECODE(&getter, 0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x89, 0xf8, 0x31, 0xf6, 0x48,
			   0xc1, 0xef, 0x04, 0x48, 0x3d, 0xaa, 0x00, 0x00, 0x00, 0x48, 0x0f, 0x46,
			   0xf8, 0xe9, 0xd4, 0xde, 0xff, 0xff));
	assert_int_equal(getter.compared, 170);
	/* 2.7.4: ends in what is not decoded; what came before is known */
	DECODE(&getter, 0x48, 0x89, 0xf8, 0x48, 0xc1, 0xe8, 0x04, 0x48, 0x81, 0xff, 0xa8, 0x00,
	       0x00, 0x00, 0x0f, 0x47, 0xf8, 0x85, 0xff, 0x74, 0x13, 0x3b, 0x3d, 0x75, 0x06, 0x16,
	       0x00);
	assert_int_equal(getter.compared, 168);
}

static void other_compilers(void **state)
{
	struct getter getter;

	(void)state;
	/* clang, static, frame pointer: push rbp; mov rsp,rbp; mov rip,rax; mov; testb $32,16(rax);
	 * setne al; pop; ret */
	assert_true(DECODE(&getter, 0x55, 0x48, 0x89, 0xe5, 0x48, 0x8b, 0x05, 0x10, 0x00, 0x00,
			   0x00, 0x48, 0x8b, 0x80, 0x50, 0x04, 0x00, 0x00, 0xf6, 0x40, 0x10, 0x20,
			   0x0f, 0x95, 0xc0, 0x5d, 0xc3));
	assert_int_equal(getter.base, CODE + 11 + 16);
	assert_int_equal(getter.loads, 3);
	assert_int_equal(getter.displacement[2], 16);
	assert_int_equal(getter.shift, 5);
	/* An alias that jumps, over 11 bytes, to mov rip-rel; ret */
	assert_true(DECODE(&getter, 0xe9, 0x0b, 0x00, 0x00, 0x00, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
			   0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0x48, 0x8b, 0x05, 0x01, 0x00, 0x00,
			   0x00, 0xc3));
	assert_int_equal(getter.base, CODE + 23 + 1);
}

static void what_python_returns(void **state)
{
	struct getter getter;

	(void)state;
	/* Debian's 2.7.18, PyInterpreterState_Head */
	assert_true(DECODE(&getter, 0x48, 0x8b, 0x05, 0xbb, 0xa4, 0x2b, 0x00, 0xc3));
	assert_int_equal(getter.base, CODE + 7 + 0x2ba4bb);
	assert_int_equal(getter.loads, 1);
	assert_int_equal(getter.displacement[0], 0);
}

static void what_it_does_not_know_ends_it(void **state)
{
	struct getter getter;

	(void)state;
	/* A load through a register that does not hold the value */
	assert_false(DECODE(&getter, 0x48, 0x8b, 0x05, 0, 0, 0, 0, 0x48, 0x8b, 0x43, 0x08, 0xc3));
	/* A SIB byte */
	assert_false(DECODE(&getter, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0, 0xc3));
	/* A jump to itself */
	assert_false(DECODE(&getter, 0xeb, 0xfe));
	/* Seven loads */
	assert_false(DECODE(&getter, 0x48, 0x8b, 0x05, 0, 0, 0, 0, 0x48, 0x8b, 0x00, 0x48, 0x8b,
			    0x00, 0x48, 0x8b, 0x00, 0x48, 0x8b, 0x00, 0x48, 0x8b, 0x00, 0x48, 0x8b,
			    0x00, 0xc3));
}

/* Whatever the bytes are, it ends, within them. */
static void random_bytes_are_survived(void **state)
{
	struct rng rng = { 1 };
	struct getter getter;

	(void)state;
	for (u32 i = 0; i < 20000; i++) {
		u64 bytes[12];
		for (u32 k = 0; k < COUNT_OF(bytes); k++)
			bytes[k] = rng_u64(&rng);
		decode((const u8 *)bytes, sizeof bytes, &getter);
		assert_true(getter.loads <= GETTER_LOADS_MAX);
	}
}

static void addresses_are_followed(void **state)
{
	struct getter getter = { .base = 0x20000, .loads = 3, .displacement = { 0, 8, 16 } };
	struct memory memory;
	u64 addr;

	(void)state;
	memory_init(&memory, 0x20000, 4096);
	memory_put_u64(&memory, 0x20000, 0x20100);
	memory_put_u64(&memory, 0x20108, 0x20200);
	assert_true(getter_address(&memory.mem, &getter, 0, &addr));
	assert_int_equal(addr, 0x20000);
	assert_true(getter_address(&memory.mem, &getter, 2, &addr));
	assert_int_equal(addr, 0x20210);
	assert_false(getter_address(&memory.mem, &getter, 3, &addr));
	getter.base = 0x9000;
	assert_false(getter_address(&memory.mem, &getter, 1, &addr));
	free(memory.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_getter_through_the_got),
		cmocka_unit_test(a_getter_with_a_test_for_null),
		cmocka_unit_test(a_getter_that_calls_another),
		cmocka_unit_test(a_variable_that_is_compared),
		cmocka_unit_test(comparisons_of_rb_id2str),
		cmocka_unit_test(other_compilers),
		cmocka_unit_test(what_python_returns),
		cmocka_unit_test(what_it_does_not_know_ends_it),
		cmocka_unit_test(random_bytes_are_survived),
		cmocka_unit_test(addresses_are_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
