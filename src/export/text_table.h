/* SPDX-License-Identifier: Apache-2.0
 * text_table.h - the strings of a file: those of a profile that it asks for, made safe
 * (text.h), numbered from 1 in the order of asking; 0 is "".
 *
 * Different bytes that are shown alike cannot be: text_add_safe() can be turned back. */
#pragma once
#include "base/str.h"
#include "sample/names.h"

struct text_table {
	const struct names *names; /* the profile's */
	struct names texts;        /* its strings are the table */
	u32 *number_of;            /* by string of the profile, 0: not asked for yet */
	struct str scratch;
	bool bad; /* out of memory; numbers are wrong then */
};

bool text_table_init(struct text_table *table, const struct names *names);
void text_table_free(struct text_table *table);
/* The number of a string of the profile. */
u32 text_table_number(struct text_table *table, u32 string);
/* ... and of a text of our own. */
u32 text_table_literal(struct text_table *table, const char *text);
