/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
 * prof.bpf.c - on which occasions a thread is looked at: each entry is thin, and only those that are asked for are loaded. */
#include "engines/kernel/record.bpf.h"

char prof_license[] SEC("license") = "Dual BSD/GPL";

SEC("perf_event")
int on_clock(struct bpf_perf_event_data *context)
{
	struct current current = current_thread();
	struct occasion occasion = { .kind = KERNEL_SAMPLE, .hits = 1, .has_kernel = true };

	if (!current.process)
		return 0;
	take_sample(context, &current, &occasion);
	return 1; /* and the event's own sample, if it has a ring */
}

/* ---- pace ---------------------------------------------------------------------------------- */

static const u64 PACE_NS = 10 * 1000 * 1000;
enum {
	STACKS_HZ = 4000, /* of an event, on a CPU, unless more are asked for */
	SLEEPS_HZ = 2000, /* of a thread that gives up its CPU more often */
};

/* One in so many is looked at: as was asked for, or so many that `most_hz` stacks a second come of it. */
static __always_inline void set_pace(struct kernel_pace *pace, u64 now_ns, u64 most_hz)
{
	u64 passed = now_ns - pace->since_ns;

	pace->hits++;
	if (passed < PACE_NS)
		return;
	u64 rate = pace->since_ns ? pace->hits * 1000000000ull / passed : 0;
	pace->every = constants.every ? constants.every : rate / most_hz + 1;
	pace->since_ns = now_ns;
	pace->hits = 0;
}

/* Drawn for each: what is passed does not fall in step with the program, and a pace may change at any time. */
static __always_inline bool is_due(struct kernel_pace *pace, u64 now_ns, u64 most_hz)
{
	set_pace(pace, now_ns, most_hz);
	return pace->every <= 1 || bpf_get_prandom_u32() % pace->every == 0;
}

/* ---- events -------------------------------------------------------------------------------- */

/* By the number of a system call. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KERNEL_CALLS_MAX);
	__type(key, u32);
	__type(value, struct kernel_call);
} calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, KERNEL_EVENTS_MAX);
	__type(key, u32);
	__type(value, struct kernel_event_count);
} event_counts SEC(".maps");

/* The system call that a thread is in. */
struct in_call {
	u64 start_ns; /* 0: none that is asked for */
	u32 number;
	u32 hits; /* of the sample that was taken when it began; 0: none was */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct in_call);
} in_calls SEC(".maps");

/* Who empties the ring may be held up (symbols on a slow disk): then fewer stacks stand for more hits, and none is lost. */
static __always_inline bool has_room(void)
{
	if (constants.every) /* it is said how many */
		return true;
	u64 used = bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA);
	u32 one_in = used > RING_BYTES / 4 * 3 ? 256 : used > RING_BYTES / 2 ? 16 : 1;
	return bpf_get_prandom_u32() % one_in == 0;
}

/* For how many hits this one is looked at; 0: it is not. */
static __always_inline u32 hit(u32 event, u64 now_ns)
{
	struct kernel_event_count *counted = bpf_map_lookup_elem(&event_counts, &event);

	if (!counted)
		return 0;
	__sync_fetch_and_add(&counted->hits, 1);
	__sync_fetch_and_add(&counted->waiting, 1);
	if (!is_due(&counted->pace, now_ns, STACKS_HZ) || !has_room())
		return 0;
	return __sync_lock_test_and_set(&counted->waiting, 0);
}

static __always_inline void count_latency(u32 event, u64 latency_ns)
{
	struct kernel_event_count *counted = bpf_map_lookup_elem(&event_counts, &event);

	if (!counted)
		return;
	counted->returned++;
	counted->latency_ns += latency_ns;
	if (latency_ns > counted->latency_max_ns)
		counted->latency_max_ns = latency_ns;
}

