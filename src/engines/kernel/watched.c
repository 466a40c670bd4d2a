/* SPDX-License-Identifier: Apache-2.0
 * watched.c - see watched.h. */
#include "engines/kernel/watched.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_DOMAIN LOG_kernel
#include "base/log.h"

/* Once a sample without a VM: the first may come before Python has made its key. */
enum { WORD_ASKS = 8 };

struct watched *watched_new(u32 pid, struct target *target, u64 incarnation,
			    struct unwind_files *files)
{
	struct watched *process = calloc(1, sizeof *process);

	if (!process)
		return NULL;
	process->pid = pid;
	process->incarnation = incarnation;
	target_init(&process->own, pid);
	process->target = target ? target : &process->own;
	unwind_space_init(&process->space, process->target, files);
	return process;
}

static bool copy_ranges(struct unwind_space *to, const struct unwind_space *from)
{
	if (!vec_copy(&to->ranges, &from->ranges))
		return false;
	to->is_filled = from->is_filled;
	to->made_way = from->made_way;
	return true;
}

struct watched *watched_fork(const struct watched *parent, u32 pid, u64 time_ns, u64 incarnation)
{
	struct watched *child = watched_new(pid, NULL, incarnation, parent->space.files);
	struct err err;

	if (!child)
		return NULL;
	child->parent = parent->pid;
	child->forked_from = parent->incarnation;
	child->forked_ns = time_ns;
	child->execs = parent->execs;
	child->space_number = parent->space_number;
	child->maps_ns = parent->maps_ns;
	memcpy(child->vms, parent->vms, sizeof child->vms);
	child->may_have_one = parent->may_have_one;
	child->looked_at = parent->looked_at;
	child->is_doubted = parent->is_doubted;
	bool good = replaced_copy(&child->replaced, &parent->replaced) &&
		    history_copy(&child->history, &parent->history, time_ns) &&
		    attached_copy(&child->attached, &parent->attached) &&
		    copy_ranges(&child->space, &parent->space) &&
		    (target_open(&child->own, pid, &err) ||
		     target_of_fork(&child->own, parent->target, pid, time_ns));
	for (u32 i = 0; i < KERNEL_VMS; i++) {
		child->vms[i].forked_generation = parent->vms[i].generation;
		child->vms[i].word_asks = child->vms[i].machine.keys_at ? WORD_ASKS : 0;
		child->vms[i].forks_key_at = 0;
		child->vms[i].machine.attached = i < child->attached.count ? child->attached.at[i] :
									     NULL;
	}
	if (good)
		return child;
	watched_free(child);
	return NULL;
}

void watched_free(struct watched *process)
{
	unwind_space_free(&process->space);
	attached_free(&process->attached);
	if (process->target == &process->own)
		target_close(&process->own);
	vec_free(&process->threads);
	replaced_free(&process->replaced);
	history_free(&process->history);
	told_forget(&process->told);
	free(process);
}

/* What it has used before is no part of the new program. */
static void keep_one_thread(struct watched *process, const struct kernel_head *head)
{
	const struct watched_thread *before = watched_find_thread(process, head->tid);
	bool was_sampled = before && before->was_sampled;

	vec_clear(&process->threads);
	memset(process->ended, 0, sizeof process->ended);
	struct watched_thread *thread = watched_thread(process, head->tid);
	if (!thread)
		return;
	thread->runtime_ns = thread->paid_ns = head->runtime_ns;
	thread->paid_at_ns = was_sampled ? head->time_ns : 0;
	thread->was_sampled = was_sampled;
}

void watched_exec(struct watched *process, const struct kernel_head *head, u64 incarnation)
{
	process->execs = head->execs;
	process->incarnation = incarnation;
	process->forked_from = 0;
	process->space_number = 0;
	process->looked_at = 0;
	replaced_clear(&process->replaced);
	keep_one_thread(process, head);
	memset(process->vms, 0, sizeof process->vms);
	process->maps_ns = process->ask_ns = process->asked_ns = 0;
	process->is_told = false;
	backoff_reset(&process->read_maps);
	process->may_have_one = false;
	attached_free(&process->attached);
	unwind_space_clear(&process->space);
	process->space.is_filled = true; /* with nothing */
}

/* Opened anew behind an exec: it has another name and other memory. */
static bool open_anew(struct watched *process, struct err *err)
{
	struct target target;

	if (!target_open(&target, process->pid, err))
		return false;
	target_close(process->target);
	*process->target = target;
	return true;
}

