/* SPDX-License-Identifier: Apache-2.0
 * assemble.c - see assemble.h. */
#include "engines/kernel/assemble.h"

#include "engines/kernel/walk_on.h"
#include "sample/stitch.h"

#include <stdlib.h>
#include <string.h>

enum { NATIVE_ROOM = KERNEL_NATIVE_MAX, MANAGED_ROOM = KERNEL_FRAMES_MAX + 2 };

struct assembly {
	struct frame native[NATIVE_ROOM], managed[MANAGED_ROOM];
	u32 native_count, managed_count;
	bool has_gap; /* between the innermost managed frames and the outermost */
};

struct assembly *assembly_new(void)
{
	return malloc(sizeof(struct assembly));
}

void assembly_free(struct assembly *assembly)
{
	free(assembly);
}

/* ---- native -------------------------------------------------------------------------------- */

/* Is what the next frame calls a loop, or its shell? */
static bool is_in_loop(const struct assembly *assembly)
{
	u32 count = assembly->native_count;

	return count && (assembly->native[count - 1].flags & FRAME_LOOP);
}

/* Where an instruction stands: in which file, and at which address there. */
static void add_native(struct assembly *assembly, struct watched *process, u64 pc, bool is_return,
		       u64 sp)
{
	u64 place = pc - is_return;
	const struct unwind_range *range = unwind_space_at(&process->space, place);
	struct frame frame = { .id = place, .at = sp, .kind = FRAME_NATIVE };

	if (assembly->native_count == KERNEL_NATIVE_MAX)
		return;
	if (range && range->file) {
		frame.id = place - range->bias;
		frame.owner = range->file->number;
	}
	if (process->machine_number) {
		enum machine_part part = machine_part_at(&process->machine, place);
		if (part == MACHINE_SHELL && is_in_loop(assembly))
			return;
		frame.flags = part ? FRAME_LOOP : 0;
	}
	assembly->native[assembly->native_count++] = frame;
}

/* From where the kernel's walk met what it had not been told of: that frame is among the record's. */
static enum unwind_step walk_on(struct assembly *assembly, struct watched *process,
				const struct kernel_rest *rest, size_t bytes)
{
	struct walk_on on;
	enum unwind_step step = UNWIND_MORE;

	walk_on_begin(&on, rest, bytes);
	while (assembly->native_count < KERNEL_NATIVE_MAX) {
		step = unwind_space_step(&process->space, &on.mem, &on.walk);
		if (step != UNWIND_MORE)
			break;
		add_native(assembly, process, on.walk.pc, on.walk.is_return, on.walk.sp);
	}
	return step;
}

/* ---- managed ------------------------------------------------------------------------------- */

static void add_managed(struct assembly *assembly, const struct frame *frame)
{
	if (assembly->managed_count < MANAGED_ROOM)
		assembly->managed[assembly->managed_count++] = *frame;
}

static void add_mark(struct assembly *assembly, enum frame_mark mark)
{
	add_managed(assembly, &(struct frame){ .kind = FRAME_MARK, .id = mark });
}

/* True: it is whole. */
static bool take_managed(struct assembly *assembly, const struct kernel_head *head,
			 const struct frame *frames)
{
	bool whole = head->managed_end == STEP_DONE || head->managed_end == STEP_EMPTY;

	if (!head->vm_thread)
		return true;
	if (head->managed_flags & WALK_GC)
		add_mark(assembly, MARK_GC);
	if (head->managed_flags & WALK_TOP_UNSET)
		add_mark(assembly, MARK_MOVING);
	for (u32 i = 0; i < head->managed_count; i++) {
		add_managed(assembly, &frames[i]);
		assembly->has_gap |= frames[i].kind == FRAME_MARK && frames[i].id == MARK_TRUNCATED;
	}
	if (!whole)
		add_mark(assembly, MARK_TRUNCATED);
	return whole;
}

/* ---- both ---------------------------------------------------------------------------------- */

