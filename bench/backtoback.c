/* SPDX-License-Identifier: Apache-2.0
 * backtoback.c - what one look at a thread costs.
 *
 *	backtoback [-r HZ] [-m] [-v] PID [SAMPLES] [TID]
 *
 * The reader's own look_at(), again and again, without names or a profile: without deadlines,
 * or with -r at random ones as the reader has them.  -m makes the one memory read of a look
 * and nothing else: what no sampler that reads these bytes can do without.  -v lists the ranges of the last
 * plan on standard error.  Prints
 *	samples N complete N moving N frames N ranges N unplanned N cpu_ns N
 * where frames is the depth of the last complete stack, and ranges the mean of a look.  `strace -c` of it counts the system
 * calls of a sample: nothing else is called in the loop. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "engines/reader/look.h"
#include "engines/reader/process.h"
#include "engines/reader/schedule.h"

struct way {
	u32 hz; /* 0: without deadlines */
	bool memory_only, lists;
};

struct tally {
	u64 complete, moving;
	u64 ranges, last_ranges; /* of all looks, and of the last one */
	u32 frames;
};

static struct reader_thread *find_thread(const struct reader_process *process, u32 tid)
{
	for (u32 i = 0; i < process->threads.count; i++)
		if (process->threads.at[i]->attached && process->threads.at[i]->tid == tid)
			return process->threads.at[i];
	return NULL;
}

static bool look_once(struct look *look, struct reader_thread *thread, struct tally *tally)
{
	struct look_subject subject = { .runtime = thread->attached->runtime,
					.state = thread->attached->state,
					.kind = thread->attached->kind,
					.thread = thread->thread,
					.set = &thread->set,
					.memory = &thread->memory };
	struct look_result result;
	u64 before = plan_stats(look->plan).ranges;

	if (!look_at(look, &subject, &result))
		return false;
	tally->last_ranges = plan_stats(look->plan).ranges - before;
	tally->ranges += tally->last_ranges;
	tally->complete += result.complete;
	tally->moving += (result.flags & SAMPLE_MOVING) != 0;
	if (result.complete)
		tally->frames = look->stack.count;
	return true;
}

static void list_ranges(const struct read_set *set)
{
	static const char *const parts[] = { "once", "head", "body" };

	for (u32 i = 0; i < set->ranges.count; i++) {
		const struct plan_range *range = &set->ranges.at[i];
		fprintf(stderr, "%s %#llx %u%s%s\n", parts[range->part],
			(unsigned long long)range->addr, range->len, range->leads ? " leads" : "",
			range->last ? " last" : "");
	}
}

/* The plan is learned from the first looks.  The one read of a look that found the thread where it was is the least: two copies
 * are made of what is not known to stay. */
static bool learn(struct look *look, struct reader_thread *thread, struct tally *tally)
{
	enum { FIRST_LOOKS = 64, LOOKS_MAX = 4096 };
	u64 least = UINT64_MAX;

	for (u32 i = 0; i < LOOKS_MAX; i++) {
		/* a set that was just trimmed is read twice, too */
		if (i >= FIRST_LOOKS && tally->last_ranges <= least && thread->set.same)
			break;
		if (!look_once(look, thread, tally))
			return false;
		if (i >= FIRST_LOOKS / 2 && tally->last_ranges < least)
			least = tally->last_ranges;
	}
	return true;
}

static bool run(struct look *look, struct reader_thread *thread, u64 count, const struct way *way)
{
	struct tally tally = { 0 };
	struct schedule schedule;

	if (!learn(look, thread, &tally))
		return false;
	tally = (struct tally){ .frames = tally.frames };
	schedule_init(&schedule, clock_now_ns(), way->hz ? way->hz : 1, 1);
	u64 cpu = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	for (u64 i = 0; i < count; i++) {
		if (way->hz) {
			clock_sleep_until(schedule.deadline_ns);
			schedule_take(&schedule, clock_now_ns());
		}
		if (way->memory_only)
			plan_begin(look->plan, &thread->set, false);
		else if (!look_once(look, thread, &tally))
			return false;
	}
	cpu = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	printf("samples %llu complete %llu moving %llu frames %u ranges %.1f unplanned %llu cpu_ns %llu\n",
	       (unsigned long long)count, (unsigned long long)tally.complete,
	       (unsigned long long)tally.moving, tally.frames, (double)tally.ranges / (double)count,
	       (unsigned long long)plan_stats(look->plan).unplanned, (unsigned long long)cpu);
	if (way->lists)
		list_ranges(&thread->set);
	return true;
}

static bool parse_way(int argc, char **argv, struct way *way)
{
	for (int option; (option = getopt(argc, argv, "r:mv")) != -1;)
		if (option == 'r')
			way->hz = (u32)strtoul(optarg, NULL, 10);
		else if (option == 'm')
			way->memory_only = true;
		else if (option == 'v')
			way->lists = true;
		else
			return false;
	return optind < argc;
}

int main(int argc, char **argv)
{
	static struct target target;
	static struct look look;
	struct engine_options options = { .hz = 99 };
	struct reader_process *process;
	struct err err = { 0 };

	struct way way = { 0 };

	if (!parse_way(argc, argv, &way)) {
		fprintf(stderr, "usage: backtoback [-r HZ] [-m] [-v] PID [SAMPLES] [TID]\n");
		return 2;
	}
	u32 pid = (u32)strtoul(argv[optind], NULL, 10);
	u64 count = argc > optind + 1 ? strtoull(argv[optind + 1], NULL, 10) : 20000;
	u32 tid = argc > optind + 2 ? (u32)strtoul(argv[optind + 2], NULL, 10) : pid;
	if (!target_open(&target, pid, &err) || !(process = process_new(&target, 1)) ||
	    !process_attach(process, &err) || !process_refresh(process, &options, &err) ||
	    !look_init(&look, &target.mem)) {
		fprintf(stderr, "backtoback: %s\n", err.text);
		return 1;
	}
	struct reader_thread *thread = find_thread(process, tid);
	bool ok = thread && run(&look, thread, count, &way);
	if (!ok)
		fprintf(stderr, "backtoback: thread %u cannot be read\n", tid);
	look_fini(&look);
	process_free(process);
	target_close(&target);
	return ok ? 0 : 1;
}
