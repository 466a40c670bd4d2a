/* SPDX-License-Identifier: Apache-2.0
 * top_live.h - the two loops of `sonde top`: a screen with keys, and text every few seconds. */
#pragma once
#include "cli/top_screen.h"
#include "cli/top_sources.h"
#include "session/spawn.h"

enum top_end {
	TOP_GOES_ON,
	TOP_END_QUIT,
	TOP_END_SIGNAL,
	TOP_END_TIME,
	TOP_END_GONE,    /* nothing is left to sample */
	TOP_END_COMMAND, /* our own child has ended */
	TOP_END_OUTPUT,  /* nobody reads what is printed */
};

struct top_live {
	struct top_model *model;
	struct top_sources *sources;
	struct top_screen screen;
	struct spawn *command; /* NULL: attached */
	bool all;              /* new processes join */
	u32 pid;               /* for the names of files */
	u32 limit;             /* rows of a table in text */
	u64 end_ns;
	u64 next_find_ns;
	bool has_warned;
	struct err err;     /* why the last session ended */
	struct str written; /* names of the files written */
};

enum top_end top_live_screen(struct top_live *live);
enum top_end top_live_text(struct top_live *live);
/* Neither: until it is over. */
enum top_end top_live_wait(struct top_live *live);
/* The first warning of those that are sampled, once; NULL: none, or the user has it. */
const char *top_live_warning(struct top_live *live);
