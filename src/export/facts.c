/* SPDX-License-Identifier: Apache-2.0
 * facts.c - see facts.h. */
#include "export/facts.h"

#include "base/clock.h"
#include "base/text.h"
#include "sample/label.h"

#include <inttypes.h>
#include <string.h>

const char *facts_count_word(const struct profile *profile)
{
	if (!profile->count_type)
		return "samples";
	return strcmp(profile->count_unit, "count") ? profile->count_unit : profile->count_type;
}

const char *facts_weight_type(const struct profile *profile)
{
	if (profile->weight_type)
		return profile->weight_type;
	if (!profile->mode || !*profile->mode)
		return "cpu";
	if (!strcmp(profile->mode, "event"))
		return "latency";
	return strcmp(profile->mode, "gvl") ? profile->mode : "lock";
}

u64 facts_period_ns(const struct profile *profile)
{
	return profile->hz ? NS_PER_S / profile->hz : 1;
}

void facts_add_thread(struct str *out, const struct profile *profile, u32 number)
{
	const struct profile_thread *thread = &profile->threads.at[number];
	const struct profile_process *process = &profile->processes.at[thread->process];

	label_string(out, &profile->names, process->name, 0);
	str_addf(out, "%s(pid %u), ", process->name ? " " : "", process->pid);
	label_string(out, &profile->names, thread->name, 0);
	str_addf(out, "%s(tid %u)", thread->name ? " " : "", thread->tid);
}

void facts_add_quality(struct str *out, const struct profile *profile)
{
	const struct quality *q = &profile->quality;
	bool is_missing = profile->bad || profile->names.bad;

	if (q->expected)
		str_addf(out, "%" PRIu64 " of %" PRIu64 " attempts taken, %" PRIu64 " lost",
			 q->taken, q->expected, quality_lost(q));
	else
		str_add_text(out, "how many attempts there were is not known");
#define X(name, text)     \
	if (q->lost.name) \
		str_addf(out, " (" #name " %" PRIu64 ")", q->lost.name);
	QUALITY_LOSSES(X)
#undef X
	if (q->warning[0]) {
		str_add_text(out, "; ");
		text_add_safe(out, q->warning, strlen(q->warning), 0);
	}
	if (is_missing)
		str_add_text(out, "; out of memory while recording: something is missing");
}

void facts_each_count(const struct quality *q, void (*each)(void *arg, const char *name, u64 value),
		      void *arg)
{
	each(arg, "expected", q->expected);
	each(arg, "taken", q->taken);
#define X(name, text) each(arg, "lost." #name, q->lost.name);
	QUALITY_LOSSES(X)
#undef X
#define X(name, text) each(arg, #name, q->name);
	QUALITY_COUNTS(X)
#undef X
	each(arg, "own_cpu_ns", q->own_cpu_ns);
	each(arg, "attach_cpu_ns", q->attach_cpu_ns);
}

void facts_json_quality(struct json *json, const char *key, const struct quality *q)
{
	json_object(json, key);
	json_text(json, "engine", q->engine);
	json_text(json, "warning", q->warning);
	json_number(json, "expected", q->expected);
	json_number(json, "taken", q->taken);
	json_object(json, "lost");
#define X(name, text) json_number(json, #name, q->lost.name);
	QUALITY_LOSSES(X)
#undef X
	json_end(json);
#define X(name, text) json_number(json, #name, q->name);
	QUALITY_COUNTS(X)
#undef X
	json_number(json, "begin_ns", q->begin_ns);
	json_number(json, "end_ns", q->end_ns);
	json_number(json, "own_cpu_ns", q->own_cpu_ns);
	json_number(json, "attach_cpu_ns", q->attach_cpu_ns);
	json_end(json);
}
