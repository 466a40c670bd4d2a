/* SPDX-License-Identifier: Apache-2.0
 * pprof.c - the message of pprof_encode.c, gzipped, as profile.proto wants it on disk. */
#include "export/deflate.h"
#include "export/exporter.h"
#include "export/pprof_encode.h"

#include <errno.h>

static void pprof_write(const struct profile *profile, const struct export_options *options,
			struct out *out)
{
	(void)options; /* both values and the threads are always in it */
	struct deflater *gzip = deflater_open(DEFLATE_GZIP, sink_to_out(out));
	const struct sink sink = { deflater_write, gzip };
	bool whole = gzip && pprof_encode(profile, &sink);

	if (gzip)
		deflater_close(gzip);
	if (!whole && !out->errnum)
		out->errnum = ENOMEM;
}

const struct exporter pprof_exporter = {
	.name = "pprof",
	.extension = ".pb.gz",
	.summary = "profile.proto, for go tool pprof, Grafana, Parca and speedscope",
	.write = pprof_write,
};
