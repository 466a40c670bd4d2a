/* SPDX-License-Identifier: Apache-2.0
 * assemble.c - see assemble.h. */
#include "engines/kernel/assemble.h"

#include "base/table.h"
#include "engines/kernel/walk_on.h"
#include "sample/calls.h"
#include "sample/stitch.h"

#include <stdlib.h>
#include <string.h>

enum { NATIVE_ROOM = KERNEL_NATIVE_MAX, MANAGED_ROOM = KERNEL_FRAMES_MAX + 2 };

_Static_assert((int)STITCH_VMS == (int)KERNEL_VMS, "a list for each");

struct managed {
	struct frame frames[MANAGED_ROOM];
	u32 count;
	bool is_whole;
	bool has_gap; /* between the innermost frames and the outermost */
	bool is_linked;
};

struct assembly {
	struct frame native[NATIVE_ROOM];
	u32 native_count;
	struct managed vms[KERNEL_VMS];
	struct frame sorted[MANAGED_ROOM];
	u64 time_ns;        /* of the record */
	struct calls calls; /* of programs whose VM publishes a frame before it fills it */
};

struct assembly *assembly_new(void)
{
	return calloc(1, sizeof(struct assembly));
}

void assembly_free(struct assembly *assembly)
{
	if (assembly)
		calls_fini(&assembly->calls);
	free(assembly);
}

/* ---- native -------------------------------------------------------------------------------- */

/* Is what the next frame calls this VM's loop, or its shell? */
static bool is_in_loop(const struct assembly *assembly, u32 vm)
{
	if (!assembly->native_count)
		return false;
	const struct frame *last = &assembly->native[assembly->native_count - 1];
	return (last->flags & FRAME_LOOP) && last->pos == vm;
}

/* What a thin loop has called is its instruction. */
static void take_in(struct assembly *assembly, u32 vm)
{
	if (assembly->native_count && !is_in_loop(assembly, vm))
		assembly->native_count--;
}

/* Marks it if it is in a VM's loop; false: it is the shell of what was a frame already. */
static bool mark_loop(struct assembly *assembly, const struct watched *process, u64 place,
		      struct frame *frame)
{
	for (u32 i = 0; i < KERNEL_VMS; i++) {
		const struct watched_vm *vm = &process->vms[i];
		enum machine_part part = vm->number ? machine_part_at(&vm->machine, place) :
						      MACHINE_NONE;
		if (part == MACHINE_SHELL && is_in_loop(assembly, i))
			return false;
		if (part) {
			frame->flags = part == MACHINE_DOOR ? FRAME_ENTRY : FRAME_LOOP;
			bool is_unlinked = machine_ends_at(&vm->machine, place) ||
					   (!assembly->native_count &&
					    machine_begins_at(&vm->machine, place));
			frame->flags |= is_unlinked ? FRAME_ENTRY : 0;
			frame->pos = i;
			if (part == MACHINE_LOOP && vm->machine.code.is_thin)
				take_in(assembly, i);
		}
	}
	return true;
}

/* Where code lay when the sample was taken; NULL: nothing is known, or nothing was there. Of its place: see replaced_at(). */
static const struct unwind_range *code_at(const struct assembly *assembly, struct watched *process,
					  u64 place, u32 *replaced)
{
	const struct unwind_range *range = NULL;

	*replaced = replaced_at(&process->replaced, place, assembly->time_ns);
	if (!(*replaced & REPLACED_UNKNOWN))
		range = unwind_space_at(&process->space, place);
	if (!range)
		range = history_at(&process->history, &process->space, place, assembly->time_ns);
	if (range)
		*replaced &= ~(u32)REPLACED_UNKNOWN;
	return range;
}

/* Where an instruction stands: in which file, and at which address there. What is known of its code: see replaced_at(). */
static u32 add_native(struct assembly *assembly, struct watched *process, u64 pc, bool is_return,
		      u64 sp)
{
	u64 place = pc - is_return;
	u32 replaced;
	const struct unwind_range *range = code_at(assembly, process, place, &replaced);
	struct frame frame = { .id = place, .at = sp, .kind = FRAME_NATIVE };

	if (range && range->file) {
		frame.id = place - range->bias;
		frame.owner = range->file->number;
	}
	if (assembly->native_count < KERNEL_NATIVE_MAX &&
	    mark_loop(assembly, process, place, &frame))
		assembly->native[assembly->native_count++] = frame;
	return replaced;
}

