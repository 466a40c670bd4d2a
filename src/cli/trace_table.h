/* SPDX-License-Identifier: Apache-2.0
 * trace_table.h - what is told of traced events: how often, how long, and of how many the stack is there. */
#pragma once
#include "base/str.h"
#include "session/session.h"

/* Of probes that cost more than others, before it begins. */
void trace_table_warn(const struct session *session);
/* The table, over and over on a terminal; `shown_ns` is when it was. */
void trace_table_show(const struct session *session, u64 *shown_ns);
/* The table, above the last line; and that line. */
void trace_table_summarize(struct session *session, struct str *line);
/* Not one event came, and why that may be. */
void trace_table_say_nothing(const struct session *session);
