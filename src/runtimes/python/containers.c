/* SPDX-License-Identifier: Apache-2.0
 * containers.c - dict (Objects/dictobject.c of each version) and set (Objects/setobject.c).
 *
 *	dict   head | used | version | keys | values
 *	keys   refcount | log2 sizes, kind | usable | entries used | indices | entries      3.11 on
 *	keys   refcount | size | lookup | usable | entries used | indices | entries         3.6 to 3.10
 *	dict   head | fill | used | mask | table of (hash, key, value)                      2.7
 *	set    head | fill | used | mask | table of (key, hash), in 2.7 (hash, key)
 *
 * A dict of an object's attributes can keep its values apart from its keys. */
#include "runtimes/python/containers.h"

#include "runtimes/python/step.h"

#include <string.h>

#define SET_GONE ~0ull /* the hash of a member that was taken out: no object has it */

enum {
	DICT_KEYS = 16, /* behind the head */
	DICT_VALUES = 24,
	SET_MASK = 16, /* also of 2.7's dict */
	SET_TABLE = 24,
	ENTRIES_MAX = 1 << 16,
	SLOTS_MAX = 1 << 24,
	SLOTS_AT_ONCE = 1 << 15,
	CHUNK_WORDS = 384,
	LOG_SIZE_MAX = 40,
	KIND_GENERAL = 0,
	SHARED_KEYS_MAX = 30,
	MINOR_LOG_SIZES = 11,     /* keys of 3.11 and later */
	MINOR_VALUES_HEADED = 13, /* values have a head of a word */
};

struct keys {
	u64 entries, values; /* values: 0: in the entries */
	u32 count, entry_words;
};

static bool read_keys(const struct mem *mem, const struct python_state *state, u64 keys,
		      struct keys *out)
{
	u64 words[5], index_bytes;

	if (!python_address_ok(keys) || !mem_read(mem, keys, words, sizeof words))
		return false;
	if (python_minor(state) >= MINOR_LOG_SIZES) {
		u32 log_bytes = words[1] >> 8 & 0xff, kind = words[1] >> 16 & 0xff;
		if (log_bytes > LOG_SIZE_MAX)
			return false;
		out->entry_words = kind == KIND_GENERAL ? 3 : 2;
		out->entries = keys + 32 + (1ull << log_bytes);
		out->count = words[3] < ENTRIES_MAX ? (u32)words[3] : ENTRIES_MAX;
		return true;
	}
	if (words[1] >> LOG_SIZE_MAX)
		return false;
	index_bytes = words[1] <= 0xff       ? 1 :
		      words[1] <= 0xffff     ? 2 :
		      words[1] <= 0xffffffff ? 4 :
					       8;
	out->entry_words = 3;
	out->entries = keys + 40 + words[1] * index_bytes;
	out->count = words[4] < ENTRIES_MAX ? (u32)words[4] : ENTRIES_MAX;
	return true;
}

static bool read_table(const struct mem *mem, u64 head, struct keys *out)
{
	u64 mask;

	if (!mem_read(mem, head + SET_MASK, &mask, 8) ||
	    !mem_read(mem, head + SET_TABLE, &out->entries, 8) || !python_address_ok(out->entries))
		return false;
	out->count = mask < ENTRIES_MAX ? (u32)mask + 1 : ENTRIES_MAX;
	out->entry_words = 3;
	out->values = 0;
	return true;
}

static bool read_dict(const struct mem *mem, const struct python_state *state, u64 dict,
		      struct keys *out)
{
	u64 head = dict + state->at.bytes_length, keys;

	if (!python_address_ok(dict))
		return false;
	if (python_major(state) == 2)
		return read_table(mem, head, out);
	if (!mem_read(mem, head + DICT_KEYS, &keys, 8) ||
	    !mem_read(mem, head + DICT_VALUES, &out->values, 8) ||
	    !read_keys(mem, state, keys, out))
		return false;
	if (out->values && python_minor(state) >= MINOR_VALUES_HEADED)
		out->values += 8;
	return true;
}

/* True ends the search. The entry ends with the key and, if not kept apart, its value. */
typedef bool entry_fn(void *arg, u32 place, const u64 *entry);

static bool each_entry(const struct mem *mem, const struct keys *keys, entry_fn *fn, void *arg)
{
	u64 words[CHUNK_WORDS];
	u32 most = CHUNK_WORDS / keys->entry_words;

	for (u32 done = 0; done < keys->count;) {
		u32 part = keys->count - done < most ? keys->count - done : most;
		if (!mem_read(mem, keys->entries + 8ull * keys->entry_words * done, words,
			      8 * keys->entry_words * part))
			return false;
		for (u32 i = 0; i < part; i++, done++)
			if (fn(arg, done, words + keys->entry_words * i))
				return true;
	}
	return false;
}

