/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
 * named.bpf.h - copies the bytes that name a function, in the interrupt. */
#pragma once
#include "engines/kernel/room.bpf.h"

enum { RING_BYTES = 8 << 20 };

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} records SEC(".maps");

/* What lies behind its page may not be there. */
static __always_inline void copy_piece(struct kernel_named *named, const struct name_places *places,
				       enum name_place place, u32 at, u32 length)
{
	struct kernel_piece *piece = &named->pieces[place];
	u64 from = places->at[place];
	u32 left = MEM_PAGE_BYTES - (from & (MEM_PAGE_BYTES - 1));

	piece->addr = from;
	piece->at = at;
	piece->length = 0;
	if (!from)
		return;
	if (bpf_probe_read_user(named->bytes + at, length, (const void *)from) == 0)
		piece->length = length;
	else if (left < length &&
		 bpf_probe_read_user(named->bytes + at, left, (const void *)from) == 0)
		piece->length = left;
}

static __always_inline void keep_name(struct room *room, const struct name_places *places,
				      const struct frame *frame)
{
	struct kernel_named *named = &room->named;
	u64 lines = places->lines_length;
	u32 at = 0;

	if (lines > NAMED_LINES_ROOM)
		lines = NAMED_LINES_ROOM;
	named->head = room->record.head;
	named->head.kind = KERNEL_NAMED;
	named->id = frame->id;
	named->owner = frame->owner;
#define PLACE(name)                                                      \
	copy_piece(named, places, NAME_##name, at, NAMED_##name##_ROOM); \
	at += NAMED_##name##_ROOM;
	PLACE(FUNCTION)
	PLACE(LABEL)
	PLACE(PATH)
	PLACE(TYPE)
	PLACE(OF_TYPE)
#undef PLACE
	copy_piece(named, places, NAME_LINES, at, lines);
	bpf_ringbuf_output(&records, named, sizeof *named - NAMED_LINES_ROOM + lines,
			   BPF_RB_NO_WAKEUP);
}
