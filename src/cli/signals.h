/* SPDX-License-Identifier: Apache-2.0
 * signals.h - what Ctrl-C and its kin do to a recording.
 *
 *	                    attached to a process    with a command of ours
 *	Ctrl-C, 1st         stop and write           the command got it too: go on until it ends
 *	        2nd         quit, write nothing      stop and write, then wait for the command
 *	        3rd                                  quit, write nothing
 *	SIGINT by kill      as Ctrl-C, attached      stop and write, then wait; 2nd: quit
 *	SIGTERM, SIGHUP     stop and write           handed to the command, then stop and write
 *	SIGPIPE             ignored                  ignored, but not in the command
 *
 * A SIGHUP that sonde was started ignoring (nohup) stays ignored. */
#pragma once
#include "session/spawn.h"

/* First thing in main(): remembers how signals were, then ignores SIGPIPE. */
void signals_begin(void);
const struct spawn_signals *signals_inherited(void);
/* From now on as in the table; `child` is the command's pid, or 0. */
void signals_watch(int child);
/* A file to remove when quitting at once; the string must stay. NULL: none. */
void signals_set_temporary(const char *path);
/* Called before quitting at once, in a signal handler. NULL: nothing. */
void signals_set_restore(void (*restore)(void));
/* The signal that asks to stop and write, or 0. */
int signals_stop(void);
