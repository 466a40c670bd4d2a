/* SPDX-License-Identifier: Apache-2.0
 * kept_names.c - see kept_names.h. */
#include "engines/kernel/kept_names.h"

#include "base/table.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { SHELF_BYTES_MAX = 8 << 20 }; /* as many as the kernel remembers that it has seen, and more */

struct kept {
	u64 incarnation;
	size_t size;
	struct kernel_named *named; /* owned */
};

struct shelf {
	VEC(struct kept) all;
	struct table index;
	size_t bytes;
};

struct view {
	struct mem mem; /* first */
	const struct mem *live;
	const struct kernel_named *named;
};

/* What the kernel has seen it does not keep again: only the oldest may go. When the younger shelf is full it is
 * the older one, whose names are forgotten. */
struct kept_names {
	struct shelf younger, older;
	struct view view;
};

struct wanted {
	u64 incarnation, id, owner;
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

static void shelf_clear(struct shelf *shelf)
{
	for (u32 i = 0; i < shelf->all.count; i++)
		free(shelf->all.at[i].named);
	vec_free(&shelf->all);
	table_free(&shelf->index);
	*shelf = (struct shelf){ 0 };
}

void kept_names_free(struct kept_names *kept)
{
	if (!kept)
		return;
	shelf_clear(&kept->younger);
	shelf_clear(&kept->older);
	free(kept);
}

static bool is_wanted(const void *shelf, u32 item, const void *key)
{
	const struct kept *kept = &((const struct shelf *)shelf)->all.at[item];
	const struct wanted *wanted = key;

	return kept->incarnation == wanted->incarnation && kept->named->id == wanted->id &&
	       kept->named->owner == wanted->owner;
}

static struct kept *shelf_find(const struct shelf *shelf, const struct wanted *wanted)
{
	u32 item = table_find(&shelf->index, table_hash(wanted, sizeof *wanted), is_wanted, shelf,
			      wanted);

	return item == TABLE_NONE ? NULL : &shelf->all.at[item];
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

/* It owns what is kept from now on, if it is true. */
static bool shelf_add(struct shelf *shelf, const struct kept *kept)
{
	struct wanted wanted = { kept->incarnation, kept->named->id, kept->named->owner };
	struct kept *known = shelf_find(shelf, &wanted);

	if (known) {
		shelf->bytes -= known->size;
		free(known->named);
		*known = *kept;
	} else if (!vec_push(&shelf->all, *kept)) {
		return false;
	} else if (!table_add(&shelf->index, table_hash(&wanted, sizeof wanted),
			      shelf->all.count - 1)) {
		shelf->all.count--;
		return false;
	}
	shelf->bytes += kept->size;
	return true;
}

void kept_names_add(struct kept_names *kept, u64 incarnation, const struct kernel_named *named,
		    size_t size)
{
	struct kernel_named *copy = is_well_formed(named, size) ? malloc(size) : NULL;

	if (!copy)
		return;
	memcpy(copy, named, size);
	if (kept->younger.bytes > SHELF_BYTES_MAX) {
		shelf_clear(&kept->older);
		kept->older = kept->younger;
		kept->younger = (struct shelf){ 0 };
	}
	if (!shelf_add(&kept->younger, &(struct kept){ incarnation, size, copy }))
		free(copy);
}

const struct mem *kept_names_find(struct kept_names *kept, u64 incarnation,
				  const struct frame *frame, const struct mem *live)
{
	struct wanted wanted = { incarnation, frame->id, frame->owner };
	const struct kept *found = shelf_find(&kept->younger, &wanted);

	if (!found)
		found = shelf_find(&kept->older, &wanted);
	if (!found)
		return NULL;
	kept->view.live = live;
	kept->view.named = found->named;
	return &kept->view.mem;
}
