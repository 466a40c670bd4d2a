/* SPDX-License-Identifier: Apache-2.0
 * signals.c - see signals.h.
 *
 * How a Ctrl-C is told from a kill: the terminal signals the whole foreground group
 * from inside the kernel (si_code SI_KERNEL), so that the command has it already. */
#include "cli/signals.h"

#include <stddef.h>
#include <unistd.h>

#include "base/clock.h"
#include "engines/engine.h"

static struct spawn_signals inherited;
static volatile sig_atomic_t child_pid;
static volatile sig_atomic_t stop_signal;
static volatile sig_atomic_t interrupts;
static const char *volatile temporary;
static void (*volatile restore)(void);

static volatile u64 stopped_ns;       /* when `stop_signal` came */
static const u64 AGAIN_NS = NS_PER_S; /* sooner it is the same one */

/* With the signal's own default action, so that a shell sees what ended us. */
static void quit(int number)
{
	sigset_t set;

	if (temporary)
		unlink(temporary);
	if (restore)
		restore();
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(number);
}

static void stop(int number)
{
	if (stop_signal != number)
		stopped_ns = clock_now_ns();
	stop_signal = number;
	engine_interrupt();
}

static void on_interrupt(int number, siginfo_t *info, void *unused)
{
	int patience = child_pid && info->si_code == SI_KERNEL ? 2 : 1;

	(void)unused;
	interrupts++;
	if (interrupts == patience)
		stop(number);
	else if (interrupts > patience)
		quit(number);
}

static void on_end(int number, siginfo_t *info, void *unused)
{
	(void)unused;
	if (stop_signal == number) {
		/* A lost terminal sends SIGHUP twice and more; timeout(1) sends SIGTERM to us and to our group. */
		if (number == SIGHUP || clock_now_ns() < stopped_ns + AGAIN_NS)
			return;
		quit(number);
	}
	if (child_pid && info->si_code != SI_KERNEL)
		kill(child_pid, number);
	stop(number);
}

static void watch(int number, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

	sigfillset(&action.sa_mask);
	sigaction(number, &action, NULL);
}

void signals_begin(void)
{
	spawn_read_signals(&inherited);
	signal(SIGPIPE, SIG_IGN);
}

const struct spawn_signals *signals_inherited(void)
{
	return &inherited;
}

void signals_watch(int child)
{
	child_pid = child;
	/* Also when it was ignored: a shell's background job is stopped by kill -INT. */
	watch(SIGINT, on_interrupt);
	watch(SIGTERM, on_end);
	if (!(inherited.ignored & UINT64_C(1) << SIGHUP))
		watch(SIGHUP, on_end);
}

void signals_set_temporary(const char *path)
{
	temporary = path;
}

void signals_set_restore(void (*function)(void))
{
	restore = function;
}

int signals_stop(void)
{
	return stop_signal;
}
