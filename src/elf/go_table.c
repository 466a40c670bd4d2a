/* SPDX-License-Identifier: Apache-2.0
 * go_table.c - see go_table.h. */
#include "elf/go_table.h"

#include "base/cleanup.h"
#include "base/cursor.h"
#include "elf/image_parts.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
	TABLE_BYTES_MAX = 256 << 20,
	POINTER = 8,
	FLAG_WRITES_SP = 2, /* abi.FuncFlagSPWrite */
	/* struct moduledata: the head's address is its first word, text and etext are these. */
	MODULE_TEXT = 22,
	MODULE_WORDS = 24,
	/* Where in a function's entry. */
	FUNCTION_NAME = 0,
	FUNCTION_PCSP = 12,
};

/* What differs between the layouts; 0: there is none, or it is the table's begin. */
struct layout {
	u32 magic;
	u8 entry_bytes;                    /* of a pc, and of an offset beside it */
	u8 text, names, values, functions; /* where in the head their offsets are */
	u8 flag;                           /* in a function's entry, behind its pc */
};

static const struct layout layouts[] = {
	{ .magic = 0xfffffffb, .entry_bytes = 8 },
	{ .magic = 0xfffffffa,
	  .entry_bytes = 8,
	  .names = 24,
	  .values = 48,
	  .functions = 56,
	  .flag = 33 },
	{ .magic = 0xfffffff0,
	  .entry_bytes = 4,
	  .text = 24,
	  .names = 32,
	  .values = 56,
	  .functions = 64,
	  .flag = 33 },
	{ .magic = 0xfffffff1,
	  .entry_bytes = 4,
	  .text = 24,
	  .names = 32,
	  .values = 56,
	  .functions = 64,
	  .flag = 37 },
};

enum { HEAD_FUNCTIONS = 8, HEAD_BYTES = 72, OLD_HEAD_BYTES = 16 };

struct go_table {
	const struct layout *layout;
	u8 *bytes; /* size of them and a NUL */
	u64 size, address;
	u64 text; /* what pcs are counted from */
	u64 names, values, functions;
	u32 count;
	u8 quantum; /* bytes of the shortest instruction */
};

/* ---- numbers ------------------------------------------------------------------------------- */

/* 0 outside. */
static u64 number_at(const struct go_table *table, u64 offset, u32 bytes)
{
	u64 value = 0;

	if (offset <= table->size && bytes <= table->size - offset)
		memcpy(&value, table->bytes + offset, bytes);
	return value;
}

/* The pc that the index's function begins at; that behind the last is where it ends. */
static u64 pc_at(const struct go_table *table, u32 index)
{
	u32 bytes = table->layout->entry_bytes;

	return table->text + number_at(table, table->functions + 2ull * bytes * index, bytes);
}

/* Where its entry is, behind its pc; 0: nowhere. */
static u64 entry_of(const struct go_table *table, u32 index)
{
	u32 bytes = table->layout->entry_bytes;
	u64 at = number_at(table, table->functions + 2ull * bytes * index + bytes, bytes);

	if (!at || at >= table->size || table->functions > table->size)
		return 0;
	/* the first layout counts from the head */
	return (table->layout->functions ? table->functions : 0) + at + bytes;
}

/* ---- where it lies ------------------------------------------------------------------------- */

static bool find_section(const struct image *image, struct image_section *out)
{
	static const char *const names[] = { ".gopclntab", ".data.rel.ro.gopclntab" };

	for (u32 i = 0; i < COUNT_OF(names); i++)
		if (image_section_named(image, names[i], out) && out->type != SHT_NOBITS &&
		    out->size)
			return true;
	return false;
}

static bool is_code(const struct image *image, u64 begin, u64 end)
{
	struct image_section section;

	for (u32 i = 0; image_section(image, i, &section); i++)
		if ((section.flags & SHF_EXECINSTR) && begin >= section.address &&
		    end <= section.address + section.size && end > begin)
			return true;
	return false;
}

/* Do functions begin where the image's code is, and one where a program of Go alone is entered? */
static bool is_text(struct go_table *table, const struct image *image, u64 text, bool has_entry)
{
	table->text = text;
	if (!text || !is_code(image, pc_at(table, 0), pc_at(table, table->count)))
		return false;
	for (u32 i = 0; has_entry && i < table->count; i++)
		if (pc_at(table, i) == image_entry(image))
			return true;
	return !has_entry;
}

/* As the program's own record of what was linked has it (Go 1.26 keeps it in a section). */
static u64 text_of_module(const struct go_table *table, const struct image *image)
{
	struct image_section section;
	u64 words[MODULE_WORDS];

	if (!image_section_named(image, ".go.module", &section) || section.size < sizeof words ||
	    !image_pread(image, section.offset, words, sizeof words) || words[0] != table->address)
		return 0;
	return words[MODULE_TEXT];
}

