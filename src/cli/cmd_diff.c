/* SPDX-License-Identifier: Apache-2.0
 * cmd_diff.c - sonde diff: what changed between two recordings, and what is only chance. */
#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "cli/columns.h"
#include "cli/command.h"
#include "cli/diff_print.h"
#include "cli/load_file.h"
#include "cli/say.h"

enum { FORMAT_TEXT, FORMAT_HTML, FORMAT_FOLDED, FORMAT_JSON, FORMAT_BY_END };

struct diff_command_options {
	struct load_options load;
	const char *output;
	u32 format, sort, limit;
	bool lines, all, same_work;
};

static const struct diff_command_options defaults = { .limit = 40,
						      .format = FORMAT_BY_END,
						      .load.timeline_cells = LOAD_TIMELINE_CELLS };

#define AT(field) offsetof(struct diff_command_options, field)
static const struct option_row rows[] = {
	{ 'f', "format", "FORMAT", OPTION_CHOICE, AT(format), .choices = "text,html,folded,json",
	  .text = "text, an HTML page, folded stacks with two counts (for flamegraph.pl), or JSON (default: from "
		  "the output's extension, else text)" },
	{ 'j', "json", NULL, OPTION_PRESET, AT(format), .low = FORMAT_JSON,
	  .text = "the same as -f json" },
	{ 'o', "output", "FILE", OPTION_TEXT, AT(output),
	  .text = "the output (default: standard output)" },
	{ 's', "sort", "BY", OPTION_CHOICE, AT(sort), .choices = "change,before,after",
	  .text = "the largest change first, or the largest share" },
	{ 'l', "lines", NULL, OPTION_FLAG, AT(lines),
	  .text = "compare lines instead of functions; a line that moved counts as another" },
	{ 'a', "all", NULL, OPTION_FLAG, AT(all), .text = "also what is within the noise" },
	{ 0, "same-work", NULL, OPTION_FLAG, AT(same_work),
	  .text = "both recordings are complete runs of the same work: do not count the program's phases as noise" },
	{ 'n', "limit", "ROWS", OPTION_NUMBER, AT(limit), 1, 1000000, .text = "rows of a table" },
	LOAD_OPTIONS(diff_command_options),
	{ 0 },
};
#undef AT

/* The part of the recording that --from and --to leave. */
static u64 span_of(const struct profile *profile, const struct load_options *load)
{
	u64 end = profile->duration_ns;

	if (load->to_ns && load->to_ns < end)
		end = load->to_ns;
	return end > load->from_ns ? end - load->from_ns : 0;
}

/* FORMAT_BY_END: the output's end names none. */
static u32 format_of(const struct diff_command_options *given)
{
	static const struct {
		const char *end;
		u32 format;
	} ends[] = { { ".txt", FORMAT_TEXT },
		     { ".html", FORMAT_HTML },
		     { ".htm", FORMAT_HTML },
		     { ".folded", FORMAT_FOLDED },
		     { ".json", FORMAT_JSON } };

	if (given->format != FORMAT_BY_END)
		return given->format;
	if (!given->output || !strcmp(given->output, "-"))
		return FORMAT_TEXT;
	for (u32 i = 0; i < COUNT_OF(ends); i++)
		if (path_ends(given->output, ends[i].end))
			return ends[i].format;
	return FORMAT_BY_END;
}

static int print(const struct diff_command_options *given, const struct diff_print *print)
{
	static bool (*const printers[])(const struct diff_print *, struct out *) = {
		[FORMAT_TEXT] = diff_print_text,
		[FORMAT_HTML] = diff_print_html,
		[FORMAT_FOLDED] = diff_print_folded,
		[FORMAT_JSON] = diff_print_json,
	};
	struct err err = { 0 };
	struct out out;
	bool to_file = given->output && strcmp(given->output, "-") != 0;

	if (format_of(given) == FORMAT_HTML && !to_file && !say_may_print("html", &err))
		return say_failure("diff", &err);
	if (!out_open_file(&out, to_file ? given->output : "-", &err))
		return say_failure("diff", &err);
	if (!printers[format_of(given)](print, &out))
		out.errnum = ENOMEM;
	if (!to_file)
		return say_close(&out, "diff");
	if (!out_close(&out, &err))
		return say_failure("diff", &err);
	say_note("wrote %s", given->output);
	return EXIT_OK;
}

