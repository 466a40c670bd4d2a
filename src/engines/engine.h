/* SPDX-License-Identifier: Apache-2.0
 * engine.h - who decides when to look, and from where.
 *
 * An engine turns a target into samples. It owns no thread and no clock of its
 * caller: pump() runs in the caller's thread until the given time and calls back.
 *
 * To add an engine: one folder here with one const struct engine, named in meson.build; its extern and its
 * place in the list of engines.c, the best first; its word in the help of --engine (cli/sampling.h).  It
 * delivers raw frames; names, folding and files are not its business.  What it could not do is a number in
 * struct quality, never silence. */
#pragma once
#include "base/err.h"
#include "base/types.h"
#include "sample/quality.h"
#include "sample/sample.h"

struct event_list;
struct image;
struct target;
struct runtime;
struct run;

enum engine_mode { MODE_CPU, MODE_WALL, MODE_LOCK, MODE_EXCEPTION, MODE_OFFCPU };
/* Stacks by task: of what a thread runs, who waits for it; and of the tasks that wait, too. */
enum engine_async { ASYNC_OFF, ASYNC_RUNNING, ASYNC_ALL };
enum engine_pause { PAUSE_NEVER, PAUSE_AUTO, PAUSE_ALWAYS };

/* Faster than a look: what is not made in time is lost, by name. */
enum { ENGINE_HZ_MAX = 1000000 };

struct engine_options {
	u32 hz; /* samples a second, 1 to ENGINE_HZ_MAX */
	enum engine_mode mode;
	enum engine_pause pause; /* reader only */
	enum engine_async
		async; /* ASYNC_ALL: in MODE_WALL only, the others know no one that waits */
	bool all;   /* every process of the machine, of engines that can; there is no target then */
	u64 cgroup; /* of these, those in this cgroup (its inode) or below it; 0: any */
	bool children;           /* follow fork and exec */
	bool no_native;          /* of engines that have them: without native frames */
	bool no_kernel;          /* and without the kernel's */
	bool may_start;          /* no runtime yet is no error: one may come by exec or dlopen */
	u32 tid;                 /* only this thread; 0: all */
	const char *thread_name; /* only threads of this name; NULL: all */
	const char *tape_dir;    /* record walks here; NULL: do not */
	u64 seed;                /* of the jitter; 0: from the system */
	/* Of engines that have events: these are what is looked at, and not the clock.  Borrowed for the run. */
	const struct event_list *events; /* NULL: none */
	u32 every; /* the stack of one hit in so many is taken; 0: of each, up to 4,000 a second on a CPU */
	u64 latency_min_ns;     /* a system call that is shorter is no event */
	bool event_weighs_time; /* a sample weighs the nanoseconds that the call took */
	bool event_at_root;     /* the event is the outermost frame, and not the leaf */
};

struct engine_mapping {
	u64 start, end, offset; /* in the process, and of its file */
};

/* Where a sample's frames can be named: valid during the callback. */
struct sample_source {
	const struct target *target;
	const struct mem *mem;
	u64 incarnation; /* never the same for two images of two processes */
	u64 forked_from,
		forked_ns; /* the one that this is a copy of, and since when (CLOCK_MONOTONIC); 0: of none */
	/* The runtime and state for a frame kind, or NULL. */
	const struct runtime *(*runtime_of)(const struct sample_source *, u16 kind,
					    const void **state);
	/* The runtime's generation as it is now: a name that was read belongs to the sample only if
	 * this is still the sample's own. */
	u64 (*generation_now)(const struct sample_source *);
	/* Is this frame of the sample on the thread's stack now? Then what it names is alive.  NULL: of engines whose samples are
	 * old when they come: what is in its place may be another, with an address that is used again. */
	bool (*frame_is_live)(const struct sample_source *, const struct frame *);
	/* Where else the bytes are that name a frame, as they were in the sample: those of the process may be gone. By number,
	 * from 0 on; NULL: nowhere else. Valid until the next call. The member is NULL of engines that are there in time. */
	const struct mem *(*elsewhere)(const struct sample_source *, const struct frame *,
				       u32 number);
	/* The name of the event that a frame stands for; NULL: of engines that have none. */
	const char *(*event_name)(const struct sample_source *, u64 event);
	/* The file of a native frame's owner; NULL: it cannot be read. Lives as long as the run. Engines without native
	 * frames have none of it. */
	const struct image *(*image_of)(const struct sample_source *, u64 owner);
	/* Where that file is mapped to be run: a row for each `index` from 0 on; false: no more. */
	bool (*mapped_at)(const struct sample_source *, u64 owner, u32 index,
			  struct engine_mapping *out);
	const char *thread_name; /* of the sampled thread; "" unknown */
	/* Which of the threads of the VM that ran on this native thread, one after the other: another
	 * number is another thread. */
	u32 thread_life;
};

/* A thread that was seen while a filter (`tid`, `thread_name`) was set: listed when nothing matched. */
struct engine_thread {
	u32 tid; /* 0: on no native thread */
	bool wanted;
	char name[64];
};

/* What became of an event's hits. */
struct engine_event {
	u64 hits;
	u64 waiting; /* of them, those behind the last one of which the stack was taken */
	u64 returned, latency_ns,
		latency_max_ns; /* system calls that ended: how many, how long in all and at most */
};

typedef void sample_fn(void *arg, const struct sample *sample, const struct sample_source *source);

struct engine {
	const char *name;
	bool has_natives; /* native and kernel frames */
	bool has_events;
	bool has_all;   /* can look at every process */
	bool has_tasks; /* of asyncio */
	bool can_pause; /* PAUSE_ALWAYS */
	bool has_tapes; /* can record walks */
	u32 modes;      /* a bit for each enum engine_mode */
	/* The target is borrowed. It may not have started its runtime yet. NULL: options->all. */
	struct run *(*open)(struct target *target, const struct engine_options *options,
			    struct err *err);
	/* Until CLOCK_MONOTONIC reads `until_ns`, the last process has ended (returns false with
	 * ERR_NO_PROCESS) or a signal handler called engine_interrupt(). */
	bool (*pump)(struct run *run, u64 until_ns, sample_fn *fn, void *arg, struct err *err);
	/* Nothing is pumped any more: hands out what waits for something that may never come. May be NULL. */
	void (*finish)(struct run *run, sample_fn *fn, void *arg);
	void (*quality)(const struct run *run, struct quality *out);
	/* The threads met under a filter, `room` at the most; how many there were. May be NULL. */
	u32 (*seen)(const struct run *run, struct engine_thread *out, u32 room);
	/* What became of each of the events so far, by its number; of engines that have events. */
	void (*event_counts)(const struct run *run, struct engine_event *out);
	void (*close)(struct run *run);
};

extern const struct engine *const engines[]; /* the best first */
extern const u32 engine_count;
const struct engine *engine_named(const char *name);

/* Has the engine what is asked for? What nobody asked for does not count. */
bool engine_suits(const struct engine *engine, const struct engine_options *options);
/* Of all engines: is the rate one that there is? */
bool engine_check_rate(const struct engine_options *options, struct err *err);

/* Async-signal-safe: every pump returns at its next deadline. */
void engine_interrupt(void);
bool engine_interrupted(void);
void engine_clear_interrupt(void);
/* As many open files as this process may have: an engine keeps some for each thread, file or CPU. */
void engine_raise_file_limit(void);
