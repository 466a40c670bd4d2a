/* SPDX-License-Identifier: Apache-2.0
 * symbols.c - see symbols.h. */
#include "symbols/parts.h"

#include "base/cleanup.h"
#include "base/radix.h"

#include <elf.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Functions may lie in others (a label with a size, in assembler): so far is looked back for the outer one. */
enum { ENCLOSING_MAX = 8 };
enum { TEXT_MAX = 256 << 20 /* of names */ };

struct symbols *symbols_new(void)
{
	return calloc(1, sizeof(struct symbols));
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	vec_free(&symbols->all);
	vec_free(&symbols->text);
	go_table_close(symbols->go);
	free(symbols);
}

bool symbols_add(struct symbols *symbols, struct symbol symbol)
{
	symbol.length = (u32)strnlen(symbol.name, SYMBOL_NAME_MAX);
	return vec_push(&symbols->all, symbol);
}

bool symbols_add_copy(struct symbols *symbols, struct symbol symbol)
{
	u32 length = (u32)strnlen(symbol.name, SYMBOL_NAME_MAX), offset = symbols->text.count;

	if (offset + length + 1 > TEXT_MAX || !vec_grow(&symbols->text, offset + length + 1))
		return false;
	memcpy(symbols->text.at + offset, symbol.name, length);
	symbols->text.at[offset + length] = 0;
	symbols->text.count += length + 1;
	symbol.length = length;
	symbol.name = (const char *)(uintptr_t)offset;
	return vec_push(&symbols->all, symbol);
}

void symbols_place_names(struct symbols *symbols, u32 first)
{
	for (u32 i = first; i < symbols->all.count; i++)
		symbols->all.at[i].name = symbols->text.at + (uintptr_t)symbols->all.at[i].name;
}

/* ---- one for each address ------------------------------------------------------------------ */

static u32 underscores(const struct symbol *symbol)
{
	u32 count = 0;

	while (count < symbol->length && symbol->name[count] == '_')
		count++;
	return count;
}

static bool is_plainer(const struct symbol *a, const struct symbol *b)
{
	if (a->is_open != b->is_open)
		return b->is_open;
	if (underscores(a) != underscores(b))
		return underscores(a) < underscores(b);
	if (a->length != b->length)
		return a->length < b->length;
	return memcmp(a->name, b->name, a->length) < 0;
}

