/* SPDX-License-Identifier: Apache-2.0
 * tail.c - what ends of functions give back, and what is none. */
#include "check.h"

#include "unwind/arch.h"
#include "unwind/tail.h"

#include <string.h>

enum { SP = 0x7000 };

static const struct {
	const char *text;
	u8 code[TAIL_BYTES];
	s64 up; /* -1: it is no end */
	u8 reg; /* that is popped, 0: none */
	s64 at; /* there, from sp on */
} rows[] = {
	{ "ret", { 0xc3 }, 0, 0, 0 },
	{ "add $8, %rsp; ret", { 0x48, 0x83, 0xc4, 8, 0xc3 }, 8, 0, 0 },
	{ "add $0x100, %rsp; ret", { 0x48, 0x81, 0xc4, 0, 1, 0, 0, 0xc3 }, 256, 0, 0 },
	{ "pop %rbp; ret", { 0x5d, 0xc3 }, 8, X86_RBP, 0 },
	{ "add $16, %rsp; pop %rbx; pop %r15; ret",
	  { 0x48, 0x83, 0xc4, 16, 0x5b, 0x41, 0x5f, 0xc3 },
	  32,
	  X86_R15,
	  24 },
	{ "pop %rax; pop %rbx; ret", { 0x58, 0x5b, 0xc3 }, 16, X86_RBX, 8 },
	{ "sub $8, %rsp; ret", { 0x48, 0x83, 0xec, 8, 0xc3 }, -1, 0, 0 },
	{ "add $-8, %rsp; ret", { 0x48, 0x83, 0xc4, 0xf8, 0xc3 }, -1, 0, 0 },
	{ "mov %eax, %ebx; ret", { 0x89, 0xc3, 0xc3 }, -1, 0, 0 },
	{ "pop %rsp; ret", { 0x5c, 0xc3 }, -1, 0, 0 },
	{ "jmp", { 0xeb, 0 }, -1, 0, 0 },
	{ "pops, and nothing behind them", { [0 ... TAIL_BYTES - 1] = 0x5b }, -1, 0, 0 },
	{ "adds, and nothing behind them", { 0x48, 0x81, 0xc4, 0xff, 0xff, 0xff, 0x7f }, -1, 0, 0 },
};

static void each_gives_back_what_it_says(void **state)
{
	(void)state;
	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		struct unwind_walk walk = { .sp = SP };
		struct tail tail = { 0 };

		memcpy(tail.code, rows[i].code, TAIL_BYTES);
		for (u32 step = 0; step < TAIL_STEPS && tail_step(&walk, &tail); step++)
			;
		if (tail.is_over != (rows[i].up >= 0) || (tail.is_over && tail.up != rows[i].up))
			fail_msg("%s: %d, %lld", rows[i].text, tail.is_over, (long long)tail.up);
		if (rows[i].reg)
			assert_int_equal(walk.at[rows[i].reg], SP + rows[i].at);
		assert_int_equal(walk.at[X86_RAX], 0); /* nobody wants it back */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_gives_back_what_it_says) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
