/* SPDX-License-Identifier: Apache-2.0
 * made.c - what loader.c loads as a compiler at run time loads what it has made: without frame pointers, in two sections, and nothing
 * outside is needed. */
#include <stdint.h>

#define APART __attribute__((noinline, noclone))

uint64_t made_outer(uint64_t turns);

__attribute__((section(".text.inner"))) static APART uint64_t made_inner(uint64_t a, uint64_t b,
									 uint64_t turns)
{
	uint64_t c = a ^ b, d = a + b, e = a - b, f = a | b, g = a & b, h = ~a;

	for (uint64_t i = 0; i < turns; i++) {
		__asm__ volatile(""
				 : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g),
				   "+r"(h));
		a += b ^ i;
		c += d ^ e;
		f += g ^ h;
	}
	return a + c + f;
}

static APART uint64_t made_middle(uint64_t turns)
{
	uint64_t first = made_inner(turns, 3, turns), second = made_inner(first, turns, turns);

	return first * second + turns;
}

uint64_t made_outer(uint64_t turns)
{
	return made_middle(turns) + made_middle(turns + 1);
}
