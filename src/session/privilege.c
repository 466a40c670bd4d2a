/* SPDX-License-Identifier: Apache-2.0
 * privilege.c - see privilege.h.
 *
 * SUDO_UID and its kin are believed only from root: for anybody else there is
 * nobody to become. */
#include "session/privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

/* A user or group number: decimal, and not -1, which means "leave it" to the kernel. */
static bool parse_id(const char *text, u32 *out)
{
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	unsigned long id = strtoul(text, &end, 10);
	if (errno || *end || id >= UINT32_MAX)
		return false;
	*out = (u32)id;
	return true;
}

bool privilege_read_sudo(struct spawn_identity *out)
{
	const char *name = getenv("SUDO_USER");

	*out = (struct spawn_identity){ 0 };
	if (geteuid() != 0 || !parse_id(getenv("SUDO_UID"), &out->uid) || out->uid == 0 ||
	    !parse_id(getenv("SUDO_GID"), &out->gid)) {
		*out = (struct spawn_identity){ 0 };
		return false;
	}
	const struct passwd *user = getpwuid(out->uid);
	if (user)
		name = user->pw_name;
	snprintf(out->name, sizeof out->name, "%s", name ? name : "");
	snprintf(out->home, sizeof out->home, "%s", user ? user->pw_dir : "");
	out->drop = true;
	return true;
}

bool privilege_has_capability(u32 capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (capability / 32 >= COUNT_OF(data) || syscall(SYS_capget, &header, data) != 0)
		return false;
	return data[capability / 32].effective >> capability % 32 & 1;
}

/* False: not all of `needed` are permitted, and nothing is given up. */
static bool keep(const u32 *kept, u32 count, const u32 *needed, u32 needed_count)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
	u32 mask[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &header, data) != 0)
		return false;
	for (u32 i = 0; i < count; i++)
		mask[kept[i] / 32] |= 1u << kept[i] % 32;
	for (u32 i = 0; i < needed_count; i++)
		if (!(data[needed[i] / 32].permitted >> needed[i] % 32 & 1))
			return false;
	for (u32 i = 0; i < COUNT_OF(data); i++) {
		data[i].effective &= mask[i];
		data[i].permitted &= mask[i];
		data[i].inheritable &= mask[i];
	}
	return syscall(SYS_capset, &header, data) == 0;
}

void privilege_drop(void)
{
	static const u32 kept[] = {
		CAP_CHOWN,
		CAP_DAC_OVERRIDE,
		CAP_DAC_READ_SEARCH,
		CAP_FOWNER,
		CAP_KILL,
		CAP_SETGID,
		CAP_SETUID,   /* files are opened as the target's user */
		CAP_IPC_LOCK, /* a ring of perf's for each thread that runs */
		CAP_SYS_PTRACE,
		CAP_SYSLOG,
		CAP_PERFMON,
		CAP_BPF,
		CAP_CHECKPOINT_RESTORE, /* /proc/PID/map_files */
	};
	/* CAP_SYS_ADMIN stands for those of CAP_BPF's word where a container has only that, or Linux < 5.8 */
	static const u32 needed[] = { CAP_SYSLOG, CAP_PERFMON, CAP_BPF, CAP_CHECKPOINT_RESTORE };

	keep(kept, COUNT_OF(kept), needed, COUNT_OF(needed));
}

void privilege_drop_sampling(void)
{
	static const u32 kept[] = {
		CAP_CHOWN,  CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH,
		CAP_FOWNER, CAP_KILL, /* signals for the command, which is its user's */
	};

	keep(kept, COUNT_OF(kept), NULL, 0);
}

bool privilege_read_sysctl(const char *name, s64 *out)
{
	char path[128], text[32];
	char *end;

	snprintf(path, sizeof path, "/proc/sys/%s", name);
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
	if (n <= 0)
		return false;
	text[n] = 0;
	*out = strtoll(text, &end, 10);
	return end != text;
}
