/* SPDX-License-Identifier: Apache-2.0
 * spawn.c - a command started by sonde cannot tell: words, signals, descriptors, user, exit code.
 *
 * The command is this test itself: with "--report" it says on standard output what it sees. */
#include "session/spawn.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "check.h"
#include "session/privilege.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- the command ------------------------------------------------------------ */

static void report_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	const struct dirent *entry;

	printf("fds");
	for (int fd = 0; fd < 1024; fd++) {
		char name[16];

		snprintf(name, sizeof name, "%d", fd);
		rewinddir(directory);
		while ((entry = readdir(directory)) != NULL)
			if (!strcmp(entry->d_name, name) && fd != dirfd(directory))
				printf(" %d", fd);
	}
	printf("\n");
	closedir(directory);
}

static int report(int argc, char **argv)
{
	struct spawn_signals signals;
	gid_t groups[64];
	int count = getgroups(64, groups);

	for (int i = 2; i < argc; i++)
		printf("word [%s]\n", argv[i]);
	spawn_read_signals(&signals);
	printf("ignored %llx usr1-blocked %d\n", (unsigned long long)signals.ignored,
	       sigismember(&signals.mask, SIGUSR1));
	report_descriptors();
	printf("user %d %d %d %d home %s\n", (int)getuid(), (int)geteuid(), (int)getgid(),
	       (int)getegid(), getenv("HOME") ? getenv("HOME") : "");
	printf("groups");
	for (int i = 0; i < count; i++)
		printf(" %d", (int)groups[i]);
	printf("\n");
	return 0;
}

/* --- running it ------------------------------------------------------------- */

static char self[] = "/proc/self/exe";
static const struct spawn_identity nobody_else;

/* What the command said. */
static struct str output_of(char *const argv[], const struct spawn_identity *identity,
			    const struct spawn_signals *signals)
{
	struct str said = { 0 };
	struct spawn spawn;
	struct err err = { 0 };
	char bytes[256];
	int pipes[2];
	ssize_t n;

	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	fflush(stdout);
	AUTO_CLOSE int before = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	dup2(pipes[1], STDOUT_FILENO);
	bool started = spawn_start(&spawn, argv, identity, signals, &err);
	dup2(before, STDOUT_FILENO);
	close(pipes[1]);
	assert_true(started);
	assert_true(spawn_release(&spawn, &err));
	while ((n = read(pipes[0], bytes, sizeof bytes)) > 0)
		str_add(&said, bytes, (size_t)n);
	close(pipes[0]);
	assert_int_equal(spawn_wait(&spawn), 0);
	assert_false(said.bad);
	return said;
}

static bool has_line(const struct str *said, const char *line)
{
	const char *at = strstr(said->text, line);
	size_t length = strlen(line);

	return at && (at == said->text || at[-1] == '\n') && at[length] == '\n';
}

static int code_of(const char *script)
{
	char *const argv[] = { (char *)"sh", (char *)"-c", (char *)script, NULL };
	struct spawn spawn;
	struct err err = { 0 };

	assert_true(spawn_start(&spawn, argv, &nobody_else, NULL, &err));
	assert_true(spawn_release(&spawn, &err));
	return spawn_wait(&spawn);
}

/* --- tests ------------------------------------------------------------------ */

static void exit_codes_come_through(void **state)
{
	(void)state;
	assert_int_equal(code_of("exit 0"), 0);
	assert_int_equal(code_of("exit 7"), 7);
	assert_int_equal(code_of("exit 255"), 255);
	assert_int_equal(code_of("kill -TERM $$"), 128 + SIGTERM);
	assert_int_equal(code_of("kill -KILL $$"), 128 + SIGKILL);
}

static void what_cannot_run_says_why(void **state)
{
	static const struct {
		const char *path;
		int errnum;
	} rows[] = {
		{ "/nonexistent/program", ENOENT },
		{ "no-such-program-anywhere", ENOENT },
		{ "/etc/passwd", EACCES },
		{ "/tmp", EACCES },
	};
	(void)state;

	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		char *const argv[] = { (char *)rows[i].path, NULL };
		struct spawn spawn;
		struct err err = { 0 };

		assert_true(spawn_start(&spawn, argv, &nobody_else, NULL, &err));
		assert_false(spawn_release(&spawn, &err));
		assert_int_equal(err.errnum, rows[i].errnum);
		assert_int_equal(err.code, ERR_SYSTEM);
		assert_true(spawn.ended);
		assert_int_equal(waitpid(spawn.pid, NULL, 0), -1); /* nothing is left to wait for */
	}
}

static void an_empty_name_is_never_started(void **state)
{
	char *const argv[] = { (char *)"", NULL };
	struct spawn spawn;
	struct err err = { 0 };

	(void)state;
	assert_false(spawn_start(&spawn, argv, &nobody_else, NULL, &err));
	assert_int_equal(err.code, ERR_USAGE);
	assert_non_null(strstr(err.text, "an empty command name"));
}

