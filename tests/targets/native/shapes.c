/* SPDX-License-Identifier: Apache-2.0
 * shapes.c THREADS - stacks of every shape that C makes: to be built with -O2, without frame pointers.
 *
 * Nested calls, recursion, frames of variable size, realigned frames, switches, callbacks out of libc, calls through the
 * PLT, the vDSO and the kernel, assembly that realigns its stack, handlers of signals that come by themselves (on a stack of their own) and of some that the
 * program raises.  Every function stays on the stack while what it calls runs: it adds something to the result. */
#include "truth.h"

#include <alloca.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>

#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone))
#endif

/* Who calls whom; anybody may be interrupted by on_signal. */
#define CALLS                                                                                                                 \
	", \"calls\": {\"main\": [\"turn\"], \"work\": [\"turn\"], \"turn\": [\"nested\", \"recurse\", "                      \
	"\"variable\", \"realigned\", \"chosen\", \"sorted\", \"called\", \"clocked\", \"entered\", \"raised\", "             \
	"\"assembled\"], \"assembled\": [\"leaf\"], "                                                                         \
	"\"nested\": [\"nested_two\"], \"nested_two\": [\"nested_three\"], \"nested_three\": [\"leaf\"], "                    \
	"\"recurse\": [\"recurse\", \"leaf\"], \"variable\": [\"leaf\"], "                                                    \
	"\"realigned\": [\"leaf\", \"nested\"], \"sorted\": [\"compare\"], \"compare\": [\"leaf\"], \"chosen\": [\"leaf\"], " \
	"\"on_signal\": [\"nested\"], \"leaf\": [], \"called\": [], \"clocked\": [], \"entered\": [], "                       \
	"\"raised\": []}, \"first\": [\"main\", \"work\"]"

static volatile sig_atomic_t handled;

__attribute__((used)) APART static uint64_t leaf(uint64_t turns)
{
	uint64_t sum = turns;

	for (uint64_t i = 0; i < turns; i++)
		__asm__ volatile("add %1, %0" : "+r"(sum) : "r"(i));
	return sum;
}

APART static uint64_t nested_three(uint64_t n)
{
	return leaf(n) + 3;
}

APART static uint64_t nested_two(uint64_t n)
{
	return nested_three(n) * 5 + nested_three(n / 2);
}

APART static uint64_t nested(uint64_t n)
{
	return nested_two(n) ^ 1;
}

APART static uint64_t recurse(unsigned depth, uint64_t n)
{
	if (!depth)
		return leaf(n);
	return recurse(depth - 1, n) + depth;
}

APART static uint64_t variable(unsigned size, uint64_t n)
{
	char *room = alloca(size);

	memset(room, (int)n, size);
	return leaf(n) + (uint64_t)room[size / 2];
}

/* A frame on a boundary of 64 bytes, and of variable size: gcc keeps the CFA in it. */
APART static uint64_t realigned(unsigned size, uint64_t n)
{
	_Alignas(64) volatile uint64_t line[8] = { n };
	char *room = alloca(size);

	memset(room, (int)n, size);
	return leaf(n) + line[n & 7] + (uint64_t)room[size / 2] + nested(n / 4);
}

/* Long cases, of a switch that is large enough for a table. */
APART static uint64_t chosen(uint64_t n)
{
	uint64_t sum = n;

#define CASE(number, step)                                           \
	case number:                                                 \
		for (uint64_t j = 0; j < 30 + (number); j++)         \
			__asm__ volatile(step : "+r"(sum) : "r"(j)); \
		break
	for (uint64_t i = 0; i < 24; i++)
		switch ((n + i) % 12) {
			CASE(0, "add %1, %0");
			CASE(1, "sub %1, %0");
			CASE(2, "xor %1, %0");
			CASE(3, "and %1, %0");
			CASE(4, "imul %1, %0");
			CASE(5, "adc %1, %0");
			CASE(6, "lea 1(%1,%0), %0");
			CASE(7, "lea 2(%1,%0), %0");
			CASE(8, "lea 3(%1,%0), %0");
			CASE(9, "lea 4(%1,%0), %0");
		default:
			sum += leaf(20) + n;
		}
#undef CASE
	return sum;
}

APART static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	leaf(3);
	return (a > b) - (a < b);
}

APART static uint64_t sorted(uint64_t n)
{
	uint64_t words[40];

	for (unsigned i = 0; i < 40; i++)
		words[i] = (n + 1) * 2654435761u * (i + 7) % 1009;
	qsort(words, 40, sizeof words[0], compare);
	return words[0] + 1;
}

