/* SPDX-License-Identifier: Apache-2.0
 * trace_table.c - see trace_table.h.
 *
 *	      hits        /s  stacks  mean us   max us  event
 *	   137,000    68,500   1 of 7     1.2       96  syscall:getpid
 *
 * Behind --min-latency the hits are those that took so long, and another column has the calls, of which mean and max are. */
#include "cli/trace_table.h"

#include "base/clock.h"
#include "cli/say.h"
#include "cli/value.h"
#include "events/events.h"

#include <stdlib.h>
#include <string.h>

enum { LIVE_ROWS = 12, END_ROWS = 40, WARNED_ROWS = 3 };

static const u64 SHOW_NS = NS_PER_S / 2;

struct row {
	const struct event *event;
	struct engine_event count;
};

struct event_table {
	struct row *rows;
	u32 count, shown; /* with hits; what is shown */
	bool has_short;   /* calls that were too short to be hits */
	double seconds;
};

static int by_hits(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	if (left->count.hits != right->count.hits)
		return left->count.hits < right->count.hits ? 1 : -1;
	return strcmp(left->event->name, right->event->name);
}

/* Those that were met, the most frequent first; all of them where they are few. */
static bool read_table(const struct session *session, struct event_table *table, u32 most)
{
	const struct event_list *events = session_events(session);
	u32 all = events->all.count;
	struct engine_event *counts = calloc(all + 1, sizeof *counts);

	*table = (struct event_table){ .rows = calloc(all + 1, sizeof *table->rows) };
	if (!counts || !table->rows) {
		free(counts);
		free(table->rows);
		return false;
	}
	session_event_counts(session, counts);
	for (u32 i = 0; i < all; i++) {
		table->has_short |= counts[i].returned > counts[i].hits;
		if (counts[i].hits || counts[i].returned || all <= LIVE_ROWS)
			table->rows[table->count++] = (struct row){ &events->all.at[i], counts[i] };
	}
	free(counts);
	qsort(table->rows, table->count, sizeof *table->rows, by_hits);
	table->shown = table->count < most ? table->count : most;
	return true;
}

static void add_row(struct str *out, const struct event_table *table, const struct row *row)
{
	const struct engine_event *count = &row->count;
	char text[32];

	str_addf(out, "%12s", value_grouped(count->hits, text));
	if (table->has_short)
		str_addf(out, " %12s", value_grouped(count->returned, text));
	str_addf(out, " %10.0f", table->seconds > 0 ? (double)count->hits / table->seconds : 0);
	if (count->returned)
		str_addf(out, " %10.1f %10.1f",
			 (double)count->latency_ns / (double)count->returned / 1000,
			 (double)count->latency_max_ns / 1000);
	else
		str_addf(out, " %10s %10s", "-", "-");
	str_addf(out, "  %s", row->event->name);
}

static void add_table(struct str *out, const struct event_table *table)
{
	str_addf(out, "%12s", "hits");
	if (table->has_short)
		str_addf(out, " %12s", "of calls");
	str_addf(out, " %10s %10s %10s  %s", "hits/s", "mean us", "max us", "event");
	for (u32 i = 0; i < table->shown; i++) {
		str_add_text(out, "\n");
		add_row(out, table, &table->rows[i]);
	}
	if (table->count > table->shown)
		str_addf(out, "\n%12s and %u more", "", table->count - table->shown);
}

static void warn(const struct event_list *events, enum event_cost cost, const char *what)
{
	u32 warned = 0;

	for (u32 i = 0; i < events->sites.count; i++) {
		const struct event_site *site = &events->sites.at[i];
		if (site->cost == cost && warned++ < WARNED_ROWS)
			say_warning("%s: %s", events->all.at[site->event].name, what);
	}
	if (warned > WARNED_ROWS)
		say_warning("... and the same for %u more probes", warned - WARNED_ROWS);
}

void trace_table_warn(const struct session *session)
{
	const struct event_list *events = session_events(session);

	warn(events, EVENT_STEPPED,
	     "this instruction has to be single-stepped: a hit costs some 11 us, where a push, a jump or "
	     "a nop costs 0.6 (measured on Linux 6.18)");
	warn(events, EVENT_REFUSED,
	     "the kernel cannot place a probe on this instruction: no hit will be recorded");
}

void trace_table_show(const struct session *session, u64 *shown_ns)
{
	u64 now = clock_now_ns();
	struct event_table table;
	struct str text = { 0 };

	if (!say_has_terminal() || now < *shown_ns + SHOW_NS ||
	    !read_table(session, &table, LIVE_ROWS))
		return;
	*shown_ns = now;
	table.seconds = session_seconds(session);
	add_table(&text, &table);
	if (!text.bad)
		say_status(text.text);
	str_free(&text);
	free(table.rows);
}

static u64 sum_of_hits(const struct event_table *table)
{
	u64 sum = 0;

	for (u32 i = 0; i < table->count; i++)
		sum += table->rows[i].count.hits;
	return sum;
}

void trace_table_summarize(struct session *session, struct str *line)
{
	const struct quality *q = &session_profile(session)->quality;
	struct str text = { 0 };
	struct event_table table;
	char lost[32], duration[32];

	if (!read_table(session, &table, END_ROWS))
		return;
	table.seconds = session_seconds(session);
	add_table(&text, &table);
	say_lines(text.text);
	value_add_count(line, sum_of_hits(&table), "hit", "hits");
	str_addf(line, " in %s, ", value_duration_text((u64)(table.seconds * NS_PER_S), duration));
	value_add_count(line, q->samples, "stack", "stacks");
	if (q->samples && q->taken > q->samples)
		str_addf(line, " (one of %.1f hits)", (double)q->taken / (double)q->samples);
	str_add_text(line, ", ");
	value_add_count(line, q->threads, "thread", "threads");
	str_addf(line, "; %s lost", value_grouped(q->lost.dropped, lost));
	if (q->lost.passed)
		str_addf(line, ", %s after the last stack", value_grouped(q->lost.passed, lost));
	if (q->truncated)
		str_addf(line, ", %s truncated", value_grouped(q->truncated, lost));
	if (table.seconds > 0)
		str_addf(line, "; sonde used %.1f %% of a core",
			 100 * (double)q->own_cpu_ns / NS_PER_S / table.seconds);
	str_free(&text);
	free(table.rows);
}

void trace_table_say_nothing(const struct session *session)
{
	struct event_table table;
	u64 calls = 0;

	if (!read_table(session, &table, 0))
		return;
	for (u32 i = 0; i < table.count; i++)
		calls += table.rows[i].count.returned;
	free(table.rows);
	if (session_is_stopped(session))
		say_warning(
			"no event occurred, so nothing was written: the process is stopped; kill "
			"-CONT (SIGCONT) lets it go on");
	else if (calls)
		say_warning(
			"no event occurred, so nothing was written: none of %llu system calls took "
			"as long as --min-latency",
			(unsigned long long)calls);
	else
		say_warning("no event occurred, so nothing was written");
}
