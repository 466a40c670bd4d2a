/* SPDX-License-Identifier: Apache-2.0
 * symbols.c - the two symbol tables of an image.
 *
 * .dynsym is what the run-time linker sees; every shared library has it.
 * .symtab also has local names; `strip` removes it.  Both are arrays of
 * Elf64_Sym that point into a string table.
 *
 * With section headers the tables are sections.  Without them (sstrip, packers)
 * .dynsym is still found the way the linker finds it:
 *
 *	PT_DYNAMIC -> DT_SYMTAB, DT_STRTAB, DT_STRSZ
 *	            + DT_HASH or DT_GNU_HASH, since nothing else says how many there are
 *
 * A table is read at the first question, whole, because most images are opened for
 * their build-id only.  A name that is looked for is mostly not there: its text is
 * sought first (40 ms in the 250 MB of the largest libraries, not 170).  Looking up
 * one that is there is a linear search: a libruby has 10,000 symbols (0.1 ms), and its
 * cost is bounded however the names overlap, which building a hash over a hostile
 * string table is not. */
#include "elf/image_parts.h"

#include "base/cleanup.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

#define LOG_DOMAIN LOG_elf

enum {
	VERSION_HIDDEN = 0x8000
}; /* of a word of .gnu.version (Linux Standard Base, "Symbol Versioning") */

/* Both parts, or nothing and err. */
static bool load_parts(const struct image *image, struct symbol_table *table, u64 offset, u64 size,
		       u64 strings, u64 strings_size, struct err *err)
{
	if (size > SYMBOL_BYTES_MAX || strings_size > SYMBOL_BYTES_MAX - size)
		return err_set(err, ERR_UNSUPPORTED,
			       "%s: its symbols take more than the %u MB that are read",
			       image->name, SYMBOL_BYTES_MAX >> 20);
	AUTO_FREE Elf64_Sym *symbols = image_load(image, offset, size, SYMBOL_BYTES_MAX,
						  "symbol table", err);
	if (!symbols)
		return false;
	table->strings = image_load(image, strings, strings_size, SYMBOL_BYTES_MAX,
				    "string table of symbols", err);
	if (!table->strings)
		return false;
	table->strings_size = strings_size;
	table->count = (u32)(size / sizeof *symbols);
	table->symbols = symbols;
	symbols = NULL;
	return true;
}

/* --- by section headers ------------------------------------------------------------------ */

static const Elf64_Shdr *section_of_type(const struct image *image, u32 type)
{
	for (u32 i = 0; i < image->section_count; i++)
		if (image->sections[i].sh_type == type)
			return &image->sections[i];
	return NULL;
}

static bool load_from_section(const struct image *image, struct symbol_table *table,
			      const Elf64_Shdr *section, struct err *err)
{
	if (section->sh_entsize != sizeof(Elf64_Sym))
		return err_set(err, ERR_BAD_DATA, "%s: its symbols are %llu bytes each, not %zu",
			       image->name, (unsigned long long)section->sh_entsize,
			       sizeof(Elf64_Sym));
	if (section->sh_link >= image->section_count ||
	    image->sections[section->sh_link].sh_type != SHT_STRTAB)
		return err_set(err, ERR_BAD_DATA,
			       "%s: section %u does not hold the names of symbols", image->name,
			       section->sh_link);
	const Elf64_Shdr *strings = &image->sections[section->sh_link];
	return load_parts(image, table, section->sh_offset, section->sh_size, strings->sh_offset,
			  strings->sh_size, err);
}

/* Without them all symbols are as good as each other. */
static void load_versions(const struct image *image, struct symbol_table *table)
{
	const Elf64_Shdr *section = section_of_type(image, SHT_GNU_versym);
	u64 size = (u64)table->count * sizeof *table->versions;

	if (section && section->sh_size >= size)
		table->versions = image_load(image, section->sh_offset, size, SYMBOL_BYTES_MAX,
					     "versions of symbols", NULL);
}

/* --- by the dynamic segment -------------------------------------------------------------- */

