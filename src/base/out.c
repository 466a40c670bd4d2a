/* SPDX-License-Identifier: Apache-2.0
 * out.c - see out.h.
 *
 * A file is written as ".sonde-PID-N.partial" in the directory of its final name,
 * because rename() is atomic only inside one file system.  A path that is a device
 * (/dev/null) is written in place: renaming over it would replace the device. */
#include "base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	BUFFER_SIZE = 64 * 1024,
	TEMPORARY_TRIES = 100, /* left behind by earlier processes of our pid */
};

static struct {
	bool set;
	uid_t uid;
	gid_t gid;
} owner;

void out_set_owner(u32 uid, u32 gid)
{
	owner.set = true;
	owner.uid = uid;
	owner.gid = gid;
}

/* The directory's name with its slash, then `name`; NULL when out of memory. */
static char *path_beside(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');
	size_t directory = slash ? (size_t)(slash - path) + 1 : 0;
	char *beside = malloc(directory + strlen(name) + 1);

	if (beside) {
		memcpy(beside, path, directory);
		strcpy(beside + directory, name);
	}
	return beside;
}

static bool open_temporary(struct out *out, struct err *err)
{
	for (u32 n = 0; n < TEMPORARY_TRIES; n++) {
		char name[64];

		snprintf(name, sizeof name, ".sonde-%d-%u.partial", (int)getpid(), n);
		free(out->temporary);
		out->temporary = path_beside(out->path, name);
		if (!out->temporary)
			return err_no_memory(err);
		out->fd = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			       0600);
		if (out->fd >= 0 || errno != EEXIST)
			break;
	}
	if (out->fd < 0)
		return err_sys(err, errno, "cannot write %s", out->path);
	out->atomic = true;
	/* A file system without owners refuses; the profile is worth more than its owner. */
	if (owner.set)
		(void)!fchown(out->fd, owner.uid, owner.gid);
	return true;
}

