/* SPDX-License-Identifier: Apache-2.0
 * process.c - see process.h. */
#include "engines/reader/process.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "elf/image.h"
#include "engines/reader/account.h"
#include "engines/thread_filter.h"

#define LOG_DOMAIN LOG_reader
#include "base/log.h"

enum {
	THREADS_MAX = 1 << 16,
	ASK_STATE_MAX = 64,
	/* A refresh may take a tenth of a CPU at the most. It is its CPU time that counts: one that had to wait for
	 * a CPU in the middle must not put off the next, where a process lives for so long only. */
	REFRESH_SHARE = 10,
	TORN_LISTS_MOST = 4, /* in a row, before it is taken to be the end of the VM */
};

/* So long after it was asked for in vain a thread's name is asked for again. */
static const u64 NAME_LEAST_NS = NS_PER_MS, NAME_MOST_NS = 4 * NS_PER_S;

/* How long one that runs when it is found is taken to run on; what it uses keeps it hot then. */
static const u64 FIRST_HOT_NS = 500 * NS_PER_MS;

/* How often it is looked at whether another image was mapped; and how often the maps are read, which takes a quarter of a
 * millisecond, though no more is mapped: as much may have been unmapped. */
static const u64 IMAGES_NS = NS_PER_S, MAPS_NS = 10 * NS_PER_S;

/* How often it is asked whether there is more than one interpreter, and if so what threads these have. */
static const u64 TURNS_NS = 100 * NS_PER_MS;

/* How often a native thread that runs is asked whether it runs a thread of the VM by now. */
static const u64 REBIND_WAIT_LEAST_NS = 5 * NS_PER_MS;
static const u64 REBIND_WAIT_MOST_NS = 320 * NS_PER_MS;

struct reader_process *process_new(struct target *borrowed, u64 incarnation)
{
	struct reader_process *process = calloc(1, sizeof *process);

	if (process) {
		process->target = borrowed;
		process->pid = borrowed ? borrowed->pid : 0;
		process->incarnation = process->program = incarnation;
		process->born_ns = clock_now_ns();
		process->threads_changed = true;
	}
	return process;
}

/* ---- threads ----------------------------------------------------------------------------- */

static void second_clear(struct second_stack *second)
{
	read_set_free(&second->set);
	look_memory_free(&second->memory);
	*second = (struct second_stack){ 0 };
}

static void thread_free(struct reader_thread *thread)
{
	second_clear(&thread->second);
	turns_free(thread);
	thread_probe_close(&thread->probe);
	read_set_free(&thread->set);
	look_memory_free(&thread->memory);
	free(thread);
}

static void threads_clear(struct reader_process *process)
{
	for (u32 i = 0; i < process->threads.count; i++)
		thread_free(process->threads.at[i]);
	vec_clear(&process->threads);
}

/* One refresh. */
struct refresh {
	struct reader_process *process;
	const struct engine_options *options;
	target_threads all;           /* by inner tid */
	struct reader_thread **found; /* parallel: what a VM thread runs on; NULL: none */
	u32 known;                    /* threads there before */
	u32 hint;
	bool is_torn; /* a VM's list changed as it was read: who was not met in it may be there */
};

static int by_inner_tid(const void *a, const void *b)
{
	const struct target_thread *x = a, *y = b;
	return x->inner_tid < y->inner_tid ? -1 : x->inner_tid > y->inner_tid;
}

static const struct target_thread *find_inner(const target_threads *all, u32 inner_tid)
{
	struct target_thread key = { .inner_tid = inner_tid };

	if (!inner_tid || !all->count)
		return NULL;
	return bsearch(&key, all->at, all->count, sizeof *all->at, by_inner_tid);
}

/* By its native thread; one that is on none by its address. Lists keep their order from one refresh to
 * the next: start where the last one was found. */
static struct reader_thread *find_known(const struct refresh *refresh, u64 address, u32 tid)
{
	const struct reader_process *process = refresh->process;
	u32 count = refresh->known;

