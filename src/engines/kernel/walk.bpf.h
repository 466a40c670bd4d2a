/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
 * walk.bpf.h - the walks in an interrupt: native frames, and those of a VM, of the thread that runs here.
 *
 * The native walk is one bpf_loop() over native_one(), so that the verifier looks at one frame however many there may be, and
 * there is one more for each runtime.  What is written where it is read again lives in a room and not on the stack: there the
 * verifier would follow its value through every turn. */
#pragma once
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>

#include "base/spread.h"
#include "engines/kernel/steps.bpf.h"
#include "engines/kernel/task.bpf.h"

#define UNWIND_WORD(words, index) ((words)[(index)&constants.table_mask])
#define MADE_SPACE const struct kernel_space
#define MADE_RANGE made_range_at
#define MADE_HAS_RULE made_has_rule
static __always_inline int made_range_at(const struct kernel_space *space, u64 addr);
static __always_inline int made_has_rule(const struct kernel_space *space, u64 addr);
struct made;
static long tail_one(u64 index, const struct made *made);
#define MADE_EACH_TAIL_STEP(made) bpf_loop(TAIL_STEPS, tail_one, (void *)(made), 0)
#include "unwind/call.h"
#include "unwind/search.h"
#include "unwind/step.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, KERNEL_PROCESSES_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u32);
	__type(value, struct kernel_space);
} spaces SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, KERNEL_MACHINES_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u32);
	__type(value, struct kernel_machine);
} machines SEC(".maps");

/* By machine << 32 | tid. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, KERNEL_RIDERS_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u64);
	__type(value, u64);
} riders SEC(".maps");

/* Its size is set before it is loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, 4096);
} tables SEC(".maps");

/* Their places in runtimes/list.h. */
enum {
#define R(runtime) PLACE_##runtime,
#include "runtimes/list.h"
#undef R
};

struct drive {
	struct room *room;
	const struct kernel_space *space; /* NULL: not known yet */
	const struct kernel_process *process;
	/* of the VM that is walked: */
	struct kernel_machine *machine;
	struct kernel_vm *vm;
	u64 owner;  /* its number, and that of the process: of the notes about it */
	bool found; /* by scan_one() */
};

/* ---- registers ----------------------------------------------------------------------------- */

static __always_inline void set_register(struct unwind_walk *walk, u32 reg, u64 value)
{
	walk->value[reg] = value;
	walk->at[reg] = 0;
}

static __always_inline void begin_walk(struct unwind_walk *walk, const struct pt_regs *regs)
{
	set_register(walk, X86_RAX, regs->rax);
	set_register(walk, X86_RDX, regs->rdx);
	set_register(walk, X86_RCX, regs->rcx);
	set_register(walk, X86_RBX, regs->rbx);
	set_register(walk, X86_RSI, regs->rsi);
	set_register(walk, X86_RDI, regs->rdi);
	set_register(walk, X86_RBP, regs->rbp);
	set_register(walk, X86_R8, regs->r8);
	set_register(walk, X86_R9, regs->r9);
	set_register(walk, X86_R10, regs->r10);
	set_register(walk, X86_R11, regs->r11);
	set_register(walk, X86_R12, regs->r12);
	set_register(walk, X86_R13, regs->r13);
	set_register(walk, X86_R14, regs->r14);
	set_register(walk, X86_R15, regs->r15);
	walk->sp = regs->rsp;
	walk->pc = regs->rip;
	walk->known = (1u << UNWIND_REGISTERS) - 1;
	walk->is_return = false;
}

/* The thread's own, as they were when it entered the kernel. */
static __always_inline bool user_registers(struct room *room)
{
	const void *regs = (const void *)bpf_task_pt_regs(bpf_get_current_task_btf());

	return bpf_probe_read_kernel(&room->regs, sizeof room->regs, regs) == 0;
}

/* ---- native frames ------------------------------------------------------------------------- */

enum { RANGES_BITS = 9 };
_Static_assert(1 << RANGES_BITS == KERNEL_RANGES_MAX, "so many halvings");

