/* SPDX-License-Identifier: Apache-2.0
 * memory_file.c - see memory_file.h. */
#include "base/memory_file.h"

#include "base/cleanup.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

int memory_file(const char *name, const void *bytes, size_t size)
{
	AUTO_CLOSE int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0)
		return -1;
	ssize_t written = write(fd, bytes, size);
	if (written == (ssize_t)size)
		return take_fd(&fd);
	errno = written < 0 ? errno : ENOSPC;
	return -1;
}