static __always_inline const struct kernel_call *call_of(u32 number)
{
	const struct kernel_call *call = bpf_map_lookup_elem(&calls, &number);

	return call && (call->enter || call->leave) ? call : NULL;
}

/* Those have numbers of their own (TS_COMPAT of arch/x86/include/asm/thread_info.h). */
static __always_inline bool is_32_bit_call(const struct task_struct *task)
{
	return task->thread_info.status & 2;
}

/* Samples of system calls are taken when they begin, unless it matters how they end. */
SEC("tp_btf/sys_enter")
int on_enter(u64 *context)
{
	u32 number = context[1];
	const struct kernel_call *call = call_of(number);
	struct in_call *in;

	if (!call)
		return 0;
	struct current current = current_thread();
	if (!current.process || is_32_bit_call(current.task) ||
	    !(in = bpf_task_storage_get(&in_calls, current.task, NULL,
					BPF_LOCAL_STORAGE_GET_F_CREATE)))
		return 0;
	in->hits = 0;
	in->number = number;
	if (call->enter && !constants.latency_min_ns) {
		struct occasion occasion = { .kind = KERNEL_SAMPLE, .event = call->enter };
		occasion.hits = in->hits = hit(call->enter, bpf_ktime_get_ns());
		if (occasion.hits)
			take_sample(context, &current, &occasion);
	}
	in->start_ns = bpf_ktime_get_ns();
	return 0;
}

/* How long the call took of which there is a sample. */
static __always_inline void send_latency(const struct current *current, u32 event, u32 hits,
					 u64 latency_ns)
{
	struct kernel_head *head = bpf_ringbuf_reserve(&records, sizeof *head, 0);

	if (!head)
		return;
	begin_head(head, current->task, current->pid, current->process->execs, KERNEL_LATENCY);
	head->event = event;
	head->hits = hits;
	head->latency_ns = latency_ns;
	bpf_ringbuf_submit(head, BPF_RB_NO_WAKEUP);
}

SEC("tp_btf/sys_exit")
int on_leave(u64 *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct in_call *in = bpf_task_storage_get(&in_calls, task, NULL, 0);
	s64 result = context[1];

	if (!in || !in->start_ns)
		return 0;
	u64 now_ns = bpf_ktime_get_ns(), latency_ns = now_ns - in->start_ns;
	const struct kernel_call *call = call_of(in->number);
	struct current current = current_thread();
	in->start_ns = 0;
	if (!call || !current.process)
		return 0;
	if (call->enter)
		count_latency(call->enter, latency_ns);
	if (call->leave)
		count_latency(call->leave, latency_ns);
	if (in->hits && constants.send_latency)
		send_latency(&current, call->enter, in->hits, latency_ns);
	/* of a call that is asked for in both ways, the end is looked at */
	u32 event = call->leave ? call->leave : constants.latency_min_ns ? call->enter : 0;
	if (!event || latency_ns < constants.latency_min_ns)
		return 0;
	struct occasion occasion = { .kind = KERNEL_SAMPLE,
				     .event = event,
				     .latency_ns = latency_ns };
	occasion.result = result < 0 && result >= -4095 ? -result : 0;
	occasion.hits = hit(event, now_ns);
	if (occasion.hits)
		take_sample(context, &current, &occasion);
	return 0;
}

/* Where an event's number is what the program was attached with. */
static __always_inline void on_event(void *context, bool has_kernel)
{
	struct current current = current_thread();
	struct occasion occasion = { .kind = KERNEL_SAMPLE, .has_kernel = has_kernel };

	if (!current.process)
		return;
	occasion.event = bpf_get_attach_cookie(context);
	occasion.hits = hit(occasion.event, bpf_ktime_get_ns());
	if (occasion.hits)
		take_sample(context, &current, &occasion);
}

SEC("tracepoint")
int on_tracepoint(void *context)
{
	on_event(context, true);
	return 0;
}

SEC("uprobe")
int on_probe(struct pt_regs *context)
{
	on_event(context, false);
	return 0;
}

