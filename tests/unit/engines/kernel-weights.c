/* SPDX-License-Identifier: Apache-2.0
 * kernel-weights.c - records in the order in which the kernel tells them, and what each sample weighs in the end. */
#include "base/clock.h"
#include "base/rng.h"
#include "engines/kernel/run.h"
#include "events/events.h"
#include "target/target.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { PID = 7, TID = 8, TOLD_MAX = 512, HZ = 100 };

static const u64 PERIOD_NS = NS_PER_S / HZ;

/* What was handed out, in order. */
struct handed {
	u16 kind, flags;
	u64 weight;
	u32 more;
};

struct world {
	struct run *run;
	struct unwind_files files;
	struct target target;
	struct handed told[TOLD_MAX];
	u32 count;
};

static void take(void *arg, const struct sample *sample, const struct sample_source *source)
{
	struct world *w = arg;

	assert_int_equal(sample->pid, PID);
	assert_int_equal(sample->tid, TID);
	assert_non_null(source->target);
	assert_true(w->count < TOLD_MAX);
	w->told[w->count++] = (struct handed){ sample->kind, sample->flags, sample->weight,
					       sample->more };
}

static void begin(struct world *w, const struct engine_options *options)
{
	*w = (struct world){ .run = calloc(1, sizeof *w->run),
			     .target = { .pid = PID, .proc_fd = -1 } };
	assert_non_null(w->run);
	w->run->options = *options;
	w->run->fn = take;
	w->run->arg = w;
	w->run->assembly = assembly_new();
	w->run->sample = malloc(sizeof *w->run->sample +
				ASSEMBLED_MAX * sizeof w->run->sample->frames[0]);
	struct watched *process = watched_new(PID, &w->target, 1, &w->files);
	assert_non_null(process);
	process->space.is_filled = true; /* with nothing */
	process->read_maps.next_ns = UINT64_MAX;
	assert_true(run_add(w->run, process));
}

static void end(struct world *w)
{
	watched_free(w->run->processes.at[0]);
	vec_free(&w->run->processes);
	assembly_free(w->run->assembly);
	free(w->run->sample);
	free(w->run);
}

static struct kernel_head head_of(enum kernel_record_kind kind, u64 time_ns, u64 runtime_ns)
{
	return (struct kernel_head){ .kind = (u16)kind,
				     .time_ns = time_ns,
				     .runtime_ns = runtime_ns,
				     .pid = PID,
				     .tid = TID,
				     .hits = 1,
				     .end = UNWIND_DONE };
}

static void sample(struct world *w, struct kernel_head head)
{
	struct kernel_record record = { .head = head };

	run_on_sample(w->run, run_find(w->run, PID), &record, sizeof record);
}

static void is_told(const struct world *w, u32 at, enum sample_kind kind, u64 weight)
{
	assert_true(at < w->count);
	assert_int_equal(w->told[at].kind, kind);
	assert_int_equal(w->told[at].weight, weight);
}

static void off_the_cpu_weighs_until_it_runs_again(void **state)
{
	struct world w;
	struct kernel_head resume = head_of(KERNEL_RESUME, 500, 10);
	(void)state;

	begin(&w, &(struct engine_options){ .mode = MODE_OFFCPU, .hz = 99 });
	sample(&w, head_of(KERNEL_SWITCH, 100, 10));
	resume.latency_ns = 400;
	run_on_latency(w.run, &resume);
	assert_int_equal(w.count, 2);
	is_told(&w, 0, SAMPLE_OFFCPU, 0);
	assert_true(w.told[0].flags & SAMPLE_UNPAID);
	is_told(&w, 1, SAMPLE_SHARE, 400);
	run_on_latency(w.run, &resume); /* told twice: nothing waits for it */
	assert_int_equal(w.count, 2);
	end(&w);
}