	for (u32 n = 0; n < count; n++) {
		u32 i = (refresh->hint + n) % count;
		struct reader_thread *thread = process->threads.at[i];
		if (thread->tid == tid && (tid || thread->thread == address))
			return thread;
	}
	return NULL;
}

/* A VM knows the name of a thread a little after its begin, or never: it is asked less and less often. */
static void name_thread(const struct reader_process *process, struct reader_thread *thread)
{
	snprintf(thread->name, sizeof thread->name, "%s", thread->comm);
	if (!thread->attached)
		return;
	thread->is_named = attached_name_thread(thread->attached, &process->target->mem.mem,
						thread->thread, thread->name, sizeof thread->name);
	backoff_miss(&thread->ask_name, clock_now_ns(), NAME_LEAST_NS, NAME_MOST_NS);
}

static bool is_wanted(const struct reader_thread *thread, const struct engine_options *options)
{
	return thread_filter_passes(options, thread->tid, thread->inner_tid, thread->name);
}

/* Is `like` what it runs, or runs by turns? */
static bool takes_turns(const struct reader_thread *thread, const struct reader_thread *like)
{
	return thread->attached && thread->attached == like->attached &&
	       thread->attached->runtime->has_turns && thread->carrier == like->carrier;
}

/* The thread's name in the VM, if it is another thread now or the kernel calls it by another name. */
static void update_name(struct reader_process *process, struct reader_thread *thread,
			const struct reader_thread *like, bool other,
			const struct engine_options *options)
{
	/* Ruby gives a thread's name to the kernel too, so that is how a new one is noticed */
	bool renamed = memcmp(thread->comm, like->comm, sizeof thread->comm) != 0;

	memcpy(thread->comm, like->comm, sizeof thread->comm);
	if (!other && !renamed)
		return;
	backoff_reset(&thread->ask_name);

	name_thread(process, thread);
	process->ask_names_ns = 0;
	thread->wanted = is_wanted(thread, options);
}

static bool is_rider(const void *owner, u32 item, const void *address)
{
	return ((const struct reader_process *)owner)->rider_addresses.at[item] ==
	       *(const u64 *)address;
}

/* A thread of a VM: was it met before? */
static bool meet_rider(struct reader_process *process, u64 address)
{
	u64 hash = table_hash(&address, sizeof address);
	u32 count = process->rider_addresses.count;

	if (table_find(&process->riders, hash, is_rider, process, &address) != TABLE_NONE)
		return true;
	if (count < THREADS_MAX && vec_push(&process->rider_addresses, address))
		table_add(&process->riders, hash, count);
	return false;
}

static void forget_riders(struct reader_process *process)
{
	table_free(&process->riders);
	vec_free(&process->rider_addresses);
}

/* From now on `like` is what the thread runs. True when that is news. */
static bool thread_bind(struct reader_process *process, struct reader_thread *thread,
			const struct reader_thread *like, const struct engine_options *options)
{
	bool other = thread->thread != like->thread || thread->attached != like->attached ||
		     thread->carrier != like->carrier;
	bool is_turn = other && takes_turns(thread, like);

	if (is_turn) {
		turns_switch(thread, like->thread);
	} else if (other) {
		turns_free(thread);
		/* until then nobody has known what it is: it was this */
		if (thread->thread) {
			account_rebind(process, thread);
			thread->life = ++process->lives;
		}
		read_set_free(&thread->set);
		look_memory_free(&thread->memory);
		thread->history = (struct pause_history){ 0 };
		thread->restless = 0;
		thread->head_used = 0;
		thread->thread = like->thread;
		thread->attached = like->attached;
		thread->carrier = like->carrier;
		if (like->thread)
			meet_rider(process, like->thread);
	}
	thread->vm_state = like->vm_state;
	update_name(process, thread, like, other && !is_turn, options);
	return other;
}

static struct reader_thread *new_thread(struct refresh *refresh, u32 tid, u32 inner_tid)
{
	struct reader_process *process = refresh->process;
	struct reader_thread *thread = calloc(1, sizeof *thread);