static const u64 MAPS_LEAST_NS = NS_PER_MS, MAPS_MOST_NS = 200 * NS_PER_MS;

/* What a program jumps into may be mapped nowhere, in each of its samples. */
bool watched_wants_maps(struct watched *process, u64 address, u64 time_ns)
{
	if (!process->has_news && unwind_space_at(&process->space, address)) {
		backoff_reset(&process->read_maps);
		return false; /* the kernel has no room for it */
	}
	if (process->is_told)
		return process->has_news;
	/* of what is older than the last reading nothing new will be said */
	if (time_ns < process->maps_ns || !backoff_is_due(&process->read_maps, time_ns))
		return false;
	backoff_miss(&process->read_maps, clock_now_ns(), MAPS_LEAST_NS, MAPS_MOST_NS);
	return true;
}

static bool is_other_code(const struct unwind_range *range, const struct kernel_mapped *mapped)
{
	if (range->inode != mapped->inode)
		return true;
	/* of an overlay the device is now its own, now that of the file below, by the kernel's version */
	return mapped->inode && range->base != mapped->start - mapped->offset;
}

bool watched_replaces(struct watched *process, const struct kernel_mapped *mapped)
{
	bool found = false;

	for (u32 i = 0; i < process->space.ranges.count && !found; i++) {
		const struct unwind_range *range = &process->space.ranges.at[i];
		found = range->start < mapped->end && mapped->start < range->end &&
			is_other_code(range, mapped);
	}
	if (found)
		replaced_note(&process->replaced, mapped->start, mapped->end, mapped->time_ns);
	return found;
}

void watched_doubt(struct watched *process, u64 since_ns)
{
	process->is_doubted = true;
	replaced_doubt(&process->replaced, since_ns);
	history_begin(&process->history, clock_now_ns());
}

static bool is_there_still(struct unwind_space *space, const struct unwind_range *before)
{
	const struct unwind_range *now = unwind_space_at(space, before->start);

	return now && now->start == before->start && now->end == before->end &&
	       now->base == before->base && now->inode == before->inode &&
	       now->file == before->file;
}

static void note_gone(struct watched *process, const struct unwind_range *before, u32 count)
{
	for (u32 i = 0; i < count; i++)
		if (!is_there_still(&process->space, &before[i]))
			history_note_gone(&process->history, &before[i]);
}

/* What was lost was mostly about others: now that the mappings are known, only code that is not there any more stays doubted. */
static void settle_doubt(struct watched *process, const struct unwind_range *before, u32 count)
{
	u64 since_ns = replaced_end_doubt(&process->replaced);

	for (u32 i = 0; since_ns && i < count; i++)
		if (!is_there_still(&process->space, &before[i]))
			replaced_note(&process->replaced, before[i].start, before[i].end, since_ns);
}

static bool fill_space(struct watched *process, struct err *err)
{
	u32 count = process->space.ranges.count;
	AUTO_FREE struct unwind_range *before = malloc((count + 1) * sizeof *before);

	if (before && count)
		memcpy(before, process->space.ranges.at, count * sizeof *before);
	if (!unwind_space_fill(&process->space))
		return err_no_memory(err);
	if (before && process->is_doubted)
		settle_doubt(process, before, count);
	else if (before)
		note_gone(process, before, count);
	process->is_doubted = false;
	return true;
}

/* One that has ended is not opened again: the next of that number may be another. */
static bool ask_maps(struct watched *process, struct err *err)
{
	u64 now = clock_now_ns();
	bool is_open = process->target->proc_fd >= 0 && process->maps_ns;

	if (process->is_told ||
	    !(is_open ? target_read_maps(process->target, err) : open_anew(process, err)))
		return false;
	if (!told_is_of(&process->told, &process->target->maps))
		return false; /* the samples are of an image that is gone */
	process->maps_ns = now;
	told_forget(&process->told);
	return true;
}

static bool believe_told(struct watched *process)
{
	u32 kin = process->parent ? process->parent : (u32)getpid();
	u64 told_ns = process->told.time_ns;

	if (!target_believe(process->target, &process->told, kin))
		return false;
	process->maps_ns = told_ns;
	process->is_told = true;
	return true;
}

