/* SPDX-License-Identifier: Apache-2.0
 * bias.c - where an image stands in memory, from one of its mappings.
 *
 *	file    |....[ PT_LOAD: offset, file_size ]......|
 *	            \ page below                \ page above
 *	memory       [ mapping: offset, start .. end ]
 *
 *	bias = start - mapping.offset - (address - offset)
 *
 * The loader maps whole pages, so the pages at the seam of two segments are in
 * the file once and in memory twice, and either segment could explain such a
 * mapping; the two biases differ when the linker moved them apart.  The right one
 * also puts the other segments where mappings of the same file are: it is the one
 * with the most of them.  (Access rights do not tell: RELRO takes them away.) */
#include "target/target.h"

#include "elf/image.h"

#include <elf.h>
#include <unistd.h>

/* How many segments of the image are mapped where they belong under this bias. */
static u32 count_agreeing(const struct target *target, const struct mapping *mapping,
			  const struct image *image, u64 bias, u64 page)
{
	struct image_segment segment;
	u32 agreeing = 0;

	for (u32 i = 0; image_segment(image, i, &segment); i++) {
		if (segment.type != PT_LOAD || !segment.file_size)
			continue;
		u64 at = (segment.address + bias) & ~(page - 1);
		const struct mapping *there = target_mapping_at(target, at);
		agreeing += there && there->inode == mapping->inode &&
			    there->device == mapping->device &&
			    there->offset + (at - there->start) == (segment.offset & ~(page - 1));
	}
	return agreeing;
}

/* Could the mapping be of this segment? Then the bias is that. */
static bool explains(const struct image_segment *segment, const struct mapping *mapping, u64 page,
		     u64 *bias)
{
	u64 from = segment->offset & ~(page - 1);
	u64 size = (segment->offset - from + segment->file_size + page - 1) & ~(page - 1);

	*bias = mapping->start - mapping->offset - (segment->address - segment->offset);
	return segment->type == PT_LOAD && mapping->offset - from < size;
}

bool target_load_bias(const struct target *target, const struct mapping *mapping,
		      const struct image *image, u64 *bias)
{
	u64 page = (u64)sysconf(_SC_PAGESIZE), candidate;
	struct image_segment segment;
	u32 best = 0;

	if (!image_is_mapped(image, mapping->device, mapping->inode))
		return false;
	for (u32 i = 0; image_segment(image, i, &segment); i++) {
		if (!explains(&segment, mapping, page, &candidate))
			continue;
		u32 agreeing = count_agreeing(target, mapping, image, candidate, page);
		if (agreeing > best) {
			best = agreeing;
			*bias = candidate;
		}
	}
	return best > 0;
}

bool target_former_bias(const struct mapping *mapping, const struct image *image, u64 *bias)
{
	u64 page = (u64)sysconf(_SC_PAGESIZE), candidate;
	struct image_segment segment;
	bool is_found = false;

	if (!image_is_mapped(image, mapping->device, mapping->inode))
		return false;
	for (u32 i = 0; image_segment(image, i, &segment); i++) {
		if (!(segment.flags & PF_X) || !explains(&segment, mapping, page, &candidate))
			continue;
		if (is_found && candidate != *bias)
			return false;
		*bias = candidate;
		is_found = true;
	}
	return is_found;
}
