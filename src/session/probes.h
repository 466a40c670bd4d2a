/* SPDX-License-Identifier: Apache-2.0
 * probes.h - what this machine and this user can do, each tried and not guessed.
 *
 * To add a probe: one function and one row in probes.c.  The row also says what the
 * thing is needed for and how to grant it, so that detection, diagnosis and
 * documentation cannot drift apart.  A probe leaves nothing behind and needs no network.
 * No answer is derived from the kernel's version: distributions backport, and
 * containers forbid. */
#pragma once
#include "base/types.h"

enum probe_outcome {
	PROBE_YES,
	PROBE_NO,
	PROBE_FACT, /* neither good nor bad: `found` is the answer */
};

struct probe_result {
	enum probe_outcome outcome;
	char found[160]; /* what was seen: a value, or why not */
};

struct probe {
	const char *name;  /* for programs: "read-child" */
	const char *title; /* "reading the memory of a child" */
	const char *means; /* of a fact: how to read it; NULL: it says it itself */
	/* of the others */
	const char *needed_for;
	const char *grant; /* what to do when it is missing, or NULL */
	void (*run)(struct probe_result *out);
};

extern const struct probe probes[];
extern const u32 probe_count;
