/* SPDX-License-Identifier: Apache-2.0
 * stitch.c - see stitch.h. */
#include "sample/stitch.h"

/* How far the list of one VM is used up. */
struct used {
	const struct stitch_list *list;
	u32 taken, outer_c;
	u32 placed; /* the next frame that says where its loop is; behind the last one: none does */
	bool is_idle; /* the innermost loop has no frames yet */
};

struct stitching {
	const struct stitch *in;
	struct frame *out;
	u32 room;
	struct used vms[STITCH_VMS];
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
static bool is_entry(const struct stitch_list *list, u32 at)
{
	const struct frame *frame = &list->frames[at];

	if (frame->flags & FRAME_ENTRY)
		return true;
	return at + 1 < list->count && frame->kind >= FRAME_MANAGED && !(frame->flags & FRAME_C) &&
	       (list->frames[at + 1].flags & FRAME_C);
}

/* Of the outermost frames, those that are all functions written in C: no loop runs them (a fiber that begins in one). */
static u32 count_outer_c(const struct stitch_list *list)
{
	u32 count = 0;

	while (count < list->count && (list->frames[list->count - 1 - count].flags & FRAME_C) &&
	       !(list->frames[list->count - 1 - count].flags & FRAME_ENTRY))
		count++;
	return count;
}

/* The managed frames of one loop. */
static void put_segment(struct stitching *s, struct used *vm)
{
	while (vm->taken < vm->list->count) {
		u32 at = vm->taken++;
		put(s, &vm->list->frames[at]);
		if (is_entry(vm->list, at) && vm->taken < vm->list->count - vm->outer_c)
			return;
	}
}

/* An address is believed if it is one of the native frames'. */
static bool is_placed(const struct stitch *in, const struct frame *frame)
{
	u32 last = in->native_count - 1;

	return (frame->flags & FRAME_PLACED) && in->native_count && frame->at >= in->native[0].at &&
	       (!in->is_whole || frame->at < in->native[last].at);
}

static void seek_placed(const struct stitch *in, struct used *vm)
{
	if (vm->placed < vm->taken)
		vm->placed = vm->taken;
	while (vm->placed < vm->list->count && !is_placed(in, &vm->list->frames[vm->placed]))
		vm->placed++;
}

/* The managed frames up to the next that is placed, and with it. */
static void put_placed(struct stitching *s, struct used *vm)
{
	while (vm->taken <= vm->placed)
		put(s, &vm->list->frames[vm->taken++]);
	seek_placed(s->in, vm);
}

static bool is_loop_of(const struct frame *frame, u32 vm)
{
	return (frame->flags & FRAME_LOOP) && frame->pos == vm;
}

static u32 count_loops(const struct stitch *in, u32 vm)
{
	u32 count = 0;

	for (u32 i = 0; i < in->native_count; i++)
		count += is_loop_of(&in->native[i], vm);
	return count;
}

static u32 count_segments(const struct stitch_list *list, u32 outer_c)
{
	u32 count = 0, end = list->count - outer_c;

	for (u32 i = 0; i < end; i++)
		count += is_entry(list, i) || i + 1 == end;
	return count;
}

/* Frames that the function which enters a loop may have called meanwhile. */
enum { INSIDE_MAX = 3 };

/* Is the leaf in, or called by, a function that is about to enter a loop of this VM? */
static bool is_at_door(const struct stitch *in, u32 vm)
{
	for (u32 i = 0; i <= INSIDE_MAX && i < in->native_count; i++) {
		const struct frame *frame = &in->native[i];
		if (frame->flags & FRAME_LOOP)
			return false;
		if ((frame->flags & FRAME_ENTRY) && frame->pos == vm)
			return true;
	}
	return false;
}

/* Is one loop too many at the leaf? */
static bool is_leaf_idle(const struct stitch *in, const struct stitch_list *list, u32 vm)
{
	u32 loop = 0;

	while (loop < in->native_count && !is_loop_of(&in->native[loop], vm))
		loop++;
	return !list->is_linked || list->is_rooted ||
	       (loop < in->native_count && (in->native[loop].flags & FRAME_ENTRY));
}

/* What does not go together. */
static void begin_list(struct stitching *s, u32 number)
{
	struct used *vm = &s->vms[number];
	u32 loops = count_loops(s->in, number);

	*vm = (struct used){ .list = &s->in->vms[number] };
	vm->outer_c = count_outer_c(vm->list);
	u32 segments = count_segments(vm->list, vm->outer_c);
	seek_placed(s->in, vm);
	if (vm->placed < vm->list->count || !s->in->is_whole || !vm->list->is_whole)
		return;
	s->result.is_even[number] = loops && loops == segments;
	vm->is_idle = loops > segments && is_leaf_idle(s->in, vm->list, number);
	for (; segments > loops; segments--)
		put_segment(s, vm);
	s->result.on_top[number] = vm->taken;
	if (vm->taken != 1 || !is_at_door(s->in, number))
		s->result.leftover += vm->taken;
}

static void put_missing(struct stitching *s, const struct frame *frame)
{
	put(s, frame);
	s->result.missing++;
}

enum { DIRECTLY = 2 }; /* frames from a loop to one that calls it without detour */

/* The whole list has just been used up by this loop. */
static bool is_called_directly(const struct stitch *in, u32 number)
{
	const struct frame *frame = &in->native[number];

	for (u32 i = 1; i <= DIRECTLY && number + i < in->native_count; i++)
		if (is_loop_of(&frame[i], frame->pos))
			return true;
	return false;
}

/* The frames that it stands for, or itself. */
static void put_loop(struct stitching *s, u32 number)
{
	const struct frame *frame = &s->in->native[number];
	struct used *vm = &s->vms[frame->pos];
	const struct stitch_list *list = vm->list;
	u64 end = number + 1 < s->in->native_count ? frame[1].at : UINT64_MAX;

	bool had_some = vm->taken < list->count;

	for (u32 before = vm->taken;
	     vm->placed < list->count && list->frames[vm->placed].at < frame->at;
	     before = vm->taken) {
		put_placed(s, vm);
		s->result.leftover += vm->taken - before;
	}
	if (vm->is_idle || vm->taken == list->count) {
		put_missing(s, frame);
		vm->is_idle = false;
	} else if (vm->placed == list->count) {
		put_segment(s, vm);
	} else if (list->frames[vm->placed].at < end) {
		put_placed(s, vm);
	} else {
		put_missing(s, frame);
	}
	if (had_some && vm->taken == list->count && list->is_whole && list->is_linked)
		s->result.is_torn |= is_called_directly(s->in, number);
}

/* What no loop stands for: functions written in C, or all that is outside of a cut native stack. */
static void put_rest(struct stitching *s)
{
	for (u32 i = 0; i < STITCH_VMS; i++)
		for (struct used *vm = &s->vms[i]; vm->taken < vm->list->count; vm->taken++)
			put(s, &vm->list->frames[vm->taken]);
}

/* ---- two stacks of one VM ------------------------------------------------------------------- */

/* The next frame that says its place. */
static u32 next_placed(const struct frame *frames, u32 at, u32 end)
{
	while (at < end && !(frames[at].flags & FRAME_PLACED))
		at++;
	return at;
}

/* Where the second begins: behind the last that is further outside than the next. */
static u32 find_second(const struct frame *frames, u32 count)
{
	u32 at = next_placed(frames, 0, count);

	for (;;) {
		u32 next = next_placed(frames, at + 1, count);
		if (next >= count)
			return count;
		if (frames[next].at < frames[at].at)
			return at + 1;
		at = next;
	}
}

bool stitch_by_place(const struct frame *frames, u32 count, struct frame *out)
{
	u32 middle = find_second(frames, count), first = 0, second = middle, put = 0;

	if (middle >= count)
		return false;
	while (put < count) {
		u32 one = next_placed(frames, first, middle);
		u32 other = next_placed(frames, second, count);
		bool is_first = second == count ||
				(first < middle &&
				 (other == count ||
				  (one < middle && frames[one].at < frames[other].at)));
		u32 *at = is_first ? &first : &second;
		u32 last = is_first ? one : other, end = is_first ? middle : count;
		while (*at < end && *at <= last)
			out[put++] = frames[(*at)++];
	}
	return true;
}

struct stitched stitch(const struct stitch *in, struct frame *out, u32 room)
{
	struct stitching s = { .in = in, .out = out, .room = room };

	for (u32 i = 0; i < STITCH_VMS; i++)
		begin_list(&s, i);
	for (u32 i = 0; i < in->native_count; i++) {
		const struct frame *frame = &in->native[i];
		if ((frame->flags & FRAME_LOOP) && frame->pos < STITCH_VMS) {
			put_loop(&s, i);
			continue;
		}
		if (in->is_whole && i + 1 == in->native_count)
			put_rest(&s);
		put(&s, frame);
	}
	put_rest(&s);
	return s.result;
}
