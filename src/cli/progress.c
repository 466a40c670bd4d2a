/* SPDX-License-Identifier: Apache-2.0
 * progress.c - see progress.h. */
#include "cli/progress.h"

#include "base/clock.h"
#include "cli/say.h"
#include "cli/value.h"

enum { PLAIN_EVERY_S = 10 };
/* Less of our CPU time before the first sample is not worth a word. */
static const u64 ATTACH_WORTH_NS = 100 * NS_PER_MS;

static u64 elapsed_ns(const struct quality *q)
{
	return q->end_ns > q->begin_ns ? q->end_ns - q->begin_ns : 0;
}

static double percent(u64 part, u64 whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

double progress_rate(const struct quality *q, u32 hz)
{
	return q->expected ? hz * (double)q->taken / (double)q->expected : 0;
}

void progress_format(const struct quality *q, u32 hz, struct str *out)
{
	char number[32];

	str_addf(out, "%s  ", value_duration_text(elapsed_ns(q), number));
	value_add_count(out, q->samples, "sample", "samples");
	if (hz)
		str_addf(out, "  %.1f Hz", progress_rate(q, hz));
	str_add_text(out, "  ");
	value_add_count(out, q->threads, "thread", "threads");
	str_addf(out, "  %s lost  %.1f %% moving  own CPU %.1f %%",
		 value_grouped(quality_lost(q), number), percent(q->moving, q->samples),
		 percent(q->own_cpu_ns, elapsed_ns(q)));
}

/* " (12 late, 3 gone)" */
static void add_causes(struct str *out, const struct quality *q)
{
	const struct {
		const char *name;
		u64 count;
	} causes[] = {
#define X(name, text) { #name, q->lost.name },
		QUALITY_LOSSES(X)
#undef X
	};
	bool any = false;

	for (u32 i = 0; i < COUNT_OF(causes); i++) {
		char number[32];

		if (!causes[i].count)
			continue;
		str_addf(out, "%s%s %s", any ? ", " : " (", value_grouped(causes[i].count, number),
			 causes[i].name);
		any = true;
	}
	str_add_text(out, any ? ")" : "");
}

/* CPU time that is not as sure as the rest, if it is more than a fiftieth of the recording's time. */
static void add_cpu(struct str *out, const struct quality *q, u64 nanoseconds, const char *what)
{
	if (nanoseconds > elapsed_ns(q) / 50)
		str_addf(out, ", %.1f s of CPU time %s", (double)nanoseconds / NS_PER_S, what);
}

void progress_summarize(const struct quality *q, u32 hz, struct str *out)
{
	char number[32];

	value_add_count(out, q->samples, "sample", "samples");
	str_addf(out, " in %s", value_duration_text(elapsed_ns(q), number));
	if (hz && q->expected)
		str_addf(out, " at %.1f Hz", progress_rate(q, hz));
	str_add_text(out, ", ");
	value_add_count(out, q->threads, "thread", "threads");
	if (q->processes > 1)
		str_addf(out, " of %s processes", value_grouped(q->processes, number));
	str_addf(out, "; %s lost", value_grouped(quality_lost(q), number));
	add_causes(out, q);
	str_addf(out, ", %.1f %% moving", percent(q->moving, q->samples));
	if (q->truncated)
		str_addf(out, ", %s truncated", value_grouped(q->truncated, number));
	if (q->unnamed) {
		str_add_text(out, ", ");
		value_add_count(out, q->unnamed, "frame unnamed", "frames unnamed");
	}
	add_cpu(out, q, q->cpu_unshared_ns, "unsampled");
	add_cpu(out, q, q->cpu_estimated_ns, "estimated");
	str_addf(out, "; sonde used %.1f %% of a core", percent(q->own_cpu_ns, elapsed_ns(q)));
	if (q->attach_cpu_ns >= ATTACH_WORTH_NS)
		str_addf(out, " and %.1f s to attach", (double)q->attach_cpu_ns / NS_PER_S);
	if (q->engine[0])
		str_addf(out, " (engine: %s)", q->engine);
}

struct progress progress_make(u32 hz, u64 now_ns)
{
	return (struct progress){ hz, now_ns + PLAIN_EVERY_S * NS_PER_S };
}

void progress_show(struct progress *progress, const struct quality *quality, u64 now_ns)
{
	struct str line = { 0 };
	bool terminal = say_has_terminal();

	if (!terminal && now_ns < progress->next_plain_ns)
		return;
	progress_format(quality, progress->hz, &line);
	if (terminal)
		say_status(line.bad ? "" : line.text);
	else if (!line.bad)
		say_note("%s", line.text);
	progress->next_plain_ns = now_ns + PLAIN_EVERY_S * NS_PER_S;
	str_free(&line);
}