/* NULL: none holds the address.  A halving a turn, as unwind_bisect(); `zero` is a 0 that the verifier takes for any number: one of
 * its own it would follow through all the ways there are. */
static __always_inline const struct kernel_range *range_of(const struct kernel_space *space,
							   u64 addr)
{
	u32 first = space->zero, last = space->count;

	for (u32 i = 0; i < RANGES_BITS && last - first > 1; i++) {
		u32 middle = first + (last - first) / 2;
		if (space->ranges[middle & (KERNEL_RANGES_MAX - 1)].start <= addr)
			first = middle;
		else
			last = middle;
	}
	const struct kernel_range *range = &space->ranges[first & (KERNEL_RANGES_MAX - 1)];
	return space->count && addr >= range->start && addr < range->end ? range : NULL;
}

/* Is the range's mark where it was?  Of code that has just come in its place the page may not be there yet. */
static __always_inline bool is_marked(const struct kernel_space *space,
				      const struct kernel_range *range)
{
	const struct kernel_mark *mark = &space->marks[(range->mark - 1) & (KERNEL_MARKS_MAX - 1)];
	u64 word = 0;

	return bpf_probe_read_user(&word, sizeof word, (const void *)mark->address) == 0 &&
	       word == mark->word;
}

enum { NOWHERE = -1, IS_SURE = 1 << 8 /* beside a kind */ };

/* The kind of the range that holds the address, or NOWHERE, and its rule: of kind UNWIND_NONE where it has none.  Global, as those
 * of steps.bpf.h. */
GLOBAL int find_rule(const struct kernel_space *space, u64 addr, struct unwind_rule *rule)
{
	u32 zero = 0;
	const u32 *words = bpf_map_lookup_elem(&tables, &zero);
	const struct kernel_range *range = space ? range_of(space, addr) : NULL;

	if (!rule || !words || !range || (range->mark && !is_marked(space, range)))
		return NOWHERE;
	if (range->kind != KERNEL_RANGE_TABLE ||
	    !unwind_search(words, range->table, addr - range->bias, rule))
		rule->kind = UNWIND_NONE;
	return range->kind | (range->mark ? IS_SURE : 0);
}

/* ---- code without a rule ------------------------------------------------------------------- */

/* Global, for the same reason. */
GLOBAL int find_made(const struct kernel_space *space, u64 addr)
{
	const struct kernel_range *range = space ? range_of(space, addr) : NULL;

	if (!range)
		return MADE_NOWHERE;
	return range->kind == KERNEL_RANGE_NO_TABLE ? MADE_NO_TABLE : MADE_TABLE;
}

static __always_inline int made_range_at(const struct kernel_space *space, u64 addr)
{
	return find_made(space, addr);
}

static __always_inline int made_has_rule(const struct kernel_space *space, u64 addr)
{
	struct unwind_rule rule = { 0 };

	return find_rule(space, addr, &rule) != NOWHERE && rule.kind != UNWIND_NONE;
}

static long tail_one(u64 index, const struct made *made)
{
	(void)index;
	return !tail_step(made->walk, made->tail);
}

/* The caller, if this word of the stack is what leads back to it. */
static long scan_one(u64 index, struct drive *drive)
{
	struct unwind_walk *walk = &drive->room->walk;
	struct mem mem = { &drive->room->kept };
	struct made made = { &mem, &mem, drive->space, walk, NULL };
	u64 at = walk->sp + 8 * index, word = 0;

	if (!mem_read_along(&mem, MEM_UP, at, &word, sizeof word))
		return 1;
	drive->found = made_step_by_word(&made, at, word);
	return drive->found;
}

static __always_inline enum unwind_step ruleless_step(struct drive *drive, bool is_made)
{
	struct mem mem = { &drive->room->kept };
	struct made made = { &mem, &mem, drive->space, &drive->room->walk, &drive->room->tail };

	if (is_made &&
	    drive->process->made_way == MADE_BY_CODE) /* the rest is for who can go along it */
		return made_step_by_tail(&made, true) ? UNWIND_MORE : UNWIND_NO_RULE;
	if (!is_made || drive->process->made_way == MADE_BY_FRAMES)
		return made_step(&made, is_made) ? UNWIND_MORE : UNWIND_NO_RULE;
	drive->found = false;
	bpf_loop(MADE_SCAN_WORDS, scan_one, drive, 0);
	return drive->found || made_step_by_frame(&made, true) ? UNWIND_MORE : UNWIND_NO_RULE;
}

