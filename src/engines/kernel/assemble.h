/* SPDX-License-Identifier: Apache-2.0
 * assemble.h - a record becomes a sample: kernel, native and managed frames in one list, leaf first. */
#pragma once
#include "engines/kernel/watched.h"
#include "sample/sample.h"

enum {
	ASSEMBLED_MAX = KERNEL_KERNEL_MAX + KERNEL_NATIVE_MAX + KERNEL_FRAMES_MAX + 5,
};

struct assembly; /* opaque scratch, for one record at a time */

struct assembly *assembly_new(void);
void assembly_free(struct assembly *assembly);
/* Where the native walk of a record ended: an address of the code there; 0: it has no native frames. */
u64 assembled_end(const struct kernel_record *record, size_t size);
/* What the sample's generation is made of: those of its VMs' threads, or what the process maps. */
u64 assembled_generation(const struct watched *process, const struct kernel_vm *vms,
			 const u64 each[KERNEL_VMS]);
/* What a record is of comes first, or last if it is to be the root. Fills frames, flags, generation and leftover of
 * `out`, which has room for ASSEMBLED_MAX frames. A record that is shorter than it says gives what there is. */
void assemble(struct assembly *assembly, struct watched *process,
	      const struct kernel_record *record, size_t size, bool event_at_root,
	      struct sample *out);
