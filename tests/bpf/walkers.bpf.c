/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
 * walkers.bpf.c - every runtime's step.h inside the kernel: does the verifier take it?
 *
 * Two perf_event programs a runtime, with the plainest drivers there can be.  threads_X
 * lists the VM's threads.  walk_X takes the thread it is attached for, begins, steps in
 * bpf_loop() until the end and sends the sample: the runtime exports a step and the loop is
 * here, so the verifier looks at one step, however many frames there may be.
 * Not an engine: it stitches nothing and knows one process at a time. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "walkers.h"

#include "runtimes/toy/step.h"
#if __has_include("runtimes/ruby/step.h")
#include "runtimes/ruby/step.h"
#endif
#if __has_include("runtimes/python/step.h")
#include "runtimes/python/step.h"
#endif

/* Not "license": the section has that name. */
char walkers_license[] SEC("license") = "Dual BSD/GPL";

/* A sample is larger than the 512-byte stack.  The walk is here for another reason: on the
 * stack the verifier would know its depth as 0, 1, 2 ... and look at every step anew (1 M
 * instructions, refused); what comes out of a map is any number at all, and is looked at once. */
struct room {
	struct walk walk;
	u64 where;
	enum step step;
	u8 sample[SAMPLE_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct room);
} scratch SEC(".maps");

/* (A per-CPU map's value is 32 KiB at the most.) */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct mem_kept);
} kept SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} samples SEC(".maps");

/* The VM's address of each thread, by the tid that the VM knows. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREADS_MAX);
	__type(key, u32);
	__type(value, u64);
} threads SEC(".maps");

/* What the callback of bpf_loop() gets. */
struct drive {
	struct room *room;
	struct mem_kept *kept;
	const void *state;
};

static __always_inline struct room *sample_begin(void)
{
	u64 id = bpf_get_current_pid_tgid();
	u32 zero = 0;
	struct room *room = bpf_map_lookup_elem(&scratch, &zero);
	struct sample *sample;

	if (!room)
		return NULL;
	sample = (struct sample *)room->sample;
	sample->time_ns = bpf_ktime_get_ns();
	sample->weight = 0;
	sample->generation = 0;
	sample->pid = id >> 32;
	sample->tid = (u32)id;
	sample->cpu = bpf_get_smp_processor_id();
	sample->kind = SAMPLE_CPU;
	sample->flags = 0;
	sample->depth = 0;
	sample->leftover = 0;
	return room;
}

static __always_inline void sample_send(struct room *room)
{
	struct sample *sample = (struct sample *)room->sample;
	u64 size = sizeof *sample + (u64)sample->depth * sizeof(struct frame);

	sample->generation = room->walk.generation;
	if (room->step == STEP_FAULT)
		sample->flags |= SAMPLE_FAULT;
	if (room->step != STEP_DONE)
		sample->flags |= SAMPLE_TRUNCATED;
	if (size <= SAMPLE_BYTES)
		bpf_ringbuf_output(&samples, sample, size, 0);
}

/* The verifier wants the callback's index as u64. */
#define WALKER(runtime)                                                                        \
	struct {                                                                               \
		__uint(type, BPF_MAP_TYPE_ARRAY);                                              \
		__uint(max_entries, 1);                                                        \
		__type(key, u32);                                                              \
		__type(value, struct runtime##_state);                                         \
	} runtime##_states SEC(".maps");                                                       \
                                                                                               \
	static long runtime##_one(u64 index, struct drive *drive)                              \
	{                                                                                      \
		struct room *room = drive->room;                                               \
		struct sample *sample = (struct sample *)room->sample;                         \
		u32 depth = sample->depth;                                                     \
		struct mem mem = { drive->kept };                                              \
                                                                                               \
		(void)index;                                                                   \
		if (depth >= FRAMES_MAX)                                                       \
			return 1;                                                              \
		room->step = runtime##_step(&mem, drive->state, &room->walk,                   \
					    &sample->frames[depth]);                           \
		if (!step_goes_on(room->step))                                                 \
			return 1;                                                              \
		if (room->step != STEP_HIDDEN)                                                 \
			sample->depth = depth + 1;                                             \
		return 0;                                                                      \
	}                                                                                      \
                                                                                               \
	SEC("perf_event")                                                                      \
	int walk_##runtime(void *context)                                                      \
	{                                                                                      \
		u32 zero = 0;                                                                  \
		struct runtime##_state *state = bpf_map_lookup_elem(&runtime##_states, &zero); \
		struct drive drive = { .room = sample_begin(), .state = state };               \
		struct mem mem = { 0 };                                                        \
		u64 thread = bpf_get_attach_cookie(context);                                   \
                                                                                               \
		drive.kept = mem.kept = bpf_map_lookup_elem(&kept, &zero);                     \
		if (!state || !drive.room || !mem.kept)                                        \
			return 0;                                                              \
		mem_begin(&mem);                                                               \
		mem_begin_notes(&mem, 1, 0);                                                   \
		drive.room->step = runtime##_begin(&mem, state, thread, &drive.room->walk);    \
		if (drive.room->step == STEP_MORE)                                             \
			bpf_loop(STEPS_MAX, runtime##_one, &drive, 0);                         \
		sample_send(drive.room);                                                       \
		return 0;                                                                      \
	}                                                                                      \
                                                                                               \
	static long runtime##_thread(u64 index, struct drive *drive)                           \
	{                                                                                      \
		struct vm_thread thread = { 0 };                                               \
		struct mem mem = { drive->kept };                                              \
                                                                                               \
		(void)index;                                                                   \
		if (runtime##_next_thread(&mem, drive->state, &drive->room->where, &thread) != \
		    STEP_MORE)                                                                 \
			return 1;                                                              \
		bpf_map_update_elem(&threads, &thread.tid, &thread.thread, BPF_ANY);           \
		return 0;                                                                      \
	}                                                                                      \
                                                                                               \
	SEC("perf_event")                                                                      \
	int threads_##runtime(void *context)                                                   \
	{                                                                                      \
		u32 zero = 0;                                                                  \
		struct runtime##_state *state = bpf_map_lookup_elem(&runtime##_states, &zero); \
		struct drive drive = { .room = sample_begin(), .state = state };               \
                                                                                               \
		(void)context;                                                                 \
		drive.kept = bpf_map_lookup_elem(&kept, &zero);                                \
		if (!state || !drive.room || !drive.kept)                                      \
			return 0;                                                              \
		drive.room->where = 0;                                                         \
		bpf_loop(THREADS_MAX, runtime##_thread, &drive, 0);                            \
		return 0;                                                                      \
	}

WALKER(toy)
#if __has_include("runtimes/ruby/step.h")
WALKER(ruby)
#endif
#if __has_include("runtimes/python/step.h")
WALKER(python)
#endif
