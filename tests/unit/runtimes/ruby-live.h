/* SPDX-License-Identifier: Apache-2.0
 * ruby-live.h - a real Ruby as a child process, attached to. */
#pragma once
#include "base/str.h"
#include "runtimes/ruby/layout.h"
#include "runtimes/runtime.h"
#include "target/target.h"

/* One of the interpreters that the tests know. */
struct ruby_kind {
	const char *name;
	const char *
		suite; /* a root below ${XDG_CACHE_HOME:-~/.cache}/sonde/roots; NULL: this system */
	const char *program;
	const char *option; /* NULL or one option */
};
extern const struct ruby_kind ruby_kinds[];
extern const u32 ruby_kind_count;

struct ruby_live {
	int pid;
	int out;            /* what it prints */
	struct str printed; /* up to and with the line END */
	bool opened;        /* target is */
	struct target target;
	struct ruby_state state;
	char warning[480]; /* what attaching said, although it worked */
};

/* False, after saying so, when this Ruby is not on this machine. */
bool ruby_kind_is_here(const struct ruby_kind *kind);
/* A block for each that is. */
#define FOR_EACH_RUBY(kind)                                                                  \
	for (const struct ruby_kind *kind = ruby_kinds; kind < ruby_kinds + ruby_kind_count; \
	     kind++)                                                                         \
		if (ruby_kind_is_here(kind))
/* How many are. With none, a test has nothing to say: main returns RUBY_LIVE_SKIPPED. */
u32 ruby_kinds_here(void);
enum { RUBY_LIVE_SKIPPED = 77 }; /* what meson counts as skipped */
/* Where the interpreter's root is, "" for this system. */
void ruby_kind_root(const struct ruby_kind *kind, char *path, size_t room);
/* Starts it on a program of this folder or, with `text`, on that text; waits for the line END.
 * `libraries`, not NULL: a folder, as the interpreter sees it, where libruby is looked for first. */
void ruby_live_start(struct ruby_live *live, const struct ruby_kind *kind, const char *file,
		     const char *text, const char *libraries);
/* The two halves of it. */
void ruby_live_spawn(struct ruby_live *live, const struct ruby_kind *kind, const char *file,
		     const char *text, const char *libraries);
void ruby_live_wait(struct ruby_live *live, const char *until);
/* Attaches by `ways` (enum ruby_ways) to whichever image is the Ruby. */
bool ruby_live_attach(struct ruby_live *live, u32 ways, struct err *err);
void ruby_live_stop(struct ruby_live *live);
/* Stops the process with a signal, so that what is read stands still; and lets it go on. */
void ruby_live_freeze(struct ruby_live *live);
void ruby_live_thaw(struct ruby_live *live);
/* The next frame that has a name. */
enum step ruby_live_step(const struct ruby_live *live, struct walk *walk, struct frame *out);
/* The labels of a thread, leaf first, one a line, and the generation they hold for. False when the
 * thread has no stack now. Frozen processes only: every frame must have a name. */
bool ruby_live_labels(struct ruby_live *live, u64 thread, struct str *out, u64 *generation);
/* The thread of this name. */
u64 ruby_live_thread(struct ruby_live *live, const char *name, struct vm_thread *out);
