/* SPDX-License-Identifier: Apache-2.0
 * plt.c - by which stub of the procedure linkage table an image calls a function that others could replace.
 *
 *	function -> .dynsym -> relocation of a slot -> jmp *slot, in a section .plt*        (x86-64) */
#include "elf/image_parts.h"

#include "base/cleanup.h"

#include <string.h>

enum {
	RELOCATION_BYTES_MAX = 64 << 20,
	STUB_BYTES_MAX = 16 << 20,
	STUB_SIZE = 16,
	JUMP_BYTES = 6, /* ff 25 and the distance to the slot */
};

static bool is_of(const struct image *image, const Elf64_Rela *relocation, u64 function)
{
	const struct symbol_table *table = &image->tables[TABLE_DYNAMIC];
	u64 number = ELF64_R_SYM(relocation->r_info);
	u32 type = ELF64_R_TYPE(relocation->r_info);

	return (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) && number < table->count &&
	       table->symbols[number].st_value == function;
}

/* The address of the slot that the linker fills with the function's; 0: there is none. */
static u64 find_slot(const struct image *image, u64 function)
{
	static const char *const names[] = { ".rela.plt", ".rela.dyn" };
	struct image_section section;

	for (u32 n = 0; n < COUNT_OF(names); n++) {
		if (!image_section_named(image, names[n], &section))
			continue;
		AUTO_FREE Elf64_Rela *all = image_load(image, section.offset, section.size,
						       RELOCATION_BYTES_MAX, "relocations", NULL);
		for (u64 i = 0; all && i < section.size / sizeof *all; i++)
			if (is_of(image, &all[i], function))
				return all[i].r_offset;
	}
	return 0;
}

static u64 find_jump(const struct image *image, const struct image_section *section, u64 slot)
{
	AUTO_FREE u8 *bytes = image_load(image, section->offset, section->size, STUB_BYTES_MAX,
					 "linkage table", NULL);

	for (u64 i = 0; bytes && i + JUMP_BYTES <= section->size; i++) {
		s32 distance;
		if (bytes[i] != 0xff || bytes[i + 1] != 0x25)
			continue;
		memcpy(&distance, bytes + i + 2, sizeof distance);
		if (section->address + i + JUMP_BYTES + (u64)(s64)distance == slot)
			return (section->address + i) & ~(u64)(STUB_SIZE - 1);
	}
	return 0;
}

u64 image_stub_of(const struct image *image, u64 function)
{
	struct image_section section;
	u64 slot = image_read_symbols(image, NULL) ? find_slot(image, function) : 0, stub = 0;

	for (u32 i = 0; slot && !stub && image_section(image, i, &section); i++)
		if (section.type == SHT_PROGBITS && !strncmp(section.name, ".plt", 4))
			stub = find_jump(image, &section, slot);
	return stub;
}
