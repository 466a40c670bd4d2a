/* SPDX-License-Identifier: Apache-2.0
 * runtime.h - the contract of a language runtime, and how to add one.
 *
 * To add a runtime:
 *   1. runtimes/<name>/layout.h    the fields needed, one X-list, and the state
 *   2. runtimes/<name>/versions.c  their offsets, a row a version
 *   3. runtimes/<name>/step.h      next_thread, begin and step, BPF-safe (walk.h); and what the kernel engine
 *                                  asks: thread_of, in_turn, has_turns, skip, mend, wants_lock and name_places, most of
 *                                  which may say no
 *   4. runtimes/<name>/<name>.c    attach, name_frame, and the struct below
 *   5. one line in runtimes/list.h; runtimes/<name>/meson.build, and its subdir() in runtimes/meson.build
 *   6. its step.h and WALKER in engines/kernel/walk.bpf.h and tests/bpf/walkers.bpf.c
 *   7. a colour in export/kinds.c and html/colour.js: else it is "Other languages"
 *   8. tests: tests/targets/<name>/ (programs that print their own stack), tapes (tests/tapes/record.py),
 *      tests/unit/runtimes/<name>.c
 * If something else must change, the contract is wrong.  runtimes/toy/ is the whole of it in 300 lines.
 *
 * What a walker owes:
 * - The words that say where the stack is are read by `begin` with mem_read: they are
 *   the head, and the reader fetches them before, between and after the frames.  What
 *   may be read at any instant (the fiber pointer, counters) is read with mem_peek.
 * - `step` gives frames from the leaf to the root.  Everything is read with mem_read,
 *   except what moves while the leaf runs (its pc and sp).  A pc that nothing but the leaf's pos goes by is read with
 *   mem_place: a loop that runs is not walked anew for it.
 * - `step` looks at one frame a call and moves the cursor towards the root, always: a frame that
 *   has no name is STEP_HIDDEN.  Who calls it goes on while step_goes_on(), for a bounded number
 *   of steps.
 * - A stack that does not end where the thread's stack begins is STEP_FAULT, not STEP_DONE.
 * - `generation` changes before an address that was a frame's id or owner can mean something
 *   else.  0 means unknown: every name is then read again.  1 is that of a VM that has freed nothing yet, and
 *   of one whose frames' owners tell apart what is at an address.
 * - Numbers from the target are input: bounded before they are used. */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include "runtimes/walk.h"

struct target;
struct image;

/* What name_frame found out. The strs are the caller's, cleared before the call. */
struct frame_name {
	struct str label;
	struct str path;
	u32 line; /* of pos; 0 is unknown */
	/* Where what pos is about ends, for those who know: columns from 1, in bytes of UTF-8, end_column
	 * behind the last. 0 is unknown. */
	u32 end_line, column, end_column;
	u32 first_line; /* of the function */
	u32 flags;      /* FRAME_C, FRAME_TASK */
	/* A hash of what the code is called by itself, whoever calls it: tells apart what lies on one line (that of an
	 * eval). 0: its label says it. */
	u64 code;
};

enum {
	RUNTIME_STATE_MAX = 1024,
	/* pos of a frame whose name is a thread's: name_frame answers with the thread's name. */
	FRAME_POS_THREAD = 0xffffffff,
	/* The same of a task. */
	FRAME_POS_TASK = 0xfffffffe,
	TASKS_MAX = 1 << 20,
};

/* A task: work that a thread's loop runs by turns with others, and that has no stack of its own while it waits
 * (asyncio). */
struct vm_task {
	u64 task;   /* its address: the identity while it lives */
	u64 thread; /* in whose list it is; 0: not known */
	u64 waiter; /* a task that waits for this one; 0: none */
};

/* A way through all tasks, which may take any time: tasks come and go. 0 at first. */
struct task_cursor {
	u64 where, thread, head, node;
	u32 seen;
	bool threads_done, done;
};

/* A task that a thread may run, and where its outermost frame is. */
struct running_task {
	u64 task;
	u64 at; /* struct frame's */
};

enum task_walk {
	TASK_WAITS,     /* whole */
	TASK_RUNS,      /* it is on its thread's stack */
	TASK_GONE,      /* it has ended, or is no task */
	TASK_TRUNCATED, /* what waits for it is too long a chain */
	TASK_FAULT,     /* no memory */
};

/* False ends the walk. */
typedef bool task_frame_fn(void *arg, const struct frame *frame);

struct runtime_tasks {
	/* Looks for what the others need, in a process that has been attached to; false: there are no tasks (yet).
	 * `new_images`: others are mapped than when it looked the last time. */
	bool (*find)(const struct target *target, void *state, bool new_images);
	/* The next ones, `room` at the most (8 at least), until cursor->done. */
	u32 (*list)(const struct mem *mem, const void *state, struct task_cursor *cursor,
		    struct vm_task *out, u32 room);
	/* Leaf first: the frames in which the task waits, the task itself (FRAME_POS_TASK), then the same of
	 * what waits for it, and so on.  `is_running`: without its own frames, which its thread has.  Where there are too
	 * many frames MARK_TRUNCATED (of kind FRAME_MARK) stands for some. */
	enum task_walk (*walk)(const struct mem *mem, const void *state, u64 task, bool is_running,
			       task_frame_fn *fn, void *arg);
	/* Which task does the thread run? One of the answers. */
	u32 (*running)(const struct mem *mem, const void *state, u64 thread,
		       struct running_task *out, u32 room);
};

