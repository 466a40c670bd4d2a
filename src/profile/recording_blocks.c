/* SPDX-License-Identifier: Apache-2.0
 * recording_blocks.c - see recording_blocks.h. */
#include "profile/recording_blocks.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Bytes summed up for nothing, after which a file of many false blocks is read no further. */
enum { IN_VAIN_MOST = 256 << 20 };

void block_source_begin(struct block_source *source, struct in *in)
{
	*source = (struct block_source){ .in = in };
	in_skip(in, RECORDING_SIGNATURE_SIZE);
}

void block_source_end(struct block_source *source)
{
	free(source->unpacked);
	source->unpacked = NULL;
}

/* Is there a whole block at the window's begin? */
static bool read_header(struct block_source *source, struct recording_block *block)
{
	if (in_fill(source->in, sizeof *block) < sizeof *block)
		return false;
	memcpy(block, in_bytes(source->in), sizeof *block);
	if (block->magic != RECORDING_BLOCK_MAGIC || block->stored > RECORDING_BLOCK_MAX ||
	    !recording_may_unpack(block->stored, block->raw))
		return false;
	size_t size = sizeof *block + block->stored;
	if (in_fill(source->in, size) < size)
		return false;
	if (recording_checksum(block, in_bytes(source->in) + sizeof *block) == block->checksum)
		return true;
	source->in_vain += size;
	return false;
}

static bool unpack(struct block_source *source, const struct recording_block *block,
		   struct block_view *out)
{
	const u8 *stored = in_bytes(source->in) + sizeof *block;

	*out = (struct block_view){ .payload = stored, .size = block->raw, .type = block->type };
	if (block->encoding == BLOCK_RAW)
		return block->stored == block->raw;
	if (block->encoding != BLOCK_ZSTD)
		return false;
	if (block->raw > source->room) {
		free(source->unpacked);
		source->unpacked = malloc(block->raw);
		source->room = source->unpacked ? block->raw : 0;
	}
	out->payload = source->unpacked;
	return source->unpacked &&
	       ZSTD_decompress(source->unpacked, block->raw, stored, block->stored) == block->raw;
}

/* To the next place where a block might begin; false at the end. */
static bool resync(struct block_source *source)
{
	const u32 magic = RECORDING_BLOCK_MAGIC;
	struct in *in = source->in;
	size_t step = 1;

	for (;;) {
		if (in_fill(in, step + sizeof magic) < step + sizeof magic)
			return false;
		size_t there = in->end - in->begin;
		const u8 *at = memmem(in_bytes(in) + step, there - step, &magic, sizeof magic);
		size_t skip = at ? (size_t)(at - in_bytes(in)) : there - (sizeof magic - 1);
		source->cut += skip; /* damaged, when a whole block follows */
		in_skip(in, skip);
		if (at)
			return true;
		step = 0;
	}
}

static void skip_rest(struct block_source *source)
{
	for (size_t rest; (rest = in_fill(source->in, 1)) > 0;) {
		source->cut += rest;
		in_skip(source->in, rest);
	}
}

bool block_source_next(struct block_source *source, struct block_view *out)
{
	struct recording_block block;

	for (;;) {
		if (!in_fill(source->in, 1))
			return false;
		if (!read_header(source, &block)) {
			if (source->in_vain <= IN_VAIN_MOST && resync(source))
				continue;
			skip_rest(source);
			return false;
		}
		source->damaged += source->cut;
		source->cut = 0;
		bool readable = block.version <= RECORDING_VERSION && unpack(source, &block, out);
		if (block.version > RECORDING_VERSION)
			source->newer = block.version;
		else if (!readable)
			source->damaged += sizeof block + block.stored;
		in_skip(source->in, sizeof block + block.stored);
		if (readable)
			return true;
	}
}
