/* SPDX-License-Identifier: Apache-2.0
 * pthread-tid.c - where real threads have their tid, whether the main thread is among them or not. */
#include "target/pthread_tid.h"

#include <pthread.h>
#include <sys/syscall.h>

#include "child.h"

enum { WORKERS = 3 };

static void *work(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

/* Says where its threads' structs are, its own first. */
static void start_workers(struct child *child)
{
	pthread_t threads[WORKERS];

	child_say_number(child, (long)pthread_self());
	for (u32 i = 0; i < WORKERS; i++) {
		pthread_create(&threads[i], NULL, work, NULL);
		child_say_number(child, (long)threads[i]);
	}
	child_wait(child);
}

static void the_main_thread_need_not_be_there(void **state)
{
	struct child child;
	struct target target;
	u64 natives[1 + WORKERS];

	(void)state;
	child_start(&child, start_workers);
	for (u32 i = 0; i < COUNT_OF(natives); i++)
		natives[i] = (u64)child_hear_number(&child);
	assert_true(target_open(&target, (u32)child.pid, NULL));
	const struct mem *mem = &target.mem.mem;

	u16 offset = target_find_pthread_tid(&target, mem, natives, COUNT_OF(natives), 0);
	assert_int_not_equal(offset, 0);
	assert_int_equal(target_find_pthread_tid(&target, mem, natives + 1, WORKERS, 0), offset);
	assert_int_equal(target_find_pthread_tid(&target, mem, natives + 1, 1, 0), offset);

	/* what is no thread has none */
	natives[2] += 64;
	assert_int_equal(target_find_pthread_tid(&target, mem, natives + 1, WORKERS, 0), 0);
	target_close(&target);
	child_end(&child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_main_thread_need_not_be_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