static int by_start(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

/* The largest libraries have two million. */
static void order(struct symbol *all, u32 count)
{
	AUTO_FREE struct symbol *spare = malloc(count * sizeof *all);

	if (spare)
		radix_order(all, spare, count, sizeof *all, offsetof(struct symbol, start));
	else if (count)
		qsort(all, count, sizeof *all, by_start);
}

/* Names are looked at once each, not at every comparison: a file may have a hundred thousand long ones for one address. */
static void keep_one_for_each(struct symbols *symbols)
{
	u32 kept = 0;

	for (u32 i = 0; i < symbols->all.count; i++) {
		const struct symbol *symbol = &symbols->all.at[i];
		if (!kept || symbols->all.at[kept - 1].start != symbol->start)
			symbols->all.at[kept++] = *symbol;
		else if (is_plainer(symbol, &symbols->all.at[kept - 1]))
			symbols->all.at[kept - 1] = *symbol;
	}
	symbols->all.count = kept;
}

void symbols_settle(struct symbols *symbols)
{
	order(symbols->all.at, symbols->all.count);
	keep_one_for_each(symbols);
	u32 kept = symbols->all.count;
	for (u32 i = 0; i < kept; i++) {
		struct symbol *symbol = &symbols->all.at[i];
		u64 next = i + 1 < kept ? symbols->all.at[i + 1].start : symbol->end;
		if (symbol->is_open && next < symbol->end)
			symbol->end = next;
	}
}

/* How many begin at the address or in front of it. */
static u32 count_before(const struct symbols *symbols, u64 address)
{
	return vec_first_not(&symbols->all, one, one->start <= address);
}

bool symbols_before(const struct symbols *symbols, u64 address, struct symbol *out)
{
	u32 count = count_before(symbols, address);

	if (count)
		*out = symbols->all.at[count - 1];
	return count;
}

bool symbols_find(const struct symbols *symbols, u64 address, struct symbol *out)
{
	u32 count = count_before(symbols, address);

	for (u32 i = count, tries = 0; i-- > 0 && tries < ENCLOSING_MAX; tries++)
		if (address < symbols->all.at[i].end) {
			*out = symbols->all.at[i];
			return true;
		}
	if (count == symbols->all.count || symbols->all.at[count].start != address + 1)
		return false;
	*out = symbols->all.at[count];
	return true;
}

/* ---- an image's ---------------------------------------------------------------------------- */

static bool is_code(const struct image_symbol *symbol)
{
	return symbol->section && symbol->name[0] &&
	       (symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC);
}

/* Where a function ends at the latest whose size is not told: at the end of its section. Behind .init, whose one function has no
 * size, are the stubs of .plt. */
static u64 reach_of(const struct image *image, const struct image_symbol *symbol)
{
	struct image_section section;
	u64 most = symbol->value + SYMBOL_REACH_MAX;

	if (!image_section(image, symbol->section, &section) || symbol->value < section.address ||
	    symbol->value - section.address >= section.size)
		return most;
	u64 end = section.address + section.size;
	return end < most ? end : most;
}

static bool add_symbols(struct symbols *symbols, const struct image *image)
{
	struct image_symbol symbol;

	for (u32 i = 0; image_symbol(image, i, &symbol); i++) {
		if (!is_code(&symbol))
			continue;
		struct symbol new = { .name = symbol.name,
				      .start = symbol.value,
				      .end = symbol.value + symbol.size };
		if (new.end <= new.start) {
			new.end = reach_of(image, &symbol);
			new.is_open = true;
		}
		if (!symbols_add(symbols, new))
			return false;
	}
	return true;
}

static bool add_stubs(struct symbols *symbols, const struct image *image)
{
	char name[SYMBOL_NAME_MAX];
	u32 first = symbols->all.count, count;
	AUTO_FREE struct image_stub *stubs = image_stubs(image, &count);

	for (u32 i = 0; i < count; i++) {
		struct symbol new = { .name = name,
				      .start = stubs[i].address,
				      .end = stubs[i].end };
		new.is_open = true;
		snprintf(name, sizeof name, "%.*s@plt", SYMBOL_NAME_MAX - 8, stubs[i].name);
		if (!symbols_add_copy(symbols, new))
			return false;
	}
	symbols_place_names(symbols, first);
	return true;
}

static struct symbol go_symbol(const struct go_function *function)
{
	struct symbol symbol = { .name = function->name,
				 .start = function->begin,
				 .end = function->end };

	symbol.is_open = symbol.end <= symbol.start;
	if (symbol.is_open)
		symbol.end = symbol.start + SYMBOL_REACH_MAX;
	return symbol;
}

/* A stripped Go program has them still. */
static bool add_go_functions(struct symbols *symbols, const struct image *image)
{
	struct image_section section;
	struct go_function function;

	if (image_section_named(image, ".symtab", &section))
		return true;
	symbols->go = go_table_open(image, NULL);
	for (u32 i = 0; symbols->go && i < go_table_count(symbols->go); i++)
		if (go_table_function(symbols->go, i, &function) &&
		    !symbols_add(symbols, go_symbol(&function)))
			return false;
	return true;
}

struct symbols *symbols_of_image(const struct image *image)
{
	struct symbols *symbols = symbols_new();

	if (!symbols)
		return NULL;
	if (!add_symbols(symbols, image) || !add_stubs(symbols, image) ||
	    !add_go_functions(symbols, image)) {
		symbols_free(symbols);
		return NULL;
	}
	symbols_settle(symbols);
	return symbols;
}