/* ---- a step -------------------------------------------------------------------------------- */

enum { CALL_CLONE = 56 /* x86-64 */ };

/* A thread that has yet to return from the call that made it, on the stack that this was given: its argument lies there, and no
 * way back.  (glibc's clone3(), from 2.34 on, leaves that stack empty; a forked child has its parent's.) */
static __always_inline bool is_newborn(const struct room *room)
{
	const struct pt_regs *regs = &room->regs;

	return room->record.head.native_count == 1 && regs->orig_rax == CALL_CLONE && !regs->rax &&
	       regs->rsi == regs->rsp;
}

static __always_inline enum unwind_step native_step(struct drive *drive, struct kernel_frame *frame)
{
	struct unwind_walk *walk = &drive->room->walk;
	struct kernel_head *head = &drive->room->record.head;
	struct unwind_rule rule = { 0 };
	struct mem mem = { &drive->room->kept };
	int found = find_rule(drive->space, unwind_place(walk), &rule);
	int kind = found == NOWHERE ? NOWHERE : found & ~IS_SURE;

	if (kind == NOWHERE || kind == KERNEL_RANGE_LEFT) {
		head->has_rest = true;
		return UNWIND_NO_RULE;
	}
	frame->pc |= found & IS_SURE ? KERNEL_IS_SURE : 0;
	if (rule.kind != UNWIND_NONE)
		return unwind_step(&mem, &rule, walk);
	bool is_made = kind == KERNEL_RANGE_NO_TABLE;
	enum unwind_step step = ruleless_step(drive, is_made);
	head->has_rest = step == UNWIND_NO_RULE && is_made &&
			 (drive->process->tells_jit || drive->process->made_way == MADE_BY_CODE);
	return step;
}

/* The verifier wants the callback's index as u64. */
static long native_one(u64 index, struct drive *drive)
{
	struct room *room = drive->room;
	struct kernel_head *head = &room->record.head;
	u32 used = room->used;

	(void)index;
	if (used > WORDS - NATIVE_WORDS)
		return 1;
	struct kernel_frame *frame = (struct kernel_frame *)&room->words[used];
	frame->pc = room->walk.pc | (room->walk.is_return ? KERNEL_IS_RETURN : 0);
	frame->sp = room->walk.sp;
	room->used = used + NATIVE_WORDS;
	head->native_count++;
	enum unwind_step step = is_newborn(room) ? UNWIND_DONE : native_step(drive, frame);
	head->end = step;
	return step != UNWIND_MORE;
}

/* ---- managed frames ------------------------------------------------------------------------ */

/* A function of another generation is another one: its address may have been used again.  Two that have one hash are one: then
 * the second's name is read a little later. */
static __always_inline bool is_new(struct drive *drive, const struct frame *frame)
{
	u16 *seen = drive->machine->seen;
	u64 id = frame->id ^ frame->owner * SPREAD;
	u32 first = id * SPREAD >> 52 & (KERNEL_SEEN_MAX - 1), second = first ^ 1;
	u16 tag = (id ^ drive->room->managed.generation * SPREAD) * SPREAD >> 48 | 1;

	if (seen[first] == tag || seen[second] == tag)
		return false;
	seen[second] = seen[first];
	seen[first] = tag;
	return true;
}

static __always_inline void put_mark(struct drive *drive, enum frame_mark mark)
{
	struct room *room = drive->room;
	u32 used = room->used;

	if (used > WORDS - MANAGED_WORDS)
		return;
	struct frame *frame = (struct frame *)&room->words[used];
	*frame = (struct frame){ .id = mark, .kind = FRAME_MARK };
	drive->vm->count++;
	room->used = used + MANAGED_WORDS;
}

/* Is there a word by which a thread finds its thread of the VM? */
static __always_inline bool has_word(const struct kernel_machine *machine)
{
	return machine->own_word || machine->keys_at;
}

