/* SPDX-License-Identifier: Apache-2.0
 * exporters.c - the formats, one line each. */
#include "export/exporter.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "export/deflate.h"

extern const struct exporter callgrind_exporter, firefox_exporter, folded_exporter, html_exporter,
	json_exporter, otlp_exporter, pprof_exporter, speedscope_exporter, svg_exporter;

const struct exporter
	*const
		exporters[] = {
			&html_exporter, /* the default comes first */
			&pprof_exporter,   &folded_exporter,    &speedscope_exporter,
			&firefox_exporter, &callgrind_exporter, &svg_exporter,
			&json_exporter, /* behind those whose names end in .json too */
			&otlp_exporter,
		};
const u32 exporter_count = COUNT_OF(exporters);

/* Other ends of file names for the same formats. */
static const struct {
	const char *end;
	const struct exporter *exporter;
} also[] = {
	{ ".htm", &html_exporter },
	{ ".pprof", &pprof_exporter },
	{ ".pb", &pprof_exporter },
	{ ".collapsed", &folded_exporter },
	{ ".collapsedstack.txt", &folded_exporter }, /* what speedscope knows it by */
	{ ".txt", &folded_exporter },
	{ ".callgrind", &callgrind_exporter },
};

const struct exporter *exporter_named(const char *name)
{
	for (u32 i = 0; i < exporter_count; i++)
		if (!strcmp(exporters[i]->name, name))
			return exporters[i];
	return NULL;
}

/* Valgrind's own names, which KCachegrind looks for: callgrind.out.42 */
static bool is_callgrind(const char *path)
{
	static const char begin[] = "callgrind.out";

	return !strncmp(path_base(path), begin, sizeof begin - 1);
}

static const struct exporter *find_path(const char *path)
{
	if (is_callgrind(path))
		return &callgrind_exporter;
	for (u32 i = 0; i < exporter_count; i++)
		if (path_ends(path, exporters[i]->extension))
			return exporters[i];
	for (u32 i = 0; i < COUNT_OF(also); i++)
		if (path_ends(path, also[i].end))
			return also[i].exporter;
	return NULL;
}

static const char gzip_extension[] = ".gz";

const struct exporter *exporter_for_path(const char *path)
{
	const struct exporter *exporter = find_path(path);

	if (exporter || !path_ends(path, gzip_extension))
		return exporter;
	AUTO_FREE char *plain = strndup(path, strlen(path) - strlen(gzip_extension));
	return plain ? find_path(plain) : NULL;
}

bool exporter_is_gzipped(const struct exporter *exporter, const char *path)
{
	return path_ends(path, gzip_extension) && !path_ends(exporter->extension, gzip_extension);
}

void exporter_write(const struct exporter *exporter, const struct profile *profile,
		    const struct export_options *options, struct out *out)
{
	struct out plain;
	struct err err;

	if (!options->gzip) {
		exporter->write(profile, options, out);
		return;
	}
	struct deflater *gzip = deflater_open(DEFLATE_GZIP, sink_to_out(out));
	if (gzip && out_open_writer(&plain, deflater_write, gzip)) {
		exporter->write(profile, options, &plain);
		if (!out_close(&plain, &err) && !out->errnum)
			out->errnum = err.errnum;
	} else {
		out->errnum = ENOMEM;
	}
	if (gzip)
		deflater_close(gzip);
}