struct dynamic {
	u64 symbols, strings, strings_size; /* linked addresses and a size */
	u64 hash, gnu_hash;
};

static bool read_dynamic(const struct image *image, struct dynamic *out, struct err *err)
{
	const Elf64_Phdr *segment = NULL;

	for (u32 i = 0; i < image->segment_count && !segment; i++)
		if (image->segments[i].p_type == PT_DYNAMIC)
			segment = &image->segments[i];
	if (!segment)
		return err_set(err, ERR_BAD_DATA, "%s: no symbol table", image->name);
	AUTO_FREE Elf64_Dyn *entries = image_load(image, segment->p_offset, segment->p_filesz,
						  HEADER_BYTES_MAX, "dynamic segment", err);
	if (!entries)
		return false;

	for (u64 i = 0; i < segment->p_filesz / sizeof *entries; i++) {
		u64 value = entries[i].d_un.d_val;
		switch (entries[i].d_tag) {
		case DT_NULL:
			return true;
		case DT_SYMTAB:
			out->symbols = value;
			break;
		case DT_STRTAB:
			out->strings = value;
			break;
		case DT_STRSZ:
			out->strings_size = value;
			break;
		case DT_HASH:
			out->hash = value;
			break;
		case DT_GNU_HASH:
			out->gnu_hash = value;
			break;
		}
	}
	return true;
}

/* DT_HASH: [buckets][chains] ...; there is one chain word for each symbol. */
static bool count_by_hash(const struct image *image, u64 address, u64 *count)
{
	u32 header[2];

	if (!image_bytes(image, address, header, sizeof header))
		return false;
	*count = header[1];
	return true;
}

/* DT_GNU_HASH: [buckets][first hashed symbol][bloom words][shift] bloom buckets chains.  A bucket
 * holds the lowest symbol of its chain, a chain ends at a word with bit 0 set: the last symbol is
 * the end of the highest bucket's chain.  All sums are in 64 bits: in 32 they wrap for hostile
 * counts, and the search runs over the same words for ever. */
static bool count_by_gnu_hash(const struct image *image, u64 address, u64 *count)
{
	u32 header[4];
	u64 offset, left;

	if (!image_offset_of_address(image, address, &offset, &left) || left < sizeof header ||
	    !image_pread(image, offset, header, sizeof header))
		return false;
	u64 words = left / sizeof(u32);
	u64 first = header[1];
	u64 buckets_at = 4 + 2 * (u64)header[2];
	u64 chains_at = buckets_at + header[0];
	if (chains_at > words)
		return false;
	AUTO_FREE u32 *table = image_load(image, offset, words * sizeof(u32), SYMBOL_BYTES_MAX,
					  "hash table", NULL);
	if (!table)
		return false;

	u64 last = 0;
	for (u64 i = buckets_at; i < chains_at; i++)
		last = table[i] > last ? table[i] : last;
	*count = first; /* symbols before the first hashed one are there in any case */
	if (last < first)
		return true;
	for (u64 i = chains_at + (last - first); i < words; i++)
		if (table[i] & 1) {
			*count = first + (i - chains_at) + 1;
			return true;
		}
	return false;
}

static bool load_from_dynamic(const struct image *image, struct symbol_table *table,
			      struct err *err)
{
	struct dynamic dynamic = { 0 };
	u64 symbols, strings, symbols_left, strings_left, count = 0;

	if (!read_dynamic(image, &dynamic, err))
		return false;
	if (!image_offset_of_address(image, dynamic.symbols, &symbols, &symbols_left) ||
	    !image_offset_of_address(image, dynamic.strings, &strings, &strings_left))
		return err_set(
			err, ERR_BAD_DATA,
			"%s: its dynamic segment says that the symbols stand outside the file",
			image->name);
	if (!(dynamic.gnu_hash && count_by_gnu_hash(image, dynamic.gnu_hash, &count)) &&
	    !(dynamic.hash && count_by_hash(image, dynamic.hash, &count)))
		return err_set(err, ERR_BAD_DATA, "%s: no hash table says how many symbols it has",
			       image->name);
	if (count > symbols_left / sizeof(Elf64_Sym))
		count = symbols_left / sizeof(Elf64_Sym);
	if (dynamic.strings_size < strings_left)
		strings_left = dynamic.strings_size;
	return load_parts(image, table, symbols, count * sizeof(Elf64_Sym), strings, strings_left,
			  err);
}

