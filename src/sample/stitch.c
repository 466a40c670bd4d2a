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

/* A function written in C calls managed code through a loop only: what stands right on top of one was entered by a loop, even
 * where that is not noted yet (Ruby notes it behind the push). */
static bool is_entry(const struct stitch *in, u32 at)
{
	const struct frame *frame = &in->managed[at];

	if (frame->flags & FRAME_ENTRY)
		return true;
	return at + 1 < in->managed_count && frame->kind >= FRAME_MANAGED &&
	       !(frame->flags & FRAME_C) && (in->managed[at + 1].flags & FRAME_C);
}

/* The managed frames of one loop. */
static void put_segment(struct stitching *s)
{
	while (s->taken < s->in->managed_count) {
		u32 at = s->taken++;
		put(s, &s->in->managed[at]);
		if (is_entry(s->in, at))
			return;
	}
}

static void put_segments(struct stitching *s, u32 count)
{
	u32 before = s->taken;

	while (count--)
		put_segment(s);
	s->result.leftover += s->taken - before;
}

static u32 count_loops(const struct stitch *in)
{
	u32 count = 0;

	for (u32 i = 0; i < in->native_count; i++)
		count += (in->native[i].flags & FRAME_LOOP) != 0;
	return count;
}

static u32 count_segments(const struct stitch *in)
{
	u32 count = 0;

	for (u32 i = 0; i < in->managed_count; i++)
		count += is_entry(in, i) || i + 1 == in->managed_count;
	return count;
}

struct stitched stitch(const struct stitch *in, struct frame *out, u32 room)
{
	struct stitching s = { .in = in, .out = out, .room = room };
	u32 loops = count_loops(in), segments = count_segments(in), idle = 0;

	if (in->is_whole && segments > loops)
		put_segments(&s, segments - loops);
	else if (in->is_whole)
		idle = loops - segments;
	for (u32 i = 0; i < in->native_count; i++) {
		const struct frame *frame = &in->native[i];
		if (!(frame->flags & FRAME_LOOP)) {
			put(&s, frame);
		} else if (idle || s.taken == in->managed_count) {
			put(&s, frame);
			s.result.missing++;
			idle -= idle > 0;
		} else {
			put_segment(&s);
		}
	}
	while (s.taken < in->managed_count)
		put(&s, &in->managed[s.taken++]);
	return s.result;
}