/* What stands at the path already decides how it is written. */
static bool open_path(struct out *out, struct err *err)
{
	struct stat st;
	size_t length = strlen(out->path);

	if (!length || out->path[length - 1] == '/')
		return err_set(err, ERR_USAGE, "cannot write \"%s\": no file name", out->path);
	if (lstat(out->path, &st) != 0)
		return open_temporary(out, err);
	switch (st.st_mode & S_IFMT) {
	case S_IFREG:
		return open_temporary(out, err);
	case S_IFDIR:
		return err_sys(err, EISDIR, "cannot write %s", out->path);
	case S_IFLNK:
		return err_set(
			err, ERR_USAGE,
			"cannot write %s: it is a symbolic link, and those are not followed; "
			"name the file itself, or \"-\" for standard output",
			out->path);
	case S_IFCHR:
		out->fd = open(out->path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
		return out->fd >= 0 || err_sys(err, errno, "cannot write %s", out->path);
	default:
		return err_set(err, ERR_USAGE, "cannot write %s: not a regular file", out->path);
	}
}

bool out_open_file(struct out *out, const char *path, struct err *err)
{
	*out = (struct out){ .fd = -1, .room = BUFFER_SIZE };
	out->path = strdup(path);
	out->buffer = malloc(out->room);
	bool opened = out->path && out->buffer ? true : err_no_memory(err);

	if (opened && !strcmp(path, "-"))
		out->fd = STDOUT_FILENO;
	else if (opened)
		opened = open_path(out, err);
	if (!opened)
		out_abandon(out);
	return opened;
}

void out_open_memory(struct out *out)
{
	*out = (struct out){ .fd = -1 };
}

bool out_open_writer(struct out *out, out_writer *writer, void *arg)
{
	*out = (struct out){ .fd = -1, .writer = writer, .arg = arg, .room = BUFFER_SIZE };
	out->buffer = malloc(out->room);
	if (!out->buffer)
		*out = (struct out){ .fd = -1, .errnum = ENOMEM };
	return out->buffer;
}

static bool is_memory(const struct out *out)
{
	return out->fd < 0 && !out->writer;
}

/* Everything, or errnum is set. Standard output may be a pipe that was made non-blocking. */
static void write_all(struct out *out, const u8 *bytes, size_t length)
{
	if (out->writer) {
		out->writer(out->arg, bytes, length);
		return;
	}
	while (length && !out->errnum) {
		ssize_t n = write(out->fd, bytes, length);

		if (n > 0) {
			bytes += n;
			length -= (size_t)n;
		} else if (n == 0) {
			out->errnum = EIO;
		} else if (errno == EAGAIN) {
			poll(&(struct pollfd){ .fd = out->fd, .events = POLLOUT }, 1, -1);
		} else if (errno != EINTR) {
			out->errnum = errno;
		}
	}
}

void out_flush(struct out *out)
{
	if (is_memory(out))
		return;
	write_all(out, out->buffer, out->used);
	out->used = 0;
}

/* Room for `more` bytes behind `used`; a file's buffer is flushed, memory grows. */
static bool reserve(struct out *out, size_t more)
{
	if (out->errnum)
		return false;
	if (out->room - out->used >= more)
		return true;
	if (!is_memory(out))
		out_flush(out);
	if (out->room - out->used >= more)
		return !out->errnum;
	if (more > SIZE_MAX / 4 - out->used) {
		out->errnum = ENOMEM;
		return false;
	}
	size_t room = out->room ? out->room : 4096;
	while (room - out->used < more)
		room *= 2;
	u8 *grown = realloc(out->buffer, room);
	if (!grown) {
		out->errnum = ENOMEM;
		return false;
	}
	out->buffer = grown;
	out->room = room;
	return !out->errnum;
}

void out_bytes(struct out *out, const void *bytes, size_t length)
{
	if (!length)
		return;
	if (!is_memory(out) && length >= BUFFER_SIZE) {
		out_flush(out);
		write_all(out, bytes, length);
	} else if (reserve(out, length)) {
		memcpy(out->buffer + out->used, bytes, length);
		out->used += length;
	}
	if (!out->errnum)
		out->written += length;
}

void out_text(struct out *out, const char *text)
{
	out_bytes(out, text, strlen(text));
}

void outf(struct out *out, const char *format, ...)
{
	va_list args, again;

	va_start(args, format);
	va_copy(again, args);
	int length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (length < 0 && !out->errnum)
		out->errnum = errno;
	/* One byte more, for the NUL that vsnprintf insists on. */
	if (length > 0 && reserve(out, (size_t)length + 1)) {
		vsnprintf((char *)out->buffer + out->used, (size_t)length + 1, format, again);
		out->used += (size_t)length;
		out->written += (u64)length;
	}
	va_end(again);
}

void out_publish(struct out *out)
{
	out_flush(out);
	if (out->atomic && !out->errnum && rename(out->temporary, out->path) != 0)
		out->errnum = errno;
	out->atomic &= out->errnum != 0;
}

static void fini(struct out *out)
{
	free(out->path);
	free(out->temporary);
	free(out->buffer);
	*out = (struct out){ .fd = -1 };
}

bool out_close(struct out *out, struct err *err)
{
	const char *path = out->path ? out->path : "memory";
	bool is_standard = out->fd == STDOUT_FILENO && !strcmp(path, "-");

	out_flush(out);
	/* Some file systems tell only here that the disk or the quota was full. */
	if (out->fd >= 0 && !is_standard && close(out->fd) != 0 && !out->errnum)
		out->errnum = errno;
	out->fd = -1;
	out_publish(out);
	if (out->atomic)
		unlink(out->temporary);

	bool whole = out->errnum == 0;
	if (!whole)
		err_sys(err, out->errnum, "cannot write %s",
			is_standard ? "standard output" : path);
	fini(out);
	return whole;
}

void out_abandon(struct out *out)
{
	if (out->fd >= 0 && strcmp(out->path, "-") != 0)
		close(out->fd);
	if (out->atomic)
		unlink(out->temporary);
	fini(out);
}
