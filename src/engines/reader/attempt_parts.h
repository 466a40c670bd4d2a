/* SPDX-License-Identifier: Apache-2.0
 * attempt_parts.h - what the files of an attempt share. */
#pragma once
#include "engines/reader/attempt.h"

/* What any VM has on a thread: whose stack it is, and what is kept of it, is the caller's to fill in. */
struct look_subject attempt_subject(const struct attempt *attempt,
				    const struct reader_process *process,
				    const struct reader_thread *thread,
				    const struct attached *attached, bool still);
/* One look, now. False when out of memory. */
bool attempt_look_with(struct attempt *attempt, const struct reader_process *process,
		       const struct look_subject *subject, struct look_result *result);
/* One look at what the thread is known to run, into look.stack. */
bool attempt_look_once(struct attempt *attempt, struct reader_process *process,
		       struct reader_thread *thread, bool still, struct look_result *result);
/* The stack of a thread into look.stack; false: there is none to give out. */
bool attempt_look_at(struct attempt *attempt, struct reader_process *process,
		     struct reader_thread *thread, bool still, struct look_result *result);
