/* SPDX-License-Identifier: Apache-2.0
 * target.h - the process we look at: identity, mappings, threads, files.
 *
 * A target is one incarnation of one process: pid, start time and executable
 * image.  A pid that was reused is told by its start time; an exec makes a new
 * incarnation (target_check).  All pids and tids are as this side sees them,
 * except where a name says "inner" (the target's own pid namespace). */
#pragma once
#include "base/err.h"
#include "base/types.h"
#include "base/vec.h"
#include "mem/live.h"
#include "target/switches.h"

struct image;

struct mapping {
	u64 start, end;
	u64 offset; /* in the file */
	u64 inode;
	u32 device; /* major << 20 | minor */
	u8 readable, writable, executable, deleted;
	u32 path; /* offset in maps.paths; "" for anonymous */
};

struct maps {
	VEC(struct mapping) all; /* by address */
	VEC(char) paths;
};

struct target {
	u32 pid;
	u64 start_time; /* field 22 of /proc/PID/stat, clock ticks since boot */
	u32 inner_pid;  /* in its innermost pid namespace; pid when the same */
	bool nested;    /* in a pid namespace below ours: inner numbers differ */
	u32 uid;        /* effective */
	u64 random_at; /* address of the 16 random bytes that each exec gets (AT_RANDOM); 0: none */
	u64 random[2];
	struct mem_live mem;
	struct maps maps;
	int proc_fd; /* /proc/PID, opened once: a reused pid cannot slip in */
	u32 kin;     /* a process that had the same root, for when it has ended; 0: none */
	char comm[16];
	char exe[256]; /* as its own root sees it, cut if longer */
};

/* One that is not open; target_close() may be called. */
void target_init(struct target *target, u32 pid);
/* Identity, memory and maps. Names the missing capability or sysctl on EPERM. */
bool target_open(struct target *target, u32 pid, struct err *err);
void target_close(struct target *target);

/* What a forked child has that cannot be asked any more: its parent's mappings and names. It has no memory and no
 * /proc; `start_time` is any number that tells it from others of its pid. */
bool target_of_fork(struct target *target, const struct target *parent, u32 pid, u64 start_time);

enum target_change { TARGET_SAME, TARGET_GONE, TARGET_EXECED };
/* Has it memory that can be read? A process that ends gives that up first. One call; true where it cannot be told. */
bool target_has_memory(const struct target *target);
/* Is it still the same incarnation? */
enum target_change target_check(const struct target *target);

/* Again: mappings and paths that were handed out before are then gone. */
bool target_read_maps(struct target *target, struct err *err);
const struct mapping *target_mapping_at(const struct target *target, u64 addr);
const char *mapping_path(const struct target *target, const struct mapping *mapping);
/* Is its file the program itself, and no library? By device and inode: paths differ from root to root. */
bool target_is_exe(const struct target *target, const struct mapping *mapping);
/* A hash of which files lie where to be run: another when a library was loaded. */
u64 target_images(const struct target *target);
/* The pages that it has mapped now, whatever was read; 0: that cannot be asked. Asking costs a twentieth of reading the maps: where
 * this is the same, hardly anything was mapped. */
u64 target_mapped_pages(const struct target *target);

/* The file behind a mapping, found without trusting its path: /proc/PID/map_files, then exe, then
 * openat2(RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS) below /proc/PID/root, these two with device and
 * inode checked.  Regular files only, never blocking.  The vDSO is read from memory. */
struct image *target_open_image(const struct target *target, const struct mapping *mapping,
				struct err *err);
/* Of one that may be gone by now and its own `path` is not looked at: below the root, as above. NULL: it cannot be opened. */
struct image *target_open_former(const struct target *target, const struct mapping *mapping,
				 const char *path);
/* A file is known by these: it may be written anew, or its inode be used again. */
struct file_state {
	u64 size;
	s64 modified_ns, changed_ns;
};
/* Of the file behind a mapping as it is now; false: it cannot be asked any more. */
bool target_file_state(const struct target *target, const struct mapping *mapping,
		       struct file_state *out);