/* What follows a record, in bytes from its begin; false: it is shorter than that. */
struct parts {
	size_t native, managed, rest;
};

static bool find_parts(const struct kernel_head *head, size_t size, struct parts *out)
{
	out->native = sizeof(struct kernel_record);
	out->managed = out->native + head->native_count * sizeof(struct kernel_frame);
	out->rest = out->managed + head->managed_count * sizeof(struct frame);
	return out->rest <= size && head->native_count <= KERNEL_NATIVE_MAX &&
	       head->managed_count <= KERNEL_FRAMES_MAX;
}

static const void *part(const struct kernel_record *record, size_t at)
{
	return (const u8 *)record + at;
}

u64 assembled_end(const struct kernel_record *record, size_t size)
{
	struct parts parts;

	if (!find_parts(&record->head, size, &parts) || !record->head.native_count)
		return 0;
	const struct kernel_frame *last = part(record, parts.managed - sizeof *last);
	return (last->pc & ~KERNEL_IS_RETURN) - !!(last->pc & KERNEL_IS_RETURN);
}

static void put_frame(struct sample *out, struct frame frame)
{
	if (out->depth < ASSEMBLED_MAX)
		out->frames[out->depth++] = frame;
}

static void put_event(struct sample *out, const struct kernel_head *head)
{
	put_frame(out, (struct frame){
			       .kind = FRAME_EVENT, .id = head->event - 1u, .pos = head->result });
}

static void put_stitched(struct assembly *assembly, bool is_whole, struct sample *out)
{
	struct stitch stitch_in = { .native = assembly->native,
				    .managed = assembly->managed,
				    .native_count = assembly->native_count,
				    .managed_count = assembly->managed_count,
				    .is_whole = is_whole };
	struct stitched stitched = stitch(&stitch_in, out->frames + out->depth,
					  ASSEMBLED_MAX - out->depth);

	out->depth += stitched.count;
	out->leftover = stitched.leftover;
}

void assemble(struct assembly *assembly, struct watched *process,
	      const struct kernel_record *record, size_t size, bool event_at_root,
	      struct sample *out)
{
	const struct kernel_head *head = &record->head;
	enum unwind_step end = (enum unwind_step)head->end;
	struct parts parts;
	bool whole = true;

	assembly->native_count = assembly->managed_count = 0;
	assembly->has_gap = false;
	out->generation = head->vm_thread ? head->generation : process->space_number;
	if (head->event && !event_at_root)
		put_event(out, head);
	for (u32 i = 0; i < head->kernel_count && i < KERNEL_KERNEL_MAX; i++)
		put_frame(out, (struct frame){ .id = record->kernel[i], .kind = FRAME_KERNEL });
	if (find_parts(head, size, &parts)) {
		const struct kernel_frame *native = part(record, parts.native);
		for (u32 i = 0; i < head->native_count; i++)
			add_native(assembly, process, native[i].pc & ~KERNEL_IS_RETURN,
				   native[i].pc & KERNEL_IS_RETURN, native[i].sp);
		if (head->has_rest && size - parts.rest > offsetof(struct kernel_rest, stack))
			end = walk_on(assembly, process, part(record, parts.rest),
				      size - parts.rest);
		whole = take_managed(assembly, head, part(record, parts.managed));
	} else {
		end = UNWIND_NO_MEMORY;
	}
	put_stitched(assembly, end == UNWIND_DONE && whole && head->native_count, out);
	if (!out->depth && end == UNWIND_DONE &&
	    !head->event) /* of native frames alone, which nobody wants */
		put_frame(out, (struct frame){ .kind = FRAME_MARK, .id = MARK_NATIVE });
	if (end != UNWIND_DONE)
		put_frame(out, (struct frame){ .kind = FRAME_MARK, .id = MARK_TRUNCATED });
	if (end != UNWIND_DONE || !whole || assembly->has_gap)
		out->flags |= SAMPLE_TRUNCATED;
	if (head->event && event_at_root)
		put_event(out, head);
}
