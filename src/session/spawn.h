/* SPDX-License-Identifier: Apache-2.0
 * spawn.h - starting the program to be profiled, from before its first instruction.
 *
 * The child waits on a pipe before its exec, so that engines can attach first.
 * It keeps our standard input, output, error and process group, and gets back the signal
 * mask and dispositions that sonde itself was started with: sonde is as invisible to it as
 * `env`. Under sudo it runs as the invoking user (session/privilege.h).  If sonde dies
 * before it lets the child go, the program is never run. */
#pragma once
#include <signal.h>

#include "base/err.h"
#include "base/types.h"

struct spawn {
	int pid;
	int gate;   /* a byte lets the child exec; end of file makes it leave */
	int result; /* the child's errno if exec failed; else end of file */
	bool ended; /* it was waited for; its exit code is `code` */
	int code;
};

struct spawn_identity {
	bool drop; /* become this user before exec */
	u32 uid, gid;
	char name[64];  /* for initgroups, USER and LOGNAME; "" if nobody knows */
	char home[256]; /* HOME; "" if nobody knows */
};

/* What signals were like before sonde changed them. */
struct spawn_signals {
	sigset_t mask;
	u64 ignored; /* bit n: signal n was ignored */
};

/* To be called first thing in main(). */
void spawn_read_signals(struct spawn_signals *out);
/* `signals` may be NULL: as they are now. The strings of argv are not copied. */
bool spawn_start(struct spawn *spawn, char *const argv[], const struct spawn_identity *identity,
		 const struct spawn_signals *signals, struct err *err);
/* Lets it go and waits until the exec is done. ERR_SYSTEM with errnum ENOENT, EACCES and so on when
 * it cannot be run, another code when it cannot become the user; it has been waited for then. */
bool spawn_release(struct spawn *spawn, struct err *err);
/* Ends a child that was not released. Does nothing after spawn_release(). */
void spawn_abandon(struct spawn *spawn);
/* Has it ended? Does not wait. */
bool spawn_poll(struct spawn *spawn);
/* The child's exit code, 128+n for a signal; waits for it. */
int spawn_wait(struct spawn *spawn);
