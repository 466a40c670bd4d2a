/* SPDX-License-Identifier: Apache-2.0
 * privilege.h - who we are, who called us, and what the kernel lets us do.
 *
 * Facts only, read from the kernel: capabilities of this process, sysctls, and the
 * user behind sudo.  Whether a thing works is tried by session/probes.h. */
#pragma once
#include "base/types.h"
#include "session/spawn.h"

/* Under sudo, the user who called it: `drop` is set. Else all zero, and false. */
bool privilege_read_sudo(struct spawn_identity *out);

/* Is the capability (linux/capability.h) in our effective set? */
bool privilege_has_capability(u32 capability);

/* Gives up, for good, what a run that has begun needs no more: all but what it takes to read the target, to name the kernel's
 * functions, to ask for more of what is sampled already and to write the profile.  Of this thread and those that it starts; a
 * command that was started before keeps its own. */
void privilege_drop(void);

/* The same when there is nothing more to sample: what it takes to read files, to write the profile and to pass on a signal stays.
 * What programs brought along is then parsed by libraries. */
void privilege_drop_sampling(void);

/* A sysctl that holds one number ("kernel/perf_event_paranoid"); false where there is none. */
bool privilege_read_sysctl(const char *name, s64 *out);
