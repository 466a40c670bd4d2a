/* SPDX-License-Identifier: Apache-2.0
 * audit.c - see audit.h.
 *
 * Two attempts (engines/reader/attempt.h) take turns at one process: they share its threads
 * and their CPU clocks, but not what they have learnt of its calls, so that the unstopped
 * side stands on its own. */
#include "session/audit.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "engines/reader/account.h"
#include "engines/reader/attempt.h"
#include "engines/reader/schedule.h"
#include "session/audit_compare.h"
#include "session/audit_native.h"
#include "session/dump.h"
#include "session/naming.h"
#include "target/kin.h"

enum {
	REFRESH_MS = 250, /* how often new threads are looked for */
	CHECK_SLOTS =
		16, /* how often, in deadlines, an idle process is asked whether it is there */
};

struct auditing;

struct auditing_side {
	struct auditing *all;
	struct engine_options options;
	struct quality quality;
	struct attempt attempt;
	u64 own_cpu_ns;
	bool note_pcs;
};

struct auditing {
	struct audit_result *result;
	struct target target;
	struct reader_process *process;
	struct naming *naming;
	struct auditing_side side[AUDIT_SIDES];
	audit_stacks stacks[AUDIT_SIDES];
	struct audit_pcs pcs;
	struct schedule schedule;
	struct rng rng;
	u64 refresh_ns;
	u64 aside_ns; /* own CPU time that is no part of an attempt */
};

static void on_sample(void *arg, const struct sample *sample, const struct sample_source *source)
{
	struct auditing_side *side = arg;
	struct auditing *all = side->all;
	u64 began = clock_own_cpu_ns();

	if (side->note_pcs && sample->flags & (SAMPLE_MOVING | SAMPLE_FAULT))
		audit_pcs_note(&all->pcs, sample->tid);
	u32 stack = naming_stack(all->naming, sample, source);
	if (!audit_count(&all->stacks[side - all->side], stack))
		all->result->names.bad = true;
	all->aside_ns += clock_own_cpu_ns() - began;
}

/* CPU weights are of no interest here; asking for them is what tells who is running. */
static void no_share(void *arg, const struct reader_process *process, const struct cpu_share *share)
{
	(void)arg;
	(void)process;
	(void)share;
}

static bool side_init(struct auditing *all, enum audit_which which, u32 hz)
{
	struct auditing_side *side = &all->side[which];
	bool stopped = which == AUDIT_STOPPED;

	side->all = all;
	side->note_pcs = !stopped;
	side->options = (struct engine_options){ .hz = hz,
						 .mode = MODE_CPU,
						 .pause = stopped ? PAUSE_ALWAYS : PAUSE_NEVER };
	if (!attempt_init(&side->attempt, &side->options, &side->quality, rng_u64(&all->rng)))
		return false;
	side->attempt.fn = on_sample;
	side->attempt.arg = side;
	return true;
}

static void take_deadline(struct auditing *all)
{
	u64 now = clock_now_ns();
	struct auditing_side *side = &all->side[rng_below(&all->rng, AUDIT_SIDES)];

	schedule_take(&all->schedule, now);
	if (now >= all->refresh_ns) {
		process_refresh(all->process, &side->options, NULL);
		all->refresh_ns = now + REFRESH_MS * NS_PER_MS;
	}
	account_epoch(all->process, 0, now, false, no_share, NULL);
	all->aside_ns = 0;
	u64 began = clock_own_cpu_ns();
	attempt_process(&side->attempt, all->process);
	side->own_cpu_ns += clock_own_cpu_ns() - began - all->aside_ns;
}

/* Until the end; true when it was reached with the target as it was. */
static void sample_until(struct auditing *all, u64 end_ns)
{
	while (!engine_interrupted()) {
		u64 now = clock_now_ns();

		if (now >= end_ns)
			return;
		if (now < all->schedule.deadline_ns) {
			clock_sleep_until(all->schedule.deadline_ns < end_ns ?
						  all->schedule.deadline_ns :
						  end_ns);
			continue;
		}
		take_deadline(all);
		if (all->schedule.slot % CHECK_SLOTS == 0 &&
		    target_check(&all->target) != TARGET_SAME)
			return;
	}
}

