/* SPDX-License-Identifier: Apache-2.0
 * packed.c - see packed.h.
 *
 *	magic(6) flags(2) crc(4) | block | block | ... | 00 index
 *	block = head | chunk | chunk | ... | 00 | padding to 4 | check
 *
 * (the .xz file format, 1.1.0).  What the index says of the size is the word of whoever wrote it, and comes to be compared when
 * everything is unpacked.  The chunks of LZMA2 say it themselves, each its own, and the decoder goes by that:
 *
 *	01, 02		size - 1 (2, big-endian) | bytes as they are
 *	80 to ff	size - 1 (low 16 bits; 5 more in the control byte) | packed size - 1 (2) | properties (from c0 on: 1) | packed */
#include "symbols/packed.h"

#include "base/cursor.h"

static u32 big_endian_16(struct cursor *c)
{
	u32 high = cursor_u8(c);

	return high << 8 | cursor_u8(c);
}

/* What a chunk unpacks to; 0: it was the end of the block's, or the cursor is bad. */
static u64 read_chunk(struct cursor *c)
{
	u8 control = cursor_u8(c);
	u64 size, packed;

	if (!control)
		return 0;
	if (control < 0x80) {
		packed = size = (u64)big_endian_16(c) + 1;
		c->bad |= control > 2;
	} else {
		size = ((u64)(control & 0x1f) << 16) + big_endian_16(c) + 1;
		packed = (u64)big_endian_16(c) + 1;
		if (control >= 0xc0)
			cursor_u8(c);
	}
	cursor_take(c, packed);
	return c->bad ? 0 : size;
}

/* As the format numbers kinds of checks. */
static u32 check_bytes(u32 kind)
{
	static const u8 bytes[16] = { 0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64 };

	return bytes[kind & 15];
}

u64 packed_size(const void *bytes, size_t length)
{
	static const u8 magic[6] = { 0xfd, '7', 'z', 'X', 'Z', 0 };
	struct cursor c = cursor_make(bytes, length);
	const u8 *head = cursor_take(&c, 12);
	u64 all = 0, size;

	if (!head || memcmp(head, magic, sizeof magic) != 0)
		return UINT64_MAX;
	for (;;) {
		u32 words = cursor_u8(&c);
		if (!words) /* the index */
			return c.bad ? UINT64_MAX : all;
		cursor_take(&c,
			    4 * (size_t)words + 3); /* (words + 1) * 4, of which one byte is read */
		while ((size = read_chunk(&c)))
			all += size;
		cursor_take(&c, -(size_t)(c.at - (const u8 *)bytes) & 3);
		cursor_take(&c, check_bytes(head[7]));
		if (c.bad)
			return UINT64_MAX;
	}
}
