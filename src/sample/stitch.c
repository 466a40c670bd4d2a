/* SPDX-License-Identifier: Apache-2.0
 * stitch.c - see stitch.h. */
#include "sample/stitch.h"

struct stitching {
	const struct stitch *in;
	struct frame *out;
	u32 room;
	u32 taken; /* of the managed frames */
	struct stitched result;
};

static void put(struct stitching *s, const struct frame *frame)
{
	if (s->result.count == s->room)
		s->result.is_cut = true;
	else
		s->out[s->result.count++] = *frame;
}

/* The managed frames of one loop. */
static void put_segment(struct stitching *s)
{
	while (s->taken < s->in->managed_count) {
		const struct frame *frame = &s->in->managed[s->taken++];
		put(s, frame);
		if (frame->flags & FRAME_ENTRY)
			return;
	}
}

static void put_rest(struct stitching *s)
{
	while (s->taken < s->in->managed_count)
		put(s, &s->in->managed[s->taken++]);
}

/* Of the outermost loop: native_count if there is none. */
static u32 last_loop(const struct stitch *in)
{
	u32 last = in->native_count;

	for (u32 i = 0; i < in->native_count; i++)
		if (in->native[i].flags & FRAME_LOOP)
			last = i;
	return last;
}

struct stitched stitch(const struct stitch *in, struct frame *out, u32 room)
{
	struct stitching s = { .in = in, .out = out, .room = room };
	u32 last = last_loop(in);

	for (u32 i = 0; i < in->native_count; i++) {
		const struct frame *frame = &in->native[i];
		if (!(frame->flags & FRAME_LOOP)) {
			put(&s, frame);
		} else if (s.taken == in->managed_count) {
			put(&s, frame);
			s.result.missing++;
		} else {
			put_segment(&s);
		}
		/* what is left belongs nowhere: beside the outermost loop it does the least harm */
		if (i == last && in->is_whole) {
			s.result.leftover = in->managed_count - s.taken;
			put_rest(&s);
		}
	}
	if (in->is_whole)
		s.result.leftover += in->managed_count - s.taken;
	put_rest(&s);
	return s.result;
}