/* ---- off the CPU --------------------------------------------------------------------------- */

struct off_cpu {
	u64 out_ns;     /* since then; 0: it runs */
	u64 woken_ns;   /* since then it is ready, and waits for a CPU; 0: nobody has woken it */
	u32 stands_for; /* so many times that it was off its CPU */
	u32 is_passed;  /* this time has no sample */
	struct kernel_pace pace;
};

/* By the kernel's own number of a thread. (No storage of the task's: the scheduler's lock is held, and nothing can be
 * allocated.)  How many there may be is set before it is loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct off_cpu);
} sleepers SEC(".maps");

/* How often those are looked for that were passed and sleep long. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} long_sleep_period_ns SEC(".maps");

enum {
	WHOLE = 1024,
	LONG_SLEEP_NS = 10 * 1000 * 1000, /* what is longer is looked for */
	AT_ONCE_NS = 30 * 1000,
};

/* The part of the time spans as long as this that get a sample by being looked for, in 1/1024. */
static __always_inline u64 part_found(u64 span_ns)
{
	u32 zero = 0;
	const u64 *period_ns = bpf_map_lookup_elem(&long_sleep_period_ns, &zero);
	u64 late_ns = span_ns > LONG_SLEEP_NS ? span_ns - LONG_SLEEP_NS : 0;

	if (!period_ns || !*period_ns)
		return 0;
	return late_ns < *period_ns ? late_ns * WHOLE / *period_ns : WHOLE;
}

/* Of one of several that has a sample, by chance or because it was long: each stands for the inverse of that chance (Horvitz
 * and Thompson, 1952). A long one stands for itself. */
static __always_inline u64 share_of(const struct off_cpu *off, u64 span_ns, u64 off_ns)
{
	u64 others = off->stands_for - 1;

	if (!others)
		return off_ns;
	u64 found = part_found(span_ns);
	return found == WHOLE ? off_ns : off_ns * (others + 1) * WHOLE / (WHOLE + others * found);
}

/* Who is ready waits for a CPU, and no longer for what its stack says. Where all of the time is asked for, that counts: but of one
 * that gets a CPU at once the scheduler counts it as its CPU time. */
static __always_inline u64 end_of(const struct off_cpu *off, u64 now_ns)
{
	bool is_at_once = now_ns - off->woken_ns < AT_ONCE_NS;

	if (off->woken_ns <= off->out_ns)
		return now_ns;
	return !constants.with_preempted || is_at_once ? off->woken_ns : now_ns;
}

static __always_inline void resume(struct task_struct *task, u64 now_ns)
{
	u32 key = task->pid;
	struct off_cpu *off = bpf_map_lookup_elem(&sleepers, &key);

	if (!off || !off->out_ns)
		return;
	struct kernel_head *head = off->is_passed ? NULL :
						    bpf_ringbuf_reserve(&records, sizeof *head, 0);
	if (head) {
		begin_head(head, task, process_of(task), 0, KERNEL_RESUME);
		head->latency_ns = share_of(off, now_ns - off->out_ns,
					    end_of(off, now_ns) - off->out_ns);
		bpf_ringbuf_submit(head, BPF_RB_NO_WAKEUP);
	}
	off->out_ns = 0;
}

static __always_inline struct off_cpu *sleeper(struct task_struct *task)
{
	struct off_cpu none = { 0 };
	u32 key = task->pid;
	struct off_cpu *off = bpf_map_lookup_elem(&sleepers, &key);

	if (off)
		return off;
	bpf_map_update_elem(&sleepers, &key, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&sleepers, &key);
}

/* (After it has left its CPU: it was put in the queue.) */
SEC("tp_btf/sched_wakeup")
int on_wake(u64 *context)
{
	u32 key = ((struct task_struct *)context[0])->pid;
	struct off_cpu *off = bpf_map_lookup_elem(&sleepers, &key);

	if (off && off->out_ns && !off->woken_ns)
		off->woken_ns = bpf_ktime_get_ns();
	return 0;
}

