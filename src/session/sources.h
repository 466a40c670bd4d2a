/* SPDX-License-Identifier: Apache-2.0
 * sources.h - the text of the source files that samples were in, as they are while it runs.
 *
 * Read when a path is first seen: the program may end at any moment, and its root and its
 * container with it. Bounded; a file that cannot be read is left out. */
#pragma once
#include "profile/profile.h"
#include "target/target.h"

struct sources {
	u32 functions;  /* of the profile that were looked at */
	u64 bytes;      /* read so far */
	VEC(bool) seen; /* by string: a path that was tried */
};

/* Adds the files of the functions that are new since the last call. */
void sources_read(struct sources *sources, struct profile *profile, const struct target *target);
void sources_free(struct sources *sources);
