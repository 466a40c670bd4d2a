/* SPDX-License-Identifier: Apache-2.0
 * interned.c - see interned.h.
 *
 * Of all dicts that a variable of the image leads to, the one whose keys are their own values, and interned. */
#include "runtimes/python/interned.h"

#include "runtimes/python/containers.h"
#include "runtimes/python/identity.h"
#include "runtimes/python/types.h"
#include "target/loaded.h"
#include "target/target.h"

enum {
	MINOR_FIRST = 6,
	MINOR_LAST = 11,
	ITEMS_PROVEN = 16,
	ITEMS_LEAST = 256, /* an interpreter begins with more than a thousand */
	ITEMS_MOST = 1 << 26,
	AT_ONCE = 128,
};

/* struct PyDictObject. */
struct dict_head {
	u64 references, type, used, version, keys;
};

struct proof {
	const struct mem *mem;
	const struct python_state *state;
	u32 items;
	bool bad;
};

static bool item_is_interned(void *arg, u64 key, u64 value)
{
	struct proof *proof = arg;
	u32 flags;

	proof->bad = key != value ||
		     !mem_peek(proof->mem, key + proof->state->at.string_state, &flags, 4) ||
		     !python_is_interned(flags);
	return proof->bad || ++proof->items >= ITEMS_PROVEN;
}

static bool can_be_dict(const struct dict_head *head)
{
	return head->references && python_address_ok(head->type) && head->used >= ITEMS_LEAST &&
	       head->used < ITEMS_MOST && head->version && python_address_ok(head->keys);
}

static bool is_interned(struct proof *proof, u64 dict)
{
	if (!python_is_of_type(proof->mem, proof->state, dict, "dict"))
		return false;
	proof->items = 0;
	python_each_item(proof->mem, proof->state, dict, item_is_interned, proof);
	return !proof->bad && proof->items >= ITEMS_PROVEN;
}

/* Where variables lead to. */
struct led_to {
	struct mem_span spans[AT_ONCE];
	struct dict_head heads[AT_ONCE];
	u32 count;
	struct proof proof;
	u64 found;
};

/* All of them by one system call; one that cannot be read ends it, and is left out. */
static void look_at_them(const struct loaded *place, struct led_to *all)
{
	for (u32 done = 0; done < all->count && !all->found; done++) {
		u32 end = done +
			  mem_live_readv(&place->target->mem, all->spans + done, all->count - done);
		for (; done < end && !all->found; done++)
			if (can_be_dict(&all->heads[done]) &&
			    is_interned(&all->proof, all->spans[done].addr))
				all->found = all->spans[done].addr;
	}
	all->count = 0;
}

static bool word_leads_on(const struct loaded *place, void *arg, u64 addr, const u64 word[3])
{
	struct led_to *all = arg;

	(void)addr;
	if (!python_address_ok(word[2]) || !loaded_is_on_heap(place, word[2]))
		return false;
	all->spans[all->count] = (struct mem_span){ word[2], &all->heads[all->count],
						    sizeof all->heads[0] };
	if (++all->count == AT_ONCE)
		look_at_them(place, all);
	return all->found;
}

u64 python_find_interned(const struct loaded *place, const struct python_state *state)
{
	struct led_to all = { .proof = { .mem = place->mem, .state = state } };
	bool is_dict = python_major(state) == 3 && python_minor(state) >= MINOR_FIRST &&
		       python_minor(state) <= MINOR_LAST;

	if (is_dict && !loaded_scan_zeroed(place, word_leads_on, &all))
		look_at_them(place, &all);
	return all.found;
}