/* The stack of a thread that gives up its CPU is what it waits for.  One that loses it before it has done so (context[0]) is ready
 * to go on, whatever its state says. */
SEC("tp_btf/sched_switch")
int on_switch(u64 *context)
{
	struct occasion occasion = {
		.kind = KERNEL_SWITCH,
		.hits = 1,
		.has_kernel = true,
		.skip = 2 /* this, and who calls it */
	};
	u64 now_ns = bpf_ktime_get_ns();
	bool was_preempted = context[0] & 1;

	resume((struct task_struct *)context[2], now_ns);
	struct current current = current_thread();
	if (!current.process || (current.task->flags & TASK_IS_EXITING) ||
	    ((!current.task->__state || was_preempted) && !constants.with_preempted))
		return 0;
	struct off_cpu *off = sleeper(current.task);
	if (!off) {
		count(KERNEL_COUNT_SAMPLES, 1);
		count(KERNEL_COUNT_DROPPED, 1);
		return 0;
	}
	off->is_passed = !is_due(&off->pace, now_ns, SLEEPS_HZ);
	off->stands_for = off->pace.every;
	off->woken_ns = 0;
	off->out_ns = now_ns;
	if (off->is_passed)
		count(KERNEL_COUNT_PASSED, 1);
	else
		take_sample(context, &current, &occasion);
	return 0;
}

struct seq_file;
struct bpf_iter_meta {
	struct seq_file *seq;
} OF_THE_KERNEL;
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} OF_THE_KERNEL;

static __always_inline bool tell_sleeper(struct seq_file *seq, struct task_struct *task,
					 u64 since_ns)
{
	struct kernel_sleeper row = { .since_ns = since_ns };

	row.pid = process_of(task);
	if (!bpf_map_lookup_elem(&processes, &row.pid))
		return false;
	row.tid = number_of(task);
	row.fsbase = task->thread.fsbase;
	row.runs = task->sched_info.pcount;
	if (bpf_probe_read_kernel(row.regs, sizeof row.regs,
				  (const void *)bpf_task_pt_regs(task)) != 0)
		return false;
	bpf_seq_write(seq, &row, sizeof row);
	return true;
}

/* Those that sleep when the engine begins. */
SEC("iter/task")
int on_each(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;

	if (!task || !task->__state || !tell_sleeper(context->meta->seq, task, 0))
		return 0;
	struct off_cpu *off = sleeper(task);
	if (off && !off->out_ns) { /* who was passed is left to on_passed */
		off->stands_for = 1;
		off->is_passed = 0;
		off->woken_ns = 0;
		off->out_ns = bpf_ktime_get_ns();
	}
	return 0;
}

/* Those that were passed, and sleep long. */
SEC("iter/task")
int on_passed(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;

	if (!task)
		return 0;
	u32 key = task->pid;
	struct off_cpu *off = bpf_map_lookup_elem(&sleepers, &key);
	u64 out_ns = off ? off->out_ns : 0;
	if (!out_ns || !off->is_passed || bpf_ktime_get_ns() - out_ns < LONG_SLEEP_NS)
		return 0;
	if (tell_sleeper(context->meta->seq, task, out_ns))
		off->is_passed = 0;
	return 0;
}

/* ---- lives --------------------------------------------------------------------------------- */

