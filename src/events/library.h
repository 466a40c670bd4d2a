/* SPDX-License-Identifier: Apache-2.0
 * library.h - the file that LIBRARY means in the name of a probe; private to this folder. */
#pragma once
#include "events/events.h"

struct image;

struct library {
	char name[EVENT_NAME_MAX]; /* as it was given */
	const char *rest;          /* of the pattern, behind it; borrowed */
	int file;                  /* the list's */
	struct image *image;
};

/* Splits "LIBRARY:REST" and opens the file. A path is one of the target's root; a name is "libc.so.6", "libc" or "c", of what
 * it maps, or else of what lies where libraries and programs are. */
bool library_open(struct library *library, struct event_list *list, const char *pattern,
		  const struct target *target, struct err *err);
void library_close(struct library *library);
/* The site of an event that was put, at a linked address. False: out of memory, or no such place in the file. */
bool library_add_site(struct event_list *list, const struct library *library, u32 event,
		      u64 address, u64 semaphore);