	if (!thread || !vec_push(&process->threads, thread)) {
		free(thread);
		return NULL;
	}
	thread->tid = tid;
	thread->inner_tid = inner_tid;
	thread->life = ++process->lives;
	thread->paid_at_ns = clock_now_ns();
	thread->wanted = is_wanted(thread, refresh->options);
	thread->probe = (struct thread_probe){ .schedstat_fd = -1, .stat_fd = -1 };
	if (tid && !thread_probe_open(&thread->probe, process->target, tid))
		log_debug(1, "no probe for thread %u", tid);
	if (tid)
		thread_probe_time(&thread->probe, &thread->probed);
	/* what it used before we came is not ours to tell */
	bool is_new = process->born_here || process->refreshed;
	u64 begun_ns = tid == process->pid ? process->begun_main_ns : 0;
	thread->accounted_ns = is_new ? begun_ns : thread->probed.cpu_ns;
	/* Of many, the first look at all CPU clocks will tell who runs (account.h). */
	bool asked = !is_new && tid && refresh->all.count <= ASK_STATE_MAX;
	struct switches_moment now = { .at_ns = clock_now_ns(), .woke_ns = UINT64_MAX };
	thread->was_running = is_new ||
			      (asked && thread_probe_state(&thread->probe, process->target, &now,
							   false) == THREAD_RUNNING);
	thread->hot_until_ns = thread->was_running ? clock_now_ns() + FIRST_HOT_NS : 0;
	return thread;
}

/* Which one calls the other will be seen (both.c); until then, the program itself calls libraries, and of two
 * libraries the one that lies higher was loaded first. */
static void bind_second(struct second_stack *second, const struct attached *first,
			const struct reader_thread *like)
{
	if (second->attached != like->attached || second->thread != like->thread) {
		second_clear(second);
		second->attached = like->attached;
		second->thread = like->thread;
		second->is_outer = !first->is_program;
	}
	second->present = true;
}

static void meet_turn(struct refresh *refresh, struct reader_thread *thread,
		      const struct reader_thread *like)
{
	refresh->hint += !thread->present;
	thread->present = true;
	turns_meet(thread, like->thread);
	if (like->vm_state == VM_THREAD_RUNNING && like->thread != thread->thread)
		turns_switch(thread, like->thread);
	if (like->thread == thread->thread)
		thread->vm_state = like->vm_state;
	update_name(refresh->process, thread, like, false, refresh->options);
}

/* `found` is of its native thread, NULL when it is on none: another VM or interpreter may have brought it in this very
 * refresh. */
static bool add_thread(struct refresh *refresh, struct reader_thread *like,
		       struct reader_thread **found)
{
	struct reader_process *process = refresh->process;
	struct reader_thread *thread = found && *found ?
					       *found :
					       find_known(refresh, like->thread, like->tid);

	if (thread && thread->present && thread->attached && like->attached &&
	    thread->attached != like->attached) {
		bind_second(&thread->second, thread->attached, like);
		return true;
	}
	if (found && thread)
		*found = thread;
	if (thread && takes_turns(thread, like)) {
		meet_turn(refresh, thread, like);
		return true;
	}
	/* Two on one native thread: it moved while the list was read. The one that runs is there now. */
	if (thread && thread->present && like->vm_state != VM_THREAD_RUNNING)
		return true;
	if (thread) {
		refresh->hint++;
	} else {
		process->threads_met += like->tid || !meet_rider(process, like->thread);
		thread = new_thread(refresh, like->tid, like->inner_tid);
	}
	if (!thread)
		return false;
	if (found)
		*found = thread;
	thread_bind(process, thread, like, refresh->options);
	thread->present = true;
	return true;
}

/* After a fork only the forking thread lives on, under a tid that the VM may not have noted yet. */
static const struct target_thread *native_of(const struct vm_thread *vm, const target_threads *all)
{
	const struct target_thread *native = find_inner(all, vm->tid);

	if (!native && all->count == 1 &&
	    (vm->state == VM_THREAD_RUNNING || vm->state == VM_THREAD_UNKNOWN))
		return &all->at[0];
	return native;
}

