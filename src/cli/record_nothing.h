/* SPDX-License-Identifier: Apache-2.0
 * record_nothing.h - why not one sample was taken: what was expected, what was there, what to do. */
#pragma once
#include "session/session.h"

#define NOTHING_RAN ": nothing has used the CPU; --mode=wall samples threads that wait, too"

/* `mode` and `thread` are what was asked for; `thread` is NULL when -t was not given. */
void record_say_nothing(const struct session *session, const struct quality *quality,
			enum engine_mode mode, const char *thread);