struct items {
	const struct mem *mem;
	const struct keys *keys;
	python_item_fn *fn;
	void *arg;
};

static bool give_item(void *arg, u32 place, const u64 *entry)
{
	const struct items *items = arg;
	u32 words = items->keys->entry_words;
	u64 key = entry[words - 2], value = entry[words - 1], values = items->keys->values;

	if (values && !mem_read(items->mem, values + 8ull * place, &value, 8))
		return false;
	return key && value && items->fn(items->arg, key, value);
}

bool python_each_item(const struct mem *mem, const struct python_state *state, u64 dict,
		      python_item_fn *fn, void *arg)
{
	struct keys keys;
	struct items items = { mem, &keys, fn, arg };

	return read_dict(mem, state, dict, &keys) && each_entry(mem, &keys, give_item, &items);
}

static bool is_string(const struct mem *mem, const struct python_state *state, u64 object,
		      const char *wanted)
{
	const struct python_layout *at = &state->at;
	size_t wanted_length = strlen(wanted);
	char text[64];
	u64 length;

	return python_address_ok(object) && mem_read(mem, object + at->string_length, &length, 8) &&
	       length == wanted_length && length <= sizeof text &&
	       mem_read(mem, object + at->string_ascii, text, (u32)length) &&
	       memcmp(text, wanted, length) == 0;
}

struct find {
	const struct mem *mem;
	const struct python_state *state;
	const char *key;
	u64 value;
};

static bool is_it(void *arg, u64 key, u64 value)
{
	struct find *find = arg;

	if (!is_string(find->mem, find->state, key, find->key))
		return false;
	find->value = value;
	return true;
}

bool python_find_item(const struct mem *mem, const struct python_state *state, u64 dict,
		      const char *key, u64 *value)
{
	struct find find = { .mem = mem, .state = state, .key = key };

	if (!python_each_item(mem, state, dict, is_it, &find))
		return false;
	*value = find.value;
	return true;
}

bool python_find_key(const struct mem *mem, const struct python_state *state, u64 keys_at,
		     const char *key, u32 *place)
{
	u64 words[2 * SHARED_KEYS_MAX];
	struct keys keys;

	if (keys_at & 7 || !read_keys(mem, state, keys_at, &keys) || keys.entry_words != 2 ||
	    keys.count > SHARED_KEYS_MAX || !mem_read(mem, keys.entries, words, 16 * keys.count))
		return false;
	for (*place = 0; *place < keys.count; ++*place)
		if (is_string(mem, state, words[2 * *place], key))
			return true;
	return false;
}

struct numbered {
	u64 number, value;
};

/* Hash, key, value; an int like this is its own hash. */
static bool is_number(void *arg, u32 place, const u64 *entry)
{
	struct numbered *numbered = arg;

	(void)place;
	numbered->value = entry[2];
	return entry[0] == numbered->number && entry[1] && entry[2];
}

bool python_find_number(const struct mem *mem, const struct python_state *state, u64 dict,
			u64 number, u64 *value)
{
	struct numbered numbered = { .number = number };
	struct keys keys;

	if (!read_dict(mem, state, dict, &keys) || keys.values || keys.entry_words != 3 ||
	    !each_entry(mem, &keys, is_number, &numbered))
		return false;
	*value = numbered.value;
	return true;
}

/* What was taken out of a set of Python 2 has this string in its place. */
static bool is_dummy(const struct mem *mem, const struct python_state *state, u64 key)
{
	return python_major(state) == 2 && is_string(mem, state, key, "<dummy key>");
}

u32 python_set_members(const struct mem *mem, const struct python_state *state, u64 set, u32 *place,
		       u64 *out, u32 room)
{
	u64 head = set + state->at.bytes_length, mask, table, words[CHUNK_WORDS];
	u32 found = 0, from = *place, key_at = python_major(state) == 2;

	*place = PYTHON_SET_END;
	if (!python_address_ok(set) || !mem_read(mem, head + SET_MASK, &mask, 8) ||
	    !mem_read(mem, head + SET_TABLE, &table, 8) || !python_address_ok(table) ||
	    mask >= SLOTS_MAX)
		return 0;
	u32 slots = (u32)mask + 1,
	    end = slots - from < SLOTS_AT_ONCE ? slots : from + SLOTS_AT_ONCE;
	while (from < end && found < room) {
		u32 part = end - from < CHUNK_WORDS / 2 ? end - from : CHUNK_WORDS / 2;
		if (!mem_read(mem, table + 16ull * from, words, 16 * part))
			return found;
		for (u32 i = 0; i < part && found < room; i++, from++) {
			u64 key = words[2 * i + key_at], hash = words[2 * i + !key_at];
			if (key && hash != SET_GONE && !is_dummy(mem, state, key))
				out[found++] = key;
		}
	}
	*place = from < slots ? from : PYTHON_SET_END;
	return found;
}
