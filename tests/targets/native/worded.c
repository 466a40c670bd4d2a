/* SPDX-License-Identifier: Apache-2.0
 * worded.c - says in a word which of its functions it is in: see word.h. */
#include "truth.h"
#include "word.h"

#define APART __attribute__((noinline))

static volatile uint64_t turns;
static uint64_t seed = 88172645463325252u;

/* xorshift64 (Marsaglia): so that no two calls are alike. */
static inline uint64_t draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static inline void spin(void)
{
	for (uint64_t left = draw() & 63; left; left--)
		turns++;
}

#define INNER(n, first, second)      \
	APART static void f##n(void) \
	{                            \
		word_say(n);         \
		spin();              \
		if (draw() & 1)      \
			f##first();  \
		else                 \
			f##second(); \
		word_say(n);         \
		spin();              \
		f##second();         \
		word_say(n);         \
		turns++;             \
	}
#define LEAF(n)                      \
	APART static void f##n(void) \
	{                            \
		word_say(n);         \
		spin();              \
		turns++;             \
	}

LEAF(14)
LEAF(13)
LEAF(12)
LEAF(11)
LEAF(10)
LEAF(9)
LEAF(8)
LEAF(7)
INNER(6, 13, 14)
INNER(5, 11, 12)
INNER(4, 9, 10)
INNER(3, 7, 8)
INNER(2, 5, 6)
INNER(1, 3, 4)
INNER(0, 1, 2)

APART static void run(void)
{
	while (!truth_stop) {
		f0();
		word_say(WORD_RUN);
		turns++;
	}
}

int main(void)
{
	word_begin();
	truth_ready("");
	run();
	printf("{}\n");
	return 0;
}
