/* SPDX-License-Identifier: Apache-2.0
 * parts.h - the index, for those who fill it. Private to this folder. */
#pragma once
#include "base/vec.h"
#include "elf/go_table.h"
#include "symbols/symbols.h"

/* So far a function may reach whose size is not told. */
enum { SYMBOL_REACH_MAX = 1 << 20 };

struct symbols {
	VEC(struct symbol) all; /* by address, once they are settled */
	VEC(char) text;         /* of names that no image holds */
	struct go_table *go;    /* whose names they are; NULL: not of Go */
};

struct symbols *symbols_new(void);
/* All but its length. One that is open reaches to the next one, and not beyond `end`. */
bool symbols_add(struct symbols *symbols, struct symbol symbol);
/* The same with a copy of the name, which is an offset in the text until symbols_place_names(). */
bool symbols_add_copy(struct symbols *symbols, struct symbol symbol);
/* Of all from the `first` on. */
void symbols_place_names(struct symbols *symbols, u32 first);
/* All are there: one for each address. */
void symbols_settle(struct symbols *symbols);