/* --- asking ------------------------------------------------------------------------------ */

/* The state is SYMBOLS_READ or SYMBOLS_NONE afterwards.  False with err when a table is there and
 * could not be read; having none is not a failure of .symtab, which may be stripped. */
static bool load_table(const struct image *image, u32 which, struct err *err)
{
	struct symbol_table *table = &image->tables[which];
	const Elf64_Shdr *section = section_of_type(image, which == TABLE_DYNAMIC ? SHT_DYNSYM :
										    SHT_SYMTAB);
	bool ok = true;

	if (table->state == SYMBOLS_READ)
		return true;
	table->state = SYMBOLS_NONE;
	if (section)
		ok = load_from_section(image, table, section, err);
	else if (which == TABLE_DYNAMIC && image->section_count == 0)
		ok = load_from_dynamic(image, table, err);
	else
		return true;
	if (ok && section && which == TABLE_DYNAMIC)
		load_versions(image, table);
	if (ok)
		table->state = SYMBOLS_READ;
	return ok;
}

static void load_if_possible(const struct image *image, u32 which)
{
	struct err err = { 0 };

	if (!load_table(image, which, &err))
		log_debug(1, "%s", err.text);
}

/* Asked for each symbol. */
static const struct symbol_table *table_of(const struct image *image, u32 which)
{
	if (image->tables[which].state == SYMBOLS_UNREAD)
		load_if_possible(image, which);
	return &image->tables[which];
}

bool image_read_symbols(const struct image *image, struct err *err)
{
	bool dynamic = load_table(image, TABLE_DYNAMIC, err);

	/* The first failure is the one to report. */
	return load_table(image, TABLE_FULL, dynamic ? err : NULL) && dynamic;
}

static struct image_symbol symbol_at(const struct symbol_table *table, u32 index)
{
	const Elf64_Sym *symbol = &table->symbols[index];

	return (struct image_symbol){
		.name = symbol->st_name < table->strings_size ? table->strings + symbol->st_name :
								"",
		.value = symbol->st_value,
		.size = symbol->st_size,
		.type = ELF64_ST_TYPE(symbol->st_info),
		.section = symbol->st_shndx,
		.is_old = table->versions && table->versions[index] & VERSION_HIDDEN,
	};
}

/* The last string may end where the table does. */
static bool has_text(const struct symbol_table *table, const char *text)
{
	return table->strings &&
	       memmem(table->strings, table->strings_size + 1, text, strlen(text) + 1);
}

bool image_symbol_named(const struct image *image, const char *name, struct image_symbol *out)
{
	for (u32 which = 0; which < TABLE_COUNT; which++) {
		const struct symbol_table *table = table_of(image, which);
		u32 count = has_text(table, name) ? table->count : 0;
		for (u32 i = 1; i < count; i++) {
			if (table->symbols[i].st_shndx == SHN_UNDEF)
				continue;
			*out = symbol_at(table, i);
			if (out->name[0] == name[0] && strcmp(out->name, name) == 0)
				return true;
		}
	}
	return false;
}

bool image_symbol(const struct image *image, u32 index, struct image_symbol *out)
{
	for (u32 which = 0; which < TABLE_COUNT; which++) {
		const struct symbol_table *table = table_of(image, which);
		u32 count = table->count ? table->count - 1 : 0; /* index 0 is the null symbol */
		if (index < count) {
			*out = symbol_at(table, index + 1);
			return true;
		}
		index -= count;
	}
	return false;
}

void symbol_tables_free(struct symbol_table *tables)
{
	for (u32 which = 0; which < TABLE_COUNT; which++) {
		free(tables[which].symbols);
		free(tables[which].strings);
		free(tables[which].versions);
	}
}
