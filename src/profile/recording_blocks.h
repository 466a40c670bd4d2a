/* SPDX-License-Identifier: Apache-2.0
 * recording_blocks.h - the whole blocks of a recording, from a file or a pipe.
 *
 * A block counts when its checksum is right.  Damage is skipped up to the next block that is whole,
 * and counted.  One block is in memory at a time. */
#pragma once
#include "base/in.h"
#include "profile/recording_format.h"

struct block_source {
	struct in *in;
	u64 damaged; /* bytes in the middle that belong to no whole block */
	u64 cut;     /* and at the end */
	u64 in_vain; /* bytes of what looked like blocks */
	u8 *unpacked;
	size_t room;
	u16 newer; /* the version of a block that this reader could not read, or 0 */
};

struct block_view {
	const u8 *payload; /* unpacked; valid until the next call */
	u32 size;
	u8 type; /* enum recording_block_type, or one that is not known */
};

/* `in` stands at the signature; borrowed. */
void block_source_begin(struct block_source *source, struct in *in);
void block_source_end(struct block_source *source);
/* False at the end. */
bool block_source_next(struct block_source *source, struct block_view *out);
