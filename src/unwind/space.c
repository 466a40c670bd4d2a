/* SPDX-License-Identifier: Apache-2.0
 * space.c - see space.h. */
#include "unwind/space.h"

#include "unwind/follow.h"
#include "unwind/jit.h"
#include "unwind/made.h"

#include "elf/image.h"

#include <stdlib.h>
#include <string.h>

void unwind_files_free(struct unwind_files *files)
{
	for (u32 i = 0; i < files->all.count; i++) {
		unwind_table_free(&files->all.at[i]->table);
		image_close(files->all.at[i]->image);
		free(files->all.at[i]);
	}
	vec_free(&files->all);
	unwind_cache_close(&files->cache);
}

void unwind_space_init(struct unwind_space *space, struct target *target,
		       struct unwind_files *files)
{
	*space = (struct unwind_space){ .target = target, .files = files };
}

static void free_jit(struct unwind_space *space)
{
	vec_free(&space->jit.objects);
	vec_free(&space->jit.ranges);
	space->jit = (struct unwind_jit){ 0 };
}

void unwind_space_free(struct unwind_space *space)
{
	vec_free(&space->ranges);
	free_jit(space);
	unwind_follower_free(space->follower);
	space->follower = NULL;
}

void unwind_space_clear(struct unwind_space *space)
{
	vec_clear(&space->ranges);
	free_jit(space);
	space->is_filled = false;
}

/* Of a process that cannot be asked any more, the file is what it was last. */
static struct unwind_file *known_file(const struct unwind_space *space,
				      const struct mapping *mapping)
{
	struct file_state now;
	bool is_asked = false, has_state = false;

	for (u32 i = space->files->all.count; i-- > 0;) {
		struct unwind_file *file = space->files->all.at[i];
		if (file->inode != mapping->inode || file->device != mapping->device)
			continue;
		if (!is_asked)
			has_state = target_file_state(space->target, mapping, &now);
		is_asked = true;
		if (!has_state || file_state_equal(&file->state, &now))
			return file;
	}
	return NULL;
}

struct unwind_file *unwind_files_add(struct unwind_files *files, struct image *image)
{
	struct unwind_file *file = calloc(1, sizeof *file);

	if (!file || !vec_push(&files->all, file)) {
		free(file);
		image_close(image);
		return NULL;
	}
	file->image = image;
	file->number = files->all.count;
	file_state_of(image_fd(image), &file->state);
	return file;
}

struct compiling {
	struct unwind_files *files;
	struct unwind_file *file;
};

static void compile_one(void *compiling_)
{
	const struct compiling *compiling = compiling_;
	struct unwind_file *file = compiling->file;
	struct unwind_report report;

	/* an object in memory is somewhere else the next time */
	if (file->device == UNWIND_NO_DEVICE)
		unwind_compile(file->image, &file->table, &report, NULL);
	else
		unwind_cache_compile(&compiling->files->cache, file->image, &file->table, NULL);
}

enum { LARGE = 1 << 20 /* bytes: its table takes some 10 ms */ };

/* One that cannot be read has an empty table, and is not asked again. */
static void compile(struct unwind_files *files, struct unwind_file *file)
{
	struct compiling compiling = { files, file };

	if (file->is_compiled)
		return;
	if (files->beside && file->state.size >= LARGE)
		files->beside(files->whose, compile_one, &compiling);
	else
		compile_one(&compiling);
	file->is_compiled = true;
}

/* Takes the image, of what is mapped there. NULL: there is none. */
static struct unwind_file *add_file(struct unwind_files *files, const struct mapping *mapping,
				    struct image *image)
{
	struct unwind_file *file = image ? unwind_files_add(files, image) : NULL;

	if (file) {
		file->inode = mapping->inode;
		file->device = mapping->device;
	}
	return file;
}

