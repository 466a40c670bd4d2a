/* SPDX-License-Identifier: Apache-2.0
 * natives.h - native and kernel frames become names.
 *
 * A file's symbols are read when the first frame of it is seen, from the file that the process maps: it may be deleted, or in
 * another root.  What debugging information knows (lines, what was inlined, names of what is stripped) is asked for when all
 * samples are there.  The address stays with the name, so that another can find more there.  Code without a file has names where
 * its maker writes a perf map, in the process's own root and under its own pid there. */
#pragma once
#include <pthread.h>

#include "base/backoff.h"
#include "base/vec.h"
#include "engines/engine.h"
#include "profile/profile.h"

struct perf_map;
struct symbols;

struct native_file {
	struct symbols *symbols; /* NULL: not read, or there are none */
	const struct image *image;
	u32 path, unknown; /* strings: the file, and what stands for a function that has no name */
};

/* Where a location is in its file. */
struct native_place {
	u32 file; /* 0: nowhere */
	u64 address;
};

/* Code that a process made at run time. */
struct native_jit {
	u64 incarnation;
	struct perf_map *map; /* NULL: its maker tells no names */
	u64 read_ns;          /* when it was looked at */
	struct backoff again; /* for who is not in it */
};

struct natives {
	struct names *names;
	VEC(struct native_file) files;   /* by frame.owner */
	VEC(struct native_place) places; /* by location */
	VEC(struct native_jit) jits;
	struct symbols *kernel; /* NULL: natives_prepare() was not called, or could not */
	bool by_function;       /* parts are functions: without lines, and without addresses */
	bool is_reading;        /* them, in that thread: nobody else may look */
	pthread_t reader;
};

void natives_init(struct natives *natives, struct names *names, bool by_function);
void natives_free(struct natives *natives);
/* Begins to read what takes long, while the engine is opened: the kernel's names. */
void natives_prepare(struct natives *natives);
/* No samples will come: what debugging information says of the locations becomes their parts. */
void natives_find_parts(struct natives *natives, struct profile *profile);
/* The location of a frame of kind FRAME_NATIVE or FRAME_KERNEL. */
u32 natives_location(struct natives *natives, const struct frame *frame,
		     const struct sample_source *source);