/* What was read is ahead of the samples: what of it came in place of other code is told with news that have yet to be taken.
 * Where that has happened each counts: what lies there now can be what had lain there before, with other code in between. */
static void note_waiting(struct watched *process, struct kernel_mappings *mappings, u64 since_ns)
{
	u32 count;
	const struct kernel_mapped *waiting = kernel_mappings_waiting(mappings, &count);

	for (u32 i = 0; i < count; i++) {
		if (waiting[i].pid != process->pid || waiting[i].time_ns <= since_ns)
			continue;
		if (waiting[i].is_exec)
			break;
		if (!watched_replaces(process, &waiting[i]) &&
		    replaced_ever(&process->replaced, waiting[i].start, waiting[i].end))
			replaced_note(&process->replaced, waiting[i].start, waiting[i].end,
				      waiting[i].time_ns);
	}
}

bool watched_read_maps(struct watched *process, struct kernel_mappings *mappings, struct err *err)
{
	u64 noted_ns = process->maps_ns;

	if (ask_maps(process, err)) {
		note_waiting(process, mappings, noted_ns);
	} else {
		/* no descriptor to spare, no memory: it is there all the same, and asked again */
		bool may_be_there = err->code == ERR_SYSTEM || err->code == ERR_NO_MEMORY;
		if (may_be_there || !believe_told(process))
			return false;
	}
	process->has_news = false;
	return fill_space(process, err);
}

void watched_tell(struct watched *process, const struct kernel_mapped *mapped, const char *text)
{
	struct mapping mapping = { .start = mapped->start,
				   .end = mapped->end,
				   .offset = mapped->offset,
				   .inode = mapped->inode,
				   .device = mapped->device,
				   .readable = true,
				   .executable = true };

	if (mapped->is_exec) {
		told_exec(&process->told, text, mapped->time_ns);
		history_begin(&process->history, mapped->time_ns);
		return;
	}
	history_note(&process->history, &mapping, text, mapped->time_ns);
	if (mapped->inode || !strcmp(text, "[vdso]"))
		told_mapping(&process->told, &mapping, text, mapped->time_ns);
}

/* ---- its VM -------------------------------------------------------------------------------- */

static const u64 WAIT_LEAST_NS = 2 * NS_PER_MS, WAIT_MOST_NS = NS_PER_S;
enum { WAIT_PART = 16 };

/* A process is asked for its VM often at first and then less and less: each wait is 1/16 of the time so far, because what
 * starts slowly may also end soon. */
static u64 wait_of(struct watched *process, u64 now_ns)
{
	process->asked_ns = process->asked_ns ? process->asked_ns : now_ns;
	return backoff_part_ns(process->asked_ns, now_ns, WAIT_PART, WAIT_LEAST_NS, WAIT_MOST_NS);
}

bool watched_has_vm(const struct watched *process)
{
	for (u32 i = 0; i < KERNEL_VMS; i++)
		if (process->vms[i].number)
			return true;
	return false;
}

static void learn_made_way(struct unwind_space *space, const struct attached *attached)
{
	static const enum made_way ways[] = { [JIT_KEEPS_FRAMES] = MADE_BY_FRAMES,
					      [JIT_KEEPS_WORDS] = MADE_BY_WORDS,
					      [JIT_JUMPS_ON] = MADE_BY_CODE };
	const struct runtime *runtime = attached->runtime;

	if (runtime->jit && space->made_way == MADE_BY_FRAMES)
		space->made_way = ways[runtime->jit(attached->state)];
}

int watched_next_vm(struct watched *process, machine_cache *cache)
{
	struct err err = { 0 };

	for (u32 i = 0; i < KERNEL_VMS && i < process->attached.count; i++) {
		struct attached *attached = process->attached.at[i];
		if (process->vms[i].number)
			continue;
		if (machine_find(&process->vms[i].machine, attached, &process->space, cache,
				 &err)) {
			learn_made_way(&process->space, attached);
			return (int)i;
		}
		process->may_have_one = true;
		log_debug(1, "%s", err.text);
	}
	return -1;
}

static bool has_unnumbered(const struct watched *process)
{
	for (u32 i = 0; i < KERNEL_VMS && i < process->attached.count; i++)
		if (!process->vms[i].number)
			return true;
	return false;
}

