/* SPDX-License-Identifier: Apache-2.0
 * cleanup.h - handles that close themselves at the end of their scope.
 *
 *	AUTO_CLOSE int fd = open(...);      closed if >= 0
 *	AUTO_FREE char *text = malloc(...); freed
 *
 * One idiom for handles; memory of longer life goes to an arena (arena.h). */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_close(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_free(void *pointer)
{
	free(*(void **)pointer);
}

static inline void cleanup_fclose(FILE **file)
{
	if (*file)
		fclose(*file);
}

#define AUTO_CLOSE __attribute__((cleanup(cleanup_close)))
#define AUTO_FREE __attribute__((cleanup(cleanup_free)))
#define AUTO_FCLOSE __attribute__((cleanup(cleanup_fclose)))

/* Hands a handle over: the scope's end will not close it. */
static inline int take_fd(int *fd)
{
	int taken = *fd;
	*fd = -1;
	return taken;
}
