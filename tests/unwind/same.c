/* SPDX-License-Identifier: Apache-2.0
 * same.c PID SAMPLES HZ [PROF.BPF.O] - our unwinder beside elfutils' libdw, on the same registers and the same stack.
 *
 * The kernel interrupts each thread of the process and hands out its registers and up to 64 KiB of its stack (perf events,
 * cpu-clock). Both unwinders go from there, and read nothing else. Prints one line of JSON: how many samples, how many
 * stacks are the same, frame by frame, how those differ that do not, of how many libdw knows no rule for the leaf, how ours
 * ended, and on stderr the first that differ. */
#include "must.h"

#include "base/vec.h"
#include "engines/kernel/code.h"
#include "mem/mem.h"
#include "unwind/space.h"

#include <asm/perf_regs.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	RING_PAGES = 4096,
	STACK_BYTES = 65528,
	FRAMES_MAX = 4096,
	EXAMPLES = 3,
};

#define REGISTERS_MASK                                                                  \
	((1ull << PERF_REG_X86_AX | 1ull << PERF_REG_X86_BX | 1ull << PERF_REG_X86_CX | \
	  1ull << PERF_REG_X86_DX | 1ull << PERF_REG_X86_SI | 1ull << PERF_REG_X86_DI | \
	  1ull << PERF_REG_X86_BP | 1ull << PERF_REG_X86_SP | 1ull << PERF_REG_X86_IP | \
	  0xffull << PERF_REG_X86_R8))

/* DWARF's numbers, in the order of the mask's bits. */
static const u8 dwarf_number[] = { X86_RAX, X86_RBX, X86_RCX, X86_RDX, X86_RSI, X86_RDI,
				   X86_RBP, X86_RSP, X86_RIP, X86_R8,  X86_R9,  X86_R10,
				   X86_R11, X86_R12, X86_R13, X86_R14, X86_R15 };

/* What the kernel handed out of one interrupt. */
struct taken {
	struct mem mem; /* first: reads the copy */
	u32 tid;
	u64 time_ns;
	u64 registers[UNWIND_REGISTERS + 1];
	const u8 *stack;
	u64 stack_bytes;
};

struct stack {
	u64 pc[FRAMES_MAX];
	u32 count;
	enum unwind_step end; /* ours */
};

struct counts {
	u64 samples, same, shorter, longer, different, guessed, lost, frames, no_registers;
	u64 ends[UNWIND_NOT_ABOVE + 1];
	u32 examples;
};

static bool read_copy(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	const struct taken *taken = (const struct taken *)mem;
	u64 at = addr - taken->registers[UNWIND_SP];

	(void)hold;
	if (addr < taken->registers[UNWIND_SP] || at + len > taken->stack_bytes)
		return false;
	memcpy(dst, taken->stack + at, len);
	return true;
}

/* ---- ours ---------------------------------------------------------------------------------- */

static void unwind_ours(struct unwind_space *space, const struct taken *taken, struct stack *out)
{
	struct unwind_walk walk = { .pc = taken->registers[UNWIND_PC],
				    .sp = taken->registers[UNWIND_SP],
				    .known = (1u << UNWIND_REGISTERS) - 1 };

	memcpy(walk.value, taken->registers, sizeof walk.value);
	out->count = 0;
	do {
		out->pc[out->count++] = walk.pc;
		out->end = unwind_space_step(space, &taken->mem, &walk);
	} while (out->end == UNWIND_MORE && out->count < FRAMES_MAX);
}

/* ---- ours, in the kernel -------------------------------------------------------------------- */

enum { TABLE_WORDS = 1 << 20 };

/* The walk of the program that ran in the interrupt that made the sample. */
struct walked {
	u32 tid;
	u64 time_ns;
	struct stack stack;
};

struct kernel {
	struct bpf_object *object;
	struct bpf_program *program;
	struct ring_buffer *ring;
	struct kernel_code code;
	VEC(struct walked *) waiting;
	u64 missing;
};

static int on_record(void *arg, void *bytes, size_t size)
{
	struct kernel *kernel = arg;
	const struct kernel_record *record = bytes;
	const struct kernel_frame *frames = (const struct kernel_frame *)(record + 1);
	struct walked *walked = calloc(1, sizeof *walked);

	(void)size;
	if (!walked || !vec_push(&kernel->waiting, walked))
		exit(1);
	walked->tid = record->head.tid;
	walked->time_ns = record->head.time_ns;
	walked->stack.count = record->head.native_count;
	walked->stack.end = (enum unwind_step)record->head.end;
	for (u32 i = 0; i < record->head.native_count; i++)
		walked->stack.pc[i] = KERNEL_PC(frames[i].pc);
	return 0;
}

