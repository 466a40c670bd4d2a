/* SPDX-License-Identifier: Apache-2.0
 * calls.c WHAT COUNT - outer > middle > inner does something COUNT times, and says how often and how long that was;
 * of its sleeps, how many were to be long, and how many were.
 *
 *	pid     asks for its parent's pid
 *	sleep   sleeps: every fourth time 4 ms, else 100 us
 *	missing opens a file that is not there
 *	legacy  asks as a program of 32 bits does, whose number is semget's in 64 bits, and then as pid does
 *	probed  calls a function, and comes by two probes (USDT); one of them is there when somebody listens
 */
#include "truth.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define APART __attribute__((noinline))

static volatile uint64_t turns;
enum { SHORT_NS = 100 * 1000, LONG_NS = 4 * 1000 * 1000, LONG_ENOUGH_NS = 3 * 1000 * 1000 };

static uint64_t long_ones, as_long, slept_ns;

APART void calls_probed(unsigned n);
APART void calls_probed(unsigned n)
{
	turns += n;
}

APART static void nap(unsigned n)
{
	struct timespec time = { 0, n % 4 ? SHORT_NS : LONG_NS };
	uint64_t begin = truth_ns(CLOCK_MONOTONIC);

	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
	uint64_t ns = truth_ns(CLOCK_MONOTONIC) - begin;
	slept_ns += ns;
	long_ones += n % 4 == 0;
	as_long += ns >= LONG_ENOUGH_NS;
}

/* What SystemTap's sys/sdt.h makes of DTRACE_PROBE(). */
#define PROBE(name, semaphore)                                                              \
	__asm__ volatile(                                                                   \
		"990: nop\n"                                                                \
		".pushsection .note.stapsdt, \"\", \"note\"\n"                              \
		".balign 4\n"                                                               \
		".4byte 992f - 991f, 994f - 993f, 3\n"                                      \
		"991: .asciz \"stapsdt\"\n"                                                 \
		"992: .balign 4\n"                                                          \
		"993: .8byte 990b, _.stapsdt.base, " semaphore "\n"                         \
		".asciz \"calls\"\n"                                                        \
		".asciz \"" name "\"\n"                                                     \
		".asciz \"\"\n"                                                             \
		"994: .balign 4\n"                                                          \
		".popsection\n"                                                             \
		".ifndef _.stapsdt.base\n"                                                  \
		".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n" \
		".weak _.stapsdt.base\n"                                                    \
		".hidden _.stapsdt.base\n"                                                  \
		"_.stapsdt.base: .space 1\n"                                                \
		".size _.stapsdt.base, 1\n"                                                 \
		".popsection\n"                                                             \
		".endif\n")

unsigned short calls_listened __attribute__((section(".probes"), used));

APART static void probed(unsigned n)
{
	calls_probed(n);
	PROBE("always", "0");
	if (*(volatile unsigned short *)&calls_listened)
		PROBE("listened", "calls_listened");
	turns++;
}

/* getppid is 64 of those that `int 0x80` calls; a kernel without them sends SIGSEGV. */
APART static void legacy(void)
{
	long result = 64;

	__asm__ volatile("int $0x80" : "+a"(result) : : "r8", "r9", "r10", "r11", "memory");
	turns += (uint64_t)result;
}

APART static void inner(const char *what, unsigned n)
{
	if (!strcmp(what, "pid"))
		turns += (uint64_t)syscall(SYS_getppid);
	else if (!strcmp(what, "sleep"))
		nap(n);
	else if (!strcmp(what, "legacy")) {
		legacy();
		turns += (uint64_t)syscall(SYS_getppid);
	} else if (!strcmp(what, "missing"))
		turns += (uint64_t)open("/made/up/file", O_RDONLY);
	else
		probed(n);
	turns++;
}

APART static void middle(const char *what, unsigned n)
{
	inner(what, n);
	turns++;
}

APART static void outer(const char *what, unsigned count)
{
	for (unsigned n = 0; n < count; n++)
		middle(what, n);
	turns++;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	unsigned count = (unsigned)atoi(argv[2]);
	uint64_t begin = truth_ns(CLOCK_MONOTONIC);
	outer(argv[1], count);
	printf("{\"count\": %u, \"ns\": %llu, \"long\": %llu, \"as_long\": %llu, \"slept_ns\": %llu}\n",
	       count, (unsigned long long)(truth_ns(CLOCK_MONOTONIC) - begin),
	       (unsigned long long)long_ones, (unsigned long long)as_long,
	       (unsigned long long)slept_ns);
	return 0;
}
