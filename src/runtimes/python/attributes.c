/* SPDX-License-Identifier: Apache-2.0
 * attributes.c - three places for attributes.
 *
 *	to 3.10       a dict, at an offset that the type has: in the first words of the object
 *	3.11, 3.12    an array, or a dict, to which a word in front of the object leads (3.12: one byte low)
 *	3.13 on       an array in the object, behind what its type takes; or a dict, as in 3.12
 *
 * Which place of an array has which name is in the type (ht_cached_keys), whose own members move: of the words behind
 * those of PyTypeObject, it is the one that leads to keys that have this name. */
#include "runtimes/python/attributes.h"

#include "runtimes/python/containers.h"
#include "runtimes/python/step.h"
#include "runtimes/python/types.h"

enum {
	WORDS_BEHIND = 10,    /* of an object, in which its dict is looked for */
	TYPE_BASIC_SIZE = 16, /* behind the head, which has a size */
	TYPE_KEYS_FIRST = 840,
	TYPE_KEYS_LAST = 1000,
	BASIC_SIZE_MOST = 1 << 16,
	MINOR_ARRAYS = 11,
	MINOR_INLINE = 13,
};

/* Which word in front of an object leads to its attributes; others belong to the garbage collector, and to weak
 * references. */
static const struct front {
	u8 first, last; /* minor versions */
	bool free_threaded;
	u8 words;
} in_front[] = {
	{ 11, 11, false, 4 },
	{ 11, 15, false, 3 },
	{ 13, 15, true, 1 },
};

struct search {
	const struct mem *mem;
	const struct python_state *state;
	const char *name;
	u64 object, type;
	u32 place; /* of the name, in arrays */
};

static bool is_dict(const struct search *search, u64 word)
{
	return python_is_of_type(search->mem, search->state, word, "dict");
}

static bool find_in_dict(const struct search *search, u64 word, u64 *value)
{
	return python_find_item(search->mem, search->state, word, search->name, value);
}

static bool read_place(const struct search *search, u64 array, u64 *value)
{
	return python_address_ok(array) &&
	       mem_read(search->mem, array + 8ull * search->place, value, 8) && *value;
}

static bool is_in_front(const struct python_state *state, const struct front *place)
{
	u32 minor = python_minor(state);

	return minor >= place->first && minor <= place->last &&
	       place->free_threaded == !!(state->facts & PYTHON_FREE_THREADED);
}

/* A dict; or an array, if the name has a place in those. */
static bool find_in_front(const struct search *search, bool has_place, u64 *value)
{
	u64 word;

	for (u32 i = 0; i < COUNT_OF(in_front); i++) {
		if (!is_in_front(search->state, &in_front[i]) ||
		    !mem_read(search->mem, search->object - 8ull * in_front[i].words, &word, 8))
			continue;
		word += word & 1;
		if (is_dict(search, word) ?
			    find_in_dict(search, word, value) :
			    has_place && python_minor(search->state) < MINOR_INLINE &&
				    read_place(search, word, value))
			return true;
	}
	return false;
}

/* The array has a head of a word. */
static bool find_inside(const struct search *search, u64 *value)
{
	u64 at = search->type + search->state->at.bytes_length + TYPE_BASIC_SIZE, size;

	return mem_read(search->mem, at, &size, 8) && size < BASIC_SIZE_MOST && !(size & 7) &&
	       read_place(search, search->object + size + 8, value);
}

static bool find_place(struct search *search)
{
	u64 words[(TYPE_KEYS_LAST - TYPE_KEYS_FIRST) / 8];

	if (python_minor(search->state) < MINOR_ARRAYS ||
	    !mem_read(search->mem, search->type + TYPE_KEYS_FIRST, words, sizeof words))
		return false;
	for (u32 i = 0; i < COUNT_OF(words); i++)
		if (python_find_key(search->mem, search->state, words[i], search->name,
				    &search->place))
			return true;
	return false;
}

bool python_find_attribute(const struct mem *mem, const struct python_state *state, u64 object,
			   const char *name, u64 *value)
{
	struct search search = { mem, state, name, object, 0, 0 };
	u32 head = state->at.bytes_length;
	u64 word;

	if (!python_address_ok(object) || !mem_read(mem, object + head - 8, &search.type, 8) ||
	    !python_address_ok(search.type))
		return false;
	bool has_place = find_place(&search);
	if (find_in_front(&search, has_place, value))
		return true;
	if (python_minor(state) >= MINOR_INLINE)
		return has_place && find_inside(&search, value);
	for (u32 i = 0; i < WORDS_BEHIND && python_minor(state) < MINOR_ARRAYS; i++)
		if (mem_read(mem, object + head + 8ull * i, &word, 8) && is_dict(&search, word) &&
		    find_in_dict(&search, word, value))
			return true;
	return false;
}