static void kernel_open(struct kernel *kernel, const char *path, struct unwind_space *space)
{
	struct kernel_process process = { 0 };
	struct bpf_map *map;
	struct err err = { 0 };

	kernel->object = bpf_object__open_file(path, NULL);
	must(kernel->object, path);
	bpf_object__for_each_map(map, kernel->object)
	{
		size_t size;
		const void *as_built = bpf_map__initial_value(map, &size);
		if (strstr(bpf_map__name(map), ".rodata") && as_built) {
			struct kernel_constants constants;
			must(size == sizeof constants, "constants");
			memcpy(&constants, as_built, size);
			constants.table_mask = TABLE_WORDS - 1;
			must(bpf_map__set_initial_value(map, &constants, size) == 0, "table_mask");
		}
		if (!strcmp(bpf_map__name(map), "rooms"))
			must(bpf_map__set_max_entries(map, (u32)libbpf_num_possible_cpus()) == 0,
			     "rooms");
	}
	map = bpf_object__find_map_by_name(kernel->object, "tables");
	must(map && bpf_map__set_value_size(map, TABLE_WORDS * 4) == 0, "tables");
	must(bpf_object__load(kernel->object) == 0, "load");
	kernel->program = bpf_object__find_program_by_name(kernel->object, "on_clock");
	kernel->code.processes_fd = bpf_object__find_map_fd_by_name(kernel->object, "processes");
	kernel->code.spaces_fd = bpf_object__find_map_fd_by_name(kernel->object, "spaces");
	must(kernel_code_init(&kernel->code, bpf_map__fd(map), TABLE_WORDS, &err) &&
		     kernel_code_add(&kernel->code, space, &(struct replaced){ 0 }, &process.space,
				     &err) &&
		     kernel_code_watch(&kernel->code, space->target->pid, &process, true, &err),
	     err.text);
	kernel->ring = ring_buffer__new(bpf_object__find_map_fd_by_name(kernel->object, "records"),
					on_record, kernel, NULL);
	must(kernel->ring, "ring");
}

static u64 apart(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

/* The thread's record that is nearest in time; what is older than the sample is not asked for again.  (The kernel fills in
 * the sample's time right before the program runs, or, before 6.3, behind it.) */
static bool take_walked(struct kernel *kernel, const struct taken *taken, struct stack *out)
{
	u64 nearest = UINT64_MAX;
	bool found = false;
	u32 kept = 0;

	ring_buffer__consume(kernel->ring);
	for (u32 i = 0; i < kernel->waiting.count; i++) {
		struct walked *walked = kernel->waiting.at[i];
		u64 distance = apart(walked->time_ns, taken->time_ns);
		if (walked->tid == taken->tid && distance < nearest) {
			nearest = distance;
			*out = walked->stack;
			found = out->pc[0] == taken->registers[UNWIND_PC];
		}
		if (walked->tid != taken->tid || walked->time_ns > taken->time_ns)
			kernel->waiting.at[kept++] = walked;
		else
			free(walked);
	}
	kernel->waiting.count = kept;
	return found;
}

/* ---- libdw's ------------------------------------------------------------------------------- */

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	struct taken *taken = arg;

	(void)dwfl;
	if (*thread_arg)
		return 0;
	*thread_arg = taken;
	return (pid_t)taken->tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	(void)dwfl;
	(void)tid;
	*thread_arg = arg;
	return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *result, void *arg)
{
	(void)dwfl;
	return mem_read(arg, addr, result, 8);
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct taken *taken = arg;

	return dwfl_thread_state_registers(thread, 0, UNWIND_REGISTERS + 1, taken->registers);
}

static const Dwfl_Thread_Callbacks callbacks = { .next_thread = next_thread,
						 .get_thread = get_thread,
						 .memory_read = read_memory,
						 .set_initial_registers = set_registers };

static int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct stack *out = arg;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, NULL) || out->count == FRAMES_MAX)
		return DWARF_CB_ABORT;
	out->pc[out->count++] = pc;
	return DWARF_CB_OK;
}

