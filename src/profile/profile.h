/* SPDX-License-Identifier: Apache-2.0
 * profile.h - samples folded: equal stacks of a thread counted once.
 *
 * What an exporter writes.  Strings, stacks and locations are numbers of `names`;
 * weights are nanoseconds.  A sample whose weight is not known yet is unpaid: its
 * thread's next profile_share() pays it, and every nanosecond that is handed in is
 * found again in the entries.
 *
 * Out of memory: `bad` is set and PROFILE_NONE is given out, which every function
 * here takes and ignores. */
#pragma once
#include "base/table.h"
#include "base/vec.h"
#include "profile/timeline.h"
#include "sample/names.h"
#include "sample/quality.h"
#include "sample/sample.h"

enum { PROFILE_NONE = UINT32_MAX };

struct profile_process {
	u32 pid;
	u32 name; /* string: comm */
	u64 start_time;
};

struct profile_thread {
	u32 process; /* index */
	u32 tid;
	u32 name;           /* string */
	u32 life;           /* the last of the lives that it stands for; PROFILE_NONE: it left */
	bool shared;        /* it stands for several */
	u32 nth;            /* so many rows of this tid are before it */
	VEC(u32) unpaid;    /* entries with unpaid samples, each once */
	u64 unpaid_samples; /* in all of them */
};

enum profile_thread_by { THREAD_LAST, THREAD_BY_LIFE, THREAD_BY_NAME };

/* How a row is found: none is walked to, though a tid may have any number of them. */
struct profile_thread_key {
	u32 process, tid;
	u32 by, value; /* enum profile_thread_by; a life, a name, or for the last row 0 */
	u32 row;
};

struct profile_entry {
	u32 thread; /* index */
	u32 stack;
	u64 count;
	u64 weight;
	u64 unpaid; /* of `count`, those that wait for their thread's profile_share() */
	/* Sums over the samples that were taken: one stands for several, or weighs more, and is one all the same. */
	double count_squares, weight_squares;
};

struct profile_mapping {
	u32 process;
	u64 start, end, offset;
	u32 path;     /* string */
	u32 build_id; /* string, hex; 0: none */
};

/* A location of machine code is several, since functions were inlined there: a row each, of one location one behind the
 * other, the outermost first. One row: it is known better. */
struct profile_part {
	u32 location, part;
};

/* A file of source, as it was when it was recorded. */
struct profile_source {
	u32 path, text; /* strings */
};

struct profile {
	struct names names;
	VEC(struct profile_process) processes;
	VEC(struct profile_thread) threads;
	VEC(struct profile_thread_key) thread_keys;
	VEC(struct profile_entry) entries;
	VEC(struct profile_mapping) mappings;
	VEC(struct profile_part) parts;     /* until profile_take_apart() */
	VEC(struct profile_source) sources; /* each path once; only with --with-source */
	struct table process_table, thread_table, entry_table, source_table;
	struct timeline timeline; /* of the entries; empty unless cells_most is set */
	struct quality quality;
	const char *mode; /* "cpu", "wall", "gvl", "exception", "offcpu", "event"; "": not known */
	/* In the words of another profiler's file, as safe text; NULL: `mode`, and samples. */
	const char *weight_type;             /* of nanoseconds: "delay" */
	const char *count_type, *count_unit; /* "alloc_space", "bytes" */
	u32 hz;
	u64 start_unix_ns; /* wall clock at the start */
	u64 duration_ns;
	const char *title;   /* what was profiled: "ruby app.rb (pid 42)" */
	const char *command; /* how sonde was called, for the details */
	bool bad;            /* out of memory: something is missing */
};

bool profile_init(struct profile *profile);
void profile_free(struct profile *profile);
u32 profile_process(struct profile *profile, u32 pid, u64 start_time, const char *comm);
/* A row for each thread that ran under this tid and has a name of its own: native threads are used
 * again.  `life` is a number that differs when it was another thread.  One that is renamed keeps its row, and
 * the last name given stands; NULL or "" changes none. */
u32 profile_thread(struct profile *profile, u32 process, u32 tid, u32 life, const char *name);
/* Counts one sample. With SAMPLE_UNPAID in `flags` the weight comes by profile_share(). Gives the
 * entry, for timeline_add(). */
u32 profile_add(struct profile *profile, u32 thread, u32 stack, u64 weight, u16 flags);
/* The sample that gave the entry stands for `more` others, too. */
void profile_add_more(struct profile *profile, u32 entry, u64 more);
/* Counts `count` samples that weigh `weight` in all, each as much, as another profile has them. Gives the entry. */
u32 profile_add_counted(struct profile *profile, u32 thread, u32 stack, u64 count, u64 weight);
/* Shares `weight` among the thread's unpaid samples; false when it has none (nothing is changed). */
bool profile_share(struct profile *profile, u32 thread, u64 weight);
/* Replaces each location by its parts in all stacks and entries; `parts` is empty then. Add no samples afterwards.
 * Stacks that would become implausibly many frames stay as they are, and the ledger's warning says so. */
void profile_take_apart(struct profile *profile);
/* Names and sources that no entry leads to are dropped. Numbers are others then; add no samples afterwards. */
void profile_compact(struct profile *profile);
/* The text of the file at `path`, both strings; what was added first stands. */
void profile_add_source(struct profile *profile, u32 path, u32 text);
u64 profile_total_count(const struct profile *profile);
u64 profile_total_weight(const struct profile *profile);
