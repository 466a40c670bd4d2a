/* SPDX-License-Identifier: Apache-2.0
 * objects.c - strings and arrays, as RString and RArray have them. */
#include "runtimes/ruby/objects.h"

#include "runtimes/ruby/step.h"

bool ruby_value_type(const struct mem *mem, u64 value, u32 *type, u64 *flags)
{
	if (!ruby_address_ok(value) || !mem_u64(mem, value, flags))
		return false;
	*type = *flags & RUBY_T_MASK;
	return true;
}

bool ruby_is_imemo(const struct mem *mem, u64 value, u32 imemo_type)
{
	u64 flags;
	u32 type;

	return ruby_value_type(mem, value, &type, &flags) && type == RUBY_T_IMEMO &&
	       (flags >> RUBY_IMEMO_SHIFT & RUBY_IMEMO_MASK) == imemo_type;
}

bool ruby_read_string(const struct mem *mem, const struct ruby_state *state, u64 value,
		      struct str *out)
{
	u64 flags, length, at = value + state->at.string_embedded;
	char chunk[1024];
	u32 type;

	if (!ruby_value_type(mem, value, &type, &flags) || type != RUBY_T_STRING)
		return false;
	if (!(flags & RUBY_FL_USER1) && (state->facts & RUBY_SHORT_IN_FLAGS))
		length = flags >> 14 & 0x1f; /* FL_USER2 and the four above */
	else if (!mem_u64(mem, value + RUBY_STRING_LENGTH, &length))
		return false;
	if ((flags & RUBY_FL_USER1) && !mem_u64(mem, value + RUBY_STRING_POINTER, &at))
		return false;
	if (length > INT64_MAX)
		return false;
	if (length > RUBY_TEXT_MAX)
		length = RUBY_TEXT_MAX;
	for (u32 done = 0; done < length;) {
		u32 part = length - done < sizeof chunk ? (u32)length - done : (u32)sizeof chunk;
		if (!mem_read(mem, at + done, chunk, part))
			return false;
		str_add(out, chunk, part);
		done += part;
	}
	return true;
}

bool ruby_read_element(const struct mem *mem, u64 array, u64 index, u64 *out)
{
	u64 flags, length, elements = array + RUBY_ARRAY_EMBEDDED;
	u32 type;

	if (!ruby_value_type(mem, array, &type, &flags) || type != RUBY_T_ARRAY)
		return false;
	if (flags & RUBY_FL_USER1) {
		length = flags >> 15 & 0x7f; /* FL_USER3 up to FL_USER9 */
	} else if (!mem_u64(mem, array + RUBY_ARRAY_LENGTH, &length) ||
		   !mem_u64(mem, array + RUBY_ARRAY_POINTER, &elements)) {
		return false;
	}
	return index < length && length <= UINT32_MAX && mem_u64(mem, elements + index * 8, out);
}
