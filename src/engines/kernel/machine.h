/* SPDX-License-Identifier: Apache-2.0
 * machine.h - a VM as the kernel's walkers need it: how a native thread leads to its thread of the VM, and which C function
 * runs managed frames.
 *
 * Both are found in the running process, in stripped ones too: the words of known threads are looked for around their
 * thread pointers, and the loop by what the runtime knows of it, with its cold parts.  A loop may have a shell: a function
 * that does nothing but run it (rb_vm_exec around vm_exec_core). A frame that is pushed belongs to both.  Or it has its
 * instructions elsewhere, each a function that goes on with the next by a tail call (CPython 3.14 --with-tail-call-interp):
 * then it is small, and the one that it seems to have called is a part of it. */
#pragma once
#include "engines/kernel/shared.h"
#include "runtimes/attached.h"
#include "unwind/space.h"

enum { MACHINE_LOOPS_MAX = 48, MACHINE_ENDS_MAX = 2 };

enum machine_part {
	MACHINE_NONE,
	MACHINE_LOOP,
	MACHINE_SHELL,
	MACHINE_DOOR, /* calls one of these: it pushes a frame for which there is no loop yet */
};

struct machine_loop {
	u64 begin, end;
	enum machine_part part;
};

/* The code of a VM's loop: of a process, or as linked. */
struct machine_code {
	u32 loop_count, end_count;
	bool is_thin;    /* what runs managed frames are functions that the loop calls */
	u32 begin_bytes; /* of a loop, in which its frame may not be linked yet */
	struct machine_loop loops[MACHINE_LOOPS_MAX];
	u64 ends[MACHINE_ENDS_MAX]; /* calls that a loop makes when its frame is linked no more */
};

/* A VM of a process. */
struct machine {
	struct attached *attached;
	s32 own_word; /* from the thread pointer; 0: it is not there. (Nowhere at all: machine_riders() has to tell.) */
	s32 second_word; /* where it may be while that place is empty; 0: nowhere */
	u16 keys_at; /* from the thread pointer: of a word that leads to the thread's keys, if one of these is it; 0: none is */
	u16 key_at;  /* in them */
	struct machine_code code;
};

/* Code as linked, by the address in one that led to them: images are searched once, however many processes run them. */
struct machine_known {
	u32 file;    /* number */
	u64 address; /* linked */
	struct machine_code code;
};
typedef VEC(struct machine_known) machine_cache;

/* Is there a word by which a thread finds its thread of the VM?  What it is, of the thread with this pointer; 0: it has none. */
bool machine_has_word(const struct machine *machine);
u64 machine_word(const struct machine *machine, const struct mem *mem, u64 pointer);
/* Of a forked child, whose threads may have the word elsewhere than the parent's: it is looked for again. True: it was elsewhere. (Python
 * makes its key anew there, and musl numbers keys on and on.) */
bool machine_word_moved(struct machine *machine, const struct mem *mem);
/* Calls for each thread of the VM that is on a native thread; `tid` as this side sees it. */
typedef void machine_rider_fn(void *arg, u32 tid, u64 thread);
void machine_riders(const struct machine *machine, const struct target *target,
		    machine_rider_fn *fn, void *arg);

/* False: the VM is not far enough yet, and err says so. */
bool machine_find(struct machine *machine, struct attached *attached, struct unwind_space *space,
		  machine_cache *cache, struct err *err);
enum machine_part machine_part_at(const struct machine *machine, u64 place);
/* Among the first instructions of a loop: its frame may not be linked yet. */
bool machine_begins_at(const struct machine *machine, u64 place);
/* At the call that a loop makes when its frame is linked no more, in it, or just back from it. */
bool machine_ends_at(const struct machine *machine, u64 place);
void machine_tell(const struct machine *machine, struct kernel_machine *out);
