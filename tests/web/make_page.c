/* SPDX-License-Identifier: Apache-2.0
 * make_page.c - folded stacks on standard input become an exported file:
 *
 *	make-page FILE.html [TITLE] < FOLDED
 *
 * For the checks of the page, and to look at it: the lines are those of export/folded.c (see
 * tests/unit/export/built.h).  The name of the file says the format.  TITLE is put wherever a
 * text of the target or the user goes, so that a hostile one can be tried.  On standard error:
 * how large the profile is and how long the export took. */
#include "export/built.h"
#include "export/exporter.h"

int main(int argc, char **argv)
{
	struct profile profile;
	struct out out;
	struct err err;
	char *line = NULL;
	size_t room = 0;

	const struct exporter *exporter = argc >= 2 ? exporter_for_path(argv[1]) : NULL;
	if (!exporter || !profile_init(&profile)) {
		fprintf(stderr, "usage: make-page FILE.html [TITLE] < FOLDED\n");
		return 2;
	}
	while (getline(&line, &room, stdin) > 0) {
		line[strcspn(line, "\n")] = 0;
		if (strrchr(line, ' '))
			built_line(&profile, line);
	}
	free(line);
	built_facts(&profile);
	if (argc > 2) {
		profile.title = profile.command = argv[2];
		snprintf(profile.quality.warning, sizeof profile.quality.warning, "%s", argv[2]);
		profile.quality.expected += profile.quality.lost.late = 3;
	}
	u64 before = clock_own_cpu_ns();
	if (!out_open_file(&out, argv[1], &err)) {
		fprintf(stderr, "make-page: %s\n", err.text);
		return 1;
	}
	exporter->write(&profile, &(struct export_options){ 0 }, &out);
	u64 bytes = out.written;
	if (!out_close(&out, &err)) {
		fprintf(stderr, "make-page: %s\n", err.text);
		return 1;
	}
	fprintf(stderr, "%llu samples, %u stacks, %u nodes: %llu bytes in %.3f s of CPU\n",
		(unsigned long long)profile_total_count(&profile), profile.entries.count,
		profile.names.stacks.count - 1, (unsigned long long)bytes,
		(double)(clock_own_cpu_ns() - before) / 1e9);
	profile_free(&profile);
	return 0;
}
