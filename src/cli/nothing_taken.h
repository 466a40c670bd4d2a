/* SPDX-License-Identifier: Apache-2.0
 * nothing_taken.h - why not one sample was taken: what was expected, what was there, what to do. */
#pragma once
#include "session/session.h"

/* Warns with `what` and the reason. `mode` and `thread` are what was asked for; `thread` is NULL when -t was not given. */
void say_nothing_taken(const char *what, const struct session *session,
		       const struct quality *quality, enum engine_mode mode, const char *thread);