/* From where the kernel's walk met what it had not been told of, whose code is what is known: that frame is among the record's. */
static enum unwind_step walk_on(struct assembly *assembly, struct watched *process,
				const struct kernel_rest *rest, size_t bytes)
{
	struct walk_on on;
	enum unwind_step step = UNWIND_MORE;
	u32 replaced;

	walk_on_begin(&on, rest, bytes);
	while (assembly->native_count < KERNEL_NATIVE_MAX) {
		const struct unwind_range *range = code_at(assembly, process,
							   unwind_place(&on.walk), &replaced);
		step = unwind_range_step(&process->space, range, &on.mem, &on.walk);
		if (step != UNWIND_MORE)
			break;
		if (add_native(assembly, process, on.walk.pc, on.walk.is_return, on.walk.sp) &
		    REPLACED_UNKNOWN)
			return UNWIND_NO_RULE;
	}
	return step;
}

/* Saved registers and the way back: a function that has no more on the stack has just begun or is about to end. */
enum { BARE_FRAME_BYTES = 7 * 8 };

static void mark_bare_loop(struct assembly *assembly)
{
	struct frame *leaf = &assembly->native[0];

	if (assembly->native_count > 1 && (leaf->flags & FRAME_LOOP) &&
	    leaf[1].at - leaf->at <= BARE_FRAME_BYTES)
		leaf->flags |= FRAME_ENTRY;
}

/* ---- managed ------------------------------------------------------------------------------- */

static void add_managed(struct managed *managed, const struct frame *frame)
{
	if (managed->count < MANAGED_ROOM)
		managed->frames[managed->count++] = *frame;
}

static void add_mark(struct managed *managed, enum frame_mark mark)
{
	add_managed(managed, &(struct frame){ .kind = FRAME_MARK, .id = mark });
}

/* Is the leaf what an earlier call left in a frame that is not filled yet?  (A collection runs on top of one that is.) */
static bool is_leftover(struct calls *calls, u64 program, const struct kernel_vm *vm,
			const struct frame *frames)
{
	u32 unsure = vm->flags & (WALK_TOP_UNSURE | WALK_TOP_UNSET | WALK_GC);
	const struct calls_whose whose = { .program = program };

	return unsure == WALK_TOP_UNSURE && vm->end == STEP_DONE &&
	       calls_believe(calls, &whose, frames, vm->count, 0, CALLS_DOUBT_LEAF) ==
		       CALLS_LEFTOVER;
}

/* A frame that is not filled yet is one of the loop that the thread is in. */
static bool is_empty(const struct assembly *assembly, const struct kernel_vm *vm)
{
	return vm->end == STEP_EMPTY ||
	       ((vm->flags & WALK_MAY_BE_EMPTY) && assembly->native_count &&
		!(assembly->native[0].flags & FRAME_LOOP));
}

/* The native frames have been taken. */
static void take_managed(struct assembly *assembly, struct managed *managed, u64 program,
			 const struct kernel_vm *vm, const struct frame *frames)
{
	bool leaves_out = is_leftover(&assembly->calls, program, vm, frames);

	managed->count = 0;
	managed->has_gap = false;
	managed->is_linked = vm->flags & WALK_LINKED;
	managed->is_whole = !vm->thread || vm->end == STEP_DONE || is_empty(assembly, vm);
	if (!vm->thread)
		return;
	if (vm->flags & WALK_GC)
		add_mark(managed, MARK_GC);
	if (leaves_out || ((vm->flags & WALK_TOP_UNSET) && !is_empty(assembly, vm)))
		add_mark(managed, MARK_MOVING);
	for (u32 i = leaves_out; i < vm->count; i++) {
		add_managed(managed, &frames[i]);
		managed->has_gap |= frames[i].kind == FRAME_MARK && frames[i].id == MARK_TRUNCATED;
	}
	if (!managed->is_whole)
		add_mark(managed, MARK_TRUNCATED);
}

u64 assembled_generation(const struct watched *process, const struct kernel_vm *vms,
			 const u64 each[KERNEL_VMS])
{
	bool has[KERNEL_VMS];

	for (u32 i = 0; i < KERNEL_VMS; i++)
		has[i] = vms && process->vms[i].number && vms[i].thread;
	if (has[0] && has[1])
		return attached_both_generation(each[0], each[1]);
	return has[0] ? each[0] : has[1] ? each[1] : process->space_number;
}

