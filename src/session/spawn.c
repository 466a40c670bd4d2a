/* SPDX-License-Identifier: Apache-2.0
 * spawn.c - see spawn.h.
 *
 *	sonde                      child
 *	  |  fork ------------------> | signals as they were
 *	  |  attach engines           | read(gate) ...
 *	  |  write(gate) -----------> | become the user, exec
 *	  |  read(result) = EOF <---- | the exec closed the pipe: it runs
 *	  |  or errno      <--------- | the exec failed
 *
 * Both pipes are close-on-exec, so the program sees no descriptor of ours. */
#include "session/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

enum {
	CHILD_LEFT = 125,
	STOP_NAP_NS = 100 * 1000, /* a stop lasts for microseconds */
};

/* What the child reports when it cannot become the program. */
struct failure {
	int errnum;
	bool identity; /* it was the change of user, not the exec */
};

void spawn_read_signals(struct spawn_signals *out)
{
	*out = (struct spawn_signals){ 0 };
	sigprocmask(SIG_SETMASK, NULL, &out->mask);
	for (int number = 1; number < NSIG && number < 64; number++) {
		struct sigaction action;

		if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			out->ignored |= UINT64_C(1) << number;
	}
}

/* An exec turns handlers into the default by itself; what was ignored stays so.  Both are
 * set here, because the child runs our code until then. */
static void restore_dispositions(const struct spawn_signals *signals)
{
	for (int number = 1; number < NSIG && number < 64; number++) {
		bool ignored = signals->ignored & UINT64_C(1) << number;
		struct sigaction action = { .sa_handler = ignored ? SIG_IGN : SIG_DFL };

		sigaction(number, &action, NULL); /* refused for SIGKILL and libc's own: fine */
	}
}

/* Groups first, the user last: each needs what the next gives away. */
static bool become(const struct spawn_identity *identity)
{
	bool grouped = identity->name[0] ? initgroups(identity->name, identity->gid) == 0 :
					   setgroups(1, &(gid_t){ identity->gid }) == 0;

	if (!grouped || setgid(identity->gid) != 0 || setuid(identity->uid) != 0)
		return false;
	if (identity->home[0])
		setenv("HOME", identity->home, 1);
	if (identity->name[0]) {
		setenv("USER", identity->name, 1);
		setenv("LOGNAME", identity->name, 1);
	}
	return true;
}

/* sonde may run with a real-time priority, so that it need not wait for a CPU; a program that had it
 * too would never be interrupted by it. */
static void leave_realtime(void)
{
	struct sched_param none = { 0 };
	int policy = sched_getscheduler(0);

	if (policy == SCHED_FIFO || policy == SCHED_RR)
		sched_setscheduler(0, SCHED_OTHER, &none);
}

static ssize_t read_retrying(int fd, void *out, size_t length)
{
	ssize_t n;

	do
		n = read(fd, out, length);
	while (n < 0 && errno == EINTR);
	return n;
}

static _Noreturn void run_child(char *const argv[], int gate, int result,
				const struct spawn_identity *identity,
				const struct spawn_signals *signals)
{
	struct failure failure = { 0 };
	char go;

	restore_dispositions(signals);
	sigprocmask(SIG_SETMASK, &signals->mask, NULL);
	leave_realtime();
	if (read_retrying(gate, &go, 1) != 1)
		_exit(CHILD_LEFT);
	if (identity && identity->drop && !become(identity)) {
		failure.identity = true;
	} else {
		execvp(argv[0], argv);
	}
	failure.errnum = errno;
	/* Fits into a pipe that nothing else writes to. */
	(void)!write(result, &failure, sizeof failure);
	_exit(CHILD_LEFT);
}