static void it_waits_to_be_released(void **state)
{
	char path[] = "/tmp/sonde-spawn-XXXXXX";
	AUTO_CLOSE int fd = mkstemp(path);
	char *const argv[] = { (char *)"rm", path, NULL };
	struct spawn spawn;
	struct err err = { 0 };
	(void)state;

	assert_true(fd >= 0);
	assert_true(spawn_start(&spawn, argv, &nobody_else, NULL, &err));
	assert_false(spawn_poll(&spawn));
	/* Abandoned, it ends without having run. */
	spawn_abandon(&spawn);
	assert_true(spawn.ended);
	assert_int_equal(access(path, F_OK), 0);

	assert_true(spawn_start(&spawn, argv, &nobody_else, NULL, &err));
	assert_true(spawn_release(&spawn, &err));
	assert_int_equal(spawn_wait(&spawn), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_true(spawn_poll(&spawn));
}

static void words_arrive_as_they_are(void **state)
{
	char *const argv[] = {
		self,         (char *)"--report", (char *)"", (char *)"a b", (char *)"$x'\"*",
		(char *)"-p", (char *)"\xff",     NULL
	};
	struct str said = output_of(argv, &nobody_else, NULL);
	(void)state;

	assert_true(has_line(&said, "word []"));
	assert_true(has_line(&said, "word [a b]"));
	assert_true(has_line(&said, "word [$x'\"*]"));
	assert_true(has_line(&said, "word [-p]"));
	assert_true(has_line(&said, "word [\xff]"));
	str_free(&said);
}

static void signals_are_as_sonde_found_them(void **state)
{
	char *const argv[] = { self, (char *)"--report", NULL };
	struct spawn_signals found;
	char line[64];
	sigset_t blocked;
	(void)state;

	/* Found: SIGINT ignored (a shell's background job). Changed by sonde: the other way round. */
	signal(SIGINT, SIG_IGN);
	spawn_read_signals(&found);
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	struct str said = output_of(argv, &nobody_else, &found);
	sigprocmask(SIG_UNBLOCK, &blocked, NULL);
	signal(SIGPIPE, SIG_DFL);

	assert_false(found.ignored >> SIGPIPE & 1);
	assert_true(found.ignored >> SIGINT & 1);
	snprintf(line, sizeof line, "ignored %llx usr1-blocked 0",
		 (unsigned long long)found.ignored);
	assert_true(has_line(&said, line));
	str_free(&said);
}

static void no_descriptor_of_ours_is_seen(void **state)
{
	char *const argv[] = { self, (char *)"--report", NULL };
	char line[8192] = "fds";
	(void)state;

	/* Those that this test was itself started with, and no more. */
	AUTO_CLOSE int ours = open("/dev/null", O_RDONLY | O_CLOEXEC);
	for (int fd = 0; fd < 1024; fd++) {
		int flags = fcntl(fd, F_GETFD);
		size_t used = strlen(line);

		if (flags >= 0 && !(flags & FD_CLOEXEC))
			snprintf(line + used, sizeof line - used, " %d", fd);
	}
	struct str said = output_of(argv, &nobody_else, NULL);
	assert_true(ours >= 0);
	assert_true(has_line(&said, line));
	str_free(&said);
}

/* As root with sudo's variables; whoever is not root has nobody to become. */
static void under_sudo_it_is_the_caller(void **state)
{
	struct spawn_identity caller;
	(void)state;

	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534", 1);
	setenv("SUDO_USER", "nobody", 1);
	bool found = privilege_read_sudo(&caller);
	assert_int_equal(found, geteuid() == 0);
	if (!found)
		skip();
	/* By descriptor: the child may not reach the build's directory, only this file. */
	setgroups(2, (gid_t[]){ 0, 4 });
	int fd = open("/proc/self/exe", O_RDONLY);
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	char *const argv[] = { path, (char *)"--report", NULL };
	struct stat st;
	assert_int_equal(fstat(fd, &st), 0);
	if ((st.st_mode & S_IXOTH) == 0)
		skip();
	struct str said = output_of(argv, &caller, NULL);
	close(fd);
	setgroups(1, (gid_t[]){ 0 });
	char line[512];
	snprintf(line, sizeof line, "user 65534 65534 65534 65534 home %s", caller.home);
	assert_true(has_line(&said, line));
	assert_true(has_line(&said, "groups 65534"));
	str_free(&said);
}

/* --- while the engine has it stopped -------------------------------------------- */

/* A stop is news for who traces the command, be it this thread or another of ours. */
static void a_stop_is_no_end_and_is_left_for_its_tracer(void **state)
{
	char *argv[] = { "sleep", "100", NULL };
	struct spawn spawn;
	siginfo_t news = { 0 };
	int status;
	(void)state;

	assert_true(spawn_start(&spawn, argv, NULL, NULL, NULL));
	assert_true(spawn_release(&spawn, NULL));
	assert_int_equal(ptrace(PTRACE_SEIZE, spawn.pid, 0, 0), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, spawn.pid, 0, 0), 0);
	assert_int_equal(waitid(P_PID, (id_t)spawn.pid, &news, WSTOPPED | WNOWAIT), 0);
	assert_false(spawn_poll(&spawn));
	assert_int_equal(waitpid(spawn.pid, &status, WNOHANG), spawn.pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(ptrace(PTRACE_DETACH, spawn.pid, 0, 0), 0);
	assert_false(spawn_poll(&spawn));
	assert_int_equal(kill(spawn.pid, SIGKILL), 0);
	assert_int_equal(spawn_wait(&spawn), 128 + SIGKILL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exit_codes_come_through),
		cmocka_unit_test(what_cannot_run_says_why),
		cmocka_unit_test(an_empty_name_is_never_started),
		cmocka_unit_test(it_waits_to_be_released),
		cmocka_unit_test(words_arrive_as_they_are),
		cmocka_unit_test(signals_are_as_sonde_found_them),
		cmocka_unit_test(no_descriptor_of_ours_is_seen),
		cmocka_unit_test(under_sudo_it_is_the_caller),
		cmocka_unit_test(a_stop_is_no_end_and_is_left_for_its_tracer),
	};

	if (argc > 1 && !strcmp(argv[1], "--report"))
		return report(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
