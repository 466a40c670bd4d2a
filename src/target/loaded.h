/* SPDX-License-Identifier: Apache-2.0
 * loaded.h - an image at the address where a process has it. */
#pragma once
#include "base/types.h"
#include "mem/mem.h"

struct image;
struct target;

struct loaded {
	const struct target *target;
	const struct image *image;
	const struct mem *mem; /* the target's */
	u64 bias;              /* what to add to a linked address */
};

/* The address of a symbol that the image defines; those of thread-local storage have none. */
bool loaded_symbol(const struct loaded *loaded, const char *name, u64 *addr);

/* Is this address in memory of no file that the target may write? Most words of an image lead into itself, and asking for what
 * lies there costs a system call each. */
bool loaded_is_on_heap(const struct loaded *loaded, u64 addr);

/* Called with the address of a word, its value in word[2], and the two words before it. True ends the scan. */
typedef bool loaded_word_fn(const struct loaded *loaded, void *arg, u64 addr, const u64 word[3]);
/* Each aligned word of the image's writable pages, relocated data and .bss alike, of 64 MiB a segment at most.
 * Did `fn` end it? */
bool loaded_scan(const struct loaded *loaded, loaded_word_fn *fn, void *arg);
/* Only of what is not in the file, and was 0 at first. */
bool loaded_scan_zeroed(const struct loaded *loaded, loaded_word_fn *fn, void *arg);
