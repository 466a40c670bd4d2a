/* SPDX-License-Identifier: Apache-2.0
 * maps.h - the text of /proc/PID/maps as struct maps.
 *
 * Private to this folder and its tests. */
#pragma once
#include "target/target.h"

enum {
	MAPPINGS_MAX = 1 << 20,    /* the kernel's default is 65,530 a process */
	MAPS_PATHS_MAX = 64 << 20, /* bytes of path names; runs of the same file share one */
	MAPS_LINE_MAX = 64 << 10,  /* a path is at the most 4,096 bytes, 4 times that escaped */
};

/* Appends the mappings of the whole lines in `text`. Returns how many bytes it took: up to and with
 * the last newline; on bad data nothing and err. */
bool maps_add_text(struct maps *maps, const char *text, size_t length, size_t *taken,
		   struct err *err);
/* One more, in place of what was there; its own `path` is not looked at. False: out of memory, and nothing has changed. */
bool maps_put(struct maps *maps, const struct mapping *mapping, const char *path);
void maps_free(struct maps *maps);
