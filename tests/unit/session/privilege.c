/* SPDX-License-Identifier: Apache-2.0
 * privilege.c - who called sudo is believed only when it can be true. */
#include "session/privilege.h"
#include "check.h"
#include <linux/capability.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void only_whole_numbers_are_users(void **state)
{
	static const struct {
		const char *uid, *gid;
		bool good; /* for root */
	} rows[] = {
		{ "65534", "65534", true },
		{ "1000", "100", true },
		{ "0", "0", false }, /* root called it: there is nothing to drop */
		{ "-1", "100", false },
		{ "4294967295", "100", false }, /* (uid_t)-1 leaves the user as it is */
		{ "4294968296", "100", false }, /* 1000 in 32 bits */
		{ "1000", NULL, false },
		{ NULL, "100", false },
		{ "1000x", "100", false },
		{ "", "", false },
		{ " 1000", "100", false },
	};
	(void)state;

	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		struct spawn_identity identity;

		unsetenv("SUDO_UID");
		unsetenv("SUDO_GID");
		if (rows[i].uid)
			setenv("SUDO_UID", rows[i].uid, 1);
		if (rows[i].gid)
			setenv("SUDO_GID", rows[i].gid, 1);
		bool found = privilege_read_sudo(&identity);
		assert_int_equal(found, rows[i].good && geteuid() == 0);
		assert_int_equal(identity.drop, found);
		assert_true(found || identity.uid == 0);
	}
}

static void the_name_comes_from_the_user_list(void **state)
{
	const struct passwd *nobody = getpwnam("nobody");
	struct spawn_identity identity;
	char uid[16];
	(void)state;

	if (geteuid() != 0 || !nobody)
		skip();
	snprintf(uid, sizeof uid, "%u", nobody->pw_uid);
	setenv("SUDO_UID", uid, 1);
	setenv("SUDO_GID", uid, 1);
	setenv("SUDO_USER", "somebody-else", 1);
	assert_true(privilege_read_sudo(&identity));
	assert_string_equal(identity.name, "nobody");
	assert_string_equal(identity.home, nobody->pw_dir);
}

/* Against the other place where the kernel says it. */
static void capabilities_are_those_of_proc(void **state)
{
	FILE *file = fopen("/proc/self/status", "r");
	unsigned long long effective = 0;
	char line[256];
	(void)state;

	assert_non_null(file);
	while (fgets(line, sizeof line, file))
		if (!strncmp(line, "CapEff:", 7))
			effective = strtoull(line + 7, NULL, 16);
	fclose(file);
	for (u32 i = 0; i < 64; i++)
		assert_int_equal(privilege_has_capability(i), effective >> i & 1);
	assert_false(privilege_has_capability(1000));
}

static void sysctls(void **state)
{
	s64 value = 0;
	(void)state;

	assert_true(privilege_read_sysctl("kernel/pid_max", &value));
	assert_true(value > 300);
	assert_false(privilege_read_sysctl("kernel/no_such_sysctl", &value));
	assert_false(privilege_read_sysctl("kernel/ostype", &value)); /* "Linux" */
}

typedef void drop_fn(void);

/* In a child, since it is for good: what is kept is as it was, what is given up is gone. */
static void check_drop(drop_fn *drop, const u32 *kept, u32 kept_count, const u32 *given_up,
		       u32 given_up_count)
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		bool had[8], good = kept_count <= COUNT_OF(had);
		for (u32 i = 0; good && i < kept_count; i++)
			had[i] = privilege_has_capability(kept[i]);
		drop();
		for (u32 i = 0; good && i < kept_count; i++)
			good = privilege_has_capability(kept[i]) == had[i];
		for (u32 i = 0; i < given_up_count; i++)
			good &= !privilege_has_capability(given_up[i]);
		_exit(good ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void what_a_run_needs_no_more_is_given_up(void **state)
{
	static const u32 kept[] = { CAP_SYS_PTRACE, CAP_BPF, CAP_PERFMON, CAP_DAC_OVERRIDE };
	static const u32 given_up[] = { CAP_SYS_ADMIN, CAP_SYS_MODULE, CAP_NET_ADMIN,
					CAP_SYS_RAWIO };

	(void)state;
	check_drop(privilege_drop, kept, COUNT_OF(kept), given_up, COUNT_OF(given_up));
}

/* Also where nothing could be given up before (a container with CAP_SYS_ADMIN alone). */
static void sampling_takes_more_than_writing(void **state)
{
	static const u32 kept[] = { CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE, CAP_CHOWN };
	static const u32 given_up[] = { CAP_SYS_ADMIN, CAP_SYS_PTRACE, CAP_BPF,
					CAP_PERFMON,   CAP_SETUID,     CAP_CHECKPOINT_RESTORE };

	(void)state;
	check_drop(privilege_drop_sampling, kept, COUNT_OF(kept), given_up, COUNT_OF(given_up));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_whole_numbers_are_users),
		cmocka_unit_test(the_name_comes_from_the_user_list),
		cmocka_unit_test(capabilities_are_those_of_proc),
		cmocka_unit_test(what_a_run_needs_no_more_is_given_up),
		cmocka_unit_test(sampling_takes_more_than_writing),
		cmocka_unit_test(sysctls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
