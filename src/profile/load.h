/* SPDX-License-Identifier: Apache-2.0
 * load.h - a profile from a file: a recording of ours, or what another profiler wrote.
 *
 * What the file is is told by its first bytes, never by its name. To add a format: one file with one
 * const struct importer, named in meson.build; its extern here and its line in load.c. */
#pragma once
#include "base/in.h"
#include "profile/profile.h"

struct load_options {
	u64 from_ns, to_ns; /* since the start; to_ns 0: to the end */
	const char *thread; /* a tid or a name; NULL: all */
	u32 timeline_cells; /* see timeline.h */
};

struct load_result {
	const char *format; /* "sonde", "pprof", "folded" */
	bool has_times;     /* from_ns and to_ns mean something */
	u64 left_out;       /* samples that the options did not want */
	char missing[300];  /* what of the file could not be read, or "" */
};

struct importer {
	const char *format;
	/* Is it one? Looks at the window only. */
	bool (*is_mine)(struct in *in);
	bool (*read)(struct in *in, struct profile *profile, const struct load_options *options,
		     struct load_result *result, struct err *err);
};

extern const struct importer pprof_importer, folded_importer;

/* "-" is standard input. The profile is initialised here; free it also when this fails. */
bool profile_load(const char *path, const struct load_options *options, struct profile *profile,
		  struct load_result *result, struct err *err);
/* Does an option name this thread? */
bool load_wants(const struct load_options *options, const struct profile *profile, u32 thread);
