/* SPDX-License-Identifier: Apache-2.0
 * stops.h - sonde is not stopped while it holds a thread of somebody's.
 *
 * Ctrl-Z (SIGTSTP) stops every thread of sonde at once.  Were one of the target's seized at that moment, it would stand for as
 * long.  SIGTTIN and SIGTTOU stop whoever uses the terminal from the background, and are the same to us.  SIGSTOP cannot be
 * held off.
 *
 * Where the thread that samples is the one that takes signals (record), holding blocks them there, and they come when it lets
 * go.  A program whose other thread takes signals (top) defers them in that one and takes them between two things that
 * it does; taking waits until nobody holds. */
#pragma once
#include <stdbool.h>

/* From now on a thread of the target's may be seized; as often as it is let. */
void stops_hold(void);
/* Nothing is seized any more. Of another thread's hold, too: one that has ended. */
void stops_let(void);

/* This thread, which takes the signals, defers SIGTSTP from now on. */
void stops_defer(void);
/* Is stopped here if SIGTSTP has come, or if `now`. Next time, if somebody holds for longer than a second. */
void stops_take(bool now);
