/* SPDX-License-Identifier: Apache-2.0
 * jit.c - see jit.h. */
#include "unwind/jit.h"

#include "base/table.h"
#include "elf/loaded.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#define LOG_DOMAIN LOG_target
#include "base/log.h"

enum {
	VERSION = 1,
	OBJECTS_MAX = 256,
	ENTRIES_MAX = 1 << 12,
	END_BYTES = 1024,
	PAGE = 4096, /* of which an object may have a part: what is left of it is no code */
};

static const u32 NO_DEVICE = UINT32_MAX; /* no mapping is of such a file */

/* Each keeps a descriptor of ours, of which files want most. */
static u32 objects_max(void)
{
	long descriptors = sysconf(_SC_OPEN_MAX);

	return descriptors > 0 && descriptors / 4 < OBJECTS_MAX ? (u32)descriptors / 4 :
								  OBJECTS_MAX;
}

/* As GDB's manual has them, on a machine of 64 bits. */
struct descriptor {
	u32 version, action;
	u64 relevant, first;
};

struct entry {
	u64 next, previous, object, size;
};

/* ---- the list ------------------------------------------------------------------------------ */

static u64 find_descriptor(struct unwind_space *space)
{
	struct image_symbol symbol;

	for (u32 i = 0; i < space->ranges.count; i++) {
		const struct unwind_range *range = &space->ranges.at[i];
		if (range->file &&
		    image_symbol_named(range->file->image, "__jit_debug_descriptor", &symbol) &&
		    symbol.section)
			return symbol.value + range->bias;
	}
	return 0;
}

static bool read_here(const struct unwind_space *space, u64 at, void *out, u32 size)
{
	return mem_peek(&space->target->mem.mem, at, out, size);
}

/* Its sections' headers are at the end of an object, with their addresses: by these it is told from one that had its place before. */
static u64 digest_of(const struct unwind_space *space, const struct entry *entry)
{
	u8 end[END_BYTES] = { 0 };
	u32 length = entry->size < sizeof end ? (u32)entry->size : sizeof end;

	read_here(space, entry->object + entry->size - length, end, length);
	return table_hash(end, sizeof end);
}

static bool is_known(const struct unwind_jit *jit, const struct unwind_jit_object *object)
{
	for (u32 i = 0; i < jit->objects.count; i++)
		if (!memcmp(&jit->objects.at[i], object, sizeof *object))
			return true;
	return false;
}

/* ---- objects ------------------------------------------------------------------------------- */

/* Code may be freed, and other code be made where it was. */
static void forget(struct unwind_jit *jit, u64 start, u64 end)
{
	u32 kept = 0;

	for (u32 i = 0; i < jit->ranges.count; i++)
		if (jit->ranges.at[i].end <= start || jit->ranges.at[i].start >= end)
			jit->ranges.at[kept++] = jit->ranges.at[i];
	jit->ranges.count = kept;
}

static bool add_object(struct unwind_space *space, const struct unwind_jit_object *object)
{
	struct unwind_jit *jit = &space->jit;
	struct image_segment segment;
	struct err err = { 0 };

	if (!vec_push(&jit->objects, *object))
		return false;
	struct image *image = loaded_open(&space->target->mem.mem, object->at, object->size,
					  "[jit]", &err);
	struct unwind_file *file = image ? unwind_files_add(space->files, image) : NULL;
	if (!file) {
		log_debug(1, "process %u: %s", space->target->pid, err.text);
		return false;
	}
	file->device = NO_DEVICE;
	for (u32 i = 0; i < image_segment_count(image); i++) {
		if (!image_segment(image, i, &segment) || !(segment.flags & PF_X))
			continue;
		struct unwind_range range = { .start = segment.address,
					      .end = segment.address + segment.memory_size,
					      .base = segment.address - segment.offset,
					      .file = file };
		forget(jit, range.start, range.end);
		if (range.end > range.start && !vec_push(&jit->ranges, range))
			return false;
	}
	return true;
}

bool unwind_jit_may_tell(const struct unwind_space *space)
{
	const struct unwind_jit *jit = &space->jit;

	return !jit->is_sought || (jit->descriptor && jit->objects.count < objects_max());
}

static bool take_list(struct unwind_space *space, u64 first)
{
	struct entry entry;
	u64 at = first;
	bool is_new = false;

	for (u32 i = 0; at && i < ENTRIES_MAX && unwind_jit_may_tell(space) &&
			read_here(space, at, &entry, sizeof entry);
	     i++) {
		struct unwind_jit_object object = { entry.object, entry.size,
						    digest_of(space, &entry) };
		if (!is_known(&space->jit, &object))
			is_new |= add_object(space, &object);
		at = entry.next;
	}
	return is_new;
}

bool unwind_jit_update(struct unwind_space *space)
{
	struct unwind_jit *jit = &space->jit;
	struct descriptor now;

	if (!jit->is_sought)
		jit->descriptor = find_descriptor(space);
	jit->is_sought = true;
	if (!jit->descriptor || !read_here(space, jit->descriptor, &now, sizeof now) ||
	    now.version != VERSION || (now.first == jit->first && now.relevant == jit->relevant))
		return false;
	jit->first = now.first;
	jit->relevant = now.relevant;
	return take_list(space, now.first) && unwind_space_fill(space);
}

/* ---- ranges -------------------------------------------------------------------------------- */

static bool carve(struct unwind_space *space, const struct unwind_range *code)
{
	u32 at = vec_first_not(&space->ranges, one, one->end <= code->start);

	if (at == space->ranges.count || space->ranges.at[at].start > code->start ||
	    space->ranges.at[at].end < code->end || space->ranges.at[at].file)
		return true; /* it is not there any more */
	struct unwind_range before = space->ranges.at[at], behind = before;
	before.end = code->start;
	behind.start = code->end;
	struct unwind_range parts[3] = { before, *code, behind };
	u32 count = 0;
	for (u32 i = 0; i < COUNT_OF(parts); i++)
		if (parts[i].file || parts[i].end - parts[i].start >= PAGE)
			parts[count++] = parts[i];
	if (!vec_grow(&space->ranges, space->ranges.count + count - 1))
		return false;
	memmove(space->ranges.at + at + count, space->ranges.at + at + 1,
		(space->ranges.count - at - 1) * sizeof before);
	memcpy(space->ranges.at + at, parts, count * sizeof before);
	space->ranges.count += count - 1;
	return true;
}

bool unwind_jit_carve(struct unwind_space *space)
{
	for (u32 i = 0; i < space->jit.ranges.count; i++)
		if (!carve(space, &space->jit.ranges.at[i]))
			return false;
	return true;
}
