/* SPDX-License-Identifier: Apache-2.0
 * import_proto.c - see import_proto.h. */
#include "profile/import_proto.h"

bool proto_next(struct cursor *message, struct proto_field *field)
{
	if (!cursor_left(message))
		return false;
	u64 tag = cursor_uleb(message);
	*field = (struct proto_field){ .number = (u32)(tag >> 3), .wire = tag & 7 };
	switch (field->wire) {
	case PROTO_VARINT:
		field->value = cursor_uleb(message);
		break;
	case PROTO_FIXED64:
		field->value = cursor_u64(message);
		break;
	case PROTO_FIXED32:
		field->value = cursor_u32(message);
		break;
	case PROTO_BYTES: {
		u64 length = cursor_uleb(message);
		const void *bytes = cursor_take(message, length);
		field->bytes = cursor_make(bytes ? bytes : "", bytes ? length : 0);
		break;
	}
	default: /* groups were never in profile.proto */
		message->bad = true;
	}
	if (tag >> 3 == 0 || tag >> 3 > UINT32_MAX >> 3)
		message->bad = true;
	return !message->bad;
}

/* The numbers of a message: `at[n]` is field n + 1. What else is in it is passed over. */
static bool get_numbers(struct cursor bytes, u64 *at, u32 count)
{
	struct proto_field field;

	while (proto_next(&bytes, &field))
		if (field.number <= count && field.wire == PROTO_VARINT)
			at[field.number - 1] = field.value;
	return !bytes.bad;
}

bool pprof_get_value_type(struct cursor bytes, struct pprof_value_type *out)
{
	u64 at[2] = { 0 };
	bool good = get_numbers(bytes, at, COUNT_OF(at));

	*out = (struct pprof_value_type){ at[0], at[1] };
	return good;
}

bool pprof_get_mapping(struct cursor bytes, struct pprof_mapping *out)
{
	u64 at[6] = { 0 };
	bool good = get_numbers(bytes, at, COUNT_OF(at));

	*out = (struct pprof_mapping){ at[0], at[1], at[2], at[3], at[4], at[5] };
	return good;
}

bool pprof_get_function(struct cursor bytes, struct pprof_function *out)
{
	u64 at[5] = { 0 }; /* the third is the name as the linker has it */
	bool good = get_numbers(bytes, at, COUNT_OF(at));

	*out = (struct pprof_function){ at[0], at[1] ? at[1] : at[2], at[3], at[4] };
	return good;
}

bool pprof_get_location(struct cursor bytes, struct pprof_location *out)
{
	u64 at[3] = { 0 };
	bool good = get_numbers(bytes, at, COUNT_OF(at));

	*out = (struct pprof_location){ at[0], at[1], at[2], bytes };
	return good;
}

bool pprof_next_line(struct cursor *lines, struct pprof_line *out)
{
	struct proto_field field;

	while (proto_next(lines, &field)) {
		u64 at[2] = { 0 };
		if (field.number != 4 || field.wire != PROTO_BYTES)
			continue;
		lines->bad |= !get_numbers(field.bytes, at, COUNT_OF(at));
		*out = (struct pprof_line){ at[0], at[1] };
		return !lines->bad;
	}
	return false;
}

bool pprof_get_label(struct cursor bytes, struct pprof_label *out)
{
	u64 at[3] = { 0 };
	bool good = get_numbers(bytes, at, COUNT_OF(at));

	*out = (struct pprof_label){ at[0], at[1], at[2] };
	return good;
}
