/* SPDX-License-Identifier: Apache-2.0
 * calibrate.h - numbers proven, or found, in the live process. */
#pragma once
#include "mem/mem.h"
#include "runtimes/ruby/versions.h"

struct loaded;
struct target;

/* Is this the VM? True when vm -> main_thread -> ec -> thread_ptr comes back to the thread and the
 * thread knows the VM; then state->vm is set, and the numbers on the way. */
bool ruby_close_vm(const struct mem *mem, struct ruby_state *state, u64 vm);
/* Does the main thread have a frame? Then the interpreter has been set up. */
bool ruby_main_has_frames(const struct mem *mem, const struct ruby_state *state);
/* Lists of ractors and threads, tids, names, the lock: each number is tried as it is, then looked
 * for, and dropped when it is nowhere.  False when there is no way to a list of threads, or, of a
 * version that the table does not know, to tids and the main thread's frames. */
bool ruby_calibrate(const struct target *target, const struct mem *mem, struct ruby_state *state);
/* Where a class keeps its name and its relatives, of a version that the table does not know: Object's are known. */
void ruby_calibrate_classes(const struct loaded *place, struct ruby_state *state);