/* Other files are mapped to be run when this is another number. */
static u64 files_mapped(const struct watched *process)
{
	u64 sum = 1;

	for (u32 i = 0; i < process->space.ranges.count; i++) {
		const struct unwind_file *file = process->space.ranges.at[i].file;
		sum = sum * 31 + (file ? file->number : 0);
	}
	return sum;
}

bool watched_look_for_vms(struct watched *process, char warning[200])
{
	u64 now = clock_now_ns(), files = files_mapped(process);
	struct attach_report report;

	if (now < process->ask_ns ||
	    (watched_has_vm(process) && !process->may_have_one && files == process->looked_at))
		return false;
	bool is_there = files == process->looked_at && has_unnumbered(process);
	process->ask_ns = now + wait_of(process, now);
	process->looked_at = files;
	if (is_there)
		return true;
	/* what a VM allocates as it starts says where its own is: no code is mapped with that */
	if (process->may_have_one && !target_read_maps(process->target, NULL))
		return false;
	attached_find(&process->attached, process->target, &report);
	process->may_have_one = report.is_starting ||
				(report.first.code != ERR_NONE && !process->attached.count);
	if (report.warning[0])
		memcpy(warning, report.warning, sizeof report.warning);
	else if (!warning[0])
		attached_say_why_none(&process->attached, &report, process->pid, warning);
	return true;
}

void watched_say_never_started(struct watched *process, char warning[200])
{
	if (process->may_have_one && process->target && !process->has_ended)
		attached_say_never_started(&process->attached, process->target, process->asked_ns,
					   warning);
}

/* ---- threads ------------------------------------------------------------------------------- */

/* Of the first thread whose tid is not smaller. */
static u32 place_of(const struct watched *process, u32 tid)
{
	return vec_first_not(&process->threads, one, one->tid < tid);
}

struct watched_thread *watched_find_thread(const struct watched *process, u32 tid)
{
	u32 place = place_of(process, tid);

	return place < process->threads.count && process->threads.at[place].tid == tid ?
		       &process->threads.at[place] :
		       NULL;
}

struct watched_thread *watched_thread(struct watched *process, u32 tid)
{
	struct watched_thread *at = watched_find_thread(process, tid);
	u32 place = place_of(process, tid);

	if (at)
		return at;
	if (!vec_push(&process->threads, (struct watched_thread){ 0 }))
		return NULL;
	at = &process->threads.at[place];
	memmove(at + 1, at, (process->threads.count - 1 - place) * sizeof *at);
	*at = (struct watched_thread){ .tid = tid, .life = ++process->lives };
	return at;
}

bool watched_has_ended(const struct watched *process, u32 tid, u64 runtime_ns)
{
	for (u32 i = 0; i < WATCHED_ENDED; i++)
		if (process->ended[i].tid == tid && runtime_ns >= process->ended[i].runtime_ns)
			return true;
	return false;
}

void watched_forget_thread(struct watched *process, struct watched_thread *thread)
{
	u32 behind = process->threads.count - 1 - (u32)(thread - process->threads.at);
	u32 place = process->ended_at++ % WATCHED_ENDED;

	process->ended[place].tid = thread->tid;
	process->ended[place].runtime_ns = thread->runtime_ns;
	memmove(thread, thread + 1, behind * sizeof *thread);
	process->threads.count--;
}

void watched_begin(struct watched *process)
{
	target_threads threads = { 0 };
	struct thread_time time;

	if (!target_read_threads(process->target, &threads, NULL))
		return;
	for (u32 i = 0; i < threads.count; i++) {
		if (!target_thread_time(process->target, threads.at[i].tid, &time))
			continue;
		struct watched_thread *thread = watched_thread(process, threads.at[i].tid);
		if (!thread)
			break;
		thread->runtime_ns = thread->paid_ns = time.cpu_ns;
		thread->paid_at_ns = clock_now_ns();
		memcpy(thread->comm, threads.at[i].comm, sizeof thread->comm);
		memcpy(thread->name, thread->comm, sizeof thread->comm);
	}
	vec_free(&threads);
}

void watched_update(struct watched *process)
{
	struct thread_time time;

	for (u32 i = 0; i < process->threads.count; i++) {
		struct watched_thread *thread = &process->threads.at[i];
		if (thread->unpaid && target_thread_time(process->target, thread->tid, &time) &&
		    time.cpu_ns > thread->runtime_ns)
			thread->runtime_ns = time.cpu_ns;
	}
}
