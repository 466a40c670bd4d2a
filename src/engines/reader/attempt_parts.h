/* SPDX-License-Identifier: Apache-2.0
 * attempt_parts.h - what the files of an attempt share. */
#pragma once
#include "engines/reader/attempt.h"

/* The head words of a set as they are now: how many bytes; 0: they are not known, or cannot be read. */
u32 attempt_read_head(const struct reader_process *process, const struct read_set *set, u8 *head,
		      u32 room);
/* One look at what the thread is known to run, into look.stack. */
bool attempt_look_once(struct attempt *attempt, struct reader_process *process,
		       struct reader_thread *thread, bool still, struct look_result *result);
/* The stack of a thread into look.stack; false: there is none to give out. */
bool attempt_look_at(struct attempt *attempt, struct reader_process *process,
		     struct reader_thread *thread, bool still, struct look_result *result);