static void fill_side(const struct auditing_side *side, u64 impossible, struct audit_side *out)
{
	const struct quality *q = &side->quality;

	*out = (struct audit_side){
		.attempts = q->samples,
		.complete = q->complete,
		.moving = q->moving,
		.failed = q->truncated,
		.impossible = impossible,
		.own_cpu_ns = side->own_cpu_ns,
	};
}

static bool fill_result(struct auditing *all, struct err *err)
{
	struct audit_result *result = all->result;
	u64 impossible[AUDIT_SIDES] = { 0 };

	if (!audit_find_impossible(&result->names, all->stacks, impossible) ||
	    !audit_find_distance(&result->names, all->stacks, rng_u64(&all->rng), &result->distance,
				 &result->noise))
		return err_no_memory(err);
	for (u32 i = 0; i < AUDIT_SIDES; i++)
		fill_side(&all->side[i], impossible[i], &result->side[i]);
	return audit_pcs_name(&all->pcs, &all->target, result) || err_no_memory(err);
}

/* Comm, executable, and the first line of the runtime's description. */
static void describe(struct auditing *all)
{
	struct audit_result *result = all->result;
	struct str text = { 0 };

	str_addf(&text, "%.*s, %s", (int)sizeof all->target.comm, all->target.comm,
		 all->target.exe);
	result->title = names_string(&result->names, text.text, text.length);
	str_clear(&text);
	if (session_describe(result->pid, &text, NULL))
		result->runtime = names_string(&result->names, text.text, strcspn(text.text, "\n"));
	str_free(&text);
}

static bool start(struct auditing *all, const struct audit_options *options, struct err *err)
{
	all->process = process_new(&all->target, 1);
	if (!all->process || !side_init(all, AUDIT_STOPPED, options->hz) ||
	    !side_init(all, AUDIT_UNSTOPPED, options->hz))
		return err_no_memory(err);
	all->process->own_child = target_parent(&all->target) == (u32)getpid();
	if (!process_attach(all->process, err) ||
	    !process_refresh(all->process, &all->side[0].options, err))
		return false;
	account_begin(all->process, clock_now_ns());
	schedule_init(&all->schedule, clock_now_ns(), options->hz, rng_u64(&all->rng));
	return true;
}

static bool audit_target(struct auditing *all, const struct audit_options *options, struct err *err)
{
	u64 began = clock_now_ns();

	describe(all);
	if (!start(all, options, err))
		return false;
	sample_until(all, began + options->duration_ns);
	all->result->duration_ns = clock_now_ns() - began;
	all->result->is_held = target_thread_state(&all->target, options->pid) == THREAD_STOPPED;
	return fill_result(all, err);
}

bool audit_run(const struct audit_options *options, struct audit_result *result, struct err *err)
{
	struct auditing all = { .result = result, .rng = { clock_now_ns() } };

	*result = (struct audit_result){ .pid = options->pid };
	if (!names_init(&result->names))
		return err_no_memory(err);
	all.naming = naming_new(&result->names, NAMING_LINES);
	engine_raise_file_limit();
	bool good = all.naming ? target_open(&all.target, options->pid, err) : err_no_memory(err);
	if (good) {
		good = audit_target(&all, options, err);
		for (u32 i = 0; i < AUDIT_SIDES; i++) {
			attempt_fini(&all.side[i].attempt);
			vec_free(&all.stacks[i]);
		}
		audit_pcs_free(&all.pcs);
		if (all.process)
			process_free(all.process);
		target_close(&all.target);
	}
	naming_free(all.naming);
	if (!good)
		audit_free(result);
	return good;
}

void audit_free(struct audit_result *result)
{
	names_free(&result->names);
	vec_free(&result->natives);
}