/* ---- both ---------------------------------------------------------------------------------- */

/* What follows a record, in bytes from its begin; false: it is shorter than that. */
struct parts {
	size_t native, managed[KERNEL_VMS], rest;
};

static bool find_parts(const struct kernel_head *head, size_t size, struct parts *out)
{
	out->native = sizeof(struct kernel_record);
	out->rest = out->native + head->native_count * sizeof(struct kernel_frame);
	for (u32 i = 0; i < KERNEL_VMS; i++) {
		out->managed[i] = out->rest;
		out->rest += head->vms[i].count * sizeof(struct frame);
	}
	return out->rest <= size && head->native_count <= KERNEL_NATIVE_MAX;
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
	const struct kernel_frame *last = part(record, parts.managed[0] - sizeof *last);
	return KERNEL_PC(last->pc) - !!(last->pc & KERNEL_IS_RETURN);
}

/* The record's native frames, and those behind them. How the walk ended. */
static enum unwind_step take_native(struct assembly *assembly, struct watched *process,
				    const struct kernel_record *record, const struct parts *parts,
				    size_t size)
{
	const struct kernel_head *head = &record->head;
	const struct kernel_frame *native = part(record, parts->native);
	u32 replaced = 0;

	for (u32 i = 0; i < head->native_count; i++) {
		if (replaced & REPLACED_UNHEARD)
			return UNWIND_NO_RULE; /* this caller was found by another's table */
		bool is_return = native[i].pc & KERNEL_IS_RETURN;
		replaced = add_native(assembly, process, KERNEL_PC(native[i].pc), is_return,
				      native[i].sp);
		if (native[i].pc & KERNEL_IS_SURE)
			replaced &= ~(u32)REPLACED_UNHEARD;
	}
	bool has_rest = head->has_rest && size - parts->rest > offsetof(struct kernel_rest, stack);
	if (has_rest && replaced & REPLACED_UNKNOWN)
		return UNWIND_NO_RULE;
	if (has_rest)
		return walk_on(assembly, process, part(record, parts->rest), size - parts->rest);
	return replaced & REPLACED_UNHEARD ? UNWIND_NO_RULE : (enum unwind_step)head->end;
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

/* The program itself calls libraries: of two VMs, the other one is the inner. */
static bool is_second_inner(const struct watched *process)
{
	return process->attached.count > 1 && process->attached.at[0]->is_program;
}

/* A thread's outermost frame stays, and a coroutine's is never the outermost of a thread. */
static u64 root_of(const struct managed *managed)
{
	const struct frame *root = &managed->frames[managed->count ? managed->count - 1 : 0];

	return managed->count ? root->id ^ root->at : 0;
}

static u64 *root_place(struct watched_vm *vm, u64 root)
{
	return &vm->roots[table_hash(&root, sizeof root) % WATCHED_ROOTS];
}

/* Of two interpreters, it is not always known who has called the other. */
static void order_managed(struct assembly *assembly, struct managed *managed)
{
	if (stitch_by_place(managed->frames, managed->count, assembly->sorted))
		memcpy(managed->frames, assembly->sorted, managed->count * sizeof *managed->frames);
}

/* Of the native frames, those up to the innermost loop; without one, all. */
static u32 believed(const struct assembly *assembly)
{
	u32 count = 0;

	while (count < assembly->native_count && !(assembly->native[count++].flags & FRAME_LOOP))
		;
	return count;
}

/* A frame that has been pushed and whose loop has not been entered has not run: what has is of an earlier call, and lies where a frame
 * is yet to be filled.  True: one was taken out. */
static bool leave_early_out(struct assembly *assembly, const struct stitched *stitched, u32 swap)
{
	bool left_out = false;

	for (u32 i = 0; i < KERNEL_VMS; i++) {
		struct frame *leaf = assembly->vms[i].frames;
		if (stitched->on_top[i ^ swap] != 1 || !(leaf->flags & FRAME_BEGUN))
			continue;
		*leaf = (struct frame){ .kind = FRAME_MARK, .id = MARK_MOVING };
		left_out = true;
	}
	return left_out;
}

/* True: the native frames, believed to be whole, are cut. */
static bool put_stitched(struct assembly *assembly, struct watched *process, bool is_whole,
			 struct sample *out)
{
	u64 roots[KERNEL_VMS];
	u32 swap = is_second_inner(process);
	struct stitch stitch_in = { .native = assembly->native,
				    .native_count = assembly->native_count,
				    .is_whole = is_whole };

	for (u32 i = 0; i < KERNEL_VMS; i++) {
		struct managed *managed = &assembly->vms[i];
		order_managed(assembly, managed);
		roots[i] = root_of(managed);
		bool is_root = roots[i] && *root_place(&process->vms[i], roots[i]) == roots[i];
		stitch_in.vms[i ^ swap] = (struct stitch_list){ .frames = managed->frames,
								.count = managed->count,
								.is_whole = managed->is_whole,
								.is_linked = managed->is_linked,
								.is_rooted = is_root };
	}
	for (u32 i = 0; i < assembly->native_count; i++)
		assembly->native[i].pos ^= assembly->native[i].flags ? swap : 0;
	struct stitched stitched = stitch(&stitch_in, out->frames + out->depth,
					  ASSEMBLED_MAX - out->depth);
	if (leave_early_out(assembly, &stitched, swap))
		stitched = stitch(&stitch_in, out->frames + out->depth, ASSEMBLED_MAX - out->depth);
	/* Out of one frame to no caller, and no loop was met: its table is wrong about the way out (libffi 3.5, in the cases of a switch),
	 * and where that leads there was a 0. */
	bool is_lost = is_whole && assembly->native_count == 1 && stitched.leftover;
	bool is_cut = is_lost || stitched.is_torn;
	if (is_cut) {
		stitch_in.is_whole = false;
		stitch_in.native_count = believed(assembly);
		stitched = stitch(&stitch_in, out->frames + out->depth, ASSEMBLED_MAX - out->depth);
	}

	for (u32 i = 0; i < KERNEL_VMS; i++)
		if (stitched.is_even[i ^ swap])
			*root_place(&process->vms[i], roots[i]) = roots[i];
	out->depth += stitched.count;
	out->leftover = stitched.leftover;
	return is_cut;
}

void assemble(struct assembly *assembly, struct watched *process,
	      const struct kernel_record *record, size_t size, bool event_at_root,
	      struct sample *out)
{
	const struct kernel_head *head = &record->head;
	u64 generations[KERNEL_VMS];
	struct parts parts;
	bool has_parts = find_parts(head, size, &parts), is_whole = has_parts;

	assembly->time_ns = head->time_ns;
	assembly->native_count = 0;
	for (u32 i = 0; i < KERNEL_VMS; i++)
		generations[i] = head->vms[i].generation;
	out->generation = assembled_generation(process, head->vms, generations);
	if (head->event && !event_at_root)
		put_event(out, head);
	for (u32 i = 0; i < head->kernel_count && i < KERNEL_KERNEL_MAX; i++)
		put_frame(out, (struct frame){ .id = record->kernel[i], .kind = FRAME_KERNEL });
	enum unwind_step end = has_parts ? take_native(assembly, process, record, &parts, size) :
					   UNWIND_NO_MEMORY;
	for (u32 i = 0; i < KERNEL_VMS; i++) {
		static const struct kernel_vm none;
		take_managed(assembly, &assembly->vms[i], process->space_number,
			     has_parts ? &head->vms[i] : &none,
			     has_parts ? part(record, parts.managed[i]) : NULL);
		is_whole &= assembly->vms[i].is_whole && !assembly->vms[i].has_gap;
	}
	mark_bare_loop(assembly);
	bool is_cut = end != UNWIND_DONE;
	is_cut |= put_stitched(assembly, process, !is_cut && head->native_count, out);
	if (!out->depth && !is_cut && !head->event) /* of native frames alone, which nobody wants */
		put_frame(out, (struct frame){ .kind = FRAME_MARK, .id = MARK_NATIVE });
	if (is_cut)
		put_frame(out, (struct frame){ .kind = FRAME_MARK, .id = MARK_TRUNCATED });
	if (is_cut || !is_whole)
		out->flags |= SAMPLE_TRUNCATED;
	if (head->event && event_at_root)
		put_event(out, head);
}
