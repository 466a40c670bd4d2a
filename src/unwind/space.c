/* SPDX-License-Identifier: Apache-2.0
 * space.c - see space.h. */
#include "unwind/space.h"

#include "elf/image.h"

#include <stdlib.h>

void unwind_files_free(struct unwind_files *files)
{
	for (u32 i = 0; i < files->all.count; i++) {
		unwind_table_free(&files->all.at[i]->table);
		free(files->all.at[i]);
	}
	vec_free(&files->all);
}

void unwind_space_init(struct unwind_space *space, struct target *target,
		       struct unwind_files *files)
{
	*space = (struct unwind_space){ .target = target, .files = files };
}

void unwind_space_free(struct unwind_space *space)
{
	vec_free(&space->ranges);
}

void unwind_space_clear(struct unwind_space *space)
{
	vec_clear(&space->ranges);
}

static struct unwind_file *known_file(const struct unwind_files *files,
				      const struct mapping *mapping)
{
	for (u32 i = 0; i < files->all.count; i++) {
		struct unwind_file *file = files->all.at[i];
		if (file->inode == mapping->inode && file->device == mapping->device)
			return file;
	}
	return NULL;
}

/* A file that cannot be read has an empty table, and is not asked again. */
static struct unwind_file *compile_file(struct unwind_files *files, const struct mapping *mapping,
					const struct image *image)
{
	struct unwind_file *file = calloc(1, sizeof *file);

	if (!file || !vec_push(&files->all, file)) {
		free(file);
		return NULL;
	}
	file->inode = mapping->inode;
	file->device = mapping->device;
	unwind_compile(image, &file->table, &file->report, NULL);
	return file;
}

/* The range that a mapping makes; without a table where the file has none. NULL: out of memory. */
static const struct unwind_range *add_range(struct unwind_space *space,
					    const struct mapping *mapping)
{
	struct unwind_range range = { .start = mapping->start, .end = mapping->end };
	struct image *image = target_open_image(space->target, mapping, NULL);

	if (image && target_load_bias(space->target, mapping, image, &range.bias)) {
		range.file = mapping->inode ? known_file(space->files, mapping) : NULL;
		if (!range.file)
			range.file = compile_file(space->files, mapping, image);
	}
	image_close(image);
	return vec_push(&space->ranges, range) ? &space->ranges.at[space->ranges.count - 1] : NULL;
}

static const struct unwind_range *range_of(struct unwind_space *space, u64 addr)
{
	for (u32 i = 0; i < space->ranges.count; i++)
		if (addr >= space->ranges.at[i].start && addr < space->ranges.at[i].end)
			return &space->ranges.at[i];
	const struct mapping *mapping = target_mapping_at(space->target, addr);
	return mapping && mapping->executable ? add_range(space, mapping) : NULL;
}

bool unwind_space_fill(struct unwind_space *space)
{
	const struct maps *maps = &space->target->maps;

	unwind_space_clear(space);
	for (u32 i = 0; i < maps->all.count; i++)
		if (maps->all.at[i].executable && !add_range(space, &maps->all.at[i]))
			return false;
	return true;
}

struct unwind_rule unwind_space_rule(struct unwind_space *space, u64 addr)
{
	const struct unwind_range *range = range_of(space, addr);
	struct unwind_rule rule = { 0 };

	if (range && range->file)
		unwind_find_rule(&range->file->table, addr - range->bias, &rule);
	return rule;
}

enum unwind_step unwind_space_step(struct unwind_space *space, const struct mem *mem,
				   struct unwind_walk *walk)
{
	struct unwind_rule rule = unwind_space_rule(space, unwind_place(walk));

	return unwind_step(mem, &rule, walk);
}
