/* SPDX-License-Identifier: Apache-2.0
 * loaded.c - an object that a program has loaded: its code is where it is, its symbols, too, and .eh_frame is what is in memory. */
#include "check.h"

#include "elf/loaded.h"
#include "mem/mem.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

enum { OBJECT = 0x10000, CODE = 0x20000, FRAMES = 0x20400, CODE_BYTES = 0x40 };
enum { NONE, TEXT, EH_FRAME, SYMTAB, STRTAB, NAMES, SECTIONS };

struct object {
	Elf64_Ehdr header;
	u8 code[CODE_BYTES], frames[16];
	Elf64_Sym symbols[4];
	char strings[24], names[48];
	Elf64_Shdr sections[SECTIONS];
};

/* What the program's memory holds: the copy, and what was loaded of it. */
struct memory {
	struct mem mem; /* first */
	struct object object;
	u8 code[CODE_BYTES], frames[16];
};

static bool read_piece(u64 addr, void *dst, u32 len, u64 at, const void *bytes, size_t size)
{
	if (addr < at || addr - at > size || len > size - (addr - at))
		return false;
	memcpy(dst, (const u8 *)bytes + (addr - at), len);
	return true;
}

static bool memory_read(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	const struct memory *m = (const struct memory *)mem;

	(void)hold;
	return read_piece(addr, dst, len, OBJECT, &m->object, sizeof m->object) ||
	       read_piece(addr, dst, len, CODE, m->code, sizeof m->code) ||
	       read_piece(addr, dst, len, FRAMES, m->frames, sizeof m->frames);
}

#define SECTION(name_at, type_, flags_, addr, member)                                      \
	(Elf64_Shdr)                                                                       \
	{                                                                                  \
		.sh_name = name_at, .sh_type = type_, .sh_flags = flags_, .sh_addr = addr, \
		.sh_offset = offsetof(struct object, member),                              \
		.sh_size = sizeof((struct object *)0)->member                              \
	}

static void set_up(struct memory *m)
{
	struct object *o = &m->object;

	memset(m, 0, sizeof *m);
	m->mem.read = memory_read;
	memset(m->code, 0x90, sizeof m->code);
	memset(m->frames, 0x77, sizeof m->frames);
	o->header = (Elf64_Ehdr){ .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					       ELFDATA2LSB, EV_CURRENT },
				  .e_type = ET_REL,
				  .e_machine = EM_X86_64,
				  .e_version = EV_CURRENT,
				  .e_shoff = offsetof(struct object, sections),
				  .e_ehsize = sizeof(Elf64_Ehdr),
				  .e_shentsize = sizeof(Elf64_Shdr),
				  .e_shnum = SECTIONS,
				  .e_shstrndx = NAMES };
	memcpy(o->strings, "\0first\0second\0data", 19);
	memcpy(o->names, "\0.text\0.eh_frame\0.symtab\0.strtab", 33);
	o->sections[TEXT] = SECTION(1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, CODE, code);
	o->sections[EH_FRAME] = SECTION(7, SHT_X86_64_UNWIND, SHF_ALLOC, FRAMES, frames);
	o->sections[SYMTAB] = SECTION(17, SHT_SYMTAB, 0, 0, symbols);
	o->sections[SYMTAB].sh_link = STRTAB;
	o->sections[SYMTAB].sh_entsize = sizeof(Elf64_Sym);
	o->sections[STRTAB] = SECTION(25, SHT_STRTAB, 0, 0, strings);
	o->sections[NAMES] = SECTION(25, SHT_STRTAB, 0, 0, names);
	o->symbols[1] = (Elf64_Sym){ 1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, TEXT, 0, 0x10 };
	o->symbols[2] = (Elf64_Sym){ 7, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 0, TEXT, 0x10, 0x30 };
	o->symbols[3] = (Elf64_Sym){ 14, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, TEXT, 0, 8 };
}

static struct image *open_it(const struct memory *m)
{
	struct err err = { 0 };

	return loaded_open(&m->mem, OBJECT, sizeof m->object, "[jit]", &err);
}

static void it_is_where_it_was_loaded(void **state)
{
	struct image_segment segment;
	struct image_section section;
	struct image_symbol symbol;
	struct memory m;
	u8 bytes[16];

	(void)state;
	set_up(&m);
	struct image *image = open_it(&m);
	assert_non_null(image);
	assert_false(image_is_relocatable(image));
	assert_int_equal(image_machine(image), EM_X86_64);
	assert_true(image_segment(image, 0, &segment));
	assert_int_equal(segment.address, CODE);
	assert_int_equal(segment.memory_size, CODE_BYTES);
	assert_true(segment.flags & PF_X);
	assert_true(image_section_named(image, ".eh_frame", &section));
	assert_int_equal(section.address, FRAMES);
	assert_true(image_bytes(image, FRAMES, bytes, sizeof bytes));
	assert_int_equal(bytes[0], 0x77); /* as it is in memory, and not in the copy */
	assert_true(image_symbol_named(image, "second", &symbol));
	assert_int_equal(symbol.value, CODE + 0x10);
	assert_int_equal(symbol.size, 0x30);
	assert_true(image_symbol_named(image, "first", &symbol));
	assert_false(image_symbol_named(image, "data", &symbol));
	image_close(image);
}

static void what_is_none_is_refused(void **state)
{
	struct err err = { 0 };
	struct memory m;

	(void)state;
	set_up(&m);
	assert_null(loaded_open(&m.mem, OBJECT, 0, "[jit]", &err));
	assert_null(loaded_open(&m.mem, OBJECT, UINT64_MAX, "[jit]", &err));
	assert_null(loaded_open(&m.mem, OBJECT + 1, sizeof m.object, "[jit]", &err));
	m.object.header.e_ident[1] = 0;
	assert_null(open_it(&m));
	set_up(&m);
	m.object.sections[TEXT].sh_addr = 0; /* not loaded */
	m.object.sections[EH_FRAME].sh_addr = 0;
	assert_null(open_it(&m));
	set_up(&m);
	m.object.sections[TEXT].sh_size = 1 << 30;
	m.object.sections[EH_FRAME].sh_size = 1 << 30;
	assert_null(open_it(&m));
	set_up(&m);
	m.object.sections[TEXT].sh_addr = 0x900000; /* nothing is there */
	assert_null(open_it(&m));
}

static void a_symbol_behind_its_section_is_passed_by(void **state)
{
	struct image_symbol symbol;
	struct memory m;

	(void)state;
	set_up(&m);
	m.object.symbols[1].st_value = CODE_BYTES;
	m.object.symbols[2].st_shndx = SECTIONS + 7;
	struct image *image = open_it(&m);
	assert_non_null(image);
	assert_false(image_symbol_named(image, "first", &symbol));
	assert_false(image_symbol_named(image, "second", &symbol));
	image_close(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_where_it_was_loaded),
		cmocka_unit_test(what_is_none_is_refused),
		cmocka_unit_test(a_symbol_behind_its_section_is_passed_by),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
