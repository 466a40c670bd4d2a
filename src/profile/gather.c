/* SPDX-License-Identifier: Apache-2.0
 * gather.c - see gather.h.
 *
 * Every kind of number refers to lower kinds only, and a stack to lower stacks, so that one pass
 * over what is new, from strings to entries, finds everything that it refers to. */
#include "profile/gather.h"

#include <stdio.h>
#include <string.h>

bool gather_init(struct gather *gather)
{
	*gather = (struct gather){ 0 };
	return profile_init(&gather->profile);
}

void gather_source_free(struct gather_source *source)
{
	vec_free(&source->strings);
	vec_free(&source->functions);
	vec_free(&source->locations);
	vec_free(&source->stacks);
	vec_free(&source->processes);
	vec_free(&source->threads);
	vec_free(&source->entries);
	*source = (struct gather_source){ 0 };
}

void gather_free(struct gather *gather)
{
	profile_free(&gather->profile);
	vec_free(&gather->qualities);
}

static bool take_strings(struct names *names, struct gather_source *source,
			 const struct names *from)
{
	for (u32 i = source->strings.count; i < from->strings.count; i++)
		if (!vec_push(&source->strings, names_string(names, from->strings.at[i].text,
							     from->strings.at[i].length)))
			return false;
	return true;
}

static bool take_functions(struct names *names, struct gather_source *source,
			   const struct names *from)
{
	for (u32 i = source->functions.count; i < from->functions.count; i++) {
		struct name_function function = from->functions.at[i];
		function.name = source->strings.at[function.name];
		function.path = source->strings.at[function.path];
		function.language = source->strings.at[function.language];
		function.image = source->strings.at[function.image];
		if (!vec_push(&source->functions, names_function(names, &function)))
			return false;
	}
	for (u32 i = source->locations.count; i < from->locations.count; i++) {
		struct name_location location = from->locations.at[i];
		location.function = source->functions.at[location.function];
		if (!vec_push(&source->locations, names_location(names, &location)))
			return false;
	}
	return true;
}

static void take_replaced(struct gather *gather, struct gather_source *source,
			  const struct names *from)
{
	for (; source->replaced < from->replaced.count; source->replaced++) {
		const struct name_replaced *one = &from->replaced.at[source->replaced];
		u32 location = source->locations.at[one->location],
		    by = source->locations.at[one->by];
		if (location != by && gather->qualities.count <= 1)
			names_replace(&gather->profile.names, location, by);
	}
}

static bool take_stacks(struct names *names, struct gather_source *source, const struct names *from)
{
	for (u32 i = source->stacks.count; i < from->stacks.count; i++) {
		const struct name_stack *stack = &from->stacks.at[i];
		/* stack 0 is the empty one, and no child of itself */
		u32 number = i ? names_stack(names, source->stacks.at[stack->outer],
					     source->locations.at[stack->location]) :
				 0;
		if (!vec_push(&source->stacks, number))
			return false;
	}
	return true;
}

/* Names of processes and threads change: they are taken each time. */
static bool take_threads(struct profile *profile, struct gather_source *source,
			 const struct profile *from)
{
	for (u32 i = 0; i < from->processes.count; i++) {
		const struct profile_process *process = &from->processes.at[i];
		u32 number = profile_process(profile, process->pid, process->start_time,
					     from->names.strings.at[process->name].text);
		if (i == source->processes.count && !vec_push(&source->processes, number))
			return false;
	}
	for (u32 i = 0; i < from->threads.count; i++) {
		struct profile_thread thread = {
			.process = source->processes.at[from->threads.at[i].process],
			.tid = from->threads.at[i].tid,
			.life = from->threads.at[i].life,
			.shared = from->threads.at[i].shared,
			.nth = from->threads.at[i].nth
		};
		thread.name = source->strings.at[from->threads.at[i].name];
		if (thread.process == PROFILE_NONE)
			return false;
		if (i < source->threads.count) {
			profile->threads.at[source->threads.at[i]].name = thread.name;
			continue;
		}
		if (!vec_push(&profile->threads, thread) ||
		    !vec_push(&source->threads, profile->threads.count - 1))
			return false;
	}
	return true;
}

