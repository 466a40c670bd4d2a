/* SPDX-License-Identifier: Apache-2.0
 * import_proto.h - reading protobuf's wire format, and profile.proto's messages with it.
 *
 * A message is a list of fields in any order, unknown ones among them; a later field of the same
 * number replaces the earlier one, a repeated number may be packed or not.  Field numbers are those
 * of google/pprof, proto/profile.proto, which is the specification. */
#pragma once
#include "base/cursor.h"

enum {
	PPROF_SAMPLE_TYPE = 1,
	PPROF_SAMPLE,
	PPROF_MAPPING,
	PPROF_LOCATION,
	PPROF_FUNCTION,
	PPROF_STRING_TABLE,
	PPROF_DROP_FRAMES,
	PPROF_KEEP_FRAMES,
	PPROF_TIME_NANOS,
	PPROF_DURATION_NANOS,
	PPROF_PERIOD_TYPE,
	PPROF_PERIOD,
	PPROF_COMMENT,
	PPROF_DEFAULT_SAMPLE_TYPE,
	PPROF_DOC_URL,
};

enum { PROTO_VARINT = 0, PROTO_FIXED64 = 1, PROTO_BYTES = 2, PROTO_FIXED32 = 5 };

struct proto_field {
	u32 number;
	u32 wire;
	u64 value;           /* of a number */
	struct cursor bytes; /* of a message, a string or a packed list */
};

/* The next field; false at the end, and with `bad` set where the bytes are none. */
bool proto_next(struct cursor *message, struct proto_field *field);

/* The numbers of a repeated field, one by one: `list` is the field, packed or alone. */
static inline bool proto_number(struct proto_field *list, u64 *value)
{
	if (list->wire == PROTO_VARINT) {
		*value = list->value;
		list->wire = PROTO_BYTES; /* it was the only one */
		list->bytes = cursor_make("", 0);
		return true;
	}
	if (!cursor_left(&list->bytes))
		return false;
	*value = cursor_uleb(&list->bytes);
	return !list->bytes.bad;
}

struct pprof_value_type {
	u64 type, unit; /* strings */
};

struct pprof_mapping {
	u64 id, start, limit, offset, filename, build_id;
};

struct pprof_function {
	u64 id, name, filename, start_line;
};

struct pprof_line {
	u64 function, line;
};

struct pprof_location {
	u64 id, mapping, address;
	struct cursor lines; /* the message again, for pprof_next_line() */
};

struct pprof_label {
	u64 key, str, num;
};

/* Each: false when the bytes are no such message. */
bool pprof_get_value_type(struct cursor bytes, struct pprof_value_type *out);
bool pprof_get_mapping(struct cursor bytes, struct pprof_mapping *out);
bool pprof_get_function(struct cursor bytes, struct pprof_function *out);
bool pprof_get_location(struct cursor bytes, struct pprof_location *out);
bool pprof_get_label(struct cursor bytes, struct pprof_label *out);
/* Innermost first. */
bool pprof_next_line(struct cursor *lines, struct pprof_line *out);
