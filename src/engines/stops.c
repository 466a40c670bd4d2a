/* SPDX-License-Identifier: Apache-2.0
 * stops.c - see stops.h. */
#include "engines/stops.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "base/types.h"

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER; /* locked by who is being stopped */
static pthread_cond_t nobody_holds = PTHREAD_COND_INITIALIZER;
static u32 holders;

static _Thread_local u32 own_holds;
static _Thread_local sigset_t blocked; /* by us, of this thread */

/* What had not been blocked before goes to `blocked`. */
static void block(void)
{
	static const int numbers[] = { SIGTSTP, SIGTTIN, SIGTTOU };
	sigset_t before;

	sigemptyset(&blocked);
	for (u32 i = 0; i < COUNT_OF(numbers); i++)
		sigaddset(&blocked, numbers[i]);
	if (pthread_sigmask(SIG_BLOCK, &blocked, &before)) {
		sigemptyset(&blocked);
		return;
	}
	for (u32 i = 0; i < COUNT_OF(numbers); i++)
		if (sigismember(&before, numbers[i]))
			sigdelset(&blocked, numbers[i]);
}

void stops_hold(void)
{
	if (own_holds++ == 0)
		block();
	pthread_mutex_lock(&gate);
	holders++;
	pthread_mutex_unlock(&gate);
}

void stops_let(void)
{
	pthread_mutex_lock(&gate);
	if (holders && --holders == 0)
		pthread_cond_signal(&nobody_holds);
	pthread_mutex_unlock(&gate);
	/* what came meanwhile takes effect here */
	if (own_holds && --own_holds == 0)
		pthread_sigmask(SIG_UNBLOCK, &blocked, NULL);
}

static void change(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	pthread_sigmask(how, &set, NULL);
}

void stops_defer(void)
{
	change(SIG_BLOCK);
}

static bool has_come(void)
{
	sigset_t pending;

	return !sigpending(&pending) && sigismember(&pending, SIGTSTP);
}

void stops_take(bool now)
{
	struct timespec until;
	int failed = 0;

	if (!now && !has_come())
		return;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	pthread_mutex_lock(&gate);
	while (holders && !failed)
		failed = pthread_cond_timedwait(&nobody_holds, &gate, &until);
	if (!holders) {
		if (now)
			raise(SIGTSTP);
		change(SIG_UNBLOCK); /* here */
		change(SIG_BLOCK);
	}
	pthread_mutex_unlock(&gate);
}
