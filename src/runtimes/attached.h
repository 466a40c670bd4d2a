/* SPDX-License-Identifier: Apache-2.0
 * attached.h - which runtimes a process holds, each with its state.
 *
 * The states are plain data with addresses of the target: a forked child, which has the same memory at the same addresses,
 * begins with a copy. */
#pragma once
#include "base/backoff.h"
#include "base/vec.h"
#include "runtimes/runtime.h"

struct attached {
	const struct runtime *runtime;
	u16 kind;                  /* of its frames */
	u64 code;                  /* an address in its image's code, in the target */
	bool is_program;           /* its image is the program itself, and not a library */
	bool has_names;            /* what names of threads take was found */
	struct backoff find_names; /* while it was not */
	_Alignas(16) u8 state[RUNTIME_STATE_MAX];
};

typedef VEC(struct attached *) attached_list;

struct attach_report {
	struct err
		first; /* of the images that may be ours: why one could not be attached to; ERR_NONE: none was */
	struct err
		denied; /* the first image that may not be read; it is `first` when there is nothing else */
	bool is_starting;  /* a VM is there, and has not started yet */
	bool is_new;       /* one was attached */
	char warning[200]; /* e.g. an unknown patch level */
};

/* Looks at every image that the target maps to be run, for those runtimes that are not attached yet. */
void attached_find(attached_list *list, const struct target *target, struct attach_report *report);
/* Nothing was attached, of what may be a runtime: why, for an engine that goes on without. False: there is nothing to say of
 * it, such as of a VM that has not started, or of a process that has ended. */
bool attached_say_why_none(const attached_list *list, const struct attach_report *report, u32 pid,
			   char warning[static 200]);
/* At the end: a VM is mapped, and has not been met running since then (CLOCK_MONOTONIC), a second ago or more: its host never
 * starts it, or it is none that sonde knows. Looks once more. */
bool attached_say_never_started(attached_list *list, const struct target *target, u64 since_ns,
				char warning[static 200]);
/* Appends copies. False when out of memory. */
bool attached_copy(attached_list *to, const attached_list *from);
/* Now and then, until it is there: what names of threads take. */
void attached_find_names(struct attached *attached, const struct mem *mem, u64 now_ns);
/* What its VM calls a thread; false, and `out` as it was: it has no name for it (yet). */
bool attached_name_thread(const struct attached *attached, const struct mem *mem, u64 thread,
			  char *out, u32 size);
/* The generation of a VM's thread as it is now: see struct walk. */
u64 attached_generation(const struct attached *attached, const struct mem *mem, u64 thread);
/* Of two VMs on one thread: changes when one of them does; 0 when one is not known. */
u64 attached_both_generation(u64 first, u64 second);
/* Is this frame on the stack of that thread of the VM now? */
bool attached_has_frame(const struct attached *attached, const struct mem *mem, u64 thread,
			const struct frame *frame);
/* Of the frames of a kind; NULL: none. */
const struct attached *attached_of_kind(const attached_list *list, u16 kind);
void attached_free(attached_list *list);