APART static uint64_t called(uint64_t n)
{
	char text[64];

	snprintf(text, sizeof text, "%llx %s", (unsigned long long)n, "word");
	return strlen(text) + (uint64_t)strtol(text, NULL, 16);
}

APART static uint64_t clocked(uint64_t n)
{
	struct timespec now;

	for (unsigned i = 0; i < 20; i++) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		n += (uint64_t)now.tv_nsec;
	}
	return n + 1;
}

APART static uint64_t entered(uint64_t n)
{
	for (unsigned i = 0; i < 20; i++)
		n += (uint64_t)syscall(SYS_getppid);
	return n + 1;
}

#ifdef __x86_64__
/* As OpenBLAS's: without a table, ever. It stores what a callee saves, holds the stack pointer in a register while the stack is realigned, and
 * counts in the frame pointer. */
uint64_t assembled(uint64_t n);
__asm__(".text\n.p2align 4\n.globl assembled\n.type assembled, @function\n"
	"assembled:\n"
	"	sub $0x28, %rsp\n"
	"	mov %rbx, (%rsp)\n"
	"	mov %rbp, 8(%rsp)\n"
	"	mov %r12, 0x10(%rsp)\n"
	"	mov %rsp, %rbx\n"
	"	sub $0x400, %rsp\n"
	"	and $-256, %rsp\n"
	"	mov %rdi, %r12\n"
	"	mov $50, %ebp\n"
	"1:	addq $1, 8(%rsp)\n"
	"	add %rbp, %r12\n"
	"	dec %ebp\n"
	"	jnz 1b\n"
	"	mov $400, %edi\n"
	"	lea 2f(%rip), %rax\n"
	"	call *(%rax)\n"
	"	add %r12, %rax\n"
	"	mov %rbx, %rsp\n"
	"	mov (%rsp), %rbx\n"
	"	mov 8(%rsp), %rbp\n"
	"	mov 0x10(%rsp), %r12\n"
	"	add $0x28, %rsp\n"
	"	ret\n"
	".size assembled, . - assembled\n"
	".section .data.rel, \"aw\"\n.p2align 3\n"
	"2:	.quad leaf\n"
	".text\n");
#else
APART static uint64_t assembled(uint64_t n)
{
	return leaf(n) + 1;
}
#endif

APART static void on_signal(int number)
{
	handled += (sig_atomic_t)nested(200) + number;
}

APART static uint64_t raised(uint64_t n)
{
	raise(SIGUSR1);
	return n + (uint64_t)handled;
}

APART static uint64_t turn(uint64_t n)
{
	uint64_t sum = nested(600);

	sum += recurse(200, 400);
	sum += variable(64 + n % 512, 400);
	sum += realigned(64 + n % 512, 400);
	sum += chosen(n);
	sum += sorted(n);
	sum += called(n);
	sum += clocked(n);
	sum += entered(n);
	sum += raised(n);
	sum += assembled(n);
	sum += recurse(n % 1000, 100);
	return sum;
}

static void *work(void *unused)
{
	uint64_t sum = 0;

	(void)unused;
	for (uint64_t n = 0; !truth_stop; n++)
		sum += turn(n);
	return (void *)(uintptr_t)sum;
}

static void handle_signals(void)
{
	static char stack[1 << 16];
	stack_t own = { .ss_sp = stack, .ss_size = sizeof stack };
	struct sigaction raised_one = { .sa_handler = on_signal };
	struct sigaction timer = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART };
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } };

	sigaltstack(&own, NULL);
	sigaction(SIGUSR1, &raised_one, NULL);
	sigaction(SIGVTALRM, &timer, NULL);
	setitimer(ITIMER_VIRTUAL, &often, NULL);
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t others[16];
	uint64_t turns = 0, sum = 0;

	if (threads < 1 || threads > 16)
		return 2;
	handle_signals();
	for (int i = 1; i < threads; i++)
		if (pthread_create(&others[i], NULL, work, NULL) != 0)
			return 1;
	truth_ready(CALLS);
	for (; !truth_stop; turns++)
		sum += turn(turns);
	for (int i = 1; i < threads; i++)
		pthread_join(others[i], NULL);
	printf("{\"turns\": %llu, \"sum\": %llu}\n", (unsigned long long)turns,
	       (unsigned long long)sum);
	return 0;
}
