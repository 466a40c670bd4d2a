/* SPDX-License-Identifier: Apache-2.0
 * signals.c - Ctrl-C, kill and hang-up, each in a process of its own that says how it went. */
#include "cli/signals.h"
#include "base/cleanup.h"
#include "check.h"
#include "engines/engine.h"
#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the process under test returns. */
enum { WENT_ON = 10, STOPPED = 20, CHILD_GOT = 40 };

static int verdict(void)
{
	if (!signals_stop())
		return engine_interrupted() ? 1 : WENT_ON;
	return engine_interrupted() ? STOPPED : 2;
}

/* Runs `fn` with a temporary file; how the process ended, and whether the file is still there. */
static int status_of(int (*fn)(void), bool *file_left)
{
	char path[] = "/tmp/sonde-signals-XXXXXX";
	int status, fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	pid_t pid = fork();
	if (pid == 0) {
		engine_clear_interrupt();
		signals_begin();
		signals_set_temporary(path);
		_exit(fn());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	*file_left = access(path, F_OK) == 0;
	unlink(path);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int interrupt_once(void)
{
	signals_watch(0);
	raise(SIGINT);
	return verdict();
}

static int interrupt_twice(void)
{
	signals_watch(0);
	raise(SIGINT);
	raise(SIGINT);
	return verdict();
}

static int terminate(void)
{
	signals_watch(0);
	raise(SIGTERM);
	return verdict();
}

static int hang_up(void)
{
	signals_watch(0);
	raise(SIGHUP);
	return verdict();
}

static int hang_up_under_nohup(void)
{
	signal(SIGHUP, SIG_IGN);
	signals_begin();
	signals_watch(0);
	raise(SIGHUP);
	return verdict();
}

static int write_to_a_closed_pipe(void)
{
	int pipes[2];

	signals_watch(0);
	if (pipe(pipes) != 0)
		return 3;
	close(pipes[0]);
	return write(pipes[1], "", 1) == -1 ? verdict() : 4;
}

static void attached(void **state)
{
	static const struct {
		int (*fn)(void);
		int status;
		bool file_left;
	} rows[] = {
		{ interrupt_once, STOPPED, true },      { interrupt_twice, 128 + SIGINT, false },
		{ terminate, STOPPED, true },           { hang_up, STOPPED, true },
		{ hang_up_under_nohup, WENT_ON, true }, { write_to_a_closed_pipe, WENT_ON, true },
	};
	(void)state;

	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		bool file_left;

		assert_int_equal(status_of(rows[i].fn, &file_left), rows[i].status);
		assert_int_equal(file_left, rows[i].file_left);
	}
}

/* With a command: a child that ends with CHILD_GOT when `number` reaches it. */
static int with_child(int number)
{
	int status, ready[2];
	char byte;

	if (pipe(ready) != 0)
		return 3;
	pid_t child = fork();
	if (child == 0) {
		sigset_t wanted;
		int got;

		sigemptyset(&wanted);
		sigaddset(&wanted, number);
		sigprocmask(SIG_BLOCK, &wanted, NULL);
		(void)!write(ready[1], "", 1);
		_exit(sigwait(&wanted, &got) == 0 && got == number ? CHILD_GOT : 5);
	}
	if (read(ready[0], &byte, 1) != 1)
		return 6;
	signals_watch(child);
	raise(number);
	if (number == SIGINT)
		kill(child, SIGKILL); /* a kill -INT of sonde is not for the child */
	if (waitpid(child, &status, 0) != child)
		return 7;
	return verdict() + (WIFEXITED(status) ? WEXITSTATUS(status) : 0);
}

static int child_terminate(void)
{
	return with_child(SIGTERM);
}

static int child_hang_up(void)
{
	return with_child(SIGHUP);
}

static int child_interrupt(void)
{
	return with_child(SIGINT);
}

static void with_a_command(void **state)
{
	bool file_left;
	(void)state;

	assert_int_equal(status_of(child_terminate, &file_left), STOPPED + CHILD_GOT);
	assert_int_equal(status_of(child_hang_up, &file_left), STOPPED + CHILD_GOT);
	assert_int_equal(status_of(child_interrupt, &file_left), STOPPED);
}

/* A terminal's Ctrl-C, which reaches the command by itself: the first is none of our business.
 * `presses` of them, then the process says how it is. */
static int after_presses(int presses)
{
	int master, status;
	char byte = 0;
	pid_t pid = forkpty(&master, NULL, NULL, NULL);

	assert_true(pid >= 0);
	if (pid == 0) {
		sigset_t interrupt, before;

		engine_clear_interrupt();
		signals_begin();
		signals_watch(1 << 30); /* above every pid: nothing is hit by mistake */
		sigemptyset(&interrupt);
		sigaddset(&interrupt, SIGINT);
		sigprocmask(SIG_BLOCK, &interrupt, &before);
		for (int i = 0; i < presses; i++) {
			(void)!write(STDOUT_FILENO, "?", 1);
			sigsuspend(&before);
		}
		_exit(verdict());
	}
	for (int i = 0; i < presses; i++) {
		do
			assert_int_equal(read(master, &byte, 1), 1);
		while (byte != '?');
		assert_int_equal(write(master, "\x03", 1), 1);
	}
	/* Until the process has closed its side, or it could never drain its output. */
	while (read(master, &byte, 1) == 1)
		;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(master);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void on_a_terminal_with_a_command(void **state)
{
	(void)state;
	assert_int_equal(after_presses(1), WENT_ON);
	assert_int_equal(after_presses(2), STOPPED);
	assert_int_equal(after_presses(3), 128 + SIGINT);
}

/* Whoever runs the tests may ignore what they are about: nohup does, and a shell for what it puts behind itself. */
static void begin_like_a_terminal(void)
{
	static const int numbers[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE };

	for (u32 i = 0; i < COUNT_OF(numbers); i++)
		signal(numbers[i], SIG_DFL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attached),
		cmocka_unit_test(with_a_command),
		cmocka_unit_test(on_a_terminal_with_a_command),
	};
	begin_like_a_terminal();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
