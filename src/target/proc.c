/* SPDX-License-Identifier: Apache-2.0
 * proc.c - see proc.h.
 *
 * A comm may hold any byte but NUL: blanks, newlines, "(x) R 1 2".  What comes
 * behind it in a stat file are numbers and one letter, so the last ')' of the
 * file is the end of the name, and nothing else is. */
#include "target/proc.h"

#include "base/cleanup.h"
#include "base/spread.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int proc_open(u32 pid)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/%u", pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int proc_open_root(void)
{
	return open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

ssize_t proc_reread(int fd, char *out, size_t size)
{
	ssize_t length;

	do
		length = pread(fd, out, size - 1, 0);
	while (length < 0 && errno == EINTR);
	out[length > 0 ? length : 0] = 0;
	return length;
}

ssize_t proc_read_whole(int dir, const char *name, char *out, size_t size)
{
	AUTO_CLOSE int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t more = fd >= 0 ? 1 : -1;

	while (more > 0 && length + 1 < size) {
		more = read(fd, out + length, size - 1 - length);
		if (more < 0 && errno == EINTR)
			more = 1;
		else if (more > 0)
			length += (size_t)more;
	}
	out[length] = 0;
	return fd < 0 || (more < 0 && !length) ? -1 : (ssize_t)length;
}

bool proc_cannot_open(void)
{
	return errno == EMFILE || errno == ENFILE || errno == ENOMEM;
}

ssize_t proc_read(int dir, const char *name, char *out, size_t size)
{
	AUTO_CLOSE int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		return proc_reread(fd, out, size);
	out[0] = 0;
	return -1;
}

/* --- numbers ----------------------------------------------------------------------------- */

u64 proc_decimal(const char **at)
{
	u64 value = 0;

	for (; **at >= '0' && **at <= '9'; (*at)++)
		value = value * 10 + (u64)(**at - '0');
	return value;
}

u64 proc_hex(const char **at)
{
	u64 value = 0;

	for (;; (*at)++) {
		char c = **at;
		if (c >= '0' && c <= '9')
			value = value << 4 | (u64)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (u64)(c - 'a' + 10);
		else
			return value;
	}
}

/* --- stat -------------------------------------------------------------------------------- */

/* Numbers of fields as proc(5) counts them. */
enum stat_field {
	STAT_PARENT = 4,
	STAT_FLAGS = 9,
	STAT_USER_TICKS = 14,
	STAT_SYSTEM_TICKS = 15,
	STAT_THREADS = 20,
	STAT_START_TIME = 22,
	STAT_START_CODE = 26,
	STAT_END_CODE = 27,
	STAT_START_STACK = 28,
	STAT_START_DATA = 45,
	STAT_END_DATA = 46,
};

static void take_field(struct proc_stat *out, u32 field, u64 value)
{
	switch (field) {
	case STAT_PARENT:
		out->parent = (u32)value;
		break;
	case STAT_FLAGS:
		out->flags = (u32)value;
		break;
	case STAT_USER_TICKS:
		out->user_ticks = value;
		break;
	case STAT_SYSTEM_TICKS:
		out->system_ticks = value;
		break;
	case STAT_THREADS:
		out->threads = (u32)value;
		break;
	case STAT_START_TIME:
		out->start_time = value;
		break;
	case STAT_START_CODE:
	case STAT_END_CODE:
	case STAT_START_STACK:
	case STAT_START_DATA:
	case STAT_END_DATA:
		if (value > 1) /* the kernel prints 0 or 1 to those who may not know */
			out->image = (out->image ^ value) * SPREAD;
		break;
	}
}

bool proc_parse_stat(const char *text, size_t length, struct proc_stat *out)
{
	const char *open = memchr(text, '(', length);
	const char *close = memrchr(text, ')', length);

	*out = (struct proc_stat){ 0 };
	if (!open || !close || close < open || text + length - close < 3)
		return false;
	size_t comm = (size_t)(close - open - 1);
	memcpy(out->comm, open + 1, comm < COMM_SIZE - 1 ? comm : COMM_SIZE - 1);
	out->state = close[2];

	const char *at = close + 3;
	u32 field = 3;
	while (*at == ' ') {
		at++;
		field++;
		if (*at == '-')
			at++;
		take_field(out, field, proc_decimal(&at));
	}
	return field >= STAT_START_TIME;
}

bool proc_read_stat(int dir, struct proc_stat *out)
{
	char text[PROC_TEXT_MAX];
	ssize_t length = proc_read(dir, "stat", text, sizeof text);

	if (length < 0)
		return false;
	if (proc_parse_stat(text, (size_t)length, out))
		return true;
	errno = length ? EBADMSG : ESRCH;
	return false;
}

bool proc_stat_ended(const struct proc_stat *stat)
{
	return stat->state == 'X' || stat->state == 'x' ||
	       (stat->state == 'Z' && stat->threads <= 1);
}

/* --- status ------------------------------------------------------------------------------ */

const char *proc_status_field(const char *status, const char *name)
{
	size_t length = strlen(name);

	for (const char *line = status; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, length) == 0 && line[length] == ':')
			return line + length + 1;
	}
	return NULL;
}

u32 proc_inner_pid(const char *status, u32 *levels)
{
	const char *at = proc_status_field(status, "NSpid");
	u32 pid = 0;

	*levels = 0;
	while (at && (*at == '\t' || *at == ' ')) {
		at++;
		if (*at < '0' || *at > '9')
			break;
		pid = (u32)proc_decimal(&at);
		(*levels)++;
	}
	return pid;
}

const char *proc_path_below(const char *path, const char *root)
{
	size_t length = strlen(root);

	if (length > 1 && strncmp(path, root, length) == 0 && path[length] == '/')
		return path + length;
	return path;
}

/* --- directories ------------------------------------------------------------------------- */

bool proc_list_numbers(int dir, const char *name, proc_number_fn *each, void *arg)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
	bool more = true;

	if (!list) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	errno = 0;
	for (struct dirent *entry; more && (entry = readdir(list));) {
		const char *at = entry->d_name;
		u64 number = proc_decimal(&at);
		if (number && number <= UINT32_MAX && !*at)
			more = each(arg, (u32)number);
	}
	int why = more ? errno : 0;
	closedir(list);
	errno = why;
	return more && !why;
}
