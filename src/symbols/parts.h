/* SPDX-License-Identifier: Apache-2.0
 * parts.h - the index, for those who fill it. Private to this folder. */
#pragma once
#include "base/vec.h"
#include "symbols/symbols.h"

struct symbols {
	VEC(struct symbol) all; /* by address, once they are settled */
	VEC(char) text;         /* of names that no image holds */
};

struct symbols *symbols_new(void);
/* `end` may be `start`: it is not known, and is where the next one begins. */
bool symbols_add(struct symbols *symbols, const char *name, u64 start, u64 end);
/* All are there: one for each address. */
void symbols_settle(struct symbols *symbols);
