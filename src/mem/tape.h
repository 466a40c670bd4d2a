/* SPDX-License-Identifier: Apache-2.0
 * tape.h - what a walk read, to walk it again without the process.
 *
 *	record   every (address, bytes) that goes through is kept
 *	replay   answers from the tape and from nothing else
 *	faulty   fails the nth read of another reader (tests sweep n)
 *
 * A nine-frame walk is about 500 bytes: tapes live in git and travel in bug
 * reports.  The file is text, a line a read, so that it can be read and diffed:
 *
 *	sonde-tape 1
 *	state ruby 0102ab...          the runtime and its state, hex
 *	thread 7f00a0
 *	stands                        if it was stopped
 *	read 7f00a0 0102...           in the order of the walk
 *	frame ID OWNER AT POS FLAGS   what the walk gave, leaf first, hex
 *	end COMMENT */
#pragma once
#include "base/err.h"
#include "base/out.h"
#include "base/str.h"
#include "base/vec.h"
#include "mem/mem.h"

struct tape_read {
	u64 addr;
	u32 len;
	u32 at; /* in tape.bytes */
};

/* All zero is an empty tape. */
struct tape {
	VEC(struct tape_read) reads;
	VEC(u8) bytes;
	bool bad; /* out of memory: not whole */
};
void tape_clear(struct tape *tape);
void tape_free(struct tape *tape);
bool tape_add(struct tape *tape, u64 addr, const void *bytes, u32 len);

struct mem_record {
	struct mem mem;
	const struct mem *from;
	struct tape *tape;
};
void mem_record_init(struct mem_record *record, const struct mem *from, struct tape *tape);

struct mem_replay {
	struct mem mem;
	const struct tape *tape;
	u64 missed; /* reads that the tape could not answer */
};
void mem_replay_init(struct mem_replay *replay, const struct tape *tape);

struct mem_faulty {
	struct mem mem;
	const struct mem *from;
	u64 fail_at; /* the read with this number fails, from 0 */
	u64 count;   /* reads so far */
};
void mem_faulty_init(struct mem_faulty *faulty, const struct mem *from, u64 fail_at);

/* The reads as `read` lines. */
void tape_write(const struct tape *tape, struct out *out);
/* One `read` line; false when it is not one or is out of bounds (64 KiB a read, 16 MiB in all). */
bool tape_parse_line(struct tape *tape, const char *line, size_t length);
