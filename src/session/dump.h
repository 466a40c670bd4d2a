/* SPDX-License-Identifier: Apache-2.0
 * dump.h - every thread's stack, once, now; and what a target is made of. */
#pragma once
#include "base/str.h"
#include "engines/engine.h"
#include "sample/names.h"

/* What a thread of the VM was doing, or a task: the text, with the name of the VM's lock for %s. */
#define DUMP_STATES(X)                      \
	X(UNKNOWN, "unknown")               \
	X(RUNNING, "running")               \
	X(WAITING, "waiting for the %s")    \
	X(HOLDING, "holds the %s, blocked") \
	X(BLOCKED, "blocked")               \
	X(GC, "GC")                         \
	X(AWAITING, "awaiting")             \
	X(STOPPED, "stopped")

enum dump_state {
#define X(name, text) DUMP_##name,
	DUMP_STATES(X)
#undef X
		DUMP_STATE_COUNT,
};

struct dump_thread {
	u32 tid;  /* as this side sees it; 0: not on a native thread now */
	u32 name; /* string */
	u32 task; /* string: of a task that waits, its name; `tid` is the thread whose loop runs it */
	enum dump_state state;
	const char *lock; /* "GVL", "GIL" */
	u32 stack;        /* of `names`: its location is the leaf, `outer` leads to the root */
	u32 locals; /* where those of the leaf are, the next one's behind it; 0: not asked for */
};

struct dump {
	struct names names;
	u32 pid;
	u32 runtime;     /* string: "ruby 3.1.2" */
	u32 warning;     /* string: for the user, e.g. an unknown patch level; 0: none */
	VEC(u32) locals; /* strings, a frame each: "name = value" lines; number 0 is nobody's */
	VEC(struct dump_thread) threads; /* in the VM's own order, the main thread first */
};

struct dump_wish {
	enum engine_pause pause;
	enum engine_async async;
	bool locals;
};

/* False: nothing to free. */
bool dump_take(struct dump *dump, u32 pid, const struct dump_wish *wish, struct err *err);
void dump_free(struct dump *dump);

/* Which runtime a process has, which of its numbers are in use and where each came from: the text
 * of `sonde doctor --pid`. */
bool session_describe(u32 pid, struct str *out, struct err *err);
