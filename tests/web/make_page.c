/* SPDX-License-Identifier: Apache-2.0
 * make_page.c - folded stacks on standard input become an exported file:
 *
 *	make-page FILE.html [TITLE] < FOLDED
 *	make-page FILE.html --import < FILE      what another profiler wrote, as sonde export reads it
 *
 * For the checks of the page, and to look at it: the lines are those of export/folded.c (see
 * tests/unit/export/built.h).  The name of the file says the format.  TITLE is put wherever a
 * text of the target or the user goes, so that a hostile one can be tried.  Lines of its own:
 *
 *	# at MS           when the stacks below were taken, from the start
 *	# mode MODE       what was recorded; "cpu" else
 *	# source PATH     a file of source; its lines follow, each behind a '|'
 *	# after           the lines so far were of one profile, and now comes another: the page compares them
 *
 * On standard error: how large the profile is and how long the export took. */
#include "export/built.h"
#include "export/exporter.h"
#include "export/html.h"
#include "profile/load.h"

struct making {
	struct profile profile;
	bool has_time, has_source;
	char mode[16];
	u64 time_ns;
	struct str source; /* so far */
};

/* The entry that a line counted in is the one that has grown. */
static void add_stack(struct making *m, const char *line)
{
	struct profile *profile = &m->profile;
	u32 count = profile->entries.count;
	AUTO_FREE u64 *before = calloc(count + 1, sizeof *before);

	for (u32 i = 0; before && i < count; i++)
		before[i] = profile->entries.at[i].count;
	built_line(profile, line);
	for (u32 i = 0; before && m->has_time && i < profile->entries.count; i++)
		for (u64 n = i < count ? before[i] : 0; n < profile->entries.at[i].count; n++)
			timeline_add(&profile->timeline, m->time_ns, i);
}

static void end_source(struct making *m)
{
	struct profile *profile = &m->profile;

	if (!m->has_source)
		return;
	profile->sources.at[profile->sources.count - 1].text = names_string(
		&profile->names, m->source.text, m->source.length);
	str_clear(&m->source);
	m->has_source = false;
}

static void add_line(struct making *m, const char *line)
{
	struct profile *profile = &m->profile;

	if (*line == '|') {
		str_addf(&m->source, "%s\n", line + 1);
		return;
	}
	end_source(m);
	if (!strncmp(line, "# source ", 9)) {
		u32 path = built_string(&profile->names, line + 9, strlen(line + 9));
		m->has_source = vec_push(&profile->sources, (struct profile_source){ path, 0 });
		str_clear(&m->source);
	} else if (!strncmp(line, "# at ", 5)) {
		m->has_time = true;
		m->time_ns = strtoull(line + 5, NULL, 10) * NS_PER_MS;
		profile->timeline.cells_most = 1 << 16;
	} else if (!strncmp(line, "# mode ", 7)) {
		snprintf(m->mode, sizeof m->mode, "%s", line + 7);
	} else if (strrchr(line, ' ')) {
		add_stack(m, line);
	}
}

/* Puts `text` wherever a text of the target or the user goes. */
static void set_text(struct profile *profile, const char *text)
{
	profile->title = profile->command = text;
	snprintf(profile->quality.warning, sizeof profile->quality.warning, "%s", text);
	profile->quality.expected += profile->quality.lost.late = 3;
}

/* Of both, when there are two. */
static void write_page(const struct exporter *exporter, const struct profile *before,
		       const struct profile *after, const char *text, struct out *out)
{
	struct diff_options options = { 0 };
	struct diff diff;

	if (!before) {
		exporter->write(after, &(struct export_options){ 0 }, out);
		return;
	}
	struct diff_file first = { text ? text : "a.sonde", before, before->duration_ns };
	struct diff_file last = { text ? text : "b.sonde", after, after->duration_ns };
	if (diff_make(&diff, before, after, &options))
		html_write_diff(&diff, &first, &last, out);
	diff_free(&diff);
}

static int import_page(const char *path)
{
	struct load_options options = { 0 };
	struct load_result result;
	struct profile profile;
	struct out out;
	struct err err;

	if (!profile_load("-", &options, &profile, &result, &err) ||
	    !out_open_file(&out, path, &err)) {
		fprintf(stderr, "make-page: %s\n", err.text);
		return 1;
	}
	write_page(exporter_for_path(path), NULL, &profile, NULL, &out);
	profile_free(&profile);
	return !out_close(&out, &err);
}

int main(int argc, char **argv)
{
	struct making makings[2] = { 0 };
	struct out out;
	struct err err;
	char *line = NULL;
	size_t room = 0;
	u32 last = 0;

	const struct exporter *exporter = argc >= 2 ? exporter_for_path(argv[1]) : NULL;
	const char *text = argc > 2 ? argv[2] : NULL;
	if (!exporter || !profile_init(&makings[0].profile) || !profile_init(&makings[1].profile)) {
		fprintf(stderr, "usage: make-page FILE.html [TITLE] < FOLDED\n");
		return 2;
	}
	if (text && !strcmp(text, "--import"))
		return import_page(argv[1]);
	while (getline(&line, &room, stdin) > 0) {
		line[strcspn(line, "\n")] = 0;
		if (!strcmp(line, "# after"))
			last = 1;
		else
			add_line(&makings[last], line);
	}
	free(line);
	for (u32 i = 0; i <= last; i++) {
		struct profile *profile = &makings[i].profile;
		end_source(&makings[i]);
		str_free(&makings[i].source);
		built_facts(profile);
		if (*makings[i].mode)
			profile->mode = makings[i].mode;
		if (makings[i].has_time)
			profile->duration_ns = makings[i].time_ns + NS_PER_MS;
		if (text)
			set_text(profile, text);
	}
	const struct profile *profile = &makings[last].profile;
	u64 before = clock_own_cpu_ns();
	if (!out_open_file(&out, argv[1], &err)) {
		fprintf(stderr, "make-page: %s\n", err.text);
		return 1;
	}
	write_page(exporter, last ? &makings[0].profile : NULL, profile, text, &out);
	u64 bytes = out.written;
	if (!out_close(&out, &err)) {
		fprintf(stderr, "make-page: %s\n", err.text);
		return 1;
	}
	fprintf(stderr, "%llu samples, %u stacks, %u nodes: %llu bytes in %.3f s of CPU\n",
		(unsigned long long)profile_total_count(profile), profile->entries.count,
		profile->names.stacks.count - 1, (unsigned long long)bytes,
		(double)(clock_own_cpu_ns() - before) / 1e9);
	profile_free(&makings[0].profile);
	profile_free(&makings[1].profile);
	return 0;
}
