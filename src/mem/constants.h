/* SPDX-License-Identifier: Apache-2.0
 * constants.h - words of a target that stay as they are for an epoch: read once.
 *
 * An epoch is a number of a runtime's that changes before an address can come to hold another object.  A walker
 * that takes such a word with mem_constant() gets it from here from the second walk on.
 *
 * A cache: an entry is where its address says and gives way to the next one.  What a walk adds counts when the walk was
 * right, for what it took for an object may have been none, and when its epoch is one that an earlier walk had: a walk
 * reads the epoch last, and what it met may have died in the one before. */
#pragma once
#include "base/vec.h"

enum { CONSTANT_MAX = 24, CONSTANTS = 4096, CONSTANT_EPOCHS = 64 };

struct constant_epoch {
	u64 image, number;
};

struct constant {
	u64 image, epoch, addr;
	u32 len;
	u8 bytes[CONSTANT_MAX];
};

/* All zero is valid and empty. */
struct constants {
	u64 image, epoch; /* of the present walk; epoch 0: nothing is known, and nothing kept */
	struct constant *all;
	bool is_old; /* an earlier walk had it, too */
	struct constant_epoch seen[CONSTANT_EPOCHS];
	VEC(u32) fresh; /* added by the present walk */
};

void constants_free(struct constants *constants);
/* `image`: a number that no other image of a process has. */
void constants_begin(struct constants *constants, u64 image, u64 epoch);
bool constants_find(const struct constants *constants, u64 addr, void *dst, u32 len);
void constants_add(struct constants *constants, u64 addr, const void *bytes, u32 len);
/* The end of the walk: what it added is kept, or forgotten. */
void constants_end(struct constants *constants, bool keep);
