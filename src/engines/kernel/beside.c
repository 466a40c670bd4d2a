/* SPDX-License-Identifier: Apache-2.0
 * beside.c - long work is done by a thread of its own, and the ring is emptied meanwhile. */
#include "base/thread.h"
#include "engines/kernel/run.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { LOOK_MS = 5 };

struct work {
	void (*fn)(void *arg);
	void *arg;
	int done_fd;
};

static void *start(void *work_)
{
	const struct work *work = work_;

	work->fn(work->arg);
	eventfd_write(work->done_fd, 1);
	return NULL;
}

void run_beside(void *run_, void (*fn)(void *arg), void *arg)
{
	struct run *run = run_;

	if (run->is_beside) {
		fn(arg);
		return;
	}
	run->is_beside = true;
	struct work work = { fn, arg, eventfd(0, EFD_CLOEXEC) };
	struct pollfd done = { .fd = work.done_fd, .events = POLLIN };
	pthread_t thread;

	if (work.done_fd < 0 || !thread_start(&thread, start, &work)) {
		fn(arg);
	} else {
		do
			kernel_program_collect(&run->program);
		while (poll(&done, 1, LOOK_MS) <= 0);
		pthread_join(thread, NULL);
	}
	run->is_beside = false;
	if (work.done_fd >= 0)
		close(work.done_fd);
}