static int no_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word crc, char **found)
{
	(void)module, (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc;
	(void)found;
	return -1;
}

static Dwfl *open_libdw(struct taken *taken, u32 pid)
{
	static const Dwfl_Callbacks files = { .find_elf = dwfl_linux_proc_find_elf,
					      .find_debuginfo = no_debuginfo };
	Dwfl *dwfl = dwfl_begin(&files);

	if (!dwfl || dwfl_linux_proc_report(dwfl, (pid_t)pid) != 0 ||
	    dwfl_report_end(dwfl, NULL, NULL) != 0 ||
	    !dwfl_attach_state(dwfl, NULL, (pid_t)pid, &callbacks, taken)) {
		fprintf(stderr, "libdw: %s\n", dwfl_errmsg(-1));
		exit(1);
	}
	return dwfl;
}

/* Without a row for the leaf libdw guesses by the frame pointer.  That is so behind the system call that ends
 * __restore_rt, where its table ends. */
static bool libdw_knows(Dwfl *dwfl, u64 pc)
{
	Dwfl_Module *module = dwfl_addrmodule(dwfl, pc);
	Dwarf_Frame *frame = NULL;
	Dwarf_Addr bias = 0;
	Dwarf_CFI *table = module ? dwfl_module_eh_cfi(module, &bias) : NULL;
	bool knows = table && dwarf_cfi_addrframe(table, pc - bias, &frame) == 0;

	free(frame);
	return knows;
}

/* ---- beside each other --------------------------------------------------------------------- */

static void show(const char *who, const struct stack *stack, const struct unwind_space *space)
{
	fprintf(stderr, "  %s, %u frames:", who, stack->count);
	for (u32 i = 0; i < stack->count && i < 40; i++) {
		const struct mapping *mapping = target_mapping_at(space->target, stack->pc[i]);
		const char *path = mapping ? mapping_path(space->target, mapping) : "?";
		const char *name = strrchr(path, '/');
		fprintf(stderr, " %s+%llx", name ? name + 1 : path,
			(unsigned long long)(mapping ? stack->pc[i] - mapping->start +
							       mapping->offset :
						       stack->pc[i]));
	}
	fprintf(stderr, "\n");
}

static void compare(struct counts *counts, const struct stack *ours, const struct stack *theirs,
		    const struct unwind_space *space)
{
	u32 both = ours->count < theirs->count ? ours->count : theirs->count, equal = 0;

	while (equal < both && ours->pc[equal] == theirs->pc[equal])
		equal++;
	counts->frames += ours->count;
	counts->ends[ours->end]++;
	if (equal < both)
		counts->different++;
	else if (ours->count < theirs->count)
		counts->shorter++;
	else if (ours->count > theirs->count)
		counts->longer++;
	else
		counts->same++;
	if (ours->count < theirs->count || equal < both || ours->end != UNWIND_DONE) {
		if (counts->examples++ < EXAMPLES) {
			fprintf(stderr, "differ from frame %u on, ours ended with %u\n", equal,
				ours->end);
			show("ours", ours, space);
			show("libdw", theirs, space);
		}
	}
}

/* ---- the kernel's side --------------------------------------------------------------------- */

struct ring {
	int fd;
	struct perf_event_mmap_page *page;
};

static int open_event(u32 tid, u64 hz)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof attr,
		.disabled = 1, /* until the program is attached */
		.freq = 1,
		.sample_freq = hz,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER,
		.sample_regs_user = REGISTERS_MASK,
		.sample_stack_user = STACK_BYTES,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = 1 << 20,
	};

	return (int)syscall(SYS_perf_event_open, &attr, (pid_t)tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void copy_out(const struct ring *ring, u64 at, void *out, u64 bytes)
{
	u64 size = (u64)RING_PAGES * (u64)sysconf(_SC_PAGESIZE), page = (u64)sysconf(_SC_PAGESIZE);
	const u8 *data = (const u8 *)ring->page + page;
	u64 first = size - at % size;

	if (first > bytes)
		first = bytes;
	memcpy(out, data + at % size, first);
	memcpy((u8 *)out + first, data, bytes - first);
}

/* pid, tid | time | abi, registers | size, stack, how much of it is filled. */
static bool parse(const u8 *body, struct taken *taken)
{
	const u64 *words = (const u64 *)(const void *)(body + 16);

	memcpy(&taken->tid, body + 4, 4);
	memcpy(&taken->time_ns, body + 8, 8);
	if (words[0] != PERF_SAMPLE_REGS_ABI_64)
		return false;
	for (u32 i = 0; i < COUNT_OF(dwarf_number); i++)
		taken->registers[dwarf_number[i]] = words[1 + i];
	const u64 *stack = words + 1 + COUNT_OF(dwarf_number);
	if (!stack[0])
		return false;
	taken->stack = (const u8 *)(stack + 1);
	memcpy(&taken->stack_bytes, taken->stack + stack[0], 8);
	return true;
}

struct test {
	struct kernel kernel;
	struct unwind_space space;
	struct taken taken;
	Dwfl *dwfl;
	struct counts counts;
	struct stack ours, theirs;
};

static void one_sample(struct test *test, const u8 *body)
{
	if (!parse(body, &test->taken)) {
		test->counts.no_registers++;
		return;
	}
	test->counts.samples++;
	if (!test->kernel.object) {
		unwind_ours(&test->space, &test->taken, &test->ours);
	} else if (!take_walked(&test->kernel, &test->taken, &test->ours)) {
		test->counts.samples--;
		test->kernel.missing++;
		return;
	}
	test->theirs.count = 0;
	dwfl_getthread_frames(test->dwfl, (pid_t)test->taken.tid, take_frame, &test->theirs);
	if (!libdw_knows(test->dwfl, test->ours.pc[0])) {
		test->counts.guessed++;
		test->counts.ends[test->ours.end]++;
		return;
	}
	compare(&test->counts, &test->ours, &test->theirs, &test->space);
}

static void drain(struct test *test, const struct ring *ring, u64 wanted)
{
	static u64 room[(STACK_BYTES + 4096) / 8];
	u64 head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	u64 tail = ring->page->data_tail;

	while (tail < head) {
		struct perf_event_header header;
		copy_out(ring, tail, &header, sizeof header);
		/* 64 KiB at the most, and the room is larger */
		copy_out(ring, tail + sizeof header, room, header.size - sizeof header);
		if (header.type == PERF_RECORD_SAMPLE && test->counts.samples < wanted)
			one_sample(test, (const u8 *)room);
		else if (header.type == PERF_RECORD_LOST)
			test->counts.lost += room[1];
		tail += header.size;
		__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
	}
}

static u32 open_rings(u32 pid, u64 hz, const struct kernel *kernel, struct ring *rings, u32 room)
{
	char path[64];
	struct dirent *entry;
	u32 count = 0;

	snprintf(path, sizeof path, "/proc/%u/task", pid);
	DIR *directory = opendir(path);
	while (directory && count < room && (entry = readdir(directory))) {
		u32 tid = (u32)atoi(entry->d_name);
		if (!tid)
			continue;
		struct ring ring = { .fd = open_event(tid, hz) };
		if (ring.fd < 0) {
			fprintf(stderr, "perf_event_open: %s\n", strerror(errno));
			exit(1);
		}
		ring.page = mmap(NULL, (size_t)(1 + RING_PAGES) * (size_t)sysconf(_SC_PAGESIZE),
				 PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, 0);
		if (ring.page == MAP_FAILED) {
			fprintf(stderr, "the ring of %u: %s\n", tid, strerror(errno));
			exit(1);
		}
		if (kernel->program)
			must(bpf_program__attach_perf_event(kernel->program, ring.fd), "attach");
		must(ioctl(ring.fd, PERF_EVENT_IOC_ENABLE, 0) == 0, "enable");
		rings[count++] = ring;
	}
	if (directory)
		closedir(directory);
	return count;
}

int main(int argc, char **argv)
{
	static struct test test = { .taken.mem.read = read_copy };
	static struct ring rings[16];
	struct target target;
	struct unwind_files files = { 0 };
	struct err err = { 0 };

	if (argc < 4)
		return 2;
	u32 pid = (u32)atoi(argv[1]);
	u64 wanted = strtoull(argv[2], NULL, 10);
	if (!target_open(&target, pid, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	unwind_space_init(&test.space, &target, &files);
	test.dwfl = open_libdw(&test.taken, pid);
	if (argc > 4)
		kernel_open(&test.kernel, argv[4], &test.space);
	u32 count = open_rings(pid, strtoull(argv[3], NULL, 10), &test.kernel, rings,
			       COUNT_OF(rings));
	/* without a walk there is nothing to compare, however long it takes */
	while (test.counts.samples < wanted && test.kernel.missing < wanted &&
	       target_check(&target) == TARGET_SAME) {
		struct pollfd waits = { .fd = rings[0].fd, .events = POLLIN };
		poll(&waits, 1, 20);
		for (u32 i = 0; i < count; i++)
			drain(&test, &rings[i], wanted);
	}
	const struct counts *c = &test.counts;
	printf("{\"samples\": %llu, \"same\": %llu, \"shorter\": %llu, \"longer\": %llu, "
	       "\"different\": %llu, \"guessed\": %llu, \"frames\": %llu, \"lost\": %llu, \"done\": %llu, \"no_rule\": %llu, "
	       "\"missing\": %llu, \"no_register\": %llu, \"no_memory\": %llu, \"not_above\": %llu}\n",
	       (unsigned long long)c->samples, (unsigned long long)c->same,
	       (unsigned long long)c->shorter, (unsigned long long)c->longer,
	       (unsigned long long)c->different, (unsigned long long)c->guessed,
	       (unsigned long long)c->frames, (unsigned long long)c->lost,
	       (unsigned long long)c->ends[UNWIND_DONE],
	       (unsigned long long)c->ends[UNWIND_NO_RULE], (unsigned long long)test.kernel.missing,
	       (unsigned long long)c->ends[UNWIND_NO_REGISTER],
	       (unsigned long long)c->ends[UNWIND_NO_MEMORY],
	       (unsigned long long)c->ends[UNWIND_NOT_ABOVE]);
	unwind_space_free(&test.space);
	unwind_files_free(&files);
	target_close(&target);
	dwfl_end(test.dwfl);
	return 0;
}
