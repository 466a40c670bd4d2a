/* SPDX-License-Identifier: Apache-2.0
 * loaded.c - see loaded.h. */
#include "target/loaded.h"

#include "elf/image.h"
#include "target/target.h"

#include <elf.h>

enum {
	CHUNK_BYTES = 16 << 10,    /* on the stack of whoever scans */
	SCAN_BYTES_MAX = 64 << 20, /* libruby has 0.4 MB, libpython 1.5 MB */
};

bool loaded_symbol(const struct loaded *loaded, const char *name, u64 *addr)
{
	struct image_symbol symbol;

	if (!image_symbol_named(loaded->image, name, &symbol) || !symbol.section ||
	    symbol.type == STT_TLS)
		return false;
	*addr = loaded->bias + symbol.value;
	return true;
}

bool loaded_is_on_heap(const struct loaded *loaded, u64 addr)
{
	const struct mapping *mapping = target_mapping_at(loaded->target, addr);

	return mapping && !mapping->inode && mapping->writable;
}

/* From this byte of the segment on. */
static bool scan_segment(const struct loaded *loaded, const struct image_segment *segment, u64 from,
			 loaded_word_fn *fn, void *arg)
{
	u64 words[CHUNK_BYTES / 8 + 2] = { 0 };
	u64 at = (loaded->bias + segment->address + from + 7) & ~7ull;
	u64 end = loaded->bias + segment->address + segment->memory_size;

	if (at < end && end - at > SCAN_BYTES_MAX)
		end = at + SCAN_BYTES_MAX;
	while (at + 8 <= end) {
		u64 length = end - at < CHUNK_BYTES ? (end - at) & ~7ull : CHUNK_BYTES;
		u32 count = (u32)length / 8;
		if (!mem_peek(loaded->mem, at, words + 2, (u32)length))
			return false;
		for (u32 i = 0; i < count; i++)
			if (fn(loaded, arg, at + i * 8ull, words + i))
				return true;
		words[0] = words[count];
		words[1] = words[count + 1];
		at += length;
	}
	return false;
}

static bool scan_all(const struct loaded *loaded, bool only_zeroed, loaded_word_fn *fn, void *arg)
{
	struct image_segment segment;

	for (u32 i = 0; i < image_segment_count(loaded->image); i++)
		if (image_segment(loaded->image, i, &segment) && segment.type == PT_LOAD &&
		    (segment.flags & PF_W) &&
		    scan_segment(loaded, &segment, only_zeroed ? segment.file_size : 0, fn, arg))
			return true;
	return false;
}

bool loaded_scan(const struct loaded *loaded, loaded_word_fn *fn, void *arg)
{
	return scan_all(loaded, false, fn, arg);
}

bool loaded_scan_zeroed(const struct loaded *loaded, loaded_word_fn *fn, void *arg)
{
	return scan_all(loaded, true, fn, arg);
}