/* Offsets are from runtime.text, which is .text unless there is C in front of it. */
static bool find_text(struct go_table *table, const struct image *image)
{
	struct image_symbol symbol;
	struct image_section section;
	u64 said = table->layout->text ? number_at(table, table->layout->text, POINTER) : 0;

	if (table->layout->entry_bytes == POINTER) {
		table->text = 0;
		return is_code(image, pc_at(table, 0), pc_at(table, table->count));
	}
	if (image_symbol_named(image, "runtime.text", &symbol) &&
	    is_text(table, image, symbol.value, false))
		return true;
	return is_text(table, image, said, false) ||
	       is_text(table, image, text_of_module(table, image), false) ||
	       (image_section_named(image, ".text", &section) &&
		is_text(table, image, section.address, true));
}

static bool read_head(struct go_table *table, const struct image *image)
{
	u32 magic = (u32)number_at(table, 0, 4);
	u64 count = number_at(table, HEAD_FUNCTIONS, POINTER);

	for (u32 i = 0; i < COUNT_OF(layouts); i++)
		if (layouts[i].magic == magic)
			table->layout = &layouts[i];
	if (!table->layout || table->bytes[7] != POINTER || !table->bytes[6] ||
	    count >= table->size / (2ull * table->layout->entry_bytes))
		return false;
	const struct layout *layout = table->layout;
	table->count = (u32)count;
	table->quantum = table->bytes[6];
	table->functions = layout->functions ? number_at(table, layout->functions, POINTER) :
					       OLD_HEAD_BYTES;
	table->names = layout->names ? number_at(table, layout->names, POINTER) : 0;
	table->values = layout->values ? number_at(table, layout->values, POINTER) : 0;
	return table->count && table->functions < table->size && table->names < table->size &&
	       table->values < table->size && find_text(table, image);
}

struct go_table *go_table_open(const struct image *image, struct err *err)
{
	struct image_section section;

	if (!find_section(image, &section))
		return NULL;
	struct go_table *table = calloc(1, sizeof *table);
	if (!table) {
		err_no_memory(err);
		return NULL;
	}
	table->size = section.size;
	table->address = section.address;
	table->bytes = image_load(image, section.offset, section.size, TABLE_BYTES_MAX,
				  "table of Go functions", err);
	if (table->bytes && table->size >= HEAD_BYTES && read_head(table, image))
		return table;
	if (table->bytes)
		err_set(err, ERR_BAD_DATA, "%s: the table of Go functions is of no known layout",
			image_name(image));
	go_table_close(table);
	return NULL;
}

void go_table_close(struct go_table *table)
{
	if (!table)
		return;
	free(table->bytes);
	free(table);
}

bool go_table_digest(const struct image *image, u64 out[2])
{
	struct image_section section;

	if (!find_section(image, &section))
		return false;
	AUTO_FREE u8 *bytes = image_load(image, section.offset, section.size, TABLE_BYTES_MAX,
					 "table of Go functions", NULL);
	if (!bytes)
		return false;
	XXH128_hash_t hash = XXH3_128bits_withSeed(bytes, section.size, section.address);
	out[0] = hash.low64;
	out[1] = hash.high64;
	return true;
}

/* ---- functions ----------------------------------------------------------------------------- */

u32 go_table_count(const struct go_table *table)
{
	return table->count;
}

bool go_table_function(const struct go_table *table, u32 index, struct go_function *out)
{
	u64 entry = index < table->count ? entry_of(table, index) : 0;
	u64 name = table->names + number_at(table, entry + FUNCTION_NAME, 4);

	if (!entry || name >= table->size)
		return false;
	*out = (struct go_function){ .name = (const char *)table->bytes + name,
				     .begin = pc_at(table, index),
				     .end = pc_at(table, index + 1) };
	if (table->layout->flag)
		out->writes_sp = number_at(table, entry + table->layout->flag, 1) & FLAG_WRITES_SP;
	return out->end > out->begin;
}

void go_table_each_row(const struct go_table *table, u32 index, go_row_fn *fn, void *arg)
{
	struct go_function function;
	s64 value = -1;

	if (!go_table_function(table, index, &function))
		return;
	u64 at = number_at(table, entry_of(table, index) + FUNCTION_PCSP, 4);
	u64 pc = function.begin;
	if (!at || at >= table->size - table->values)
		return;
	struct cursor c = cursor_make(table->bytes + table->values + at,
				      table->size - table->values - at);
	/* pairs: how the value changes, folded so that small ones are short; and for how many bytes it stands */
	for (bool is_first = true; pc < function.end; is_first = false) {
		u64 change = cursor_uleb(&c);
		if (c.bad || (!change && !is_first))
			return;
		value += (s64)(change >> 1) ^ -(s64)(change & 1);
		u64 length = cursor_uleb(&c) * table->quantum;
		if (c.bad || !length || length > function.end - pc || value < 0 ||
		    value > INT32_MAX)
			return;
		struct go_row row = { pc, pc + length, (s32)value };
		if (!fn(arg, &row))
			return;
		pc += length;
	}
}
