/* SPDX-License-Identifier: Apache-2.0
 * late.c - see late.h.  Memory is bounded: LATE_PAGES_MAX pages. */
#include "mem/late.h"

#include <string.h>

enum {
	PAGE = 4096,
	LATE_PAGES_MAX = 8192, /* 32 MiB: a VM stack of 100,000 frames */
};

void late_free(struct late *late)
{
	free(late->bytes);
	table_free(&late->table);
	vec_free(&late->pages);
}

void late_clear(struct late *late)
{
	vec_clear(&late->pages);
	table_clear(&late->table);
	late->head_count = 0;
}

static bool same_page(const void *owner, u32 item, const void *key)
{
	const struct late *late = owner;

	return late->pages.at[item].page == *(const u64 *)key;
}

static struct late_page *read_page(struct late *late, const struct mem_live *live, u64 page,
				   u32 number)
{
	u32 index = late->pages.count;

	if (index >= LATE_PAGES_MAX)
		return NULL;
	if (index >= late->room) {
		u32 room = late->room ? late->room * 2 : 16;
		u8 *bytes = realloc(late->bytes, (size_t)room * PAGE);
		if (!bytes)
			return NULL;
		late->bytes = bytes;
		late->room = room;
	}
	struct mem_span span = { page, late->bytes + (size_t)index * PAGE, PAGE };
	if (mem_live_readv(live, &span, 1) != 1)
		return NULL;
	if (!vec_push(&late->pages,
		      (struct late_page){ .page = page, .low = 1, .first = number }) ||
	    !table_add(&late->table, table_hash(&page, sizeof page), index))
		return NULL;
	return &late->pages.at[index];
}

bool late_read_body(struct late *late, const struct mem_live *live, u64 addr, u8 *dst, u32 len,
		    enum mem_hold hold, u32 number)
{
	while (len) {
		u64 page = addr & ~(u64)(PAGE - 1);
		u32 inside = (u32)(addr - page);
		u32 part = len < PAGE - inside ? len : PAGE - inside;
		u32 index = table_find(&late->table, table_hash(&page, sizeof page), same_page,
				       late, &page);
		struct late_page *found = index == TABLE_NONE ?
						  read_page(late, live, page, number) :
						  &late->pages.at[index];
		if (!found)
			return false;
		size_t at = (size_t)(found - late->pages.at) * PAGE + inside;
		memcpy(dst, late->bytes + at, part);
		range_touch(&found->low, &found->high, addr, part);
		found->holds |= hold == MEM_HOLDS;
		addr += part;
		dst += part;
		len -= part;
	}
	return true;
}

bool late_read_head(struct late *late, const struct mem_live *live, enum plan_part part, u64 addr,
		    u8 *dst, u32 len, enum range_order order)
{
	for (u32 i = 0; i < late->head_count; i++) {
		const struct late_head *head = &late->heads[i];
		if (head->addr == addr && head->len == len && head->part == part) {
			memcpy(dst, head->bytes, len);
			return true;
		}
	}
	struct mem_span span = { addr, dst, len };
	if (mem_live_readv(live, &span, 1) != 1)
		return false;
	if (late->head_count < LATE_HEADS_MAX && len <= LATE_HEAD_MAX) {
		struct late_head *head = &late->heads[late->head_count++];
		*head = (struct late_head){
			.addr = addr, .len = len, .part = part, .order = order
		};
		memcpy(head->bytes, dst, len);
	}
	return true;
}

void late_learn(const struct late *late, struct read_set *set)
{
	for (u32 i = 0; i < late->head_count; i++) {
		const struct late_head *head = &late->heads[i];
		read_set_add(set, head->addr, head->addr + head->len, head->part, 0, head->order);
	}
	for (u32 i = 0; i < late->pages.count; i++) {
		const struct late_page *page = &late->pages.at[i];
		if (page->low < page->high)
			read_set_add(set, page->low, page->high,
				     page->holds ? PLAN_BODY : PLAN_ONCE, page->first, RANGE_ANY);
	}
	read_set_arrange(set);
}
