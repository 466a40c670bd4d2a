/* SPDX-License-Identifier: Apache-2.0
 * options.c - see options.h.
 *
 * getopt_long's return value is FIRST_ROW plus the row's number for long options, so
 * that "which one was it" needs no second search. */
#include "cli/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cli/suggest.h"
#include "cli/value.h"

enum { FIRST_ROW = 256 }; /* above every letter */

struct common {
	bool help;
	const char *debug;
};

const struct option_row options_common[] = {
	{ 'h', "help", NULL, OPTION_FLAG, offsetof(struct common, help), .text = "show this help" },
	{ 0, "debug", "SPEC", OPTION_TEXT, offsetof(struct common, debug),
	  .text = "debug messages on standard error: \"all\", or domains such as \"target:2,kernel\"" },
	{ 0 },
};

static u32 own_rows(const struct command *command)
{
	u32 count = 0;

	while (command->options && command->options[count].name)
		count++;
	return count;
}

const struct option_row *options_row(const struct command *command, u32 index)
{
	u32 own = own_rows(command);
	const struct option_row *row = index < own ? &command->options[index] :
						     &options_common[index - own];

	return index < own + COUNT_OF(options_common) && row->name ? row : NULL;
}

bool options_has_value(const struct option_row *row)
{
	return row->value != NULL;
}

/* The two forms that getopt_long wants, made from the rows. */
struct getopt_tables {
	struct option longs[OPTIONS_MAX + 1];
	char letters[2 * OPTIONS_MAX + 3];
	u32 own;
};

static void fill_tables(const struct command *command, struct getopt_tables *tables)
{
	const struct option_row *row;
	char *letter = tables->letters;

	*tables = (struct getopt_tables){ .own = own_rows(command) };
	if (command->takes_command)
		*letter++ = '+';
	*letter++ = ':'; /* a missing value is told from an unknown option */
	for (u32 i = 0; i < OPTIONS_MAX && (row = options_row(command, i)) != NULL; i++) {
		tables->longs[i] = (struct option){ row->name, options_has_value(row), NULL,
						    FIRST_ROW + (int)i };
		if (!row->letter)
			continue;
		*letter++ = row->letter;
		if (options_has_value(row))
			*letter++ = ':';
	}
	*letter = 0;
}

/* The number of the row behind a value that getopt_long returned or left in optopt. */
static bool find_row(const struct command *command, int value, u32 *out)
{
	const struct option_row *row;

	for (u32 i = 0; (row = options_row(command, i)) != NULL; i++)
		if (value == FIRST_ROW + (int)i || (row->letter && value == row->letter)) {
			*out = i;
			return true;
		}
	return false;
}

/* "-r/--rate", in `out`. */
static const char *row_spelling(const struct option_row *row, char out[static 64])
{
	if (row->letter)
		snprintf(out, 64, "-%c/--%s", row->letter, row->name);
	else
		snprintf(out, 64, "--%s", row->name);
	return out;
}

static bool long_unknown(const struct command *command, const char *word, struct err *err)
{
	size_t length = strcspn(word + 2, "=");
	char name[64], candidates[200] = "";
	const struct option_row *row;
	u32 matches = 0;

	snprintf(name, sizeof name, "%.*s", (int)length, word + 2);
	struct suggest suggest = suggest_make(name);
	for (u32 i = 0; (row = options_row(command, i)) != NULL; i++) {
		suggest_consider(&suggest, row->name);
		if (strncmp(row->name, name, strlen(name)) != 0)
			continue;
		size_t used = strlen(candidates);
		snprintf(candidates + used, sizeof candidates - used, "%s--%s",
			 matches++ ? ", " : "", row->name);
	}
	if (matches > 1)
		return err_set(err, ERR_USAGE, "--%s could be any of %s", name, candidates);
	err_set(err, ERR_USAGE, "there is no option --%s", name);
	return suggest.best ? err_hint(err, "did you mean --%s?", suggest.best) : false;
}

/* What getopt_long means by '?' and ':'. `word` is the word it has just looked at. */
static bool complain(const struct command *command, int result, const char *word, struct err *err)
{
	char spelling[64];
	u32 index;

	if (find_row(command, optopt, &index)) {
		const struct option_row *row = options_row(command, index);

		if (result == ':')
			return err_set(err, ERR_USAGE, "%s needs a value: %s",
				       row_spelling(row, spelling), row->value);
		return err_set(err, ERR_USAGE, "%s takes no value", row_spelling(row, spelling));
	}
	if (optopt)
		return err_set(err, ERR_USAGE, "there is no option -%c", optopt);
	return long_unknown(command, word, err);
}

static void add_note(const struct option_row *row, struct str *notes)
{
	if (row->text[0])
		str_addf(notes, "--%s: %s\n", row->name, row->text);
}

static bool store(const struct option_row *row, void *base, const char *text,
		  struct options_parsed *parsed, struct err *err)
{
	char *at = (char *)base + row->at;
	char spelling[64];
	bool good = true;

	switch (row->kind) {
	case OPTION_FLAG:
		*(bool *)at = true;
		break;
	case OPTION_NUMBER:
		good = value_parse_number(text, row->low, row->high, (u32 *)at, err);
		break;
	case OPTION_TEXT:
		*(const char **)at = text;
		good = row->low != OPTION_NO_DASH || text[0] != '-' ||
		       err_set(err, ERR_USAGE, "needs a value before \"%.80s\": %s", text,
			       row->value);
		break;
	case OPTION_CHOICE:
		good = value_parse_choice(text, row->choices, (u32 *)at, err);
		break;
	case OPTION_DURATION:
		*(u64 *)at = 0;
		good = (row->low == OPTION_ENDLESS && !strcmp(text, "unlimited")) ||
		       (row->low == OPTION_MOMENT ? value_parse_moment :
						    value_parse_duration)(text, (u64 *)at, err);
		break;
	case OPTION_PRESET:
		*(u32 *)at = row->low;
		break;
	case OPTION_IGNORED:
		add_note(row, &parsed->notes);
		break;
	}
	return good || err_wrap(err, "%s", row_spelling(row, spelling));
}

static void set_defaults(const struct command *command, void *out)
{
	if (command->defaults)
		memcpy(out, command->defaults, command->options_size);
	else if (command->options_size)
		memset(out, 0, command->options_size);
}

bool options_parse(const struct command *command, int argc, char **argv, void *out,
		   struct options_parsed *parsed, struct err *err)
{
	struct getopt_tables tables;
	struct common common = { 0 };
	int result;

	*parsed = (struct options_parsed){ 0 };
	set_defaults(command, out);
	fill_tables(command, &tables);
	opterr = 0;
	optind = 0; /* glibc and musl both start afresh then: we parse once more per sub-command */
	while (!common.help) {
		u32 index;

		optopt = 0;
		result = getopt_long(argc, argv, tables.letters, tables.longs, NULL);
		if (result == -1)
			break;
		if (result == '?' || result == ':')
			return complain(command, result, argv[optind - 1], err);
		if (!find_row(command, result, &index))
			return err_set(err, ERR_USAGE, "there is no option -%c", result);
		void *base = index < tables.own ? out : (void *)&common;
		if (!store(options_row(command, index), base, optarg, parsed, err))
			return false;
	}
	parsed->help = common.help;
	parsed->rest = optind;
	if (common.debug && !log_configure(common.debug))
		return err_set(err, ERR_USAGE,
			       "--debug: \"%.80s\" names an unknown domain; "
			       "try --debug=all",
			       common.debug);
	return true;
}
