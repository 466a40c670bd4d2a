/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
 * prof.bpf.c - an interrupt becomes a record: the kernel's frames and the native ones.
 *
 * One program a kind of event, all thin; the walk is one bpf_loop() over native_one(), so that the verifier looks at one frame
 * however many there may be.  What is written where it is read again lives in a map and not on the stack: there the verifier
 * would follow its value through every turn. */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>

#include "engines/kernel/shared.h"

/* Set before the program is loaded: how many words the map of tables has, less one. The verifier knows its value. */
const volatile u32 table_mask = 0;
#define UNWIND_WORD(words, index) ((words)[(index)&table_mask])

#include "unwind/search.h"
#include "unwind/step.h"

char prof_license[] SEC("license") = "Dual BSD/GPL";

struct room {
	struct unwind_walk walk;
	struct pt_regs regs;
	struct kernel_record record;
	struct kernel_frame native[KERNEL_NATIVE_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct room);
} rooms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, KERNEL_PROCESSES_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u32);
	__type(value, struct kernel_process);
} processes SEC(".maps");

/* Its size is set before it is loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, 4096);
} tables SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} records SEC(".maps");

struct drive {
	struct room *room;
	const struct kernel_process *process;
	const u32 *words;
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
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
	const void *regs = (const void *)bpf_task_pt_regs(task);

	return bpf_probe_read_kernel(&room->regs, sizeof room->regs, regs) == 0;
}

/* ---- native frames ------------------------------------------------------------------------- */

static __always_inline const struct kernel_range *range_of(const struct kernel_process *process,
							   u64 addr)
{
	u32 low = 0, high = process->count;

	for (u32 i = 0; i < 10 && low < high; i++) {
		u32 middle = (low + high) / 2;
		if (process->ranges[middle & (KERNEL_RANGES_MAX - 1)].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	if (low >= process->count)
		return NULL;
	const struct kernel_range *range = &process->ranges[low & (KERNEL_RANGES_MAX - 1)];
	return addr >= range->start ? range : NULL;
}

static __always_inline enum unwind_step native_step(const struct drive *drive)
{
	struct unwind_walk *walk = &drive->room->walk;
	const struct kernel_range *range = range_of(drive->process, unwind_place(walk));
	struct unwind_rule rule = { 0 };
	struct mem mem = { 0 };

	if (!range || range->kind != KERNEL_RANGE_TABLE)
		return UNWIND_NO_RULE;
	if (!unwind_search(drive->words, range->table, unwind_place(walk) - range->bias, &rule))
		return UNWIND_NO_RULE;
	return unwind_step(&mem, &rule, walk);
}

/* The verifier wants the callback's index as u64. */
static long native_one(u64 index, struct drive *drive)
{
	struct room *room = drive->room;
	u32 count = room->record.native_count;

	(void)index;
	if (count >= KERNEL_NATIVE_MAX)
		return 1;
	room->native[count].pc = room->walk.pc;
	room->native[count].sp = room->walk.sp;
	room->record.native_count = count + 1;
	enum unwind_step step = native_step(drive);
	room->record.end = step;
	return step != UNWIND_MORE;
}

/* ---- records ------------------------------------------------------------------------------- */

static __always_inline void begin_record(struct kernel_record *record, u64 id)
{
	record->time_ns = bpf_ktime_get_ns();
	record->pid = id >> 32;
	record->tid = (u32)id;
	record->cpu = bpf_get_smp_processor_id();
	record->end = UNWIND_MORE;
	record->kernel_count = 0;
	record->native_count = 0;
	record->zero = 0;
}

static __always_inline void send_record(struct room *room)
{
	u64 size = sizeof room->record +
		   (u64)room->record.native_count * sizeof(struct kernel_frame);

	if (size <= sizeof room->record + sizeof room->native)
		bpf_ringbuf_output(&records, &room->record, size, BPF_RB_NO_WAKEUP);
}

SEC("perf_event")
int on_clock(struct bpf_perf_event_data *context)
{
	(void)context;
	u64 id = bpf_get_current_pid_tgid();
	u32 pid = id >> 32, zero = 0;
	const struct kernel_process *process = bpf_map_lookup_elem(&processes, &pid);
	struct room *room = bpf_map_lookup_elem(&rooms, &zero);
	const u32 *words = bpf_map_lookup_elem(&tables, &zero);

	if (!process || !room || !words || !user_registers(room))
		return 0;
	begin_record(&room->record, id);
	begin_walk(&room->walk, &room->regs);
	struct drive drive = { .room = room, .process = process, .words = words };
	bpf_loop(KERNEL_NATIVE_MAX + 1, native_one, &drive, 0);
	send_record(room);
	return 1;
}