static bool refresh_runtime(struct refresh *refresh, const struct attached *attached)
{
	const struct mem *mem = &refresh->process->target->mem.mem;
	u64 where = 0;

	for (u32 n = 0; n < THREADS_MAX; n++) {
		struct vm_thread vm = { 0 };
		enum step step = attached->runtime->next_thread(mem, attached->state, &where, &vm);
		if (step != STEP_MORE) {
			refresh->is_torn |= step != STEP_DONE;
			break;
		}
		const struct target_thread *native = native_of(&vm, &refresh->all);
		if (vm.tid && !native)
			continue; /* a forked child's copy of a thread that only the parent has */
		struct reader_thread like = { .thread = vm.thread,
					      .inner_tid = vm.tid,
					      .tid = native ? native->tid : 0,
					      .vm_state = vm.state,
					      .carrier = vm.carrier,
					      .attached = attached };
		struct reader_thread **found = NULL;
		if (native) {
			found = &refresh->found[native - refresh->all.at];
			memcpy(like.comm, native->comm, sizeof like.comm);
		}
		if (!add_thread(refresh, &like, found))
			return false;
	}
	return true;
}

/* What a torn list does not say is as it was: a thread that is taken for none of the VM is another one from then on. */
static void keep_known(struct refresh *refresh)
{
	struct reader_process *process = refresh->process;

	process->torn_lists = refresh->is_torn ? process->torn_lists + 1 : 0;
	if (!process->torn_lists || process->torn_lists > TORN_LISTS_MOST)
		return;
	for (u32 i = 0; i < refresh->known; i++) {
		struct reader_thread *thread = process->threads.at[i];
		const struct target_thread *native = find_inner(&refresh->all, thread->inner_tid);
		thread->second.present |= thread->second.attached != NULL;
		if (thread->present || !thread->attached || (thread->tid && !native))
			continue;
		thread->present = thread->bound_present = true;
		if (native)
			refresh->found[native - refresh->all.at] = thread;
	}
}

static bool refresh_others(struct refresh *refresh)
{
	keep_known(refresh);
	for (u32 i = 0; i < refresh->all.count; i++) {
		const struct target_thread *native = &refresh->all.at[i];
		struct reader_thread like = { .tid = native->tid, .inner_tid = native->inner_tid };
		memcpy(like.comm, native->comm, sizeof like.comm);
		if (!refresh->found[i] && !add_thread(refresh, &like, &refresh->found[i]))
			return false;
	}
	return true;
}

static void depart(struct reader_process *process, struct reader_thread *thread)
{
	if (!account_depart(process, thread, true))
		log_debug(1, "out of memory for a departed thread");
	thread_free(thread);
}

static bool refresh_all(struct refresh *refresh)
{
	struct reader_process *process = refresh->process;
	bool good = true;

	for (u32 i = 0; i < process->threads.count; i++) {
		process->threads.at[i]->present = process->threads.at[i]->second.present = false;
		turns_begin(process->threads.at[i]);
	}
	for (u32 i = 0; i < process->attached.count && good; i++)
		good = refresh_runtime(refresh, process->attached.at[i]);
	good = good && refresh_others(refresh);
	u32 kept = 0;
	for (u32 i = 0; i < process->threads.count; i++) {
		struct reader_thread *thread = process->threads.at[i];
		if (!thread->second.present && thread->second.attached)
			second_clear(&thread->second);
		turns_end(thread);
		if (thread->present)
			process->threads.at[kept++] = thread;
		else
			depart(process, thread);
	}
	process->threads.count = kept;
	return good;
}

bool process_refresh(struct reader_process *process, const struct engine_options *options,
		     struct err *err)
{
	u64 began = clock_own_cpu_ns();
	struct refresh refresh = { .process = process,
				   .options = options,
				   .known = process->threads.count };

	process->some_unwanted = options->tid || options->thread_name;
	bool good = target_read_threads(process->target, &refresh.all, err);
	if (good) {
		refresh.found = calloc(refresh.all.count + 1, sizeof(struct reader_thread *));
		if (refresh.all.count)
			qsort(refresh.all.at, refresh.all.count, sizeof *refresh.all.at,
			      by_inner_tid);
		if (!refresh.found || !refresh_all(&refresh))
			good = err_no_memory(err);
	}
	vec_free(&refresh.all);
	free(refresh.found);
	process->threads_changed = process->torn_lists && process->torn_lists <= TORN_LISTS_MOST;
	process->refreshed = true;
	process->refresh_ns = clock_now_ns() + (clock_own_cpu_ns() - began) * REFRESH_SHARE;
	return good;
}

