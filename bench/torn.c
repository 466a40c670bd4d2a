/* SPDX-License-Identifier: Apache-2.0
 * torn.c - how wrong is a stack that was read from a running thread?
 *
 *	ruby bench/torn.rb &            prints its pid; nine stacks are legal, all else is torn
 *	build/bench/torn PID [SAMPLES] [HZ]
 *
 * The same thread is sampled in turn by five methods, so that all see the same
 * program on the same machine:
 *
 *	once     the read set in one call, believed
 *	ends     [head][frames][frames][head], frames compared     (no head between the copies)
 *	plan     [head][frames][head][frames][head], all compared  (mem/plan.c, what sonde does)
 *	retry    as plan, again until it holds                     (shows the bias of retrying)
 *	stopped  as once, the thread stopped                       (the reference)
 *
 * It prints for each: complete, moving, wrong in parts per million, the share of each legal
 * state, and the distance (total variation) of the shares from the stopped ones.  Conflicts of
 * `ends` are dropped, as tools do that validate. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "engines/reader/look.h"
#include "engines/reader/pause.h"
#include "engines/reader/process.h"

enum method { ONCE, ENDS, PLAN, RETRY, STOPPED, METHODS };
static const char *const method_names[] = { "once", "ends", "plan", "retry", "stopped" };

/* Who may call whom. A stack is legal when each frame is its caller's callee. */
static const char *const grammar[][2] = {
	{ "", "<main>" },
	{ "<main>", "loop" },
	{ "loop", "block in <main>" },
	{ "block in <main>", "foo" },
	{ "foo", "bar" },
	{ "bar", "baz" },
	{ "bar", "bob" },
	{ "baz", "map" },
	{ "map", "succ" },
};
/* Leaves, from the root on: what shares are counted over. */
static const char *const states[] = { "<main>", "loop", "block in <main>",
				      "foo",    "bar",  "baz",
				      "map",    "succ", "bob" };

struct tally {
	u64 attempts, complete, moving, wrong;
	u64 state[COUNT_OF(states)];
	u64 outer[COUNT_OF(states)]; /* on the stack at all, moving ones too */
	u64 cpu_ns;
	char example[512];
};

struct bench {
	struct target target;
	struct reader_process *process;
	struct reader_thread *thread;
	struct look look;
	struct pause pause;
	look_frames frames;
	struct tally tally[METHODS];
	struct name_cell {
		u64 id, owner;
		char label[64];
	} names[4096];
};

static const char *label_of(struct bench *bench, const struct frame *frame)
{
	struct name_cell *cell = &bench->names[(frame->id ^ frame->owner) >> 3 & 4095];
	const struct attached *attached = bench->thread->attached;

	if (frame->kind == FRAME_MARK)
		return "[mark]";
	if (cell->id == frame->id && cell->owner == frame->owner)
		return cell->label;
	struct frame_name name = { 0 };
	str_clear(&name.label);
	str_clear(&name.path);
	if (!attached->runtime->name_frame(&bench->target.mem.mem, attached->state, frame, &name))
		str_add_text(&name.label, "(unnamed)");
	const char *method = strrchr(name.label.text,
				     '#'); /* Array#map: the class says nothing here */
	snprintf(cell->label, sizeof cell->label, "%s", method ? method + 1 : name.label.text);
	cell->id = frame->id;
	cell->owner = frame->owner;
	str_free(&name.label);
	str_free(&name.path);
	return cell->label;
}

static int state_of(const char *label)
{
	for (u32 i = 0; i < COUNT_OF(states); i++)
		if (!strcmp(states[i], label))
			return (int)i;
	return -1;
}

static bool may_call(const char *caller, const char *callee)
{
	for (u32 i = 0; i < COUNT_OF(grammar); i++)
		if (!strcmp(grammar[i][0], caller) && !strcmp(grammar[i][1], callee))
			return true;
	return false;
}