/* Where a loop links its frame, and links it no more. */
struct runtime_links {
	u32 offset;        /* in the thread of the VM, of the word that it is linked by */
	const char *check; /* a function that is called behind the end of that, and elsewhere */
	u32 text_argument; /* which of its arguments (from 0) is a text there, and NULL elsewhere */
};

enum runtime_jit {
	JIT_KEEPS_FRAMES, /* frame pointers */
	JIT_KEEPS_WORDS,  /* return addresses, and little else */
	JIT_JUMPS_ON,     /* pieces that jump to each other, each with a frame of its own */
};

struct runtime {
	const char *name;      /* the language: "ruby" */
	const char *lock;      /* what its users call the VM's lock: "GVL" */
	enum frame_mark waits; /* a thread waits for it */
	/* Optional: what code that it compiles at run time leaves on the native stack. NULL: frame pointers. */
	enum runtime_jit (*jit)(const void *state);
	u32 state_size; /* plain data without pointers of ours; copied into BPF maps and to forked
			   * children; RUNTIME_STATE_MAX at the most */

	/* Is this image ours, and if so where is everything? Cold. ERR_NOT_MINE: not ours.
	 * ERR_NOT_READY: ours, but its VM has not started; ask again. A warning for the user
	 * (an unknown patch level) is left in err->text with a true result. */
	bool (*attach)(const struct target *target, const struct image *image, void *state,
		       struct err *err);
	/* *where is 0 at first. STEP_DONE after the last. */
	enum step (*next_thread)(const struct mem *mem, const void *state, u64 *where,
				 struct vm_thread *out);
	enum step (*begin)(const struct mem *mem, const void *state, u64 thread, struct walk *walk);
	enum step (*step)(const struct mem *mem, const void *state, struct walk *walk,
			  struct frame *out);
	/* Of a walker that takes where the leaf is with mem_place(): the frame's pos that such a word says. */
	u32 (*pos_of)(const void *state, u64 word);
	/* A small transaction of its own: false when the memory is not what a frame's would be. */
	bool (*name_frame)(const struct mem *mem, const void *state, const struct frame *frame,
			   struct frame_name *out);
	/* Optional. May a native thread have several threads of the VM now, one an interpreter, and run them by turns? */
	bool (*has_turns)(const struct mem *mem, const void *state);
	/* Optional. Looks for what names of threads take and what may not be there from the beginning (a module that is
	 * imported later); false: it is not there yet, ask again. */
	bool (*find_names)(const struct mem *mem, void *state);
	/* Optional. Does who sleeps on the futex at this address wait for the VM's lock? For VMs that do not say of
	 * a thread that it waits. */
	bool (*is_lock)(const struct mem *mem, const void *state, u64 address);
	/* Optional. Does the thread hold the VM's lock? A walker, too; any instant will do. */
	bool (*holds_lock)(const struct mem *mem, const void *state, u64 thread);
	/* Optional, when it has a lock in some builds only: has this one it? */
	bool (*has_lock)(const void *state);
	/* Optional. Adds a line "name = value" for each local variable of a frame of a thread that stands still; false
	 * when it is not this frame any more. */
	bool (*locals)(const struct mem *mem, const void *state, const struct frame *frame,
		       struct str *out);
	/* For engines that see threads from inside the kernel, where X_thread_of() of step.h is the way back: the word
	 * that a native thread keeps in storage of its own, and that leads to its thread of the VM, as it is now. 0: not
	 * known. */
	u64 (*own_word)(const struct mem *mem, const void *state, u64 thread);
	/* For engines that see native frames: an address in the C function that runs managed ones, by way of such a frame; 0:
	 * not known. NULL: `loop_symbols`, the first of which that is there. */
	u64 (*loop_of)(const struct mem *mem, const void *state, const struct frame *frame);
	const char *const *loop_symbols; /* ends with NULL */
	/* Optional, where frames do not say of themselves on which native frame they are. False: they do in this version. */
	bool (*links)(const void *state, struct runtime_links *out);
	/* Optional. Is the thread raising or handling an exception? A walker, too; any instant will do. */
	bool (*raises)(const struct mem *mem, const void *state, u64 thread);
	/* Of a runtime that has it: what it has to know and does not; NULL: nothing. */
	const char *(*raises_lacks)(const void *state);
	/* Optional: of a runtime whose programs have tasks. */
	const struct runtime_tasks *tasks;
	/* Optional. What is in use and where each number came from, for `sonde doctor --pid`. */
	void (*describe)(const void *state, struct str *out);
};

/* The runtimes of list.h, in its order: FRAME_MANAGED + index is the kind of their frames. */
extern const struct runtime *const runtimes[];
extern const u32 runtime_count;
