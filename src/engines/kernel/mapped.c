/* SPDX-License-Identifier: Apache-2.0
 * mapped.c - see mapped.h. */
#include "engines/kernel/mapped.h"

#include "base/clock.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
	RING_PAGES = 32, /* 128 kB: some 1,000 records */
	TEXTS_MAX = 1 << 20,
};

/* A record has its time before it is in the ring. */
static const u64 UNDER_WAY_NS = NS_PER_MS;

/* PERF_RECORD_MMAP2 (perf_event_open(2)); the path follows. */
struct mmap_record {
	struct perf_event_header header;
	u32 pid, tid;
	u64 start, length, offset;
	u32 major, minor;
	u64 inode, generation;
	u32 protection, flags;
};

/* PERF_RECORD_COMM; the name follows. */
struct comm_record {
	struct perf_event_header header;
	u32 pid, tid;
};

static bool open_ring(struct kernel_mappings *mappings, const struct perf_event_attr *attributes,
		      int cpu, struct err *err)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct perf_ring ring = { 0 };

	if (!perf_ring_open(&ring, attributes, cpu, RING_PAGES, err))
		return false;
	if (!vec_push(&mappings->rings, ring)) {
		perf_ring_close(&ring);
		return err_no_memory(err);
	}
	if (ring.page)
		epoll_ctl(mappings->wait_fd, EPOLL_CTL_ADD, ring.fd, &event);
	return true;
}

bool kernel_mappings_open(struct kernel_mappings *mappings, struct err *err)
{
	struct perf_event_attr attributes = perf_ring_attributes();
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	*mappings = (struct kernel_mappings){ .wait_fd = epoll_create1(EPOLL_CLOEXEC),
					      .drained_ns = clock_now_ns() };
	attributes.mmap = attributes.mmap2 = attributes.comm = attributes.comm_exec = 1;
	attributes.wakeup_watermark = 1; /* each record */
	for (int cpu = 0; cpu < cpus; cpu++)
		if (!open_ring(mappings, &attributes, cpu, err)) {
			kernel_mappings_close(mappings);
			return false;
		}
	return true;
}

void kernel_mappings_close(struct kernel_mappings *mappings)
{
	for (u32 i = 0; i < mappings->rings.count; i++)
		perf_ring_close(&mappings->rings.at[i]);
	vec_free(&mappings->rings);
	vec_free(&mappings->news);
	vec_free(&mappings->texts);
	if (mappings->wait_fd > 0)
		close(mappings->wait_fd);
	mappings->wait_fd = -1;
}

/* Of a record, behind its fixed part; with its zero, padded to eight bytes. */
static void take_news(struct kernel_mappings *mappings, const struct perf_event_header *header,
		      size_t fixed, struct kernel_mapped news)
{
	const char *text = (const char *)header + fixed;
	u32 length = (u32)strnlen(text, header->size - fixed - 1);

	if (!vec_grow(&mappings->texts, mappings->texts.count + length + 1))
		return;
	news.time_ns = perf_record_time(header);
	news.text = mappings->texts.count;
	memcpy(mappings->texts.at + news.text, text, length);
	mappings->texts.at[news.text + length] = 0;
	if (vec_push(&mappings->news, news))
		mappings->texts.count += length + 1;
}

static void take_exec(struct kernel_mappings *mappings, const struct perf_event_header *header)
{
	struct comm_record record;

	if (header->size < sizeof record + 8 || !(header->misc & PERF_RECORD_MISC_COMM_EXEC))
		return;
	memcpy(&record, header, sizeof record);
	take_news(mappings, header, sizeof record,
		  (struct kernel_mapped){ .pid = record.pid, .is_exec = true });
}

static void take_mapping(struct kernel_mappings *mappings, const struct perf_event_header *header)
{
	struct mmap_record record;

	if (header->size < sizeof record + 8)
		return;
	memcpy(&record, header, sizeof record);
	take_news(mappings, header, sizeof record,
		  (struct kernel_mapped){ .start = record.start,
					  .end = record.start + record.length,
					  .offset = record.offset,
					  .inode = record.inode,
					  .device = record.major << 20 | (record.minor & 0xfffff),
					  .pid = record.pid });
}

static void take_record(void *arg, const struct perf_event_header *header)
{
	if (header->type == PERF_RECORD_MMAP2)
		take_mapping(arg, header);
	else if (header->type == PERF_RECORD_COMM)
		take_exec(arg, header);
}

static int by_time(const void *left_, const void *right_)
{
	const struct kernel_mapped *left = left_, *right = right_;

	return (left->time_ns > right->time_ns) - (left->time_ns < right->time_ns);
}

/* Of those that are left, a few: where somebody maps all the time, some always are. */
static void keep_texts(struct kernel_mappings *mappings)
{
	char *kept = malloc(mappings->texts.count), *end = kept;

	if (!kept)
		return;
	for (u32 i = 0; i < mappings->news.count; i++) {
		const char *text = mappings->texts.at + mappings->news.at[i].text;
		mappings->news.at[i].text = (u32)(end - kept);
		end = stpcpy(end, text) + 1;
	}
	mappings->texts.count = (u32)(end - kept);
	memcpy(mappings->texts.at, kept, mappings->texts.count);
	free(kept);
}

static void forget_taken(struct kernel_mappings *mappings)
{
	u32 left = mappings->news.count - mappings->taken;

	if (mappings->taken)
		memmove(mappings->news.at, mappings->news.at + mappings->taken,
			left * sizeof mappings->news.at[0]);
	mappings->news.count = left;
	mappings->taken = 0;
	if (!left)
		vec_clear(&mappings->texts);
	else if (mappings->texts.count > TEXTS_MAX)
		keep_texts(mappings);
}

static void drain(struct kernel_mappings *mappings)
{
	u64 now = clock_now_ns();
	bool is_whole = true;

	forget_taken(mappings);
	u32 before = mappings->news.count;
	for (u32 i = 0; i < mappings->rings.count; i++)
		is_whole &= perf_ring_drain(&mappings->rings.at[i], take_record, mappings);
	if (!is_whole && !mappings->lost_ns)
		mappings->lost_ns = mappings->drained_ns;
	mappings->drained_ns = now - UNDER_WAY_NS;
	if (mappings->news.count > before)
		qsort(mappings->news.at, mappings->news.count, sizeof mappings->news.at[0],
		      by_time);
}

/* Of those that were not taken; UINT64_MAX: all were. */
static u64 oldest_ns(const struct kernel_mappings *mappings)
{
	return mappings->taken < mappings->news.count ? mappings->news.at[mappings->taken].time_ns :
							UINT64_MAX;
}

bool kernel_mappings_next(struct kernel_mappings *mappings, u64 until_ns, struct kernel_mapped *out,
			  const char **text)
{
	/* not each time: others may map faster than their news are taken */
	if (mappings->drained_ns < until_ns && oldest_ns(mappings) > mappings->drained_ns)
		drain(mappings);
	if (oldest_ns(mappings) > until_ns)
		return false;
	*out = mappings->news.at[mappings->taken++];
	*text = mappings->texts.at + out->text;
	return true;
}

const struct kernel_mapped *kernel_mappings_waiting(struct kernel_mappings *mappings, u32 *count)
{
	drain(mappings);
	*count = mappings->news.count; /* what was taken is gone */
	return mappings->news.at;
}
