/* SPDX-License-Identifier: Apache-2.0
 * exporter.h - a profile becomes a file.
 *
 * To add a format: one file with one const struct exporter, named in meson.build; its extern and its line in
 * exporters.c; a row in docs/EXPORTS.md; tests by the program that users open it with. */
#pragma once
#include "base/out.h"
#include "profile/profile.h"

struct export_options {
	bool weights; /* nanoseconds instead of counts, where the format holds one number */
	bool threads; /* "thread NAME (TID)" at the root, where the format has no threads */
	bool gzip;    /* the whole file: exporter_write() does it */
};

struct exporter {
	const char *name;      /* "pprof" */
	const char *extension; /* ".pb.gz" */
	const char *summary;
	void (*write)(const struct profile *profile, const struct export_options *options,
		      struct out *out);
};

extern const struct exporter *const exporters[];
extern const u32 exporter_count;
const struct exporter *exporter_named(const char *name);
/* By the end of a file name: "x.pb.gz", "x.folded", "x.firefox.json.gz"; NULL: none fits. */
const struct exporter *exporter_for_path(const char *path);
/* Does the name ask for gzip, which is not of the format itself? */
bool exporter_is_gzipped(const struct exporter *exporter, const char *path);
/* What went wrong is in out->errnum. */
void exporter_write(const struct exporter *exporter, const struct profile *profile,
		    const struct export_options *options, struct out *out);
