/* SPDX-License-Identifier: Apache-2.0
 * record_output.h - the file of a recording: which format, which name, and writing it.
 *
 * The file is opened before sampling starts, so that what cannot work is said then
 * and not after an hour.  A .sonde file is written while it is recorded (profile/recorder.h), the others at the
 * end; if one still cannot be written then, the profile is saved elsewhere: it cannot be taken
 * again. */
#pragma once
#include "export/exporter.h"
#include "profile/recorder.h"

enum { RECORD_PATH_MAX = 512 };

struct record_output {
	const struct exporter *exporter; /* NULL: a .sonde file */
	struct recorder *recorder;       /* of a .sonde file that is open */
	struct out out;                  /* of another */
	char path[RECORD_PATH_MAX];      /* "-": standard output */
	bool open;
	bool chosen; /* the user named it, and it is replaced; else the name is a new one */
};

/* The format by -f, else by the end of the name, else .sonde; NULL for what was not given.  Format
 * and file given the wrong way round, as rbspy has them, get a line of their own. */
bool record_output_choose(struct record_output *output, const char *path, const char *format,
			  struct err *err);
/* `pid` is for the default name, sonde-PID-TIME.sonde; 0: sonde-all-TIME.sonde. Nothing is at the path yet. */
bool record_output_open(struct record_output *output, u32 pid, struct err *err);
const char *record_output_format(const struct record_output *output);
/* Writes and closes. False: not written as asked, and err says so; then `path` is the file it was
 * saved in instead, or "". `size` is in bytes. */
bool record_output_write(struct record_output *output, const struct profile *profile,
			 const struct export_options *options, u64 *size, struct err *err);
/* Why a file cannot be written, for the user: what to do, and no exit code that is about the target. */
bool record_output_explain(const char *path, struct err *err);
/* Removes what record_output_open() made; does nothing when there is nothing. */
void record_output_abandon(struct record_output *output);

/* Names of the formats, in order, then NULL: a list for option tables. */
const char *record_output_formats(u32 index);
