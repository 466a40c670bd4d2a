/* SPDX-License-Identifier: Apache-2.0
 * space.h - the code of one process: which rule takes a pc to its caller.
 *
 * A table is compiled at the first question about its file and kept for all processes that map it. */
#pragma once
#include "base/vec.h"
#include "target/target.h"
#include "unwind/cache.h"
#include "unwind/step.h"

/* The device of what no mapping is of: an object in memory. */
enum { UNWIND_NO_DEVICE = 0x7fffffff };

/* A file's table. Mappings of equal device and inode have the same, as long as the file was not written anew between their
 * processes; the vDSO, which has neither, is one. */
struct unwind_file {
	u64 inode; /* of an object in memory a hash of what it says, and where */
	u32 device;
	struct file_state state; /* when it was opened */
	u32 number;              /* of the run, from 1 on */
	struct image *image;     /* kept open; for who wants names */
	bool is_compiled;
	struct unwind_table table;
};

/* Of all processes of a run; zeros are none, and no cache. */
struct unwind_files {
	VEC(struct unwind_file *) all;
	u32 made; /* of these, objects in memory */
	struct unwind_cache cache;
	/* Who has other work while a large file's table is made does both: it calls `fn`, in whatever thread, and returns when that has
	 * ended.  NULL: nobody has. */
	void (*beside)(void *whose, void (*fn)(void *arg), void *arg);
	void *whose;
};
void unwind_files_free(struct unwind_files *files);
/* Takes the image. NULL: out of memory. */
struct unwind_file *unwind_files_add(struct unwind_files *files, struct image *image);

/* Runs of addresses that one file's table covers. */
struct unwind_range {
	u64 start, end, bias;
	u64 base; /* where the file's first byte would be */
	u64 inode;
	u32 device;
	const struct unwind_file *file;
};

struct unwind_jit_object {
	u64 at, size, digest;           /* of the copy that is for debuggers */
	const struct unwind_file *file; /* NULL: it could not be read, or was one too many */
	bool is_listed;
};

/* See jit.h; zeros: not looked for yet. */
struct unwind_jit {
	bool is_sought;
	u32 sought;          /* ranges of files that were searched */
	u64 descriptor;      /* 0: there is none */
	u64 relevant, first; /* as the list was */
	u64 head[2];         /* the first one's object and size */
	VEC(struct unwind_jit_object) objects;
	VEC(struct unwind_range) ranges; /* of their code */
};

struct unwind_space {
	struct target *target;
	struct unwind_files *files;
	VEC(struct unwind_range) ranges;
	struct unwind_jit jit;
	bool is_filled;
	enum made_way made_way;           /* out of code that is made at run time */
	struct unwind_follower *follower; /* NULL: none was needed yet */
};

/* Borrows both. Zeros are freed, too. */
void unwind_space_init(struct unwind_space *space, struct target *target,
		       struct unwind_files *files);
void unwind_space_free(struct unwind_space *space);
/* The target is another program. */
void unwind_space_clear(struct unwind_space *space);

/* All that the target maps to be run, at once and by address; else the first question does it. False when out of
 * memory. */
bool unwind_space_fill(struct unwind_space *space);
/* Where an address lies; NULL: nothing to be run is mapped there. Lives until the space is cleared. */
const struct unwind_range *unwind_space_at(struct unwind_space *space, u64 addr);
/* Of a mapping that may be gone by now: without a file where that is neither kept open nor can be opened, or was written
 * since. */
struct unwind_range unwind_space_former(struct unwind_space *space, const struct mapping *mapping,
					const char *path);
/* The rule at an address of the target; UNWIND_NONE where nothing is known. */
struct unwind_rule unwind_space_rule(struct unwind_space *space, u64 addr);
/* One step, from what `mem` holds of the stack. */
enum unwind_step unwind_space_step(struct unwind_space *space, const struct mem *mem,
				   struct unwind_walk *walk);
/* The same, where this is what lay there. NULL: nothing. */
enum unwind_step unwind_range_step(struct unwind_space *space, const struct unwind_range *range,
				   const struct mem *mem, struct unwind_walk *walk);
