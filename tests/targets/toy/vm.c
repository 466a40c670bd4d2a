/* SPDX-License-Identifier: Apache-2.0
 * vm.c - the toy VM: threads that run one tiny program and know their own stack.
 *
 *	toy-1 park [THREADS]    each thread stops at another place of the program
 *	toy-1 hold [THREADS]    the same, but burning CPU there
 *	toy-1 spin [THREADS]    runs the program for ever
 *
 * park and hold print, for each thread, "thread TID" and its stack as name:line, leaf
 * first; spin prints every stack that is legal, as "stack name:line;name:line".  Then
 * "ready"; then it waits for the end of its standard input.
 *
 * This file knows nothing of the profiler.  Its structs are the truth that
 * src/runtimes/toy/versions.c has to agree with; it is built twice, because a second
 * version that lays them out differently is what keeps offsets out of the code. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH_MAX = 8, THREADS_MAX = 64, LINES_MAX = 4, STACK_TEXT_MAX = 256 };

#if VM_VERSION == 1
struct code {
	char name[32];
};
struct frame {
	struct frame *prev;
	const struct code *code;
	uint32_t line;
};
struct thread {
	struct thread *next;
	uint32_t tid;
	struct frame *root;
	struct frame *frame; /* the innermost; 0 before the program starts */
};
#else
struct code {
	uint64_t number;
	char name[32];
};
struct frame {
	uint32_t line;
	const struct code *code;
	struct frame *prev;
};
struct thread {
	uint32_t tid;
	struct thread *next;
	struct frame *frame;
	struct frame *root;
};
#endif

/* What a profiler looks for. The magic is written last. */
extern struct toy_vm {
	uint64_t magic;
	uint32_t version;
	uint32_t unused;
	struct thread *threads;
} toy_vm;
struct toy_vm toy_vm;

/* The program: lines, each of which may call a function. */
enum { MAIN, LOAD, PARSE, WORK, SORT, COMPARE, FUNCTIONS };

#if VM_VERSION == 1
#define CODE(name)   \
	{            \
		name \
	}
#else
#define CODE(name)                \
	{                         \
		__COUNTER__, name \
	}
#endif

static const struct function {
	struct code code;
	struct line {
		uint32_t number;
		int calls;  /* a function; 0: none, for nobody calls main */
	} lines[LINES_MAX]; /* ends with number 0 */
} program[FUNCTIONS] = {
	[MAIN] = { CODE("main"), { { 1, 0 }, { 2, LOAD }, { 3, WORK } } },
	[LOAD] = { CODE("load"), { { 10, PARSE }, { 11, 0 } } },
	[PARSE] = { CODE("parse"), { { 20, 0 }, { 21, 0 }, { 22, 0 } } },
	[WORK] = { CODE("work"), { { 30, 0 }, { 31, SORT } } },
	[SORT] = { CODE("sort"), { { 40, COMPARE }, { 41, COMPARE }, { 42, 0 } } },
	[COMPARE] = { CODE("compare"), { { 50, 0 }, { 51, 0 } } },
};

enum mode { LIST, PARK, HOLD, SPIN };

/* A thread and what a profiler need not know of it. */
struct worker {
	struct thread thread;
	struct frame frames[DEPTH_MAX];
	enum mode mode;
	uint32_t ticks; /* lines that were run */
	uint32_t stop_at;
};

static struct worker workers[THREADS_MAX];
static uint32_t stacks_total;
static pthread_barrier_t parked;

static void print_stack(const struct thread *thread, char separator)
{
	for (const struct frame *frame = thread->frame; frame; frame = frame->prev)
		printf("%s:%u%c", frame->code->name, frame->line, frame->prev ? separator : '\n');
}

static void burn(uint32_t turns)
{
	for (volatile uint32_t i = 0; i < turns; i++)
		;
}

/* Called on every line: each is another stack. */
static void tick(struct worker *worker)
{
	if (worker->mode == LIST) {
		printf("stack ");
		print_stack(&worker->thread, ';');
	}
	/* Long enough that most samples fall on a line, short enough that many fall between. */
	if (worker->mode == SPIN)
		burn(500);
	if ((worker->mode == PARK || worker->mode == HOLD) && worker->ticks == worker->stop_at) {
		pthread_barrier_wait(&parked);
		while (worker->mode == PARK)
			pause();
		for (;;)
			burn(1000000);
	}
	worker->ticks++;
}

/* A frame is whole before the thread points to it, as in any VM that signals can interrupt.
 * The root frame is never popped: a thread that runs has a stack at any instant. */
static void run(struct worker *worker, int function, uint32_t depth)
{
	struct frame *frame = &worker->frames[depth];
	struct thread *thread = &worker->thread;

	frame->code = &program[function].code;
	frame->line = program[function].lines[0].number;
	frame->prev = depth ? thread->frame : NULL;
	__atomic_store_n(&thread->frame, frame, __ATOMIC_RELEASE);
	for (const struct line *line = program[function].lines; line->number; line++) {
		__atomic_store_n(&frame->line, line->number, __ATOMIC_RELAXED);
		tick(worker);
		if (line->calls)
			run(worker, line->calls, depth + 1);
	}
	if (depth)
		__atomic_store_n(&thread->frame, frame->prev, __ATOMIC_RELEASE);
}

static void run_program(struct worker *worker)
{
	worker->thread.root = &worker->frames[0];
	run(worker, MAIN, 0);
}

static void *worker_main(void *argument)
{
	struct worker *worker = argument;

	worker->thread.tid = (uint32_t)gettid();
	if (worker->mode == SPIN)
		pthread_barrier_wait(&parked);
	do
		run_program(worker);
	while (worker->mode == SPIN);
	return NULL;
}

/* Every stack of the program, printed or only counted. */
static void list_stacks(bool print)
{
	static struct worker lister;

	lister = (struct worker){ .mode = print ? LIST : SPIN };
	run_program(&lister);
	stacks_total = lister.ticks;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	int count = argc > 2 ? atoi(argv[2]) : 1;
	enum mode mode = !strcmp(name, "park") ? PARK : !strcmp(name, "hold") ? HOLD : SPIN;

	if ((mode == SPIN && strcmp(name, "spin")) || count < 1 || count > THREADS_MAX) {
		fprintf(stderr, "usage: %s park|hold|spin [THREADS]\n", argv[0]);
		return 2;
	}
	list_stacks(mode == SPIN);
	pthread_barrier_init(&parked, NULL, (unsigned)count + 1);
	for (int i = 0; i < count; i++) {
		pthread_t id;

		workers[i].mode = mode;
		workers[i].stop_at = (uint32_t)i * 5 % stacks_total;
		workers[i].thread.next = i + 1 < count ? &workers[i + 1].thread : NULL;
		if (pthread_create(&id, NULL, worker_main, &workers[i]) != 0) {
			perror("pthread_create");
			return 1;
		}
	}
	pthread_barrier_wait(&parked);
	for (int i = 0; i < count && mode != SPIN; i++) {
		printf("thread %u\n", workers[i].thread.tid);
		print_stack(&workers[i].thread, '\n');
	}
	toy_vm.threads = &workers[0].thread;
	toy_vm.version = VM_VERSION << 8;
	__atomic_store_n(&toy_vm.magic, 0x315f6d765f796f74, __ATOMIC_RELEASE);
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
