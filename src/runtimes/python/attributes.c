/* SPDX-License-Identifier: Apache-2.0
 * attributes.c - three places for attributes.
 *
 *	to 3.10       a dict, at an offset that the type has: in the first words of the object
 *	3.11, 3.12    an array, or a dict, to which a word in front of the object leads (3.12: one byte low)
 *	3.13 on       in the object, as long as it has no dict
 *
 * The names are in the type, which is not asked: who looks knows a value by what it is. */
#include "runtimes/python/attributes.h"

#include "runtimes/python/containers.h"
#include "runtimes/python/step.h"
#include "runtimes/python/types.h"

enum {
	WORDS_BEHIND = 10,
	VALUES = 8,
};

/* Which word in front of an object leads to its attributes; others belong to the garbage collector, and to weak
 * references. */
static const struct front {
	u8 first, last; /* minor versions */
	bool free_threaded;
	u8 words;
} in_front[] = {
	{ 11, 11, false, 4 },
	{ 11, 13, false, 3 },
	{ 13, 13, true, 1 },
};

struct search {
	const struct mem *mem;
	const struct python_state *state;
	python_value_fn *fn;
	void *arg;
};

static bool ask_item(void *search_, u64 key, u64 value)
{
	const struct search *search = search_;

	(void)key;
	return search->fn(search->arg, value);
}

static bool ask_values(const struct search *search, u64 addr, u32 count)
{
	u64 value;

	for (u32 i = 0; i < count; i++)
		if (mem_read(search->mem, addr + 8ull * i, &value, 8) && python_address_ok(value) &&
		    search->fn(search->arg, value))
			return true;
	return false;
}

static bool is_dict(const struct search *search, u64 object)
{
	return python_is_of_type(search->mem, search->state, object, "dict");
}

static bool is_in_front(const struct python_state *state, const struct front *place)
{
	u32 minor = python_minor(state);

	return minor >= place->first && minor <= place->last &&
	       place->free_threaded == !!(state->facts & PYTHON_FREE_THREADED);
}

bool python_each_attribute(const struct mem *mem, const struct python_state *state, u64 object,
			   python_value_fn *fn, void *arg)
{
	struct search search = { mem, state, fn, arg };
	u32 head = state->at.bytes_length;
	u64 word;

	for (u32 i = 0; i < COUNT_OF(in_front); i++) {
		if (!is_in_front(state, &in_front[i]) ||
		    !mem_read(mem, object - 8ull * in_front[i].words, &word, 8))
			continue;
		word += word & 1;
		if (is_dict(&search, word) ?
			    python_each_item(mem, state, word, ask_item, &search) :
			    python_address_ok(word) && ask_values(&search, word, VALUES))
			return true;
	}
	for (u32 i = 0; i < WORDS_BEHIND; i++)
		if (mem_read(mem, object + head + 8ull * i, &word, 8) && is_dict(&search, word) &&
		    python_each_item(mem, state, word, ask_item, &search))
			return true;
	return ask_values(&search, object + head, WORDS_BEHIND);
}