/* What is paid at an exec is no sample: the thread counts with its first one, and once. */
static void a_thread_counts_with_its_first_sample(void **state)
{
	struct world w;
	struct kernel_head exec = head_of(KERNEL_EXEC, 200, 20);
	(void)state;

	begin(&w, &(struct engine_options){ .mode = MODE_CPU, .hz = 99 });
	struct watched *process = w.run->processes.at[0];
	struct watched_thread *thread = watched_thread(process, TID);
	assert_non_null(thread);
	thread->runtime_ns = 20;
	for (exec.execs = 1; exec.execs <= 2; exec.execs++) {
		run_on_last(w.run, process, watched_thread(process, TID), exec.time_ns);
		watched_exec(process, &exec, 1 + exec.execs);
		process->read_maps.next_ns = UINT64_MAX;
		assert_int_equal(w.run->quality.threads, exec.execs - 1);
		struct kernel_head head = head_of(KERNEL_SAMPLE, 300, 40);
		head.execs = exec.execs;
		sample(&w, head);
		assert_int_equal(w.run->quality.threads, 1);
	}
	end(&w);
}

static void who_never_comes_back_weighs_until_the_end(void **state)
{
	struct world w;
	(void)state;

	begin(&w, &(struct engine_options){ .mode = MODE_OFFCPU, .hz = 99 });
	sample(&w, head_of(KERNEL_SWITCH, 100, 10));
	struct watched *process = w.run->processes.at[0];
	run_on_last(w.run, process, &process->threads.at[0], 1100);
	assert_int_equal(w.count, 2);
	is_told(&w, 1, SAMPLE_SHARE, 1000);
	run_on_last(w.run, process, &process->threads.at[0], 2200);
	assert_int_equal(w.count, 2);
	end(&w);
}

static void of_wall_time_each_part_has_its_own(void **state)
{
	struct world w;
	struct kernel_head resume = head_of(KERNEL_RESUME, 900, 6 * PERIOD_NS);
	(void)state;

	begin(&w, &(struct engine_options){ .mode = MODE_WALL, .hz = HZ });
	sample(&w, head_of(KERNEL_SAMPLE, 100, PERIOD_NS));
	sample(&w, head_of(KERNEL_SAMPLE, 150, 4 * PERIOD_NS));
	sample(&w, head_of(KERNEL_SWITCH, 200, 6 * PERIOD_NS)); /* of the CPU until then */
	resume.latency_ns = 700;
	run_on_latency(w.run, &resume);
	assert_int_equal(w.count, 5);
	is_told(&w, 2, SAMPLE_SHARE, 6 * PERIOD_NS);
	is_told(&w, 3, SAMPLE_OFFCPU, 0);
	is_told(&w, 4, SAMPLE_SHARE, 700);
	end(&w);
}

/* The thread ends, and used so much. */
static void ends(struct world *w, u64 runtime_ns)
{
	struct watched *process = w->run->processes.at[0];
	struct watched_thread *thread = watched_thread(process, TID);

	assert_non_null(thread);
	thread->runtime_ns = runtime_ns;
	run_on_last(w->run, process, thread, 1000);
	watched_forget_thread(process, thread);
}

/* 500 threads of a fifth of a period, of which every fifth has a sample. */
static void who_is_sampled_stands_for_who_is_not(void **state)
{
	struct world w;
	u64 sum = 0;
	(void)state;

	begin(&w, &(struct engine_options){ .mode = MODE_CPU, .hz = HZ });
	for (u32 i = 0; i < 500; i++) {
		if (i % 5 == 2)
			sample(&w, head_of(KERNEL_SAMPLE, 500, PERIOD_NS / 10));
		ends(&w, PERIOD_NS / 5);
	}
	for (u32 i = 0; i < w.count; i++) {
		sum += w.told[i].weight;
		assert_true(w.told[i].kind != SAMPLE_SHARE ||
			    (w.told[i].weight > PERIOD_NS * 9 / 10 &&
			     w.told[i].weight < PERIOD_NS * 11 / 10));
	}
	assert_int_equal(w.count, 200);
	assert_true(sum > 99 * PERIOD_NS && sum < 101 * PERIOD_NS);
	end(&w);
}

enum { STEPS = 50 }; /* of a period, each as likely to have a sample */

