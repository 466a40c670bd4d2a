/* SPDX-License-Identifier: Apache-2.0
 * cmd_report.c - sonde report: where a recording spent its time, in the terminal. */
#include "cli/columns.h"
#include "cli/command.h"
#include "cli/load_file.h"
#include "cli/report.h"
#include "cli/say.h"

struct report_command_options {
	struct load_options load;
	u32 sort, limit, tree_percent;
	bool lines, json;
};

static const struct report_command_options defaults = { .limit = 20, .tree_percent = 1 };

#define AT(field) offsetof(struct report_command_options, field)
static const struct option_row rows[] = {
	{ 's', "sort", "BY", OPTION_CHOICE, AT(sort), .choices = "self,total",
	  .text = "the heaviest by self first (the samples that end there), or by total (those that "
		  "pass through)" },
	{ 'l', "lines", NULL, OPTION_FLAG, AT(lines), .text = "a row a line, not a function" },
	{ 'n', "limit", "ROWS", OPTION_NUMBER, AT(limit), 1, 1000000, .text = "rows of a table" },
	{ 0, "tree", "PERCENT", OPTION_NUMBER, AT(tree_percent), 0, 100,
	  .text = "branches of at least this much are drawn (default: 1)" },
	LOAD_OPTIONS(report_command_options),
	{ 'j', "json", NULL, OPTION_FLAG, AT(json), .text = "as JSON" },
	{ 0 },
};
#undef AT

static int print(const struct report_command_options *given, const struct profile *profile)
{
	struct report_options options = { .sort = given->sort,
					  .lines = given->lines,
					  .limit = given->limit,
					  .tree_percent = given->tree_percent,
					  .width = columns_of_output() };

	return report_print("report", profile, &options, given->json);
}

static int run(void *options_given, int rest_count, char **rest)
{
	const struct report_command_options *given = options_given;
	struct profile profile;

	if (rest_count != 1)
		return say_usage("report", "give exactly one recording");
	int code = load_file("report", rest[0], &given->load, &profile);
	if (code == EXIT_OK)
		code = print(given, &profile);
	profile_free(&profile);
	return code;
}

const struct command report_command = {
	.name = "report",
	.summary = "show where a recording spent its time",
	.usage = "[OPTIONS] FILE",
	.details =
		"Prints the heaviest functions or lines, what each thread, process and language had, "
		"and the tree of calls. \"self\" is what the function's own code took, \"total\" is "
		"that and all it called; recursion counts once.\n\n"
		"  sonde report app.sonde\n"
		"  sonde report app.sonde --lines --sort total\n"
		"  sonde report app.sonde --thread worker-3 --from 10s --to 20s",
	.options = rows,
	.defaults = &defaults,
	.options_size = sizeof(struct report_command_options),
	.run = run,
};