/* The file that a mapping maps; NULL: none that can be read. */
static const struct unwind_file *file_of(struct unwind_space *space, const struct mapping *mapping,
					 u64 *bias)
{
	struct unwind_file *known = known_file(space, mapping);

	if (!known)
		known = add_file(space->files, mapping,
				 target_open_image(space->target, mapping, NULL));
	return known && target_load_bias(space->target, mapping, known->image, bias) ? known : NULL;
}

/* Of no file yet. */
static struct unwind_range range_of(const struct mapping *mapping)
{
	return (struct unwind_range){ .start = mapping->start,
				      .end = mapping->end,
				      .base = mapping->start - mapping->offset,
				      .inode = mapping->inode,
				      .device = mapping->device };
}

static bool add_range(struct unwind_space *space, const struct mapping *mapping)
{
	struct unwind_range range = range_of(mapping);
	bool is_vdso = !strcmp(mapping_path(space->target, mapping), "[vdso]");

	if (mapping->inode || is_vdso)
		range.file = file_of(space, mapping, &range.bias);
	return vec_push(&space->ranges, range);
}

bool unwind_space_fill(struct unwind_space *space)
{
	const struct maps *maps = &space->target->maps;

	vec_clear(&space->ranges);
	space->is_filled = true;
	for (u32 i = 0; i < maps->all.count; i++)
		if (maps->all.at[i].executable && !add_range(space, &maps->all.at[i]))
			return false;
	if (!unwind_jit_carve(space))
		return false;
	/* by now the process may end */
	for (u32 i = 0; i < space->files->all.count; i++)
		compile(space->files, space->files->all.at[i]);
	return true;
}

/* One that is kept open is not given up by its file system: no other file gets its inode. */
static struct unwind_file *kept_file(const struct unwind_files *files,
				     const struct mapping *mapping)
{
	for (u32 i = files->all.count; i-- > 0;) {
		struct unwind_file *file = files->all.at[i];
		if (file->inode == mapping->inode && file->device == mapping->device &&
		    file_is_unchanged(image_fd(file->image), &file->state))
			return file;
	}
	return NULL;
}

struct unwind_range unwind_space_former(struct unwind_space *space, const struct mapping *mapping,
					const char *path)
{
	struct unwind_range range = range_of(mapping);
	struct unwind_file *file = mapping->inode ? kept_file(space->files, mapping) : NULL;

	if (!file)
		file = add_file(space->files, mapping,
				target_open_former(space->target, mapping, path));
	if (!file || !target_former_bias(mapping, file->image, &range.bias))
		return range;
	compile(space->files, file);
	range.file = file;
	return range;
}

const struct unwind_range *unwind_space_at(struct unwind_space *space, u64 addr)
{
	if (!space->is_filled)
		unwind_space_fill(space);
	u32 at = vec_first_not(&space->ranges, one, one->end <= addr);
	bool found = at < space->ranges.count && addr >= space->ranges.at[at].start;
	return found ? &space->ranges.at[at] : NULL;
}

static struct unwind_rule rule_in(const struct unwind_range *range, u64 addr)
{
	struct unwind_rule rule = { 0 };

	if (range && range->file)
		unwind_find_rule(&range->file->table, addr - range->bias, &rule);
	return rule;
}

struct unwind_rule unwind_space_rule(struct unwind_space *space, u64 addr)
{
	return rule_in(unwind_space_at(space, addr), addr);
}

enum unwind_step unwind_range_step(struct unwind_space *space, const struct unwind_range *range,
				   const struct mem *mem, struct unwind_walk *walk)
{
	struct unwind_rule rule = rule_in(range, unwind_place(walk));

	enum unwind_step step = unwind_step(mem, &rule, walk);
	return step == UNWIND_NO_RULE ? unwind_made_step(space, mem, walk) : step;
}

enum unwind_step unwind_space_step(struct unwind_space *space, const struct mem *mem,
				   struct unwind_walk *walk)
{
	return unwind_range_step(space, unwind_space_at(space, unwind_place(walk)), mem, walk);
}
