/* SPDX-License-Identifier: Apache-2.0
 * plt.c - the stubs of the procedure linkage table, by which an image calls functions that others could replace.
 *
 *	function -> .dynsym -> relocation of a slot -> jmp *slot, in a section .plt*        (x86-64) */
#include "elf/image_parts.h"

#include "base/cleanup.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum {
	RELOCATION_BYTES_MAX = 64 << 20,
	STUB_BYTES_MAX = 16 << 20,
	STUB_SIZE = 16,
	JUMP_BYTES = 6, /* ff 25 and the distance to the slot */
};

struct slot {
	u64 address; /* that the linker fills with the function's */
	u32 symbol;  /* of .dynsym */
};

typedef VEC(struct slot) slots;

static int by_address(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

static void read_slots(const struct image *image, slots *out)
{
	static const char *const names[] = { ".rela.plt", ".rela.dyn" };
	struct image_section section;

	for (u32 n = 0; n < COUNT_OF(names); n++) {
		if (!image_section_named(image, names[n], &section))
			continue;
		AUTO_FREE Elf64_Rela *all = image_load(image, section.offset, section.size,
						       RELOCATION_BYTES_MAX, "relocations", NULL);
		for (u64 i = 0; all && i < section.size / sizeof *all; i++) {
			u32 type = ELF64_R_TYPE(all[i].r_info);
			u64 symbol = ELF64_R_SYM(all[i].r_info);
			if ((type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) &&
			    symbol < image->tables[TABLE_DYNAMIC].count &&
			    !vec_push(out, (struct slot){ all[i].r_offset, (u32)symbol }))
				return;
		}
	}
	if (out->count)
		qsort(out->at, out->count, sizeof out->at[0], by_address);
}

static const struct slot *slot_at(const slots *all, u64 address)
{
	struct slot key = { .address = address };

	return all->count ? bsearch(&key, all->at, all->count, sizeof key, by_address) : NULL;
}

typedef VEC(struct image_stub) stubs;

/* Stubs are 16 bytes, or 8 where nothing but the jump is in them; a jump may have endbr64 and a prefix in front. */
static struct image_stub stub_around(const struct image_section *section, const u8 *bytes, u64 jump)
{
	u64 start = jump;

	start -= start && bytes[start - 1] == 0xf2;
	start -= start >= 4 && !memcmp(bytes + start - 4, "\xf3\x0f\x1e\xfa", 4) ? 4 : 0;
	u64 end = start + STUB_SIZE < section->size ? start + STUB_SIZE : section->size;
	return (struct image_stub){ .address = section->address + start,
				    .end = section->address + end };
}

static void find_stubs(const struct image *image, const struct image_section *section,
		       const slots *all, stubs *out)
{
	const struct symbol_table *table = &image->tables[TABLE_DYNAMIC];
	AUTO_FREE u8 *bytes = image_load(image, section->offset, section->size, STUB_BYTES_MAX,
					 "linkage table", NULL);

	for (u64 i = 0; bytes && i + JUMP_BYTES <= section->size; i++) {
		s32 distance;
		if (bytes[i] != 0xff || bytes[i + 1] != 0x25)
			continue;
		memcpy(&distance, bytes + i + 2, sizeof distance);
		const struct slot *slot = slot_at(all, section->address + i + JUMP_BYTES +
							       (u64)(s64)distance);
		if (!slot)
			continue;
		const Elf64_Sym *symbol = &table->symbols[slot->symbol];
		struct image_stub stub = stub_around(section, bytes, i);
		stub.name = symbol->st_name < table->strings_size ?
				    table->strings + symbol->st_name :
				    "";
		stub.function = symbol->st_value;
		if (!vec_push(out, stub))
			return;
	}
}

struct image_stub *image_stubs(const struct image *image, u32 *count)
{
	struct image_section section;
	slots all = { 0 };
	stubs out = { 0 };

	if (image->machine == EM_X86_64 && image_read_symbols(image, NULL))
		read_slots(image, &all);
	for (u32 i = 0; all.count && image_section(image, i, &section); i++)
		if (section.type == SHT_PROGBITS && !strncmp(section.name, ".plt", 4))
			find_stubs(image, &section, &all, &out);
	vec_free(&all);
	*count = out.count;
	return out.at;
}

u64 image_stub_of(const struct image *image, u64 function)
{
	u32 count;
	AUTO_FREE struct image_stub *all = image_stubs(image, &count);

	for (u32 i = 0; function && i < count; i++)
		if (all[i].function == function)
			return all[i].address & ~(u64)(STUB_SIZE - 1);
	return 0;
}