/* What a thread that was there before weighs which uses so many tenths of a period, and a period in so long. */
static u64 weight_of_one(struct world *w, u32 tenths, u64 period_takes_ns, u64 *now_ns,
			 struct rng *rng)
{
	struct watched *process = w->run->processes.at[0];
	struct watched_thread *thread = watched_thread(process, TID);
	u64 sum = 0, begin_ns = ++*now_ns;

	assert_non_null(thread);
	thread->runtime_ns = thread->paid_ns = NS_PER_S;
	thread->paid_at_ns = begin_ns;
	w->count = 0;
	for (u32 step = 1; step <= tenths * STEPS / 10; step++)
		if (!rng_below(rng, STEPS))
			sample(w, head_of(KERNEL_SAMPLE, begin_ns + step * period_takes_ns / STEPS,
					  NS_PER_S + step * PERIOD_NS / STEPS - 1));
	thread->runtime_ns = NS_PER_S + tenths * PERIOD_NS / 10;
	*now_ns += tenths * period_takes_ns / 10;
	run_on_last(w->run, process, thread, *now_ns);
	watched_forget_thread(process, thread);
	for (u32 i = 0; i < w->count; i++)
		sum += w->told[i].kind == SAMPLE_SHARE ? w->told[i].weight : 0;
	return sum;
}

/* By threads that were there when the process was met: what they leave unpaid is not carried on. */
static void a_pool_weighs_what_it_uses(void **state)
{
	static const u32 tenths[] = { 5, 10, 20, 30, 50, 80, 150 };
	static const u64 takes_ns[] = { NS_PER_S / 50, NS_PER_S / 3, 2 * NS_PER_S, 10 * NS_PER_S };
	enum { PERIODS = 40000 };
	struct rng rng = { 1 };
	u64 now_ns = 0;
	struct world w;
	(void)state;

	begin(&w, &(struct engine_options){ .mode = MODE_CPU, .hz = HZ });
	w.run->processes.at[0]->was_met = true;
	for (u32 i = 0; i < COUNT_OF(tenths); i++)
		for (u32 j = 0; j < COUNT_OF(takes_ns); j++) {
			u64 sum = 0;
			for (u32 n = 0; n < PERIODS * 10 / tenths[i]; n++)
				sum += weight_of_one(&w, tenths[i], takes_ns[j], &now_ns, &rng);
			double off = (double)sum / (double)PERIOD_NS / PERIODS - 1;
			assert_true(off > -0.02 && off < 0.02); /* a sigma of chance is 0.5 % */
		}
	end(&w);
}

/* So is what one sample had too much. */
static void what_is_carried_is_handed_on(void **state)
{
	struct world w;
	(void)state;

	begin(&w, &(struct engine_options){ .mode = MODE_CPU, .hz = HZ });
	sample(&w, head_of(KERNEL_SAMPLE, 500, PERIOD_NS / 10));
	ends(&w, PERIOD_NS / 2);
	is_told(&w, 1, SAMPLE_SHARE, PERIOD_NS);
	sample(&w, head_of(KERNEL_SAMPLE, 600, PERIOD_NS / 10));
	ends(&w, PERIOD_NS);
	is_told(&w, 3, SAMPLE_SHARE, PERIOD_NS - PERIOD_NS / 2 / 8);
	assert_int_equal(w.run->processes.at[0]->carried_ns,
			 -(s64)(PERIOD_NS / 2 - PERIOD_NS / 2 / 8));
	end(&w);
}

/* Its own clock says it, and what others had is not its. */
static void who_uses_much_weighs_what_it_used(void **state)
{
	struct world w;
	(void)state;

	begin(&w, &(struct engine_options){ .mode = MODE_CPU, .hz = HZ });
	ends(&w, PERIOD_NS * 3); /* without a sample */
	sample(&w, head_of(KERNEL_SAMPLE, 500, PERIOD_NS));
	ends(&w, PERIOD_NS * 7 + 1);
	is_told(&w, 1, SAMPLE_SHARE, PERIOD_NS * 7 + 1);
	assert_int_equal(w.run->processes.at[0]->carried_ns, PERIOD_NS * 3);
	end(&w);
}