/* One loop a runtime, over its own step. */
#define WALKER(runtime)                                                                            \
	static long runtime##_one(u64 index, struct drive *drive)                                  \
	{                                                                                          \
		struct room *room = drive->room;                                                   \
		struct kernel_vm *vm = drive->vm;                                                  \
		u32 used = room->used;                                                             \
                                                                                                   \
		(void)index;                                                                       \
		if (used > WORDS - MANAGED_WORDS || vm->count >= room->managed_most)               \
			return 1;                                                                  \
		struct frame *frame = (struct frame *)&room->words[used];                          \
		const struct runtime##_state *state =                                              \
			(const struct runtime##_state *)drive->machine->state;                     \
		enum step step = runtime##_step_apart(room, state, frame);                         \
		vm->end = step;                                                                    \
		if (step == STEP_FAULT && runtime##_mend_apart(room, state))                       \
			return 0;                                                                  \
		if (!step_goes_on(step))                                                           \
			return 1;                                                                  \
		if (step == STEP_HIDDEN)                                                           \
			return 0;                                                                  \
		if (step == STEP_TORN)                                                             \
			frame->id = MARK_UNREADABLE;                                               \
		frame->kind = step == STEP_TORN ? FRAME_MARK : vm->kind;                           \
		if (is_new(drive, frame)) {                                                        \
			room->record.head.has_new = true;                                          \
			if (frame->kind == vm->kind && room->names++ < NAMED_MOST)                 \
				runtime##_keep_apart(room, state, frame);                          \
		}                                                                                  \
		vm->count++;                                                                       \
		room->used = used + MANAGED_WORDS;                                                 \
		return 0;                                                                          \
	}                                                                                          \
                                                                                                   \
	static long runtime##_seek_one(u64 index, struct drive *drive)                             \
	{                                                                                          \
		struct seek *seek = &drive->room->seek;                                            \
                                                                                                   \
		(void)index;                                                                       \
		if (runtime##_next_apart(drive->room,                                              \
					 (const struct runtime##_state *)drive->machine->state) != \
		    STEP_MORE)                                                                     \
			return 1;                                                                  \
		if (seek->thread.native == seek->pointer)                                          \
			seek->found = seek->thread.thread;                                         \
		return seek->found != 0;                                                           \
	}                                                                                          \
                                                                                                   \
	/* Of those that the native thread runs by turns, one that has frames. */                  \
	static long runtime##_turn_one(u64 index, struct drive *drive)                             \
	{                                                                                          \
		const struct runtime##_state *state =                                              \
			(const struct runtime##_state *)drive->machine->state;                     \
		struct seek *seek = &drive->room->seek;                                            \
                                                                                                   \
		(void)index;                                                                       \
		if (runtime##_next_apart(drive->room, state) != STEP_MORE)                         \
			return 1;                                                                  \
		u64 thread = seek->thread.thread;                                                  \
		if (seek->thread.native != seek->pointer || thread == drive->vm->thread ||         \
		    runtime##_begin_apart(drive->room, state, thread) != STEP_MORE)                \
			return 0;                                                                  \
		drive->vm->thread = thread;                                                        \
		drive->vm->end = STEP_MORE;                                                        \
		return 1;                                                                          \
	}                                                                                          \
                                                                                                   \
	/* One interpreter is called by another: the frames of that one, too. */                   \
	static __always_inline void runtime##_walk_caller(struct drive *drive)                     \
	{                                                                                          \
		struct kernel_vm *vm = drive->vm;                                                  \
		struct seek *seek = &drive->room->seek;                                            \
		struct mem mem = { &drive->room->kept };                                           \
		u64 thread = vm->thread;                                                           \
                                                                                                   \
		seek->where = 0;                                                                   \
		seek->pointer = bpf_get_current_task_btf()->thread.fsbase;                         \
		bpf_loop(SEEK_MAX, runtime##_turn_one, drive, 0);                                  \
		mem_begin_notes(&mem, drive->owner, drive->room->managed.epoch);                   \
		if (vm->end == STEP_MORE)                                                          \
			bpf_loop(KERNEL_MANAGED_MAX + KERNEL_HIDDEN_MAX, runtime##_one, drive, 0); \
		vm->thread = thread;                                                               \
	}                                                                                          \
                                                                                                   \
	/* New ones are in front. */                                                               \
	static __always_inline u64 runtime##_seek(struct drive *drive, u64 rider)                  \
	{                                                                                          \
		struct seek *seek = &drive->room->seek;                                            \
                                                                                                   \
		seek->where = seek->found = 0;                                                     \
		seek->pointer = bpf_get_current_task_btf()->thread.fsbase;                         \
		bpf_loop(SEEK_MAX, runtime##_seek_one, drive, 0);                                  \
		return seek->found ? seek->found : rider;                                          \
	}                                                                                          \
                                                                                                   \
	static __always_inline void walk_##runtime(struct drive *drive, u64 word, u32 number)      \
	{                                                                                          \
		struct kernel_head *head = &drive->room->record.head;                              \
		struct kernel_vm *vm = drive->vm;                                                  \
		const struct runtime##_state *state =                                              \
			(const struct runtime##_state *)drive->machine->state;                     \
		struct mem mem = { &drive->room->kept };                                           \
		u64 thread;                                                                        \
                                                                                                   \
		if (!has_word(drive->machine) && !(thread = runtime##_seek(drive, word)))          \
			return;                                                                    \
		if (has_word(drive->machine) && !runtime##_thread_of(&mem, state, word, &thread))  \
			return;                                                                    \
		thread = runtime##_in_turn(&mem, state, thread);                                   \
		vm->thread = thread;                                                               \
		mem_begin(&mem);                                                                   \
		drive->room->managed_most = KERNEL_MANAGED_MAX;                                    \
		vm->end = runtime##_begin_apart(drive->room, state, thread);                       \
		if (vm->end == STEP_EMPTY && runtime##_has_turns(&mem, state)) {                   \
			drive->room->seek.where = 0;                                               \
			drive->room->seek.pointer = bpf_get_current_task_btf()->thread.fsbase;     \
			bpf_loop(SEEK_MAX, runtime##_turn_one, drive, 0);                          \
		}                                                                                  \
		mem_begin_notes(&mem, drive->owner, drive->room->managed.epoch);                   \
		if (vm->end == STEP_MORE)                                                          \
			bpf_loop(KERNEL_MANAGED_MAX + KERNEL_HIDDEN_MAX, runtime##_one, drive, 0); \
		if (vm->count == KERNEL_MANAGED_MAX &&                                             \
		    runtime##_skip(state, &drive->room->managed, KERNEL_ROOT_MAX)) {               \
			put_mark(drive, MARK_TRUNCATED);                                           \
			drive->room->managed_most = KERNEL_FRAMES_MAX;                             \
			bpf_loop(KERNEL_ROOT_MAX + KERNEL_HIDDEN_MAX, runtime##_one, drive, 0);    \
		}                                                                                  \
		vm->generation = drive->room->managed.generation;                                  \
		vm->flags = drive->room->managed.flags;                                            \
		if (vm->end == STEP_DONE && runtime##_has_turns(&mem, state))                      \
			runtime##_walk_caller(drive);                                              \
		if (head->kind == KERNEL_SWITCH && runtime##_wants_lock(&mem, state, thread))      \
			head->wants_lock |= 1u << number;                                          \
	}

WALKER(toy)
WALKER(ruby)
WALKER(python)

/* The thread of the VM that we were told of, where no word leads to it; 0: none. */
static __always_inline u64 rider_of_vm(const struct drive *drive, u32 machine)
{
	u64 key = (u64)machine << 32 | drive->room->record.head.tid;
	const u64 *thread = bpf_map_lookup_elem(&riders, &key);

	return thread ? *thread : 0;
}

/* The word of the running thread that leads to its thread of the VM; 0: it has none. */
static __always_inline u64 word_of_vm(const struct kernel_machine *machine)
{
	u64 pointer = bpf_get_current_task_btf()->thread.fsbase, word = 0;
	s64 own_word = machine->own_word, second_word = machine->second_word;

	if (machine->keys_at) {
		bpf_probe_read_user(&word, sizeof word, (const void *)(pointer + machine->keys_at));
		bpf_probe_read_user(&word, sizeof word, (const void *)(word + machine->key_at));
		return word;
	}
	if (bpf_probe_read_user(&word, sizeof word, (const void *)(pointer + own_word)) != 0)
		return 0;
	if (!word && second_word)
		bpf_probe_read_user(&word, sizeof word, (const void *)(pointer + second_word));
	return word;
}

static long walk_vm(u64 index, struct drive *drive)
{
	u32 number = index & (KERNEL_VMS - 1), key = drive->process->machines[number];

	drive->vm = &drive->room->record.head.vms[number];
	drive->machine = bpf_map_lookup_elem(&machines, &key);
	if (!drive->machine)
		return 0;
	u64 word = has_word(drive->machine) ? word_of_vm(drive->machine) : rider_of_vm(drive, key);
	if (has_word(drive->machine) && !word)
		return 0;
	drive->vm->kind = drive->machine->kind;
	drive->owner = (u64)key << 32 | drive->room->record.head.pid;
	switch (drive->vm->kind) {
#define R(runtime)                                   \
	case FRAME_MANAGED + PLACE_##runtime:        \
		walk_##runtime(drive, word, number); \
		break;
#include "runtimes/list.h"
#undef R
	}
	return 0;
}

/* ---- the rest ------------------------------------------------------------------------------ */

/* Where registers were saved may be below what is copied. */
static long fetch_one(u64 index, struct drive *drive)
{
	struct unwind_walk *walk = &drive->room->walk;
	u32 reg = index & (UNWIND_REGISTERS - 1);
	u64 value;

	if (!walk->at[reg])
		return 0;
	if (bpf_probe_read_user(&value, sizeof value, (const void *)walk->at[reg]) == 0)
		walk->value[reg] = value;
	else
		walk->known &= ~(1u << reg);
	walk->at[reg] = 0;
	return 0;
}

struct copying {
	struct kernel_rest *rest;
	u64 end;
	u32 done;
};

/* Behind the last frame: where the program's first thread began, or the thread's own storage, which the C library puts at the
 * end of the stack that it makes.  Of a stack that neither is in there is no more to know than that it ends before. */
static __always_inline u64 end_of_stack(u64 sp)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	u64 storage = task->thread.fsbase, first = task->mm ? task->mm->start_stack : 0;

	if (storage > sp && (first <= sp || storage < first))
		return storage;
	return first > sp ? first : ~0ull;
}

/* A page at a time: a stack ends somewhere. */
static long copy_page(u64 index, struct copying *copying)
{
	u32 done = copying->done;
	u64 from = copying->rest->walk.sp + done;
	u32 length = 4096 - (from & 4095);

	(void)index;
	if (done > KERNEL_STACK_BYTES - 4096 || from >= copying->end)
		return 1;
	if (bpf_probe_read_user(copying->rest->stack + done, length, (const void *)from) != 0)
		return 1;
	copying->done = done + length;
	return 0;
}

/* While the tables of large libraries are made nobody empties the ring: less of each stack is better than no more samples. */
static __always_inline u32 pages_to_copy(void)
{
	u64 waiting = bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA);

	return waiting > RING_BYTES / 2 ? 2 :
	       waiting > RING_BYTES / 4 ? KERNEL_STACK_PAGES / 4 :
					  KERNEL_STACK_PAGES;
}

/* What is sent with the frames: how many bytes. */
static __always_inline u64 add_rest(struct drive *drive)
{
	struct room *room = drive->room;
	u32 used = room->used;

	bpf_loop(UNWIND_REGISTERS, fetch_one, drive, 0);
	if (used > WORDS)
		return 0;
	struct kernel_rest *rest = (struct kernel_rest *)&room->words[used];
	rest->walk = room->walk;
	struct copying copying = { .rest = rest, .end = end_of_stack(room->walk.sp) };
	bpf_loop(pages_to_copy(), copy_page, &copying, 0);
	return sizeof rest->walk + copying.done;
}
