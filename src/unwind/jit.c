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
	OBJECTS_MAX = 1 << 10, /* of all processes; those of forked children are their parents' */
	ENTRIES_MAX = 1 << 12,
	END_BYTES = 1024,
	PAGE = 4096, /* of which an object may have a part: what is left of it is no code */
};

/* Each keeps a descriptor of ours, of which files want most, for as long as its names may be asked for. */
static bool has_room(const struct unwind_files *files)
{
	long descriptors = sysconf(_SC_OPEN_MAX);

	return files->made < OBJECTS_MAX && (descriptors <= 0 || files->made < descriptors / 4);
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

static bool read_here(const struct unwind_space *space, u64 at, void *out, u32 size)
{
	return mem_peek(&space->target->mem.mem, at, out, size);
}

static u32 count_files(const struct unwind_space *space)
{
	u32 count = 0;

	for (u32 i = 0; i < space->ranges.count; i++)
		count += space->ranges.at[i].file &&
			 space->ranges.at[i].file->device != UNWIND_NO_DEVICE;
	return count;
}

/* Of several libraries that have one, that which tells something. */
static u64 find_descriptor(struct unwind_space *space)
{
	struct image_symbol symbol;
	struct descriptor there;
	u64 found = 0;

	for (u32 i = 0; i < space->ranges.count; i++) {
		const struct unwind_range *range = &space->ranges.at[i];
		if (!range->file || range->file->device == UNWIND_NO_DEVICE ||
		    !image_symbol_named(range->file->image, "__jit_debug_descriptor", &symbol) ||
		    !symbol.section)
			continue;
		u64 at = symbol.value + range->bias;
		if (read_here(space, at, &there, sizeof there) && there.first)
			return at;
		found = found ? found : at;
	}
	return found;
}

/* Its sections' headers are at the end of an object, with their addresses: by these it is told from one that had its place before. */
static u64 digest_of(const struct unwind_space *space, const struct entry *entry)
{
	u8 end[END_BYTES] = { 0 };
	u32 length = entry->size < sizeof end ? (u32)entry->size : sizeof end;

	read_here(space, entry->object + entry->size - length, end, length);
	return table_hash(end, sizeof end);
}

static struct unwind_jit_object *known(const struct unwind_jit *jit,
				       const struct unwind_jit_object *object)
{
	for (u32 i = 0; i < jit->objects.count; i++) {
		struct unwind_jit_object *one = &jit->objects.at[i];
		if (one->at == object->at && one->size == object->size &&
		    one->digest == object->digest)
			return one;
	}
	return NULL;
}

/* ---- objects ------------------------------------------------------------------------------- */

/* By where it is and all that it says: a forked child has what its parent had. */
static u64 key_of(const struct unwind_space *space, const struct unwind_jit_object *object)
{
	u64 key[] = { object->at, loaded_hash(&space->target->mem.mem, object->at, object->size) };

	return table_hash(key, sizeof key);
}

static struct unwind_file *known_file(const struct unwind_files *files, u64 key)
{
	for (u32 i = files->all.count; i-- > 0;)
		if (files->all.at[i]->device == UNWIND_NO_DEVICE && files->all.at[i]->inode == key)
			return files->all.at[i];
	return NULL;
}

/* NULL: it is none that can be read, or one too many. */
static struct unwind_file *file_of(struct unwind_space *space,
				   const struct unwind_jit_object *object)
{
	struct err err = { 0 };
	u64 key = key_of(space, object);
	struct unwind_file *file = known_file(space->files, key);

	if (file || !has_room(space->files))
		return file;
	struct image *image = loaded_open(&space->target->mem.mem, object->at, object->size,
					  "[jit]", &err);
	file = image ? unwind_files_add(space->files, image) : NULL;
	if (!file) {
		log_debug(1, "process %u: %s", space->target->pid, err.text);
		return NULL;
	}
	file->device = UNWIND_NO_DEVICE;
	file->inode = key;
	space->files->made++;
	return file;
}

/* Code may be freed, and other code be made where it was. */
static void forget(struct unwind_jit *jit, u64 start, u64 end)
{
	u32 kept = 0;

	for (u32 i = 0; i < jit->ranges.count; i++)
		if (jit->ranges.at[i].end <= start || jit->ranges.at[i].start >= end)
			jit->ranges.at[kept++] = jit->ranges.at[i];
	jit->ranges.count = kept;
}

static void add_object(struct unwind_space *space, struct unwind_jit_object object)
{
	struct unwind_jit *jit = &space->jit;
	struct unwind_file *file = file_of(space, &object);
	struct image_segment segment;

	object.file = file;
	if (!vec_push(&jit->objects, object))
		return;
	for (u32 i = 0; file && i < image_segment_count(file->image); i++) {
		if (!image_segment(file->image, i, &segment) || !(segment.flags & PF_X))
			continue;
		struct unwind_range range = { .start = segment.address,
					      .end = segment.address + segment.memory_size,
					      .base = segment.address - segment.offset,
					      .file = file };
		forget(jit, range.start, range.end);
		if (range.end > range.start && !vec_push(&jit->ranges, range))
			return;
	}
}

static void drop_ranges(struct unwind_jit *jit, const struct unwind_file *file)
{
	u32 kept = 0;

	for (u32 i = 0; i < jit->ranges.count; i++)
		if (jit->ranges.at[i].file != file)
			jit->ranges.at[kept++] = jit->ranges.at[i];
	jit->ranges.count = kept;
}

/* Code that debuggers are told is gone. */
static void drop_unlisted(struct unwind_jit *jit)
{
	u32 kept = 0;

	for (u32 i = 0; i < jit->objects.count; i++) {
		struct unwind_jit_object *object = &jit->objects.at[i];
		if (object->is_listed)
			jit->objects.at[kept++] = *object;
		else if (object->file)
			drop_ranges(jit, object->file);
	}
	jit->objects.count = kept;
}

bool unwind_jit_may_tell(const struct unwind_space *space)
{
	const struct unwind_jit *jit = &space->jit;

	return !jit->is_sought || (jit->descriptor && has_room(space->files));
}

static void take_list(struct unwind_space *space, u64 first)
{
	struct unwind_jit *jit = &space->jit;
	struct entry entry;
	u64 at = first;

	for (u32 i = 0; i < jit->objects.count; i++)
		jit->objects.at[i].is_listed = false;
	for (u32 i = 0; at && i < ENTRIES_MAX && read_here(space, at, &entry, sizeof entry); i++) {
		struct unwind_jit_object object = { .at = entry.object,
						    .size = entry.size,
						    .digest = digest_of(space, &entry),
						    .is_listed = true };
		struct unwind_jit_object *one = known(jit, &object);
		if (one)
			one->is_listed = true;
		else
			add_object(space, object);
		at = entry.next;
	}
	if (!at)
		drop_unlisted(jit);
}

static void seek(struct unwind_space *space)
{
	struct unwind_jit *jit = &space->jit;

	if (jit->descriptor)
		return;
	u32 files = count_files(space);
	if (!jit->is_sought || jit->sought != files)
		jit->descriptor = find_descriptor(space);
	jit->sought = files;
	jit->is_sought = true;
}

bool unwind_jit_update(struct unwind_space *space)
{
	struct unwind_jit *jit = &space->jit;
	struct descriptor now;
	struct entry head = { 0 };

	seek(space);
	if (!jit->descriptor || !read_here(space, jit->descriptor, &now, sizeof now) ||
	    now.version != VERSION)
		return false;
	if (now.first)
		read_here(space, now.first, &head, sizeof head);
	if (now.first == jit->first && now.relevant == jit->relevant &&
	    head.object == jit->head[0] && head.size == jit->head[1])
		return false;
	jit->first = now.first;
	jit->relevant = now.relevant;
	jit->head[0] = head.object;
	jit->head[1] = head.size;
	take_list(space, now.first);
	return unwind_space_fill(space);
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
		if (parts[i].start < parts[i].end)
			parts[count++] = parts[i];
	if (!vec_grow(&space->ranges, space->ranges.count + count - 1))
		return false;
	memmove(space->ranges.at + at + count, space->ranges.at + at + 1,
		(space->ranges.count - at - 1) * sizeof before);
	memcpy(space->ranges.at + at, parts, count * sizeof before);
	space->ranges.count += count - 1;
	return true;
}

/* Between objects that share a page there is no code. */
static void drop_pieces(struct unwind_space *space)
{
	u32 kept = 0;

	for (u32 i = 0; i < space->ranges.count; i++) {
		const struct unwind_range *range = &space->ranges.at[i];
		if (range->file || range->end - range->start >= PAGE)
			space->ranges.at[kept++] = *range;
	}
	space->ranges.count = kept;
}

bool unwind_jit_carve(struct unwind_space *space)
{
	for (u32 i = 0; i < space->jit.ranges.count; i++)
		if (!carve(space, &space->jit.ranges.at[i]))
			return false;
	if (space->jit.ranges.count)
		drop_pieces(space);
	return true;
}