static bool take_mappings(struct profile *profile, struct gather_source *source,
			  const struct profile *from)
{
	for (; source->mappings < from->mappings.count; source->mappings++) {
		struct profile_mapping mapping = from->mappings.at[source->mappings];
		mapping.process = source->processes.at[mapping.process];
		mapping.path = source->strings.at[mapping.path];
		mapping.build_id = source->strings.at[mapping.build_id];
		if (!vec_push(&profile->mappings, mapping))
			return false;
	}
	return true;
}

static bool take_entries(struct profile *profile, struct gather_source *source,
			 const struct profile *from, gather_fn *grown, void *arg)
{
	for (u32 i = 0; i < from->entries.count; i++) {
		const struct profile_entry *now = &from->entries.at[i];
		struct gather_entry none = { .number = PROFILE_NONE };
		if (i == source->entries.count && !vec_push(&source->entries, none))
			return false;
		struct gather_entry *before = &source->entries.at[i];
		u64 count = now->count - before->count, weight = now->weight - before->weight;
		if (!count && !weight)
			continue;
		u32 entry = profile_add_counted(profile, source->threads.at[now->thread],
						source->stacks.at[now->stack], count, weight);
		if (entry == PROFILE_NONE)
			return false;
		*before = (struct gather_entry){ entry, now->count, now->weight };
		grown(arg, entry, count, weight);
	}
	return true;
}

/* Each ledger adds up, and so does their sum.  The CPU time is of all of sonde in each. */
static void add_ledger(struct quality *sum, const struct quality *one)
{
	sum->expected += one->expected;
	sum->taken += one->taken;
#define X(name, text) sum->lost.name += one->lost.name;
	QUALITY_LOSSES(X)
#undef X
#define X(name, text) sum->name += one->name;
	QUALITY_COUNTS(X)
#undef X
	if (!sum->begin_ns || (one->begin_ns && one->begin_ns < sum->begin_ns))
		sum->begin_ns = one->begin_ns;
	if (one->end_ns > sum->end_ns)
		sum->end_ns = one->end_ns;
	if (one->own_cpu_ns > sum->own_cpu_ns)
		sum->own_cpu_ns = one->own_cpu_ns;
	if (one->attach_cpu_ns > sum->attach_cpu_ns)
		sum->attach_cpu_ns = one->attach_cpu_ns;
	if (!sum->engine[0])
		memcpy(sum->engine, one->engine, sizeof sum->engine);
	if (!sum->warning[0])
		memcpy(sum->warning, one->warning, sizeof sum->warning);
}

static bool take_ledger(struct gather *gather, struct gather_source *source,
			const struct profile *from)
{
	struct profile *profile = &gather->profile;
	struct quality sum = { 0 };

	if (!source->quality) {
		if (!vec_push(&gather->qualities, from->quality))
			return false;
		source->quality = gather->qualities.count;
		profile->mode = from->mode;
		profile->command = from->command;
		profile->hz = from->hz;
		if (!profile->start_unix_ns || from->start_unix_ns < profile->start_unix_ns)
			profile->start_unix_ns = from->start_unix_ns;
	}
	gather->qualities.at[source->quality - 1] = from->quality;
	for (u32 i = 0; i < gather->qualities.count; i++)
		add_ledger(&sum, &gather->qualities.at[i]);
	profile->quality = sum;
	profile->duration_ns = sum.end_ns - sum.begin_ns;
	if (gather->qualities.count == 1)
		snprintf(gather->title, sizeof gather->title, "%s", from->title);
	else
		snprintf(gather->title, sizeof gather->title, "%u programs",
			 gather->qualities.count);
	profile->title = gather->title;
	profile->bad |= from->bad | profile->names.bad;
	return true;
}

void gather_take(struct gather *gather, struct gather_source *source, const struct profile *from,
		 gather_fn *grown, void *arg)
{
	struct profile *profile = &gather->profile;
	struct names *names = &profile->names;

	bool good = take_strings(names, source, &from->names) &&
		    take_functions(names, source, &from->names);
	if (good)
		take_replaced(gather, source, &from->names);
	good = good && take_stacks(names, source, &from->names) &&
	       take_threads(profile, source, from) && take_mappings(profile, source, from) &&
	       take_ledger(gather, source, from) && take_entries(profile, source, from, grown, arg);
	profile->bad |= !good;
}
