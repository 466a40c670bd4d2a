/* SPDX-License-Identifier: Apache-2.0
 * must.h - the end of a program that cannot do what it is for. */
#pragma once
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}