/* What a process did before it was met is not known, nor what others like it did. */
static void who_was_met_leaves_nothing(void **state)
{
	struct world w;
	(void)state;

	begin(&w, &(struct engine_options){ .mode = MODE_CPU, .hz = HZ, .all = true });
	w.run->processes.at[0]->was_met = true;
	sample(&w, head_of(KERNEL_SAMPLE, 500, PERIOD_NS / 10));
	ends(&w, PERIOD_NS / 5);
	is_told(&w, 1, SAMPLE_SHARE, PERIOD_NS);
	assert_int_equal(w.run->processes.at[0]->carried_ns, 0);
	end(&w);
}

/* Nor is it known who among those without a sample would have passed. */
static void behind_a_filter_nothing_is_carried(void **state)
{
	struct world w;
	(void)state;

	begin(&w, &(struct engine_options){ .mode = MODE_CPU, .hz = HZ, .tid = TID });
	w.run->processes.at[0]->target->inner_pid = PID;
	watched_thread(w.run->processes.at[0], TID)->inner_tid = TID;
	sample(&w, head_of(KERNEL_SAMPLE, 500, PERIOD_NS / 10));
	ends(&w, PERIOD_NS / 5);
	is_told(&w, 1, SAMPLE_SHARE, PERIOD_NS);
	ends(&w, PERIOD_NS);
	assert_int_equal(w.run->processes.at[0]->carried_ns, 0);
	vec_free(&w.run->seen);
	end(&w);
}

static struct event_list one_call(void)
{
	struct event_list list = { 0 };
	struct err err = { 0 };

	assert_true(events_add(&list, "syscall:read", NULL, &err));
	return list;
}

static void an_event_weighs_its_latency_or_nothing(void **state)
{
	struct world w;
	struct event_list events = one_call();
	struct kernel_head call = head_of(KERNEL_SAMPLE, 100, 0);
	struct kernel_head latency = head_of(KERNEL_LATENCY, 200, 0);
	(void)state;

	begin(&w, &(struct engine_options){ .events = &events, .event_weighs_time = true });
	call.event = 1;
	call.hits = 5;
	sample(&w, call);
	sample(&w, call); /* the first one's end was not told */
	latency.latency_ns = 30;
	latency.hits = 5;
	run_on_latency(w.run, &latency);
	assert_int_equal(w.count, 4);
	is_told(&w, 0, SAMPLE_EVENT, 0);
	assert_int_equal(w.told[0].more, 4);
	is_told(&w, 1, SAMPLE_SHARE, 0);
	is_told(&w, 2, SAMPLE_EVENT, 0);
	is_told(&w, 3, SAMPLE_SHARE, 150);
	assert_int_equal(w.run->quality.taken, 10);
	end(&w);
	events_free(&events);
}

static void hits_have_no_weight_unless_it_is_asked_for(void **state)
{
	struct world w;
	struct event_list events = one_call();
	struct kernel_head call = head_of(KERNEL_SAMPLE, 100, 0);
	(void)state;

	begin(&w, &(struct engine_options){ .events = &events });
	call.event = 1;
	call.latency_ns = 77;
	sample(&w, call);
	assert_int_equal(w.count, 1);
	is_told(&w, 0, SAMPLE_EVENT, 0);
	assert_false(w.told[0].flags & SAMPLE_UNPAID);
	end(&w);
	events_free(&events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(off_the_cpu_weighs_until_it_runs_again),
		cmocka_unit_test(a_thread_counts_with_its_first_sample),
		cmocka_unit_test(who_never_comes_back_weighs_until_the_end),
		cmocka_unit_test(of_wall_time_each_part_has_its_own),
		cmocka_unit_test(who_is_sampled_stands_for_who_is_not),
		cmocka_unit_test(a_pool_weighs_what_it_uses),
		cmocka_unit_test(what_is_carried_is_handed_on),
		cmocka_unit_test(who_uses_much_weighs_what_it_used),
		cmocka_unit_test(who_was_met_leaves_nothing),
		cmocka_unit_test(behind_a_filter_nothing_is_carried),
		cmocka_unit_test(an_event_weighs_its_latency_or_nothing),
		cmocka_unit_test(hits_have_no_weight_unless_it_is_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