/* Judges a stack, leaf first, whose leaf may be a [moving] mark. */
static void judge(struct bench *bench, struct tally *tally, const look_frames *stack)
{
	/* garbage collection is on top of the stack that caused it: the stack is judged */
	u32 marks = 0;
	bool moving = false;
	for (; marks < stack->count && stack->at[marks].kind == FRAME_MARK; marks++)
		moving |= stack->at[marks].id != MARK_GC;
	const char *caller = "";
	bool legal = stack->count > marks;

	for (u32 i = stack->count; i-- > marks;) {
		const char *label = label_of(bench, &stack->at[i]);
		legal = legal && may_call(caller, label);
		caller = label;
		int state = state_of(label);
		if (legal && state >= 0)
			tally->outer[state]++;
	}
	tally->moving += moving;
	tally->complete += !moving;
	if (legal && !moving) {
		tally->state[state_of(caller)]++;
		return;
	}
	if (legal || (moving && stack->count == 1))
		return;
	tally->wrong++;
	size_t used = 0;
	for (u32 i = stack->count; i-- > 0 && used < sizeof tally->example;)
		used += (size_t)snprintf(tally->example + used, sizeof tally->example - used, "%s;",
					 label_of(bench, &stack->at[i]));
}

/* ---- the two methods that sonde does not use ------------------------------------------------ */

struct copies {
	struct mem mem;
	const struct mem_live *live;
	const struct read_set *set;
	u8 *head[2], *body[2], *once;
	bool in_body, compare, conflict;
};

static bool copies_read(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	struct copies *c = (struct copies *)mem;
	u32 part = c->in_body ? PLAN_BODY : hold == MEM_HOLDS ? PLAN_HEAD : PLAN_ONCE;

	for (u32 i = 0; i < c->set->ranges.count; i++) {
		const struct plan_range *r = &c->set->ranges.at[i];
		if (r->part != part || addr < r->addr || addr + len > r->addr + r->len)
			continue;
		size_t at = r->offset + (addr - r->addr);
		u8 **copy = part == PLAN_HEAD ? c->head : c->body;
		const u8 *from = part == PLAN_ONCE ? c->once : copy[0];
		memcpy(dst, from + at, len);
		if (c->compare && part != PLAN_ONCE && hold == MEM_HOLDS)
			c->conflict |= memcmp(copy[0] + at, copy[1] + at, len) != 0;
		return true;
	}
	return c->live->mem.read(&c->live->mem, addr, dst, len, hold);
}

static u32 spans_of(const struct read_set *set, u32 part, u8 *bytes, struct mem_span *spans, u32 n)
{
	for (u32 i = 0; i < set->ranges.count && n < 64; i++) {
		const struct plan_range *r = &set->ranges.at[i];
		if (r->part == part)
			spans[n++] = (struct mem_span){ r->addr, bytes + r->offset, r->len };
	}
	return n;
}

static void walk_copies(struct bench *bench, struct copies *c)
{
	const struct attached *attached = bench->thread->attached;
	struct walk walk = { 0 };
	enum step step = attached->runtime->begin(&c->mem, attached->state, bench->thread->thread,
						  &walk);

	vec_clear(&bench->frames);
	c->in_body = true;
	while (step_goes_on(step)) {
		struct frame frame = { 0 };
		step = attached->runtime->step(&c->mem, attached->state, &walk, &frame);
		frame.kind = attached->kind;
		if (step == STEP_MORE && !vec_push(&bench->frames, frame))
			return;
	}
}

/* False: it conflicted. */
static bool sample_copies(struct bench *bench, bool compare)
{
	static u8 buffer[5][1 << 16];
	const struct read_set *set = &bench->thread->set;
	struct copies c = { .mem.read = copies_read,
			    .live = &bench->target.mem,
			    .set = set,
			    .head = { buffer[0], buffer[1] },
			    .body = { buffer[2], buffer[3] },
			    .once = buffer[4],
			    .compare = compare };
	struct mem_span spans[64];
	u32 n = spans_of(set, PLAN_ONCE, c.once, spans, 0);

	n = spans_of(set, PLAN_HEAD, c.head[0], spans, n);
	n = spans_of(set, PLAN_BODY, c.body[0], spans, n);
	if (compare) {
		n = spans_of(set, PLAN_BODY, c.body[1], spans, n);
		n = spans_of(set, PLAN_HEAD, c.head[1], spans, n);
	}
	mem_live_readv(c.live, spans, n);
	walk_copies(bench, &c);
	return !c.conflict;
}

/* ---- one sample ------------------------------------------------------------------------------ */

static bool look(struct bench *bench, bool still)
{
	struct look_subject subject = { .runtime = bench->thread->attached->runtime,
					.state = bench->thread->attached->state,
					.kind = bench->thread->attached->kind,
					.thread = bench->thread->thread,
					.set = &bench->thread->set,
					.still = still,
					.restless = true };
	struct look_result result;

	look_at(&bench->look, &subject, &result);
	return !(result.flags & SAMPLE_MOVING);
}

