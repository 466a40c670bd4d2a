/* SPDX-License-Identifier: Apache-2.0
 * mappings.h - which files a process maps to be run, for the profile: where, and with which build-id.
 *
 * All that it maps when it is first sampled, and what it loads later as soon as a frame is in it. */
#pragma once
#include "base/table.h"
#include "base/vec.h"
#include "engines/engine.h"
#include "profile/profile.h"
#include "target/target.h"

/* A file whose build-id was read. */
struct mapped_file {
	u64 inode;
	u32 device;
	struct file_state state;
	u32 build_id; /* string; 0: it has none */
};

struct mapped_owner {
	u32 process;
	u64 owner;
};

/* Zeros are none. */
struct mappings {
	VEC(struct mapped_file) files;
	VEC(struct mapped_owner) owners;
	struct table by_owner;
};

void mappings_free(struct mappings *mappings);
/* Of a process that is new in the profile. */
void mappings_add_process(struct mappings *mappings, struct profile *profile,
			  const struct target *target, u32 process);
/* Those of files that the process did not map before. */
void mappings_add_sample(struct mappings *mappings, struct profile *profile,
			 const struct sample *sample, const struct sample_source *source,
			 u32 process);
