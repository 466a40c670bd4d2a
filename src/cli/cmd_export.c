/* SPDX-License-Identifier: Apache-2.0
 * cmd_export.c - sonde export: a recording in the format of another program. */
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "cli/command.h"
#include "cli/load_file.h"
#include "cli/say.h"
#include "cli/value.h"
#include "export/exporter.h"

struct export_command_options {
	const char *output, *format;
	struct load_options load;
	bool threads, weights;
};

#define AT(field) offsetof(struct export_command_options, field)

static const char *format_list(u32 index)
{
	return index < exporter_count ? exporters[index]->name : NULL;
}

static const struct option_row rows[] = {
	{ 'o', "output", "FILE", OPTION_TEXT, AT(output),
	  .text = "the output; \"-\" is standard output (default: the recording's name with the format's extension)" },
	{ 'f', "format", "FORMAT", OPTION_TEXT, AT(format), .list = format_list,
	  .text = "the output's format (default: from FILE's extension)" },
	LOAD_OPTIONS(export_command_options),
	{ 'T', "threads", NULL, OPTION_FLAG, AT(threads),
	  .text = "\"thread NAME (TID)\" at the root of each stack, in formats without threads" },
	{ 0, "weights", NULL, OPTION_FLAG, AT(weights),
	  .text = "nanoseconds instead of counts, in formats that hold one number" },
	{ 0 },
};
#undef AT
static const struct export_command_options defaults = {
	.load.timeline_cells = LOAD_TIMELINE_CELLS
};

static bool choose(const struct export_command_options *given, const struct exporter **out,
		   struct err *err)
{
	if (given->format)
		*out = exporter_named(given->format);
	else if (given->output && strcmp(given->output, "-") != 0)
		*out = exporter_for_path(given->output);
	else
		return err_set(err, ERR_USAGE, "in which format? Give -f, or a file with -o");
	if (*out)
		return true;
	char names[300] = "";
	for (u32 i = 0; i < exporter_count; i++) {
		size_t used = strlen(names);
		snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
			 exporters[i]->name);
	}
	return given->format ?
		       err_set(err, ERR_USAGE,
			       "-f/--format: \"%.80s\" is not a format; give one of %s",
			       given->format, names) :
		       err_set(err, ERR_USAGE,
			       "-o/--output: the end of \"%.200s\" names no format; give -f: %s",
			       given->output, names);
}

/* "dir/x.sonde" and ".pb.gz": "x.pb.gz", here. */
static bool default_name(const char *input, const struct exporter *exporter, char *out, size_t room)
{
	const char *base = path_base(input);
	const char *dot = strrchr(base, '.');
	int stem = dot && dot != base ? (int)(dot - base) : (int)strlen(base);

	if (!strcmp(input, "-"))
		base = "profile", stem = 7;
	return snprintf(out, room, "%.*s%s", stem, base, exporter->extension) < (int)room;
}

static int write_file(const struct export_command_options *given, const struct exporter *exporter,
		      const char *path, const struct profile *profile)
{
	struct export_options options = { .weights = given->weights,
					  .threads = given->threads,
					  .gzip = exporter_is_gzipped(exporter, path) };
	struct err err = { 0 };
	struct out out;
	char bytes[32];

	if (!out_open_file(&out, path, &err))
		return say_failure("export", &err);
	exporter_write(exporter, profile, &options, &out);
	u64 size = out.written;
	if (!strcmp(path, "-"))
		return say_close(&out, "export");
	if (!out_close(&out, &err))
		return say_failure("export", &err);
	say_note("wrote %s (%s, %s bytes)", path, exporter->name, value_grouped(size, bytes));
	return EXIT_OK;
}

static int run(void *options_given, int rest_count, char **rest)
{
	const struct export_command_options *given = options_given;
	const struct exporter *exporter = NULL;
	struct profile profile;
	struct err err = { 0 };
	char name[512];

	if (rest_count != 1)
		return say_usage("export", "give exactly one recording");
	if (!choose(given, &exporter, &err))
		return say_failure("export", &err);
	if (!given->output && !default_name(rest[0], exporter, name, sizeof name))
		return say_usage("export", "the name is too long: give one with -o");
	const char *path = given->output ? given->output : name;
	if (!strcmp(path, "-") && !say_may_print(exporter->name, &err))
		return say_failure("export", &err);
	if (load_would_be_lost("export", rest, 1, path))
		return EXIT_USAGE;
	int code = load_file("export", rest[0], &given->load, &profile);
	if (code == EXIT_OK)
		code = write_file(given, exporter, path, &profile);
	profile_free(&profile);
	return code;
}

const struct command export_command = {
	.name = "export",
	.summary = "write a recording in another format",
	.usage = "[OPTIONS] FILE",
	.details = "Reads a recording and writes it as another program wants it.\n\n"
		   "  sonde export app.sonde -f pprof\n"
		   "  sonde export app.sonde -o app.html --from 10s --to 20s\n"
		   "  sonde export app.sonde -o app.firefox.json.gz\n"
		   "  sonde export app.sonde -f folded -o - | grep render\n\n"
		   "A name that ends in .gz is written gzipped, whatever the format.",
	.options = rows,
	.defaults = &defaults,
	.options_size = sizeof(struct export_command_options),
	.run = run,
};