bool file_state_of(int fd, struct file_state *out);
bool file_state_equal(const struct file_state *left, const struct file_state *right);
/* Does an open file say what it did? (That its last name was removed sets a time, and changes nothing in it.) */
bool file_is_unchanged(int fd, const struct file_state *before);
/* A regular file below the target's root that the program names: -1 when there is none.  The name
 * is a foreign word, so the file is opened with the rights of the target's user alone: a program
 * cannot have root read to it what it may not read itself. */
int target_open_named(const struct target *target, const char *path);
/* What to add to a linked address of the image whose file the mapping maps; false: none loads it, or it maps another. */
bool target_load_bias(const struct target *target, const struct mapping *mapping,
		      const struct image *image, u64 *bias);
/* The same of a mapping to be run that may be gone by now; false: its segments do not agree, too. */
bool target_former_bias(const struct mapping *mapping, const struct image *image, u64 *bias);

struct target_thread {
	u32 tid, inner_tid; /* inner 0: not known */
	char comm[16];
};
typedef VEC(struct target_thread) target_threads;
/* Replaces `out`. The inner tid costs a file a thread; skipped when the namespaces are the same. */
bool target_read_threads(const struct target *target, target_threads *out, struct err *err);

/* One's number in its own pid namespace; its number here where that cannot be read. */
u32 target_inner_tid(const struct target *target, u32 tid);

enum thread_run_state {
	THREAD_GONE,
	THREAD_RUNNING,  /* on a CPU or waiting for one */
	THREAD_SLEEPING, /* interruptible */
	THREAD_BLOCKED,  /* uninterruptible */
	THREAD_STOPPED,  /* by a signal or a tracer */
};
enum thread_run_state target_thread_state(const struct target *target, u32 tid);
/* The same, and the futex that it sleeps on, both of one moment. 0: on none, or the kernel does not say (it takes the right to
 * trace). */
enum thread_run_state target_thread_wait(const struct target *target, u32 tid, u64 *futex);
struct thread_time {
	u64 cpu_ns;
	u64 runs; /* how often it was scheduled in */
};
/* /proc/PID/task/TID/schedstat; false: the thread is gone. */

bool target_thread_time(const struct target *target, u32 tid, struct thread_time *out);
/* For who asks often: descriptors kept open, one or two a thread.  Measured on 6.18, x86-64:
 *
 *				opened each time	kept open
 *	thread time (schedstat)	4.2 us			0.6 us
 *	thread state		6.8 us			0.6 us, 3.7 us when it has changed
 *
 * thread_probe_state() answers from schedstat alone as long as that reads as it did before the last
 * answer: who slept still does, and who ran has been neither switched out nor met a tick.  (One that
 * is woken and waits for its first CPU is thus still called sleeping; target_thread_state() calls it
 * running.) */
struct thread_probe {
	int proc_fd;      /* the target's: asked by name where there was no descriptor to spare */
	int schedstat_fd; /* -1: there was none */
	int stat_fd;      /* opened at the first thread_probe_state() */
	struct switches switches; /* opened when first seen running, or to be watched */
	bool unwatchable;
	bool slept; /* at the mark of `switches` that is kept here */
	u64 slept_mark;
	u64 released_ns; /* when a stop of ours ended; 0: there was none */
	u64 there_ns;    /* when it was last known to be */
	u32 tid;
	enum thread_run_state state; /* the last answer, and the time read before it */
	struct thread_time time;
};
/* False when the thread is gone or descriptors have run out; errno says which. */
bool thread_probe_open(struct thread_probe *probe, const struct target *target, u32 tid);
void thread_probe_close(struct thread_probe *probe);
bool thread_probe_time(const struct thread_probe *probe, struct thread_time *out);
/* Running means on a CPU at that moment where context switches can be watched (switches.h), and on a CPU or waiting
 * for one elsewhere.  `is_there`: it has surely not ended, and need not be asked whether it has. */
enum thread_run_state thread_probe_state(struct thread_probe *probe, const struct target *target,
					 const struct switches_moment *moment, bool is_there);

/* Watches its context switches from now on; false: that cannot be done. Takes some 30 us. */
bool thread_probe_watch(struct thread_probe *probe, const struct target *target);
/* Of one that is watched: has it had no CPU since this was last asked? Costs no system call. */
bool thread_probe_slept(struct thread_probe *probe);

/* CPU time of the whole process, dead threads included. */
bool target_cpu_ns(const struct target *target, u64 *out);
