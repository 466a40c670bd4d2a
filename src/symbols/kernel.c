/* SPDX-License-Identifier: Apache-2.0
 * kernel.c - the kernel's own names: /proc/kallsyms.
 *
 *	ffffffff81000000 T _stext
 *	ffffffffc0201000 t nf_hook	[nf_tables]
 *
 * Without CAP_SYSLOG, or with kptr_restrict, all addresses are zero. */
#include "symbols/parts.h"

#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { LINE_MAX_BYTES = 1024 };

/* What is code; `start` 0: it is not shown to us. */
static bool parse(char *line, u64 *start, const char **name)
{
	char *rest;

	*start = strtoull(line, &rest, 16);
	if (rest == line || rest[0] != ' ' || !rest[1] || rest[2] != ' ' ||
	    !strchr("tTwW", rest[1]))
		return false;
	*name = rest + 3;
	rest[3 + strcspn(rest + 3, " \t\n")] = 0;
	return (*name)[0] != 0;
}

static bool read_lines(FILE *file, struct symbols *symbols)
{
	char line[LINE_MAX_BYTES];
	const char *name;
	u64 start;

	while (fgets(line, sizeof line, file)) {
		if (!parse(line, &start, &name) || !start)
			continue;
		struct symbol symbol = { .name = name,
					 .start = start,
					 .end = start + SYMBOL_REACH_MAX };
		symbol.is_open = true;
		if (!symbols_add_copy(symbols, symbol))
			return false;
	}
	symbols_place_names(symbols, 0);
	return true;
}

struct symbols *symbols_of_kernel(struct err *err)
{
	struct symbols *symbols = symbols_new();
	FILE *file = fopen("/proc/kallsyms", "re");
	int why = errno;
	bool read = symbols && file && read_lines(file, symbols);

	if (file)
		fclose(file);
	if (read && symbols->all.count) {
		symbols_settle(symbols);
		return symbols;
	}
	if (!file)
		err_sys(err, why, "/proc/kallsyms");
	else if (!read)
		err_no_memory(err);
	else
		err_set(err, ERR_PERMISSION,
			"/proc/kallsyms shows no addresses: it takes CAP_SYSLOG, and "
			"kernel.kptr_restrict below 2");
	symbols_free(symbols);
	return NULL;
}
