/* SPDX-License-Identifier: Apache-2.0
 * html_facts.c - the JSON in the page: what was recorded, what was lost, what it is compared with. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "export/html_page.h"

/* Printable UTF-8 inside an element of HTML, and inside quotes. */
void html_write_escaped(struct out *out, const char *text, bool json)
{
	struct str safe = { 0 };

	text_add_safe(&safe, text, strlen(text), 0);
	for (u32 i = 0; i < safe.length; i++) {
		char c = safe.text[i];
		if (c == '<' || c == '>' || c == '&' || c == '"')
			outf(out, json ? "\\u%04x" : "&#%u;", (unsigned)c);
		else if (c == '\\' && json)
			out_text(out, "\\\\");
		else
			out_bytes(out, &c, 1);
	}
	if (safe.bad && !out->errnum)
		out->errnum = ENOMEM;
	str_free(&safe);
}

static void put_text(struct out *out, const char *key, const char *text)
{
	outf(out, "\"%s\":\"", key);
	html_write_escaped(out, text ? text : "", true);
	out_text(out, "\",");
}

static void put_number(struct out *out, const char *key, u64 value)
{
	outf(out, "\"%s\":%llu,", key, (unsigned long long)value);
}

static void put_row(struct out *out, const char *key, u64 value, const char *text)
{
	outf(out, "[\"%s\",%llu,\"", key, (unsigned long long)value);
	html_write_escaped(out, text, true);
	out_text(out, "\"],");
}

/* ---- of two profiles ---- */

static void put_real(struct out *out, const char *key, double value)
{
	outf(out, "\"%s\":%.9g,", key, value);
}

static void put_side(struct out *out, const char *key, const struct diff_file *file,
		     const struct diff_side *side)
{
	outf(out, "\"%s\":{", key);
	put_text(out, "file", file->path);
	put_text(out, "title", file->profile->title);
	put_number(out, "span_ns", file->span_ns);
	put_number(out, "samples", side->samples);
	put_number(out, "measured", side->has_times);
	outf(out, "\"whole\":%.0f},", side->whole);
}

static void put_comparison(struct out *out, const struct html_comparison *comparison)
{
	const struct diff *diff = comparison->diff;
	struct diff_usual usual = diff_usual_noise(diff);

	out_text(out, "\"diff\":{");
	put_side(out, "before", comparison->before, &diff->before);
	put_side(out, "after", comparison->after, &diff->after);
	put_number(out, "by_samples", diff->by_samples);
	put_number(out, "lines", diff->options.lines);
	put_number(out, "compared", diff->compared);
	put_number(out, "changed", diff->changed);
	put_number(out, "in_phases", diff->in_phases);
	put_real(out, "linear", usual.linear);
	outf(out, "\"square\":%.9g},", usual.square);
}

/* ---- the whole ---- */

/* Of what is in the file; quality says what was seen when it was recorded, which may be more.  A thread that
 * another profiler's file does not name is none. */
static void put_extent(struct out *out, const struct profile *profile)
{
	AUTO_FREE bool *has_thread = calloc(profile->threads.count + 1, sizeof *has_thread);
	AUTO_FREE bool *has_process = calloc(profile->processes.count + 1, sizeof *has_process);
	u32 threads = 0, processes = 0;

	if (!has_thread || !has_process) {
		out->errnum = ENOMEM;
		return;
	}
	for (u32 i = 0; i < profile->entries.count; i++)
		has_thread[profile->entries.at[i].thread] = true;
	for (u32 i = 0; i < profile->threads.count; i++) {
		const struct profile_thread *thread = &profile->threads.at[i];
		threads += has_thread[i] && (thread->tid || thread->name);
		if (has_thread[i])
			has_process[thread->process] = true;
	}
	for (u32 i = 0; i < profile->processes.count; i++)
		processes += has_process[i] &&
			     (profile->processes.at[i].pid || profile->processes.at[i].name);
	put_number(out, "samples", profile_total_count(profile));
	put_number(out, "threads", threads);
	put_number(out, "processes", processes);
}

void html_write_facts(const struct html_page *page, struct out *out)
{
	const struct profile *profile = page->profile;
	const struct quality *q = &profile->quality;

	out_text(out, "{");
	put_text(out, "version", SONDE_VERSION);
	put_text(out, "title", profile->title);
	put_text(out, "command", profile->command);
	put_text(out, "mode", profile->mode);
	put_text(out, "weight_type", profile->weight_type);
	put_text(out, "count_type", profile->count_type);
	put_text(out, "count_unit", profile->count_unit);
	put_extent(out, profile);
	put_text(out, "engine", q->engine);
	put_text(out, "warning", q->warning);
	put_number(out, "hz", profile->hz);
	put_number(out, "start_ms", profile->start_unix_ns / NS_PER_MS);
	put_number(out, "duration_ns", profile->duration_ns);
	put_number(out, "own_cpu_ns", q->own_cpu_ns);
	put_number(out, "expected", q->expected);
	put_number(out, "taken", q->taken);
	put_number(out, "incomplete", profile->bad || profile->names.bad || profile->timeline.bad);
	/* Rows end with [], because JSON takes no comma at the end. */
	out_text(out, "\"losses\":[");
#define X(name, text) put_row(out, #name, q->lost.name, text);
	QUALITY_LOSSES(X)
#undef X
	out_text(out, "[]],");
	if (page->comparison)
		put_comparison(out, page->comparison);
	out_text(out, "\"counts\":[");
#define X(name, text) put_row(out, #name, q->name, text);
	QUALITY_COUNTS(X)
#undef X
	out_text(out, "[]]}");
}
