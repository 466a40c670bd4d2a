/* SPDX-License-Identifier: Apache-2.0
 * options.c - a table, a line of words, and what must be in the struct afterwards. */
#include "cli/options.h"
#include "base/clock.h"
#include "check.h"
#include "cli/commands.h"
#include <string.h>

struct sample_options {
	u32 pid, hz, mode, pause;
	u64 duration_ns;
	const char *output;
	bool quiet, quick;
};

#define AT(field) offsetof(struct sample_options, field)
static const struct option_row rows[] = {
	{ 'p', "pid", "PID", OPTION_NUMBER, AT(pid), 1, 4194304, .text = "" },
	{ 'r', "rate", "HZ", OPTION_NUMBER, AT(hz), 1, 20000, .text = "" },
	{ 'd', "duration", "TIME", OPTION_DURATION, AT(duration_ns), .text = "" },
	{ 'o', "output", "FILE", OPTION_TEXT, AT(output), .text = "" },
	{ 't', "thread", "NAME", OPTION_TEXT, AT(output), OPTION_NO_DASH, .text = "" },
	{ 0, "most", "TIME", OPTION_DURATION, AT(duration_ns), OPTION_ENDLESS, .text = "" },
	{ 0, "mode", "MODE", OPTION_CHOICE, AT(mode), .choices = "cpu,wall,gvl", .text = "" },
	{ 0, "pause", "WHEN", OPTION_CHOICE, AT(pause), .choices = "never,auto,always",
	  .text = "" },
	{ 'q', "quiet", NULL, OPTION_FLAG, AT(quiet), .text = "" },
	{ 'Q', "quick", NULL, OPTION_FLAG, AT(quick), .text = "" },
	{ 0, "nonblocking", NULL, OPTION_PRESET, AT(pause), 0, .text = "" },
	{ 's', "subprocesses", NULL, OPTION_IGNORED, .text = "" },
	{ 0, "force-version", "VERSION", OPTION_IGNORED, .text = "not needed" },
	{ 0 },
};
#undef AT

static const struct sample_options defaults = { .hz = 99, .pause = 1 };
static const struct command permuting = { .name = "t",
					  .options = rows,
					  .defaults = &defaults,
					  .options_size = sizeof(struct sample_options) };
static const struct command running = { .name = "t",
					.options = rows,
					.defaults = &defaults,
					.options_size = sizeof(struct sample_options),
					.takes_command = true };

struct outcome {
	bool good;
	struct sample_options got;
	struct options_parsed parsed;
	struct err err;
	char *argv[16];
	int argc;
};

/* Words parted by spaces; the texts stay alive in a static buffer. */
static struct outcome parse(const struct command *command, const char *line)
{
	static char words[512];
	struct outcome outcome = { .argv = { (char *)"t" }, .argc = 1 };

	strcpy(words, line);
	for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
		outcome.argv[outcome.argc++] = word;
	outcome.good = options_parse(command, outcome.argc, outcome.argv, &outcome.got,
				     &outcome.parsed, &outcome.err);
	return outcome;
}

static void all_spellings_mean_the_same(void **state)
{
	static const char *const lines[] = {
		"-p 42 -r 999 -d 5m -q",
		"-p42 -r999 -d5m -q",
		"-qp42 -r 999 -d 5m",
		"--pid 42 --rate 999 --duration 5m --quiet",
		"--pid=42 --rate=999 --duration=5m --quiet",
		"--pi 42 --ra 999 --du 5m --quie",
		"-r 5 -p 42 -r 999 -d 5m -q",
	};
	(void)state;

	for (u32 i = 0; i < COUNT_OF(lines); i++) {
		struct outcome o = parse(&permuting, lines[i]);

		assert_true(o.good);
		assert_int_equal(o.got.pid, 42);
		assert_int_equal(o.got.hz, 999);
		assert_int_equal(o.got.duration_ns, 300 * NS_PER_S);
		assert_true(o.got.quiet);
		assert_false(o.got.quick);
		assert_int_equal(o.parsed.rest, o.argc);
	}
}

static void what_is_not_given_is_the_default(void **state)
{
	struct outcome o = parse(&permuting, "");
	(void)state;

	assert_true(o.good);
	assert_memory_equal(&o.got, &defaults, sizeof defaults);
}

static void a_dash_begins_the_next_option(void **state)
{
	struct outcome o = parse(&permuting, "-t -o x.svg");
	(void)state;

	assert_false(o.good);
	assert_string_equal(o.err.text, "-t/--thread: needs a value before \"-o\": NAME");
	assert_true(parse(&permuting, "-o -").good);
	assert_true(parse(&permuting, "-t a-b").good);
}

static void some_durations_have_no_end(void **state)
{
	struct outcome o = parse(&permuting, "-d 5 --most unlimited");
	(void)state;

	assert_true(o.good);
	assert_int_equal(o.got.duration_ns, 0);
	assert_false(parse(&permuting, "-d unlimited").good);
}

