/* SPDX-License-Identifier: Apache-2.0
 * sources.h - where the events of a kind come from; private to this folder. */
#pragma once
#include "events/events.h"

struct event_source {
	const char *prefix;
	enum event_kind kind;
	bool has_library; /* the first part of a pattern is one */
	/* Adds all that a pattern (what is behind the prefix and its colon) matches; nothing is no error. */
	bool (*add)(struct event_list *list, const struct event_source *source, const char *pattern,
		    const struct target *target, struct err *err);
};

extern const struct event_source syscall_source, syscall_exit_source, tracepoint_source,
	uprobe_source, usdt_source;

/* Cut where it is too long. */
void event_format(char out[EVENT_NAME_MAX], const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Adds "PREFIX:REST", if it is not there; its index, UINT32_MAX: out of memory. */
u32 events_put(struct event_list *list, const struct event_source *source, const char *rest,
	       u32 syscall);
