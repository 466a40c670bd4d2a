/* SPDX-License-Identifier: Apache-2.0
 * pause.c - see pause.h. */
#include "engines/reader/pause.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "engines/stops.h"

/* A running thread stops within the time of an interrupt (5-30 us): spinning for it is cheaper
 * than sleeping. The rest is for one that waits for its CPU. */
static const u64 SPIN_NS = 40 * NS_PER_US;
static const u64 NAP_NS = 50 * NS_PER_US;
static const u64 WAIT_NS = 20 * NS_PER_MS;
static const u64 FINISH_NS = 5 * NS_PER_S;

enum stop { STOP_PENDING, STOP_STOPPED, STOP_GONE };

static enum stop stop_poll(const struct pause *pause, u32 tid, int *signal_out)
{
	int status;

	if (tid == pause->own_child) {
		siginfo_t info = { 0 };
		/* our child too: its exit status belongs to whoever waits for it */
		if (waitid(P_PID, tid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL))
			return STOP_GONE;
		if (info.si_pid == 0)
			return STOP_PENDING;
		if (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
		    info.si_code == CLD_DUMPED)
			return STOP_GONE;
	}
	pid_t got = waitpid((pid_t)tid, &status, __WALL | WNOHANG);
	if (got == 0)
		return STOP_PENDING;
	if (got < 0 || !WIFSTOPPED(status))
		return STOP_GONE;
	/* an event stop is ours; any other stop is a signal on its way, which must arrive */
	*signal_out = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
	return STOP_STOPPED;
}

/* ---- what would stop us -------------------------------------------------------------------- */

static void hold_stops(struct pause *pause)
{
	if (!pause->holds_stops)
		stops_hold();
	pause->holds_stops = true;
}

static void let_stops(struct pause *pause)
{
	if (!pause->holds_stops || pause->late_count)
		return;
	pause->holds_stops = false;
	stops_let();
}

/* ---- one thread ---------------------------------------------------------------------------- */

static bool late_add(struct pause *pause, u32 tid)
{
	if (pause->late_count == COUNT_OF(pause->late))
		return false;
	pause->late[pause->late_count++] = tid;
	return true;
}

static bool is_late(const struct pause *pause, u32 tid)
{
	for (u32 i = 0; i < pause->late_count; i++)
		if (pause->late[i] == tid)
			return true;
	return false;
}

static enum pause_outcome take(struct pause *pause, u32 tid, int *signal_out)
{
	if (ptrace(PTRACE_SEIZE, (pid_t)tid, 0, 0)) {
		if (errno == ESRCH)
			return PAUSE_GONE;
		return PAUSE_REFUSED;
	}
	u64 began = clock_now_ns();
	if (ptrace(PTRACE_INTERRUPT, (pid_t)tid, 0, 0) && errno == ESRCH) {
		int ignored;
		stop_poll(pause, tid, &ignored);
		return PAUSE_GONE;
	}
	for (;;) {
		enum stop stop = stop_poll(pause, tid, signal_out);
		if (stop == STOP_STOPPED)
			return PAUSE_STOPPED;
		if (stop == STOP_GONE)
			return PAUSE_GONE;
		u64 waited = clock_now_ns() - began;
		if (waited > WAIT_NS) {
			late_add(pause, tid);
			return PAUSE_LATE;
		}
		if (waited > SPIN_NS)
			clock_sleep_until(clock_now_ns() + NAP_NS);
	}
}

enum pause_outcome pause_take(struct pause *pause, u32 tid, int *signal_out)
{
	if (pause->late_count == COUNT_OF(pause->late) || is_late(pause, tid))
		return PAUSE_LATE;
	hold_stops(pause);
	enum pause_outcome outcome = take(pause, tid, signal_out);
	if (outcome != PAUSE_STOPPED)
		let_stops(pause);
	return outcome;
}

void pause_release(struct pause *pause, u32 tid, int signal)
{
	ptrace(PTRACE_DETACH, (pid_t)tid, 0, (long)signal);
	let_stops(pause);
}

void pause_settle(struct pause *pause)
{
	u32 kept = 0;

	for (u32 i = 0; i < pause->late_count; i++) {
		int signal = 0;
		switch (stop_poll(pause, pause->late[i], &signal)) {
		case STOP_STOPPED:
			ptrace(PTRACE_DETACH, (pid_t)pause->late[i], 0, (long)signal);
			break;
		case STOP_PENDING:
			pause->late[kept++] = pause->late[i];
			break;
		case STOP_GONE:
			break;
		}
	}
	pause->late_count = kept;
	let_stops(pause);
}

void pause_finish(struct pause *pause)
{
	u64 end_ns = clock_now_ns() + FINISH_NS;

	pause_settle(pause);
	while (pause->late_count && clock_now_ns() < end_ns) {
		clock_sleep_until(clock_now_ns() + NAP_NS);
		pause_settle(pause);
	}
}

void pause_history_add(struct pause_history *history, bool moved)
{
	history->moved = history->moved << 1 | moved;
	if (history->attempts < 64)
		history->attempts++;
}

bool pause_history_says(const struct pause_history *history, struct rng *rng)
{
	u32 moves = (u32)__builtin_popcountll(history->moved);

	return moves > 2 && rng_below(rng, 8 * moves);
}
