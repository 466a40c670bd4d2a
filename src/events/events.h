/* SPDX-License-Identifier: Apache-2.0
 * events.h - what can be traced, by name, and what its name stands for on this machine.
 *
 *	syscall:NAME                a system call begins
 *	syscall-exit:NAME           ... and ends, with its error
 *	tracepoint:CATEGORY:NAME    of the kernel (tracefs)
 *	uprobe:LIBRARY:SYMBOL       a function of a library or program is entered
 *	usdt:LIBRARY:PROVIDER:NAME  a probe that its author has put there
 *
 * Each part but the first may hold *, ? and [].  To add a kind: its enum event_kind, a file with one const struct
 * event_source (sources.h, meson.build, and the list and the hint of events.c), and the BPF program that is attached to it
 * (engines/kernel/prof.bpf.c, attach.c). */
#pragma once
#include "base/err.h"
#include "base/table.h"
#include "base/types.h"
#include "base/vec.h"

struct target;

enum event_kind { EVENT_SYSCALL, EVENT_SYSCALL_EXIT, EVENT_TRACEPOINT, EVENT_UPROBE, EVENT_USDT };

enum { EVENT_NAME_MAX = 256 };

struct event {
	enum event_kind kind;
	u32 syscall;               /* the number of the system call */
	char name[EVENT_NAME_MAX]; /* in full, without wildcards */
};

/* Of a hit, by the instruction at which the probe is (measured on Linux 6.18, in a virtual machine). */
enum event_cost {
	EVENT_CHEAP,   /* the kernel emulates it: 0.5 to 0.7 us */
	EVENT_STEPPED, /* it is run out of line, with a trap behind it: 11 us */
	EVENT_REFUSED, /* the kernel puts no probe there, and says nothing */
};

/* An instruction at which a probe is: of EVENT_UPROBE one, of EVENT_USDT one or more. */
struct event_site {
	u32 event;     /* index */
	int file;      /* a descriptor; the list's */
	u64 offset;    /* in the file */
	u64 semaphore; /* offset of the word that says that somebody listens; 0: there is none */
	enum event_cost cost;
};

/* All zero is a valid empty list. */
struct event_list {
	VEC(struct event) all; /* each name once */
	VEC(struct event_site) sites;
	VEC(int) files;
	struct table by_name, by_site;
};

/* Is it the name of an event, or at least meant to be one? Else it may be a command. */
bool event_is_name(const char *word);
/* Adds what a name, or a pattern, stands for. LIBRARY is looked for as `target` sees it: a path, or the name of a file
 * that it maps or that is where libraries are; NULL: as we do. */
bool events_add(struct event_list *list, const char *word, const struct target *target,
		struct err *err);
/* Of the names that there are, those that a pattern matches; for kinds with libraries it has to say which. True, and err has a
 * code: one kind could not be listed, others could. */
bool events_match(struct event_list *list, const char *pattern, struct err *err);
void events_free(struct event_list *list);
