/* SPDX-License-Identifier: Apache-2.0
 * text_table.c - see text_table.h. */
#include "export/text_table.h"

#include "base/text.h"

#include <stdlib.h>

bool text_table_init(struct text_table *table, const struct names *names)
{
	*table = (struct text_table){ .names = names };
	table->number_of = calloc(names->strings.count + 1, sizeof *table->number_of);
	table->bad = !names_init(&table->texts) || !table->number_of;
	return !table->bad;
}

void text_table_free(struct text_table *table)
{
	names_free(&table->texts);
	free(table->number_of);
	str_free(&table->scratch);
	table->number_of = NULL;
}

u32 text_table_number(struct text_table *table, u32 string)
{
	const struct name_string *text = &table->names->strings.at[string];

	if (!string || table->number_of[string])
		return table->number_of[string];
	str_clear(&table->scratch);
	text_add_safe(&table->scratch, text->text, text->length, 0);
	u32 number = names_string(&table->texts, table->scratch.text, table->scratch.length);
	table->bad |= table->scratch.bad || table->texts.bad;
	return table->number_of[string] = number;
}

u32 text_table_literal(struct text_table *table, const char *text)
{
	u32 number = names_text(&table->texts, text);

	table->bad |= table->texts.bad;
	return number;
}