static void presets_and_notes(void **state)
{
	struct outcome o = parse(&permuting, "--nonblocking -s --force-version 3.1");
	(void)state;

	assert_true(o.good);
	assert_int_equal(o.got.pause, 0);
	assert_string_equal(o.parsed.notes.text, "--force-version: not needed\n");
	str_free(&o.parsed.notes);
	o = parse(&permuting, "--nonblocking --pause always");
	assert_int_equal(o.got.pause, 2);
}

static void a_command_line_of_its_own_is_left_alone(void **state)
{
	struct outcome o = parse(&running, "-r 50 ruby app.rb -r 70 --quiet");
	(void)state;

	assert_true(o.good);
	assert_int_equal(o.got.hz, 50);
	assert_false(o.got.quiet);
	assert_int_equal(o.parsed.rest, 3);
	assert_string_equal(o.argv[o.parsed.rest], "ruby");
	o = parse(&running, "-r 50 -- -odd --name");
	assert_true(o.good);
	assert_string_equal(o.argv[o.parsed.rest], "-odd");
	/* Others may be given in any order. */
	o = parse(&permuting, "word -r 50");
	assert_true(o.good);
	assert_int_equal(o.got.hz, 50);
	assert_string_equal(o.argv[o.parsed.rest], "word");
}

static void errors_name_the_option_the_value_and_the_way_out(void **state)
{
	static const struct {
		const char *line, *says;
	} bad[] = {
		{ "-r 0", "-r/--rate: 0 is out of range; give 1 to 20,000" },
		{ "--rate=abc", "-r/--rate: \"abc\" is not a number; give 1 to 20,000" },
		{ "-r", "-r/--rate needs a value: HZ" },
		{ "--duration", "-d/--duration needs a value: TIME" },
		{ "-d 5x", "-d/--duration: \"5x\" is not a duration" },
		{ "--mode wal",
		  "--mode: \"wal\" is not one of cpu,wall,gvl: did you mean \"wall\"?" },
		{ "--ratee 5", "there is no option --ratee: did you mean --rate?" },
		{ "--zzzzzz", "there is no option --zzzzzz" },
		{ "--qui", "--qui could be any of --quiet, --quick" },
		{ "--quiet=yes", "-q/--quiet takes no value" },
		{ "-Z", "there is no option -Z" },
		{ "-qZ", "there is no option -Z" },
		{ "--debug=frob", "--debug: \"frob\" names an unknown domain" },
	};
	(void)state;

	for (u32 i = 0; i < COUNT_OF(bad); i++) {
		struct outcome o = parse(&permuting, bad[i].line);

		assert_false(o.good);
		assert_int_equal(o.err.code, ERR_USAGE);
		assert_int_equal(strncmp(o.err.text, bad[i].says, strlen(bad[i].says)), 0);
	}
	assert_null(strstr(parse(&permuting, "--zzzzzz").err.text, "mean"));
}

static void help_ends_the_looking(void **state)
{
	struct outcome o = parse(&permuting, "-h -r 0");
	(void)state;

	assert_true(o.good);
	assert_true(o.parsed.help);
}

static size_t size_of_kind(enum option_kind kind)
{
	switch (kind) {
	case OPTION_FLAG:
		return sizeof(bool);
	case OPTION_TEXT:
		return sizeof(const char *);
	case OPTION_DURATION:
		return sizeof(u64);
	case OPTION_IGNORED:
		return 0;
	default:
		return sizeof(u32);
	}
}

/* The shipped tables: every row can be reached, stored and explained. */
static void tables_of_all_commands_are_sound(void **state)
{
	(void)state;
	for (u32 c = 0; c <= command_count; c++) {
		const struct command *command = c < command_count ? commands[c] : &root_command;
		const struct option_row *row, *other;
		u32 count = 0;

		assert_non_null(command->summary);
		assert_non_null(command->usage);
		assert_non_null(command->details);
		for (; (row = options_row(command, count)) != NULL; count++) {
			bool takes_value = row->kind != OPTION_FLAG && row->kind != OPTION_PRESET &&
					   row->kind != OPTION_IGNORED;

			assert_non_null(row->text);
			assert_int_equal(row->kind == OPTION_CHOICE, row->choices != NULL);
			if (row->kind != OPTION_IGNORED)
				assert_int_equal(takes_value, options_has_value(row));
			for (u32 i = 0; i < count; i++) {
				other = options_row(command, i);
				assert_string_not_equal(other->name, row->name);
				assert_true(!row->letter || row->letter != other->letter);
			}
		}
		assert_true(count < OPTIONS_MAX);
		for (row = command->options; row->name; row++)
			assert_true(row->at + size_of_kind(row->kind) <= command->options_size);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_spellings_mean_the_same),
		cmocka_unit_test(what_is_not_given_is_the_default),
		cmocka_unit_test(a_dash_begins_the_next_option),
		cmocka_unit_test(some_durations_have_no_end),
		cmocka_unit_test(presets_and_notes),
		cmocka_unit_test(a_command_line_of_its_own_is_left_alone),
		cmocka_unit_test(errors_name_the_option_the_value_and_the_way_out),
		cmocka_unit_test(help_ends_the_looking),
		cmocka_unit_test(tables_of_all_commands_are_sound),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
