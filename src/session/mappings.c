/* SPDX-License-Identifier: Apache-2.0
 * mappings.c - see mappings.h. */
#include "session/mappings.h"

#include "elf/image.h"

void mappings_free(struct mappings *mappings)
{
	vec_free(&mappings->files);
	vec_free(&mappings->owners);
	table_free(&mappings->by_owner);
}

/* ---- build-ids ----------------------------------------------------------------------------- */

static u32 build_id_of(struct profile *profile, const struct image *image)
{
	static const char digits[] = "0123456789abcdef";
	u8 id[BUILD_ID_MAX];
	char text[2 * BUILD_ID_MAX];
	u32 length = image ? image_build_id(image, id) : 0;

	for (u32 i = 0; i < length; i++) {
		text[2 * i] = digits[id[i] >> 4];
		text[2 * i + 1] = digits[id[i] & 15];
	}
	return length ? names_string(&profile->names, text, 2 * length) : 0;
}

/* Of a process that cannot be asked any more (`state` NULL), the file is what it was last. */
static const struct mapped_file *known_file(const struct mappings *mappings,
					    const struct mapping *mapping,
					    const struct file_state *state)
{
	for (u32 i = mappings->files.count; i-- > 0;) {
		const struct mapped_file *file = &mappings->files.at[i];
		if (file->inode == mapping->inode && file->device == mapping->device &&
		    (!state || file_state_equal(&file->state, state)))
			return file;
	}
	return NULL;
}

/* By what is mapped and not by its path: a program may have been replaced, or be another in another root. */
static u32 find_build_id(struct mappings *mappings, struct profile *profile,
			 const struct target *target, const struct mapping *mapping)
{
	struct file_state now;
	bool has_state = target_file_state(target, mapping, &now);
	const struct mapped_file *known = known_file(mappings, mapping, has_state ? &now : NULL);

	if (known || !has_state)
		return known ? known->build_id : 0;
	struct image *image = target_open_image(target, mapping, NULL);
	struct mapped_file file = { .inode = mapping->inode,
				    .device = mapping->device,
				    .state = now,
				    .build_id = build_id_of(profile, image) };
	image_close(image);
	vec_push(&mappings->files, file);
	return file.build_id;
}

/* ---- rows ---------------------------------------------------------------------------------- */

static bool is_same(const struct profile_mapping *a, const struct profile_mapping *b)
{
	return a->process == b->process && a->start == b->start && a->end == b->end &&
	       a->offset == b->offset && a->path == b->path && a->build_id == b->build_id;
}

/* Backwards: those of a process that is new stand at the end. */
static void add_row(struct profile *profile, struct profile_mapping row)
{
	for (u32 i = profile->mappings.count; i-- > 0;)
		if (is_same(&profile->mappings.at[i], &row))
			return;
	if (!vec_push(&profile->mappings, row))
		profile->bad = true;
}

void mappings_add_process(struct mappings *mappings, struct profile *profile,
			  const struct target *target, u32 process)
{
	for (u32 i = 0; i < target->maps.all.count; i++) {
		const struct mapping *mapping = &target->maps.all.at[i];
		if (!mapping->executable || !mapping->inode)
			continue;
		struct profile_mapping row = {
			.process = process,
			.start = mapping->start,
			.end = mapping->end,
			.offset = mapping->offset,
			.path = names_text(&profile->names, mapping_path(target, mapping)),
			.build_id = find_build_id(mappings, profile, target, mapping),
		};
		if (!vec_push(&profile->mappings, row))
			profile->bad = true;
	}
}

static bool same_owner(const void *of, u32 item, const void *key)
{
	const struct mapped_owner *known = &((const struct mappings *)of)->owners.at[item];
	const struct mapped_owner *wanted = key;

	return known->process == wanted->process && known->owner == wanted->owner;
}

/* False: it was known. */
static bool note_owner(struct mappings *mappings, u32 process, u64 owner)
{
	u64 parts[] = { process, owner };
	u64 hash = table_hash(parts, sizeof parts);
	struct mapped_owner key = { process, owner };

	return table_find(&mappings->by_owner, hash, same_owner, mappings, &key) == TABLE_NONE &&
	       vec_push(&mappings->owners, key) &&
	       table_add(&mappings->by_owner, hash, mappings->owners.count - 1);
}

static void add_owner(struct profile *profile, const struct sample_source *source, u64 owner,
		      u32 process)
{
	const struct image *image = source->image_of(source, owner);
	struct engine_mapping at;

	for (u32 i = 0; image && source->mapped_at(source, owner, i, &at); i++) {
		add_row(profile, (struct profile_mapping){
					 .process = process,
					 .start = at.start,
					 .end = at.end,
					 .offset = at.offset,
					 .path = names_text(&profile->names, image_name(image)),
					 .build_id = build_id_of(profile, image) });
	}
}

void mappings_add_sample(struct mappings *mappings, struct profile *profile,
			 const struct sample *sample, const struct sample_source *source,
			 u32 process)
{
	u64 last = 0;

	for (u32 i = 0; source->mapped_at && i < sample->depth; i++) {
		const struct frame *frame = &sample->frames[i];
		if (frame->kind != FRAME_NATIVE || !frame->owner || frame->owner == last)
			continue;
		last = frame->owner;
		if (note_owner(mappings, process, last))
			add_owner(profile, source, last, process);
	}
}
