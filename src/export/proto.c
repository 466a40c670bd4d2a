/* SPDX-License-Identifier: Apache-2.0
 * proto.c - see proto.h.  The format: developers.google.com/protocol-buffers/docs/encoding. */
#include "export/proto.h"

#include "base/uleb.h"

enum { WIRE_VARINT = 0, WIRE_FIXED = 1, WIRE_BYTES = 2 };

static void add_varint(struct str *message, u64 value)
{
	u8 bytes[ULEB_MOST];

	str_add(message, bytes, uleb_write(bytes, value));
}

void proto_uint(struct str *message, u32 field, u64 value)
{
	if (!value)
		return;
	add_varint(message, (u64)field << 3 | WIRE_VARINT);
	add_varint(message, value);
}

void proto_bytes(struct str *message, u32 field, const void *bytes, size_t length)
{
	add_varint(message, (u64)field << 3 | WIRE_BYTES);
	add_varint(message, length);
	str_add(message, bytes, length);
}

void proto_packed(struct str *message, u32 field, const u64 *values, u32 count)
{
	u8 bytes[ULEB_MOST];
	u64 length = 0;

	if (!count)
		return;
	for (u32 i = 0; i < count; i++)
		length += uleb_write(bytes, values[i]);
	add_varint(message, (u64)field << 3 | WIRE_BYTES);
	add_varint(message, length);
	for (u32 i = 0; i < count; i++)
		add_varint(message, values[i]);
}

static void add_fixed(struct str *message, u64 value)
{
	u8 bytes[8];

	for (u32 i = 0; i < sizeof bytes; i++)
		bytes[i] = (u8)(value >> 8 * i);
	str_add(message, bytes, sizeof bytes);
}

void proto_packed_fixed(struct str *message, u32 field, const u64 *values, u32 count)
{
	if (!count)
		return;
	add_varint(message, (u64)field << 3 | WIRE_BYTES);
	add_varint(message, (u64)count * 8);
	for (u32 i = 0; i < count; i++)
		add_fixed(message, values[i]);
}

void proto_fixed(struct str *message, u32 field, u64 value)
{
	if (!value)
		return;
	add_varint(message, (u64)field << 3 | WIRE_FIXED);
	add_fixed(message, value);
}
