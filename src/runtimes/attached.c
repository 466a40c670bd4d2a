/* SPDX-License-Identifier: Apache-2.0
 * attached.c - see attached.h. */
#include "runtimes/attached.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "elf/image.h"
#include "target/target.h"

#define LOG_DOMAIN LOG_target
#include "base/log.h"

/* Frames of a stack that are looked at for one that may live on. */
enum { LIVE_DEPTH_MAX = 4096 };

static const u64 NAMES_LEAST_NS = 2 * NS_PER_MS, NAMES_MOST_NS = NS_PER_S;
/* A VM is up within some 100 ms of its program's begin, or it is a host's that may never start it. */
static const u64 STARTS_NS = NS_PER_S;

static bool seen_before(const struct maps *maps, u32 index)
{
	const struct mapping *mapping = &maps->all.at[index];

	for (u32 i = 0; i < index; i++)
		if (maps->all.at[i].executable && maps->all.at[i].inode == mapping->inode &&
		    maps->all.at[i].device == mapping->device)
			return true;
	return false;
}

static bool has_runtime(const attached_list *list, const struct runtime *runtime)
{
	for (u32 i = 0; i < list->count; i++)
		if (list->at[i]->runtime == runtime)
			return true;
	return false;
}

static bool attach(attached_list *list, u32 index, const struct target *target,
		   const struct image *image, const struct mapping *mapping, struct err *err)
{
	struct attached *attached = calloc(1, sizeof *attached);

	if (!attached)
		return err_no_memory(err);
	*err = (struct err){ 0 };
	attached->runtime = runtimes[index];
	attached->kind = (u16)(FRAME_MANAGED + index);
	attached->code = mapping->start;
	if (!attached->runtime->attach(target, image, attached->state, err) ||
	    !vec_push(list, attached)) {
		free(attached);
		return false;
	}
	attached->is_program = target_is_exe(target, mapping);
	return true;
}

static void find_in(attached_list *list, const struct target *target, const struct mapping *mapping,
		    struct attach_report *report)
{
	struct err err = { 0 };
	struct image *image = target_open_image(target, mapping, &err);

	if (!image) {
		/* not an ELF file, or gone: nothing of ours; one that may not be read can be anything */
		if (err.code == ERR_PERMISSION && report->denied.code == ERR_NONE)
			report->denied = err;
		return;
	}
	for (u32 r = 0; r < runtime_count; r++) {
		if (has_runtime(list, runtimes[r]))
			continue;
		if (attach(list, r, target, image, mapping, &err)) {
			report->is_new = true;
			if (err.text[0])
				snprintf(report->warning, sizeof report->warning, "%.190s",
					 err.text);
			continue;
		}
		report->is_starting |= err.code == ERR_NOT_READY;
		if (err.code != ERR_NOT_MINE && report->first.code == ERR_NONE)
			report->first = err;
		log_debug(2, "%s: %s: %s", image_name(image), runtimes[r]->name, err.text);
	}
	image_close(image);
}

void attached_find(attached_list *list, const struct target *target, struct attach_report *report)
{
	const struct maps *maps = &target->maps;

	*report = (struct attach_report){ 0 };
	for (u32 i = 0; i < maps->all.count; i++) {
		const struct mapping *mapping = &maps->all.at[i];
		if (mapping->executable && mapping->inode && !seen_before(maps, i))
			find_in(list, target, mapping, report);
	}
	if (!list->count && report->first.code == ERR_NONE)
		report->first = report->denied;
}

bool attached_say_why_none(const attached_list *list, const struct attach_report *report, u32 pid,
			   char warning[static 200])
{
	switch (report->first.code) {
	case ERR_NONE:
	case ERR_NOT_MINE:
	case ERR_NOT_READY:
	case ERR_NO_PROCESS:
	case ERR_PERMISSION: /* of any image */
		return false;
	default:
		if (list->count)
			return false;
		snprintf(warning, 200, "process %u: native frames only: %.150s", pid,
			 report->first.text);
		return true;
	}
}

bool attached_say_never_started(attached_list *list, const struct target *target, u64 since_ns,
				char warning[static 200])
{
	struct attach_report report;

	if (list->count || clock_now_ns() < since_ns + STARTS_NS)
		return false;
	attached_find(list, target, &report);
	if (list->count || report.first.code != ERR_NOT_READY)
		return false;
	snprintf(warning, 200, "process %u: no frames of it: %.160s", target->pid,
		 report.first.text);
	return true;
}

bool attached_copy(attached_list *to, const attached_list *from)
{
	for (u32 i = 0; i < from->count; i++) {
		struct attached *copy = malloc(sizeof *copy);
		if (!copy || !vec_push(to, copy)) {
			free(copy);
			return false;
		}
		*copy = *from->at[i];
	}
	return true;
}

u64 attached_generation(const struct attached *attached, const struct mem *mem, u64 thread)
{
	struct walk walk = { 0 };

	attached->runtime->begin(mem, attached->state, thread, &walk);
	return walk.generation;
}

u64 attached_both_generation(u64 first, u64 second)
{
	return first && second ? first + (second << 32) : 0;
}

bool attached_has_frame(const struct attached *attached, const struct mem *mem, u64 thread,
			const struct frame *frame)
{
	struct walk walk = { 0 };
	enum step step = attached->runtime->begin(mem, attached->state, thread, &walk);

	for (u32 n = 0; step_goes_on(step) && n < LIVE_DEPTH_MAX; n++) {
		struct frame now = { 0 };
		step = attached->runtime->step(mem, attached->state, &walk, &now);
		/* the same place, too: in its slot may lie a later function at the same address */
		if (step == STEP_MORE && now.at == frame->at && now.id == frame->id &&
		    now.pos == frame->pos)
			return true;
	}
	return false;
}

void attached_find_names(struct attached *attached, const struct mem *mem, u64 now_ns)
{
	if (!attached->runtime->find_names || attached->has_names ||
	    !backoff_is_due(&attached->find_names, now_ns))
		return;
	attached->has_names = attached->runtime->find_names(mem, attached->state);
	if (!attached->has_names)
		backoff_miss(&attached->find_names, now_ns, NAMES_LEAST_NS, NAMES_MOST_NS);
}

bool attached_name_thread(const struct attached *attached, const struct mem *mem, u64 thread,
			  char *out, u32 size)
{
	struct frame frame = { .id = thread, .pos = FRAME_POS_THREAD, .kind = attached->kind };
	struct frame_name name = { 0 };

	bool found = attached->runtime->name_frame(mem, attached->state, &frame, &name) &&
		     name.label.length;
	if (found)
		snprintf(out, size, "%.*s",
			 (int)utf8_cut(name.label.text, name.label.length, size - 1),
			 name.label.text);
	str_free(&name.label);
	str_free(&name.path);
	return found;
}

const struct attached *attached_of_kind(const attached_list *list, u16 kind)
{
	for (u32 i = 0; i < list->count; i++)
		if (list->at[i]->kind == kind)
			return list->at[i];
	return NULL;
}

void attached_free(attached_list *list)
{
	for (u32 i = 0; i < list->count; i++)
		free(list->at[i]);
	vec_free(list);
}
