/* SPDX-License-Identifier: Apache-2.0
 * perf_ring.c - see perf_ring.h. */
#include "target/perf_ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The longest one holds a path. */
enum { RECORD_MAX = 4096 + 256 };

struct perf_event_attr perf_ring_attributes(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(struct perf_event_attr),
		.sample_type = PERF_SAMPLE_TIME, /* of the trailer that sample_id_all adds */
		.sample_id_all = 1,
		.exclude_kernel = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX, /* nobody polls the descriptor, unless it says so */
	};
}

bool perf_ring_open(struct perf_ring *ring, const struct perf_event_attr *attributes, int cpu,
		    u32 pages, struct err *err)
{
	struct perf_event_attr copy = *attributes;

	*ring = (struct perf_ring){ .page_size = (u64)sysconf(_SC_PAGESIZE) };
	ring->size = pages * ring->page_size;
	ring->fd = (int)syscall(SYS_perf_event_open, &copy, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ring->fd < 0)
		return errno == ENODEV || err_sys(err, errno, "perf_event_open on CPU %d", cpu);
	void *mapped = mmap(NULL, ring->page_size + ring->size, PROT_READ | PROT_WRITE, MAP_SHARED,
			    ring->fd, 0);
	if (mapped == MAP_FAILED) {
		int why = errno;
		close(ring->fd);
		ring->fd = -1;
		return err_sys(err, why, "the ring of CPU %d", cpu);
	}
	ring->page = mapped;
	return true;
}

void perf_ring_close(struct perf_ring *ring)
{
	if (!ring->page)
		return;
	munmap(ring->page, ring->page_size + ring->size);
	close(ring->fd);
	ring->page = NULL;
}

bool perf_ring_has_news(const struct perf_ring *ring)
{
	return ring->page &&
	       __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE) != ring->page->data_tail;
}

bool perf_ring_drain(struct perf_ring *ring, perf_record_fn *fn, void *arg)
{
	_Alignas(8) u8 record[RECORD_MAX];
	bool is_lost = false;

	if (!perf_ring_has_news(ring))
		return true;
	const u8 *data = (const u8 *)ring->page + ring->page_size;
	u64 head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	u64 tail = ring->page->data_tail; /* only we write it */
	/* That some were lost is told with the next one that there is room for, which may never come. */
	bool is_full = ring->size - (head - tail) <= RECORD_MAX;
	while (head - tail >= sizeof(struct perf_event_header)) {
		/* Records begin at multiples of 8, so a header never wraps. */
		const struct perf_event_header *header = (const void *)(data + tail % ring->size);
		u64 length = header->size, until_end = ring->size - tail % ring->size;
		if (length < sizeof *header || length > head - tail)
			break; /* not a ring that this kernel writes: drop what is in it */
		is_lost |= header->type == PERF_RECORD_LOST;
		if (length <= sizeof record) {
			u64 first = length < until_end ? length : until_end;
			memcpy(record, data + tail % ring->size, first);
			memcpy(record + first, data, length - first);
			fn(arg, (const struct perf_event_header *)record);
		}
		tail += length;
	}
	__atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
	return !is_lost && !is_full;
}

u64 perf_record_time(const struct perf_event_header *record)
{
	u64 time;

	memcpy(&time, (const u8 *)record + record->size - sizeof time, sizeof time);
	return time;
}