void process_ask_turns(struct reader_process *process, u64 now_ns)
{
	if (now_ns < process->turns_ns)
		return;
	process->turns_ns = now_ns + TURNS_NS;
	process->has_turns = false;
	for (u32 i = 0; i < process->attached.count; i++) {
		const struct attached *attached = process->attached.at[i];
		process->has_turns |= attached->runtime->has_turns &&
				      attached->runtime->has_turns(&process->target->mem.mem,
								   attached->state);
	}
	process->threads_changed |= process->has_turns;
}

void process_ask_names(struct reader_process *process, const struct engine_options *options,
		       u64 now_ns)
{
	process->ask_names_ns = UINT64_MAX;
	for (u32 i = 0; i < process->attached.count; i++)
		attached_find_names(process->attached.at[i], &process->target->mem.mem, now_ns);
	for (u32 i = 0; i < process->threads.count; i++) {
		struct reader_thread *thread = process->threads.at[i];
		if (thread->is_named || !thread->attached)
			continue;
		if (backoff_is_due(&thread->ask_name, now_ns)) {
			name_thread(process, thread);
			thread->wanted = is_wanted(thread, options);
		}
		if (thread->ask_name.next_ns < process->ask_names_ns)
			process->ask_names_ns = thread->ask_name.next_ns;
	}
}

/* ---- one thread ---------------------------------------------------------------------------- */

/* What runs on a native thread, by the VM's lists: the one that holds the lock when two say so. */
static bool find_rider(const struct reader_process *process, const struct reader_thread *thread,
		       struct reader_thread *out)
{
	const struct mem *mem = &process->target->mem.mem;
	bool found = false;

	for (u32 i = 0; i < process->attached.count; i++) {
		const struct attached *attached = process->attached.at[i];
		struct vm_thread vm;
		u64 where = 0;
		if (attached == thread->second.attached)
			continue;
		for (u32 n = 0; n < THREADS_MAX; n++) {
			vm = (struct vm_thread){ 0 };
			if (attached->runtime->next_thread(mem, attached->state, &where, &vm) !=
			    STEP_MORE)
				break;
			if (!vm.tid || vm.tid != thread->inner_tid ||
			    (found && vm.state != VM_THREAD_RUNNING))
				continue;
			found = true;
			out->thread = vm.thread;
			out->attached = attached;
			out->carrier = vm.carrier;
			out->vm_state = vm.state;
		}
	}
	return found;
}

bool process_rebind(struct reader_process *process, struct reader_thread *thread,
		    const struct engine_options *options, bool suspect)
{
	u64 now = clock_now_ns();
	struct reader_thread like = { 0 };

	if (!process->attached.count || now < process->rebind_ns ||
	    (!suspect && !backoff_is_due(&thread->rebind, now)))
		return false;
	u64 began = clock_own_cpu_ns();
	memcpy(like.comm, thread->comm, sizeof like.comm);
	bool found = find_rider(process, thread, &like);
	bool changed = found && thread_bind(process, thread, &like, options);
	/* the next refresh tells what has become of one that nothing is known to run on */
	process->threads_changed |= suspect && !changed;
	now = clock_now_ns();
	process->rebind_ns = now + (clock_own_cpu_ns() - began) * REFRESH_SHARE;
	if (changed)
		backoff_reset(&thread->rebind);
	else
		backoff_miss(&thread->rebind, now, REBIND_WAIT_LEAST_NS, REBIND_WAIT_MOST_NS);
	return changed;
}

/* ---- runtimes ---------------------------------------------------------------------------- */

static void attach_images(struct reader_process *process, struct attach_report *report)
{
	attached_find(&process->attached, process->target, report);
	process->starting |= report->is_starting;
	process->threads_changed |= report->is_new;
	if (report->warning[0])
		memcpy(process->warning, report->warning, sizeof process->warning);
}