bool spawn_start(struct spawn *spawn, char *const argv[], const struct spawn_identity *identity,
		 const struct spawn_signals *signals, struct err *err)
{
	int gate[2] = { -1, -1 }, result[2] = { -1, -1 };
	struct spawn_signals now;
	sigset_t all, before;

	*spawn = (struct spawn){ .gate = -1, .result = -1 };
	/* exec would say "no such file", and a message with the name in front begins with nothing */
	if (!argv[0][0])
		return err_set(err, ERR_USAGE, "an empty command name: nothing can be run");
	if (!signals) {
		spawn_read_signals(&now);
		signals = &now;
	}
	if (pipe2(gate, O_CLOEXEC) != 0)
		return err_sys(err, errno, "pipe");
	AUTO_CLOSE int gate_read = gate[0];
	AUTO_CLOSE int gate_write = gate[1];
	if (pipe2(result, O_CLOEXEC) != 0)
		return err_sys(err, errno, "pipe");
	AUTO_CLOSE int result_read = result[0];
	AUTO_CLOSE int result_write = result[1];

	/* Between the fork and run_child() our handlers must not run in the child. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid_t pid = fork();
	if (pid == 0) {
		close(gate_write); /* or it would never see the end of file */
		run_child(argv, gate_read, result_write, identity, signals);
	}
	int errnum = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid < 0)
		return err_sys(err, errnum, "cannot start another process");
	spawn->pid = pid;
	spawn->gate = take_fd(&gate_write);
	spawn->result = take_fd(&result_read);
	return true;
}

static void close_pipes(struct spawn *spawn)
{
	if (spawn->gate >= 0)
		close(spawn->gate);
	if (spawn->result >= 0)
		close(spawn->result);
	spawn->gate = spawn->result = -1;
}

bool spawn_release(struct spawn *spawn, struct err *err)
{
	struct failure failure = { 0 };

	/* SIGPIPE is ignored by then; a child that is gone shows in its exit code. */
	(void)!write(spawn->gate, "", 1);
	ssize_t n = read_retrying(spawn->result, &failure, sizeof failure);
	close_pipes(spawn);
	if (n != sizeof failure)
		return true;
	spawn_wait(spawn);
	if (failure.identity)
		return err_sys(err, failure.errnum, "cannot become the user who called sudo");
	err_sys(err, failure.errnum, "cannot run it");
	if (err)
		err->code = ERR_SYSTEM;
	return false;
}

void spawn_abandon(struct spawn *spawn)
{
	if (spawn->gate < 0)
		return;
	close_pipes(spawn);
	spawn_wait(spawn);
}

static bool is_end(const siginfo_t *news)
{
	return news->si_code == CLD_EXITED || news->si_code == CLD_KILLED ||
	       news->si_code == CLD_DUMPED;
}

/* Waits, or only looks when `flags` is WNOHANG.  A stop by ptrace is reported here too, though it was not
 * asked for: it is the engine's, in whatever thread of ours that runs, and must be left for it, or
 * the command would stay stopped. */
static void reap(struct spawn *spawn, int flags)
{
	siginfo_t news = { 0 };

	while (!spawn->ended && !is_end(&news)) {
		news = (siginfo_t){ 0 };
		int failed = waitid(P_PID, (id_t)spawn->pid, &news, WEXITED | WNOWAIT | flags);
		if (failed && errno != EINTR) { /* somebody else waited for it: nothing to know */
			spawn->ended = true;
			spawn->code = CHILD_LEFT;
		} else if (!failed && !is_end(&news)) {
			if (flags & WNOHANG)
				return;
			clock_sleep_until(clock_now_ns() + STOP_NAP_NS);
		}
	}
	if (spawn->ended)
		return;
	spawn->ended = true;
	spawn->code = news.si_code == CLD_EXITED ? news.si_status : 128 + news.si_status;
	waitpid(spawn->pid, NULL, 0);
}

bool spawn_poll(struct spawn *spawn)
{
	reap(spawn, WNOHANG);
	return spawn->ended;
}

int spawn_wait(struct spawn *spawn)
{
	reap(spawn, 0);
	return spawn->code;
}