static __always_inline void send_life(struct task_struct *task, u32 pid, u32 tid, u32 parent,
				      u32 execs, u16 kind)
{
	struct kernel_head *head = bpf_ringbuf_reserve(&records, sizeof *head, 0);

	if (!head) {
		count(KERNEL_COUNT_LIVES_LOST, 1);
		return;
	}
	begin_head(head, task, pid, execs, kind);
	head->tid = tid;
	head->parent = parent;
	bpf_ringbuf_submit(head, kind == KERNEL_EXEC ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

/* A child has what its parent has, from its first instruction on. */
SEC("tp_btf/sched_process_fork")
int on_fork(u64 *context)
{
	struct task_struct *parent = (struct task_struct *)context[0];
	struct task_struct *child = (struct task_struct *)context[1];
	u32 parent_pid = process_of(parent), pid = number_of(child);
	const struct kernel_process *process = bpf_map_lookup_elem(&processes, &parent_pid);

	if (!process || !pid || child->tgid == parent->tgid || !constants.follow_children)
		return 0;
	if (bpf_map_update_elem(&processes, &pid, process, BPF_ANY) != 0)
		count(KERNEL_COUNT_FORKS_LOST, 1);
	else
		send_life(child, pid, pid, parent_pid, process->execs, KERNEL_FORK);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int on_exec(u64 *context)
{
	struct task_struct *task = (struct task_struct *)context[0];
	u32 pid = process_of(task);
	struct kernel_process *process = bpf_map_lookup_elem(&processes, &pid);

	if (!process)
		return 0;
	process->space = 0;
	process->is_held = process->made_way = process->tells_jit = 0;
	for (u32 i = 0; i < KERNEL_VMS; i++)
		process->machines[i] = 0;
	process->execs++;
	send_life(task, pid, number_of(task), 0, process->execs, KERNEL_EXEC);
	return 0;
}

enum { ENDINGS_MAX = 65536 }; /* threads that end at once */

/* A thread that ends, by its task's address: it loses its number on the way. */
struct ending {
	u32 pid, tid, execs;
	u32 is_last; /* of its process */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ENDINGS_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u64);
	__type(value, struct ending);
} endings SEC(".maps");

static __always_inline void tell_end(struct task_struct *task, const struct ending *ending)
{
	send_life(task, ending->pid, ending->tid, 0, ending->execs,
		  ending->is_last ? KERNEL_PROCESS_END : KERNEL_THREAD_END);
	if (ending->is_last)
		bpf_map_delete_elem(&processes, &ending->pid);
}

/* It gives up its memory from here on, which takes CPU time as anything else does. */
SEC("tp_btf/sched_process_exit")
int on_exit(u64 *context)
{
	struct task_struct *task = (struct task_struct *)context[0];
	u32 pid = process_of(task);
	const struct kernel_process *process = bpf_map_lookup_elem(&processes, &pid);
	u32 number = task->pid;
	u64 address = (u64)task;

	if (!process)
		return 0;
	struct ending ending = { .pid = pid,
				 .tid = number_of(task),
				 .execs = process->execs,
				 .is_last = task->signal->live.counter == 0 };
	bpf_map_delete_elem(&sleepers, &number);
	for (u32 i = 0; i < KERNEL_VMS; i++) {
		u64 key = (u64)process->machines[i] << 32 | ending.tid;
		if (process->machines[i])
			bpf_map_delete_elem(&riders, &key);
	}
	if (bpf_map_update_elem(&endings, &address, &ending, BPF_ANY) != 0)
		tell_end(task, &ending); /* no room: now, then */
	return 0;
}

enum { TASK_IS_DEAD = 128 /* TASK_DEAD */ };

/* It gives up its CPU for good: what it used is added up. */
SEC("tp_btf/sched_switch")
int on_dead(u64 *context)
{
	struct task_struct *task = (struct task_struct *)context[1];
	u64 address = (u64)task;

	if (!(task->__state & TASK_IS_DEAD))
		return 0;
	const struct ending *known = bpf_map_lookup_elem(&endings, &address);
	if (!known)
		return 0;
	struct ending ending = *known;
	bpf_map_delete_elem(&endings, &address);
	tell_end(task, &ending);
	return 0;
}

/* Run once, by who loads these programs: the level of its pid namespace. */
SEC("syscall")
int ask_level(void *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pid *pid = task->thread_pid;

	(void)context;
	return pid ? pid->level : 0;
}
