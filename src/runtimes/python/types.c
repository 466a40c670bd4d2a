/* SPDX-License-Identifier: Apache-2.0
 * types.c - see types.h. */
#include "runtimes/python/types.h"

#include "runtimes/python/step.h"

#include <string.h>

enum {
	CHUNK = 16,
	/* Of a free-threaded head: ob_ref_local, ob_ref_shared. */
	OWN_REFERENCES = 12,
	SHARED_REFERENCES = 16,
};

/* A name may end at the end of what is mapped. */
static bool read_text(const struct mem *mem, const struct python_state *state, u64 addr,
		      char out[PYTHON_TYPE_NAME_MAX])
{
	for (u32 done = 0; done < PYTHON_TYPE_NAME_MAX; done += CHUNK) {
		if (!python_constant(mem, state, addr + done, out + done, CHUNK)) {
			for (u32 i = done; i < PYTHON_TYPE_NAME_MAX; i++)
				if (!python_constant(mem, state, addr + i, &out[i], 1) || !out[i])
					return i > 0 && !out[i];
		}
		if (memchr(out + done, 0, CHUNK))
			return out[0] != 0;
	}
	out[PYTHON_TYPE_NAME_MAX - 1] = 0;
	return true;
}

bool python_is_alive(const struct mem *mem, const struct python_state *state, u64 object)
{
	struct {
		u32 count, high;
	} references;
	struct {
		u32 own;
		s64 shared; /* two flags, and how many */
	} split;

	if (!(state->facts & PYTHON_FREE_THREADED))
		/* 3.14 on: an overflow in front of flags; before, 64 bits; never near 2^32 */
		return mem_read(mem, object, &references, sizeof references) && references.count &&
		       !(references.high & 0xffff);
	return mem_read(mem, object + OWN_REFERENCES, &split.own, sizeof split.own) &&
	       mem_read(mem, object + SHARED_REFERENCES, &split.shared, sizeof split.shared) &&
	       (split.own || split.shared >> 2);
}

bool python_type_name(const struct mem *mem, const struct python_state *state, u64 object,
		      char out[PYTHON_TYPE_NAME_MAX])
{
	u32 head = state->at.bytes_length; /* of an object that has a size */
	u64 type, name;

	return python_address_ok(object) && mem_read(mem, object + head - 8, &type, 8) &&
	       python_address_ok(type) &&
	       python_constant(mem, state, type + head + PYTHON_TYPE_NAME, &name, 8) &&
	       name >= 4096 && read_text(mem, state, name, out);
}

bool python_is_of_type(const struct mem *mem, const struct python_state *state, u64 object,
		       const char *name)
{
	char found[PYTHON_TYPE_NAME_MAX];

	return python_type_name(mem, state, object, found) && !strcmp(found, name);
}

u64 python_generator_of(const struct mem *mem, const struct python_state *state, u64 object)
{
	static const struct {
		const char *type;
		bool is_wrapper; /* its first member is what it stands for */
	} kinds[] = {
		{ "coroutine", false },
		{ "generator", false },
		{ "async_generator", false },
		{ "coroutine_wrapper", true },
		{ "async_generator_asend", true },
		{ "async_generator_athrow", true },
		{ "anext_awaitable", true },
	};
	char name[PYTHON_TYPE_NAME_MAX];
	u64 inner;

	if (!python_type_name(mem, state, object, name))
		return 0;
	for (u32 i = 0; i < COUNT_OF(kinds); i++) {
		if (strcmp(name, kinds[i].type) != 0)
			continue;
		if (!kinds[i].is_wrapper)
			return object;
		if (!mem_read(mem, object + state->at.bytes_length, &inner, 8))
			return 0;
		return python_address_ok(inner) ? inner : 0;
	}
	return 0;
}
