/* SPDX-License-Identifier: Apache-2.0
 * perf_ring.h - side-band records of the kernel's perf events, of all processes on one CPU.
 *
 * A dummy software event counts nothing; what its attributes ask for (forks, execs, names, mappings) is written to a ring in
 * our memory. Each record ends with its time on CLOCK_MONOTONIC. Pids are those of the pid namespace that opened the event. */
#pragma once
#include "base/err.h"
#include "base/types.h"

#include <linux/perf_event.h>

struct perf_ring {
	int fd;
	struct perf_event_mmap_page
		*page;       /* the first; the data is behind it. NULL: the CPU is offline */
	u64 page_size, size; /* bytes: of a page, of the data */
};

/* The dummy event with its time; the caller adds what it wants to hear of. */
struct perf_event_attr perf_ring_attributes(void);
/* `pages` is a power of two. A CPU that is offline is no error, and has no records. */
bool perf_ring_open(struct perf_ring *ring, const struct perf_event_attr *attributes, int cpu,
		    u32 pages, struct err *err);
void perf_ring_close(struct perf_ring *ring);
bool perf_ring_has_news(const struct perf_ring *ring);

/* A whole record, valid during the call. */
typedef void perf_record_fn(void *arg, const struct perf_event_header *record);
/* False: some of before this call are lost, or may be. */
bool perf_ring_drain(struct perf_ring *ring, perf_record_fn *fn, void *arg);
u64 perf_record_time(const struct perf_event_header *record);
