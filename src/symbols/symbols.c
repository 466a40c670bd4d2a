/* SPDX-License-Identifier: Apache-2.0
 * symbols.c - see symbols.h. */
#include "symbols/parts.h"

#include <elf.h>
#include <string.h>

/* Functions may lie in others (a label with a size, in assembler): so far is looked back for the outer one. */
enum { ENCLOSING_MAX = 8 };
/* And so far a function may reach whose size is not told. */
enum { REACH_MAX = 1 << 20 };
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

bool symbols_add(struct symbols *symbols, const char *name, u64 start, u64 end)
{
	u32 length = (u32)strnlen(name, SYMBOL_NAME_MAX);

	return vec_push(&symbols->all, (struct symbol){ name, start, end, length });
}

bool symbols_add_copy(struct symbols *symbols, const char *name, u64 start, u64 end)
{
	u32 length = (u32)strnlen(name, SYMBOL_NAME_MAX), offset = symbols->text.count;

	if (offset + length + 1 > TEXT_MAX || !vec_grow(&symbols->text, offset + length + 1))
		return false;
	memcpy(symbols->text.at + offset, name, length);
	symbols->text.at[offset + length] = 0;
	symbols->text.count += length + 1;
	return vec_push(&symbols->all,
			(struct symbol){ (const char *)(uintptr_t)offset, start, end, length });
}

void symbols_place_names(struct symbols *symbols)
{
	for (u32 i = 0; i < symbols->all.count; i++)
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
	if ((a->end > a->start) != (b->end > b->start))
		return a->end > a->start;
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

/* Names are looked at once each, not at every comparison: a file may have a hundred thousand long ones for one address. */
void symbols_sort(struct symbols *symbols,
		  bool (*is_better)(const struct symbol *, const struct symbol *))
{
	u32 kept = 0;

	if (symbols->all.count)
		qsort(symbols->all.at, symbols->all.count, sizeof symbols->all.at[0], by_start);
	for (u32 i = 0; i < symbols->all.count; i++) {
		const struct symbol *symbol = &symbols->all.at[i];
		if (!kept || symbols->all.at[kept - 1].start != symbol->start)
			symbols->all.at[kept++] = *symbol;
		else if (is_better(symbol, &symbols->all.at[kept - 1]))
			symbols->all.at[kept - 1] = *symbol;
	}
	symbols->all.count = kept;
}

void symbols_settle(struct symbols *symbols)
{
	symbols_sort(symbols, is_plainer);
	u32 kept = symbols->all.count;
	for (u32 i = 0; i < kept; i++) {
		struct symbol *symbol = &symbols->all.at[i];
		if (symbol->end > symbol->start)
			continue;
		u64 next = i + 1 < kept ? symbols->all.at[i + 1].start : symbol->start + 1;
		u64 most = symbol->start + REACH_MAX;
		symbol->end = next < most ? next : most;
	}
}

/* How many begin at the address or in front of it. */
static u32 count_before(const struct symbols *symbols, u64 address)
{
	u32 low = 0, high = symbols->all.count;

	while (low < high) {
		u32 middle = (low + high) / 2;
		if (symbols->all.at[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
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
	for (u32 i = count_before(symbols, address), tries = 0; i-- > 0 && tries < ENCLOSING_MAX;
	     tries++)
		if (address < symbols->all.at[i].end) {
			*out = symbols->all.at[i];
			return true;
		}
	return false;
}

/* ---- an image's ---------------------------------------------------------------------------- */

static bool is_code(const struct image_symbol *symbol)
{
	return symbol->section && symbol->name[0] &&
	       (symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC);
}

static bool add_symbols(struct symbols *symbols, const struct image *image)
{
	struct image_symbol symbol;

	for (u32 i = 0; image_symbol(image, i, &symbol); i++) {
		if (!is_code(&symbol))
			continue;
		u64 end = symbol.value + symbol.size;
		if (!symbols_add(symbols, symbol.name, symbol.value,
				 end > symbol.value ? end : symbol.value))
			return false;
	}
	return true;
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
		    !symbols_add(symbols, function.name, function.begin, function.end))
			return false;
	return true;
}

struct symbols *symbols_of_image(const struct image *image)
{
	struct symbols *symbols = symbols_new();

	if (!symbols)
		return NULL;
	if (!add_symbols(symbols, image) || !add_go_functions(symbols, image)) {
		symbols_free(symbols);
		return NULL;
	}
	symbols_settle(symbols);
	return symbols;
}
