/* SPDX-License-Identifier: Apache-2.0
 * in.c - see in.h. */
#include "base/in.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_LEAST = 64 * 1024 };

bool in_open_file(struct in *in, const char *path, struct err *err)
{
	struct stat st;

	*in = (struct in){ .fd = -1 };
	if (!strcmp(path, "-")) {
		in->fd = STDIN_FILENO;
		return true;
	}
	/* O_NONBLOCK: opening a FIFO would wait for its writer; files do not know the word */
	in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (in->fd < 0)
		return err_sys(err, errno, "cannot read %s", path);
	if (fstat(in->fd, &st) != 0 || S_ISDIR(st.st_mode)) {
		in_close(in);
		return err_sys(err, EISDIR, "cannot read %s", path);
	}
	return true;
}

bool in_open_memory(struct in *in, const void *bytes, size_t length)
{
	u8 *copy = malloc(length + 1);

	if (copy && length)
		memcpy(copy, bytes, length);
	in_take_memory(in, copy, copy ? length : 0);
	return copy != NULL;
}

void in_take_memory(struct in *in, void *bytes, size_t length)
{
	*in = (struct in){ .fd = -1, .buffer = bytes, .end = length, .ended = true };
}

void in_close(struct in *in)
{
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	free(in->buffer);
	*in = (struct in){ .fd = -1 };
}

static bool make_room(struct in *in, size_t want)
{
	if (in->begin) {
		memmove(in->buffer, in->buffer + in->begin, in->end - in->begin);
		in->end -= in->begin;
		in->begin = 0;
	}
	if (in->room >= want)
		return true;
	size_t room = in->room ? in->room : READ_LEAST;
	while (room < want)
		room *= 2;
	u8 *grown = realloc(in->buffer, room);
	if (!grown)
		return false;
	in->buffer = grown;
	in->room = room;
	return true;
}

static void read_some(struct in *in)
{
	ssize_t got = read(in->fd, in->buffer + in->end, in->room - in->end);

	if (got > 0) {
		in->end += (size_t)got;
	} else if (got == 0) {
		in->ended = true;
	} else if (errno == EAGAIN) {
		poll(&(struct pollfd){ .fd = in->fd, .events = POLLIN }, 1, -1);
	} else if (errno != EINTR) {
		in->errnum = errno;
		in->ended = true;
	}
}

size_t in_fill(struct in *in, size_t want)
{
	if (in->end - in->begin < want && !in->ended && !make_room(in, want)) {
		in->errnum = ENOMEM;
		in->ended = true;
	}
	while (in->end - in->begin < want && !in->ended)
		read_some(in);
	return in->end - in->begin;
}

void in_skip(struct in *in, size_t length)
{
	in->begin += length;
	in->offset += length;
}