/* On a busy machine threads wait for their CPU, mostly in system calls, and what these weigh is then
 * a matter of who else was there: nothing within one recording shows that. */
static void warn_of_busy(const char *path, const struct quality *quality)
{
	u64 late = quality->lost.late;

	if (late && late >= quality->expected / 5)
		say_warning(
			"%s: %.0f %% of its looks came late, because the machine was busy: compare system "
			"calls and waiting with care",
			path, 100.0 * (double)late / (double)quality->expected);
}

static void warn(const struct profile *before, const struct profile *after)
{
	bool weights = profile_total_weight(before) && profile_total_weight(after);

	if (weights && strcmp(before->mode, after->mode) != 0)
		say_warning("one recording is of --mode %s, the other of --mode %s: they measure "
			    "different things",
			    before->mode, after->mode);
}

static int compare(const struct diff_command_options *given, char **paths,
		   const struct profile *before, const struct profile *after)
{
	/* only our own recordings know every frame's language */
	struct diff_options options = { .lines = given->lines,
					.any_language = !*before->quality.engine ||
							!*after->quality.engine,
					.same_work = given->same_work };
	struct err err = { 0 };
	struct diff diff;

	warn(before, after);
	warn_of_busy(paths[0], &before->quality);
	warn_of_busy(paths[1], &after->quality);
	if (!diff_make(&diff, before, after, &options)) {
		diff_free(&diff);
		err_no_memory(&err);
		return say_failure("diff", &err);
	}
	struct diff_print what = { .diff = &diff,
				   .before = { paths[0], before, span_of(before, &given->load) },
				   .after = { paths[1], after, span_of(after, &given->load) },
				   .sort = given->sort,
				   .limit = given->limit,
				   .width = given->output ? COLUMNS_NO_TERMINAL :
							    columns_of_output(),
				   .all = given->all };
	int code = print(given, &what);
	diff_free(&diff);
	return code;
}

static int run(void *options_given, int rest_count, char **rest)
{
	const struct diff_command_options *given = options_given;
	struct profile before, after = { 0 };

	if (rest_count != 2)
		return say_usage("diff", "give two recordings: before and after");
	if (given->output && load_would_be_lost("diff", rest, 2, given->output))
		return EXIT_USAGE;
	if (format_of(given) == FORMAT_BY_END)
		return say_usage(
			"diff",
			"-o/--output: the end of \"%s\" names no format; end it in .txt, .html, "
			".folded or .json, or give -f",
			given->output);
	int code = load_file("diff", rest[0], &given->load, &before);
	if (code == EXIT_OK)
		code = load_file("diff", rest[1], &given->load, &after);
	if (code == EXIT_OK)
		code = compare(given, rest, &before, &after);
	profile_free(&before);
	profile_free(&after);
	return code;
}

const struct command diff_command = {
	.name = "diff",
	.summary = "show what changed between two recordings, and what is only chance",
	.usage = "[OPTIONS] BEFORE AFTER",
	.details =
		"Compares what each function had of each recording's whole. A change is shown when it is "
		"larger than the two recordings differ by chance: how much that is, is measured on "
		"them, by how a share changes from one moment of a recording to the next, and printed "
		"first. Files of other profilers do not say when their samples were taken: "
		"they are assumed to say half of what as many independent ones would. [moving] and [truncated] "
		"depend on the machine: they are listed, and never as a change.\n\n"
		"The same function is one of equal language, name and file: lines may have moved. "
		"With --lines, what has none of its own, a C function, is a row for each line that "
		"calls it.\n\n"
		"  sonde diff before.sonde after.sonde\n"
		"  sonde diff old.pb.gz new.sonde --thread worker-3 --all\n"
		"  sonde diff a.sonde b.sonde -o change.html\n"
		"  sonde diff a.sonde b.sonde -f folded | flamegraph.pl > change.svg",
	.options = rows,
	.defaults = &defaults,
	.options_size = sizeof(struct diff_command_options),
	.run = run,
};
