/* SPDX-License-Identifier: Apache-2.0
 * help.c - every page of every command: it fits, it says all options, and shells can read it. */
#include "cli/help.h"
#include "check.h"
#include "cli/commands.h"
#include "cli/options.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What `write` writes for the nth command; the top one is behind the last. */
static char *text_of(void (*write)(const struct command *, struct out *), u32 number)
{
	struct out out;

	out_open_memory(&out);
	write(number < command_count ? commands[number] : &root_command, &out);
	char *text = strndup((const char *)out.buffer, out.used);
	assert_true(out_close(&out, NULL));
	assert_non_null(text);
	return text;
}

static const struct command *numbered(u32 number)
{
	return number < command_count ? commands[number] : &root_command;
}

static void pages_fit_a_terminal_and_name_every_option(void **state)
{
	(void)state;
	for (u32 i = 0; i <= command_count; i++) {
		char *shorter = text_of(help_short, i), *longer = text_of(help_long, i);
		const struct option_row *row;
		char name[80];

		for (const char *line = longer; *line; line += strcspn(line, "\n") + 1)
			assert_true(strcspn(line, "\n") <= HELP_WIDTH);
		for (u32 k = 0; (row = options_row(numbered(i), k)) != NULL; k++) {
			bool foreign = row->synonym || row->kind == OPTION_IGNORED;

			snprintf(name, sizeof name, " --%s%s", row->name, row->value ? "=" : "");
			assert_int_equal(strstr(shorter, name) != NULL, !foreign);
		}
		assert_memory_equal(shorter, longer, strlen(shorter));
		free(shorter);
		free(longer);
	}
}

static void wrapping(void **state)
{
	struct out out;
	(void)state;

	out_open_memory(&out);
	help_wrap(&out, "  -q", "a bb\n  ccc", 10);
	help_wrap(&out, "  a head that is too long", "text", 10);
	help_wrap(&out, "", "", 0);
	static const char wanted[] =
		"  -q      a bb ccc\n  a head that is too long\n          text\n\n";
	assert_int_equal(out.used, sizeof wanted - 1);
	assert_memory_equal(out.buffer, wanted, out.used);
	out_close(&out, NULL);
}

/* man(7): a line that begins with a dot is a request, and only these are meant. */
static void man_pages_hold_only_requests_that_are_meant(void **state)
{
	static const char *const requests[] = { ".TH ", ".SH ", ".SS ",  ".TP\n", ".PP\n",
						".B ",  ".BR ", ".nf\n", ".fi\n" };
	(void)state;

	for (u32 i = 0; i <= command_count; i++) {
		char *page = text_of(help_man, i);
		const struct option_row *row;

		assert_memory_equal(page, ".TH SONDE", 9);
		for (const char *line = page; *line; line += strcspn(line, "\n") + 1) {
			bool known = line[0] != '.' && line[0] != '\'';

			for (u32 k = 0; k < COUNT_OF(requests); k++)
				known |= !strncmp(line, requests[k], strlen(requests[k]));
			assert_true(known);
		}
		for (u32 k = 0; (row = options_row(numbered(i), k)) != NULL; k++) {
			char first[16];

			snprintf(first, sizeof first, "\\-\\-%.2s", row->name);
			assert_non_null(strstr(page, first));
		}
		free(page);
	}
}

/* bash answers for its script; `words` end where the cursor stands. */
static void bash_completes(const char *words, const char *wanted)
{
	char path[] = "/tmp/sonde-completion-XXXXXX", line[512], answer[2048] = "";
	int fd = mkstemp(path);
	struct out out;

	assert_true(fd >= 0);
	close(fd);
	assert_true(out_open_file(&out, path, NULL));
	help_completion(SHELL_BASH, &out);
	assert_true(out_close(&out, NULL));
	snprintf(line, sizeof line,
		 "bash -c 'set -e; . %s; COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); "
		 "_sonde; echo ${COMPREPLY[@]}'",
		 path, words);
	FILE *bash = popen(line, "r");
	assert_non_null(bash);
	size_t length = fread(answer, 1, sizeof answer - 1, bash);
	assert_int_equal(pclose(bash), 0);
	unlink(path);
	answer[length] = 0;
	assert_string_equal(answer, wanted);
}

static void bash_knows_what_comes_next(void **state)
{
	(void)state;
	if (access("/bin/bash", X_OK) != 0)
		skip();
	bash_completes("sonde rec", "record\n");
	bash_completes("sonde snap", "snapshot\n");
	bash_completes("sonde record --pau", "--pause\n");
	bash_completes("sonde record --pause \"\"", "never auto always\n");
	bash_completes("sonde record --pause = a", "auto always\n");
	bash_completes("sonde dump --js", "--json\n");
	bash_completes("sonde completion z", "zsh\n");
	bash_completes("sonde help doc", "doctor\n");
}

/* The other shells may not be here; their scripts name every option all the same. */
static void every_shell_is_told_every_option(void **state)
{
	(void)state;
	for (int shell = SHELL_BASH; shell <= SHELL_FISH; shell++) {
		struct out out;

		out_open_memory(&out);
		help_completion((enum shell)shell, &out);
		out_bytes(&out, "", 1);
		for (u32 i = 0; i < command_count; i++) {
			const struct option_row *row;

			for (u32 k = 0; (row = options_row(commands[i], k)) != NULL; k++)
				assert_non_null(strstr((const char *)out.buffer, row->name));
		}
		out_close(&out, NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_fit_a_terminal_and_name_every_option),
		cmocka_unit_test(wrapping),
		cmocka_unit_test(man_pages_hold_only_requests_that_are_meant),
		cmocka_unit_test(bash_knows_what_comes_next),
		cmocka_unit_test(every_shell_is_told_every_option),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
