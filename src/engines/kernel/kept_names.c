/* SPDX-License-Identifier: Apache-2.0
 * kept_names.c - see kept_names.h. */
#include "engines/kernel/kept_names.h"

#include "base/table.h"

#include <stdlib.h>
#include <string.h>

enum {
	PLACES = 4 * KERNEL_SEEN_MAX, /* what the kernel has seen it does not keep again */
	BYTES_MAX = 8 << 20,          /* past that it starts over */
};

struct kept {
	u64 incarnation;
	size_t size;
	struct kernel_named *named; /* NULL: none */
};

struct view {
	struct mem mem; /* first */
	const struct mem *live;
	const struct kernel_named *named;
};

struct kept_names {
	struct kept all[PLACES];
	size_t bytes;
	struct view view;
};

/* What else lies there now has nothing to do with the function. */
static bool view_read(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	const struct view *view = (const struct view *)mem;

	for (u32 i = 0; i < NAME_PLACES; i++) {
		const struct kernel_piece *piece = &view->named->pieces[i];
		u64 at = addr - piece->addr; /* huge when it lies before */
		if (at >= piece->length || len > piece->length - at)
			continue;
		memcpy(dst, view->named->bytes + piece->at + at, len);
		return true;
	}
	return hold == MEM_CONSTANT && view->live->read(view->live, addr, dst, len, hold);
}

struct kept_names *kept_names_new(void)
{
	struct kept_names *kept = calloc(1, sizeof *kept);

	if (kept)
		kept->view.mem.read = view_read;
	return kept;
}

static void clear(struct kept_names *kept)
{
	for (u32 i = 0; i < PLACES; i++) {
		free(kept->all[i].named);
		kept->all[i] = (struct kept){ 0 };
	}
	kept->bytes = 0;
}

void kept_names_free(struct kept_names *kept)
{
	if (!kept)
		return;
	clear(kept);
	free(kept);
}

/* One of the functions that share it. */
static struct kept *place_of(struct kept_names *kept, u64 incarnation, u64 id, u64 owner)
{
	u64 words[] = { incarnation, id, owner };

	return &kept->all[table_hash(words, sizeof words) % PLACES];
}

static bool is_well_formed(const struct kernel_named *named, size_t size)
{
	size_t head = offsetof(struct kernel_named, bytes);

	if (size < head)
		return false;
	for (u32 i = 0; i < NAME_PLACES; i++)
		if (named->pieces[i].at > size - head ||
		    named->pieces[i].length > size - head - named->pieces[i].at)
			return false;
	return true;
}

void kept_names_add(struct kept_names *kept, u64 incarnation, const struct kernel_named *named,
		    size_t size)
{
	struct kernel_named *copy = is_well_formed(named, size) ? malloc(size) : NULL;

	if (!copy)
		return;
	if (kept->bytes > BYTES_MAX)
		clear(kept);
	memcpy(copy, named, size);
	struct kept *place = place_of(kept, incarnation, named->id, named->owner);
	kept->bytes += size - place->size;
	free(place->named);
	*place = (struct kept){ incarnation, size, copy };
}

const struct mem *kept_names_find(struct kept_names *kept, u64 incarnation,
				  const struct frame *frame, const struct mem *live)
{
	const struct kept *found = place_of(kept, incarnation, frame->id, frame->owner);

	if (!found->named || found->incarnation != incarnation || found->named->id != frame->id ||
	    found->named->owner != frame->owner)
		return NULL;
	kept->view.live = live;
	kept->view.named = found->named;
	return &kept->view.mem;
}