/* May there be images that were not looked at? */
static bool read_other_maps(struct reader_process *process, u64 now_ns)
{
	/* asked first: what is mapped in between makes it differ the next time */
	u64 pages = target_mapped_pages(process->target);

	if (pages && pages == process->mapped_pages && now_ns < process->maps_ns)
		return false;
	if (!target_read_maps(process->target, NULL))
		return false;
	process->mapped_pages = pages;
	process->maps_ns = now_ns + MAPS_NS;
	return true;
}

void process_attach_more(struct reader_process *process, u64 now_ns)
{
	struct attach_report report;

	if (now_ns < process->images_ns || process->attached.count == runtime_count)
		return;
	process->images_ns = now_ns + IMAGES_NS;
	if (!read_other_maps(process, now_ns))
		return;
	u64 images = target_images(process->target);
	if (images == process->images)
		return;
	attach_images(process, &report);
	process->images = images;
	if (report.first.code == ERR_NOT_READY) /* loaded, and not started: it is asked again */
		process->images = process->mapped_pages = 0;
}

bool process_can(const struct reader_process *process, runtime_has_fn *has, const char *option,
		 const char *what, struct err *err)
{
	for (u32 i = 0; i < process->attached.count; i++)
		if (has(process->attached.at[i]->runtime))
			return true;
	return !process->attached.count ||
	       err_set(err, ERR_UNSUPPORTED, "%s: process %u is %s, and %s known of Python only",
		       option, process->pid, process->attached.at[0]->runtime->name, what);
}

bool process_attach(struct reader_process *process, struct err *err)
{
	struct target *target = process->target;
	struct attach_report report;

	/* of one whose maps cannot be read nothing new is known: it may be at its end */
	if (!target_read_maps(target, err))
		return false;
	process->starting = false;
	attach_images(process, &report);
	process->images = target_images(target);
	process->images_ns = clock_now_ns() + IMAGES_NS;
	process->mapped_pages = 0;
	if (process->attached.count)
		return true;
	if (report.first.code != ERR_NONE) {
		if (err)
			*err = report.first;
		return false;
	}
	return err_set(err, ERR_NOT_MINE,
		       "process %u (%s) runs %s, which holds no runtime that sonde knows",
		       target->pid, target->comm, target->exe);
}

/* ---- life -------------------------------------------------------------------------------- */

struct reader_process *process_fork(const struct reader_process *parent, u32 pid, u64 incarnation)
{
	struct reader_process *process = process_new(NULL, incarnation);

	if (!process)
		return NULL;
	process->pid = pid;
	process->program = parent->program;
	process->born_here = true;
	if (!attached_copy(&process->attached, &parent->attached)) {
		process_free(process);
		return NULL;
	}
	process->starting = parent->starting;
	process->has_run = parent->has_run;
	process->images = parent->images;
	process->images_ns = clock_now_ns() + IMAGES_NS;
	return process;
}

bool process_open(struct reader_process *process, struct err *err)
{
	if (!target_open(&process->owned, process->pid, err))
		return false;
	process->target = &process->owned;
	return true;
}

bool process_exec(struct reader_process *process, u64 incarnation, struct err *err)
{
	u32 pid = process->pid;

	attached_free(&process->attached);
	threads_clear(process);
	forget_riders(process);
	tasks_clear(&process->tasks);
	process->incarnation = process->program = incarnation;
	process->shares_memory = false;
	process->threads_changed = true;
	process->starting = process->has_run = false;
	process->exec_ns = clock_now_ns();
	backoff_reset(&process->attach);
	if (process->target)
		target_close(process->target);
	else
		process->target = &process->owned;
	return target_open(process->target, pid, err);
}

void process_free(struct reader_process *process)
{
	threads_clear(process);
	forget_riders(process);
	tasks_clear(&process->tasks);
	attached_free(&process->attached);
	vec_free(&process->threads);
	vec_free(&process->departed);
	if (process->target == &process->owned)
		target_close(&process->owned);
	free(process);
}