static void sample(struct bench *bench, enum method method)
{
	struct tally *tally = &bench->tally[method];
	const look_frames *stack = &bench->look.stack;
	int signal = 0;
	u64 cpu = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	bool held = true;

	tally->attempts++;
	switch (method) {
	case ONCE:
	case ENDS:
		held = sample_copies(bench, method == ENDS);
		stack = &bench->frames;
		break;
	case PLAN:
		look(bench, false);
		break;
	case RETRY:
		held = look(bench, false);
		for (u32 i = 0; i < 64 && !held; i++)
			held = look(bench, false);
		break;
	default:
		while (bench->pause.late_count)
			pause_settle(&bench->pause);
		held = pause_take(&bench->pause, bench->thread->tid, &signal) == PAUSE_STOPPED;
		if (held) {
			look(bench, true);
			pause_release(&bench->pause, bench->thread->tid, signal);
		}
		break;
	}
	tally->cpu_ns += clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	if (held)
		judge(bench, tally, stack);
}

static void report(const struct bench *bench)
{
	const struct tally *truth = &bench->tally[STOPPED];

	printf("%-8s %9s %9s %8s %10s %8s %9s\n", "method", "attempts", "complete", "moving",
	       "wrong ppm", "us each", "distance");
	for (u32 m = 0; m < METHODS; m++) {
		const struct tally *t = &bench->tally[m];
		double distance = 0;
		for (u32 i = 0; i < COUNT_OF(states); i++) {
			double d = (double)t->state[i] / (double)(t->complete + !t->complete) -
				   (double)truth->state[i] /
					   (double)(truth->complete + !truth->complete);
			distance += d < 0 ? -d / 2 : d / 2;
		}
		printf("%-8s %9llu %8.2f%% %7.2f%% %10.1f %8.1f %8.2f%%  %s\n", method_names[m],
		       (unsigned long long)t->attempts,
		       100. * (double)t->complete / (double)t->attempts,
		       100. * (double)t->moving / (double)t->attempts,
		       1e6 * (double)t->wrong / (double)t->attempts,
		       (double)t->cpu_ns / 1e3 / (double)t->attempts, 100 * distance, t->example);
	}
	printf("\n%-16s", "leaf shares");
	for (u32 m = 0; m < METHODS; m++)
		printf(" %9s", method_names[m]);
	for (u32 i = 0; i < COUNT_OF(states); i++) {
		printf("\n%-16s", states[i]);
		for (u32 m = 0; m < METHODS; m++)
			printf(" %8.2f%%", 100. * (double)bench->tally[m].state[i] /
						   (double)(bench->tally[m].complete + 1));
	}
	printf("\n\n%-16s %9s %9s   on the stack at all, [moving] samples too\n", "total shares",
	       "plan", "stopped");
	for (u32 i = 0; i < COUNT_OF(states); i++)
		printf("%-16s %8.2f%% %8.2f%%\n", states[i],
		       100. * (double)bench->tally[PLAN].outer[i] /
			       (double)(bench->tally[PLAN].attempts + 1),
		       100. * (double)truth->outer[i] / (double)(truth->attempts + 1));
}

int main(int argc, char **argv)
{
	static struct bench bench;
	struct engine_options options = { .hz = 99 };
	struct err err = { 0 };
	struct rng rng = { 1 };

	if (argc < 2) {
		fprintf(stderr, "usage: torn PID [SAMPLES] [HZ]\n");
		return 2;
	}
	u64 count = argc > 2 ? strtoull(argv[2], NULL, 10) : 20000;
	u64 hz = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	if (!target_open(&bench.target, (u32)strtoul(argv[1], NULL, 10), &err) ||
	    !(bench.process = process_new(&bench.target, 1)) ||
	    !process_attach(bench.process, &err) ||
	    !process_refresh(bench.process, &options, &err) ||
	    !look_init(&bench.look, &bench.target.mem)) {
		fprintf(stderr, "torn: %s\n", err.text);
		return 1;
	}
	bench.thread = bench.process->threads.at[0];
	for (u32 i = 0; i < 1000; i++)
		look(&bench, false); /* learn the read set */
	for (u64 i = 0; i < count; i++)
		for (u32 m = 0; m < METHODS; m++) {
			/* back to back, but not in step with the program's own period */
			u64 until = clock_now_ns() +
				    rng_below(&rng, hz ? 2 * NS_PER_S / hz : 10000);
			if (hz)
				clock_sleep_until(until);
			while (clock_now_ns() < until)
				;
			sample(&bench, (enum method)m);
		}
	report(&bench);
	return 0;
}
