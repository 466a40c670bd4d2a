/* SPDX-License-Identifier: Apache-2.0
 * audit_native.h - in which native function a thread is, at this moment.
 *
 * The thread is stopped for microseconds and its program counter taken; names are
 * looked up at the end, because they are slow and the program counter is not. */
#pragma once
#include "engines/reader/pause.h"
#include "session/audit.h"
#include "target/target.h"

struct audit_pc {
	u64 pc;
	u64 count;
};

struct audit_pcs {
	VEC(struct audit_pc) all;
	struct table table;
	struct pause pause;
};

/* Notes where the thread is now. What cannot be stopped is not noted. */
void audit_pcs_note(struct audit_pcs *pcs, u32 tid);
/* Their functions, most frequent first, into `out`. */
bool audit_pcs_name(const struct audit_pcs *pcs, const struct target *target,
		    struct audit_result *out);
void audit_pcs_free(struct audit_pcs *pcs);
