/* SPDX-License-Identifier: Apache-2.0
 * interned.c - see interned.h.
 *
 * Of all dicts that a variable of the image leads to, the one whose keys are their own values, and interned. */
#include "runtimes/python/interned.h"

#include "runtimes/python/containers.h"
#include "runtimes/python/identity.h"
#include "runtimes/python/types.h"
#include "target/loaded.h"

enum {
	MINOR_FIRST = 6,
	MINOR_LAST = 11,
	ITEMS_PROVEN = 32,
	ITEMS_LEAST = 256, /* an interpreter begins with more than a thousand */
	ITEMS_MOST = 1 << 26,
};

/* struct PyDictObject. */
struct dict_head {
	u64 references, type, used, version, keys;
};

struct proof {
	const struct mem *mem;
	const struct python_state *state;
	u64 dict;
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

static bool can_be_dict(const struct mem *mem, u64 address)
{
	struct dict_head head;

	return mem_peek(mem, address, &head, sizeof head) && head.references &&
	       python_address_ok(head.type) && head.used >= ITEMS_LEAST && head.used < ITEMS_MOST &&
	       head.version && python_address_ok(head.keys);
}

static bool word_is_interned(const struct loaded *place, void *arg, u64 addr, const u64 word[3])
{
	struct proof *proof = arg;

	(void)addr;
	if (!python_address_ok(word[2]) || !loaded_is_on_heap(place, word[2]) ||
	    !can_be_dict(place->mem, word[2]) ||
	    !python_is_of_type(place->mem, proof->state, word[2], "dict"))
		return false;
	proof->items = 0;
	proof->dict = word[2];
	python_each_item(place->mem, proof->state, word[2], item_is_interned, proof);
	return !proof->bad && proof->items >= ITEMS_PROVEN;
}

u64 python_find_interned(const struct loaded *place, const struct python_state *state)
{
	struct proof proof = { .mem = place->mem, .state = state };
	bool is_dict = python_major(state) == 3 && python_minor(state) >= MINOR_FIRST &&
		       python_minor(state) <= MINOR_LAST;

	return is_dict && loaded_scan_zeroed(place, word_is_interned, &proof) ? proof.dict : 0;
}
