/* SPDX-License-Identifier: Apache-2.0
 * switches.c - see switches.h. */
#include "target/switches.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum {
	PAGE = 4096,
	PAGES = 2,
	TAKEN_TIMES = 4, /* the median: 24 of 25 of those that lost their CPU to us */
};

static const u64 TAKEN_MOST_NS = 100 * NS_PER_US;

/* A thread that was let go has its CPU back by then, unless another has got it. */
static const u64 BACK_NS = 100 * NS_PER_US;

bool switches_open(struct switches *switches, u32 tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1, /* what paranoid 2 allows everybody on their own processes */
		.exclude_hv = 1,
		.context_switch = 1,
		.write_backward = 1,
		.sample_id_all = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	*switches = (struct switches){ .fd = -1 };
	int fd = (int)syscall(SYS_perf_event_open, &attr, (pid_t)tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return false;
	void *pages = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	if (pages == MAP_FAILED) {
		close(fd);
		return false;
	}
	switches->fd = fd;
	switches->pages = pages;
	return true;
}

void switches_close(struct switches *switches)
{
	if (!switches->pages)
		return;
	munmap(switches->pages, (size_t)PAGES * PAGE);
	close(switches->fd);
	*switches = (struct switches){ .fd = -1 };
}

/* PERF_RECORD_SWITCH with sample_id_all: pages hold a whole number of these. */
struct switch_record {
	struct perf_event_header header;
	u32 pid, tid;
	u64 time_ns;
	u32 cpu, reserved;
};
_Static_assert(PAGE % sizeof(struct switch_record) == 0, "a record never wraps");

/* Did it lose its CPU to us, while it could run on? Then that was the usual time before we woke. Longer ago it was
 * somebody else: a thread that it had woken, say, to whom it lost it for what it did. */
static bool was_taken(const struct switch_record *out, const struct switches_moment *moment)
{
	if (!(out->header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) || out->cpu != moment->cpu ||
	    out->time_ns + TAKEN_MOST_NS < moment->woke_ns)
		return false;
	u64 before_ns = out->time_ns < moment->woke_ns ? moment->woke_ns - out->time_ns : 0;
	median_learn(moment->taken_ns, before_ns);
	return before_ns <= TAKEN_TIMES * moment->taken_ns->value;
}

/* It counts down, from 0. */
u64 switches_mark(const struct switches *switches)
{
	const struct perf_event_mmap_page *meta = switches->pages;

	return -__atomic_load_n(&meta->data_head, __ATOMIC_ACQUIRE);
}

enum switches_state switches_read(const struct switches *switches,
				  const struct switches_moment *moment, u64 released_ns)
{
	struct switch_record newest;

	if (!switches->pages)
		return SWITCHES_UNKNOWN;
	const struct perf_event_mmap_page *meta = switches->pages;
	const u8 *data = (const u8 *)switches->pages + PAGE;
	u64 head = __atomic_load_n(&meta->data_head, __ATOMIC_ACQUIRE);
	if (!head)
		return SWITCHES_UNKNOWN;
	/* nothing else is written */
	memcpy(&newest, data + (head & (PAGE - 1)), sizeof newest);
	if (newest.header.type != PERF_RECORD_SWITCH || newest.header.size != sizeof newest)
		return SWITCHES_UNKNOWN;
	if (!(newest.header.misc & PERF_RECORD_MISC_SWITCH_OUT))
		return SWITCHES_ON_CPU;
	if (newest.time_ns < released_ns && moment->at_ns < released_ns + BACK_NS)
		return SWITCHES_ON_CPU;
	return was_taken(&newest, moment) ? SWITCHES_ON_CPU : SWITCHES_OFF_CPU;
}
