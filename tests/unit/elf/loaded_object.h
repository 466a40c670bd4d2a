/* SPDX-License-Identifier: Apache-2.0
 * loaded_object.h - a small relocatable object as a compiler at run time leaves it for debuggers: its sections have addresses.
 *
 * Two functions, first and second, and a datum. */
#pragma once
#include "base/types.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

enum { LOADED_CODE_BYTES = 0x40, LOADED_FRAMES_BYTES = 16 };
enum { NONE, TEXT, EH_FRAME, SYMTAB, STRTAB, NAMES, SECTIONS };

struct loaded_object {
	Elf64_Ehdr header;
	u8 code[LOADED_CODE_BYTES], frames[LOADED_FRAMES_BYTES];
	Elf64_Sym symbols[4];
	char strings[24], names[48];
	Elf64_Shdr sections[SECTIONS];
};

#define LOADED_SECTION(name_at, type_, flags_, addr, member)                               \
	(Elf64_Shdr)                                                                       \
	{                                                                                  \
		.sh_name = name_at, .sh_type = type_, .sh_flags = flags_, .sh_addr = addr, \
		.sh_offset = offsetof(struct loaded_object, member),                       \
		.sh_size = sizeof((struct loaded_object *)0)->member                       \
	}

/* Its code is at `code`, its frames at `frames`. */
static inline void loaded_object_make(struct loaded_object *o, u64 code, u64 frames)
{
	*o = (struct loaded_object){ 0 };
	o->header = (Elf64_Ehdr){ .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					       ELFDATA2LSB, EV_CURRENT },
				  .e_type = ET_REL,
				  .e_machine = EM_X86_64,
				  .e_version = EV_CURRENT,
				  .e_shoff = offsetof(struct loaded_object, sections),
				  .e_ehsize = sizeof(Elf64_Ehdr),
				  .e_shentsize = sizeof(Elf64_Shdr),
				  .e_shnum = SECTIONS,
				  .e_shstrndx = NAMES };
	memcpy(o->strings, "\0first\0second\0data", 19);
	memcpy(o->names, "\0.text\0.eh_frame\0.symtab\0.strtab", 33);
	o->sections[TEXT] = LOADED_SECTION(1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, code, code);
	o->sections[EH_FRAME] = LOADED_SECTION(7, SHT_X86_64_UNWIND, SHF_ALLOC, frames, frames);
	o->sections[SYMTAB] = LOADED_SECTION(17, SHT_SYMTAB, 0, 0, symbols);
	o->sections[SYMTAB].sh_link = STRTAB;
	o->sections[SYMTAB].sh_entsize = sizeof(Elf64_Sym);
	o->sections[STRTAB] = LOADED_SECTION(25, SHT_STRTAB, 0, 0, strings);
	o->sections[NAMES] = LOADED_SECTION(25, SHT_STRTAB, 0, 0, names);
	o->symbols[1] = (Elf64_Sym){ 1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, TEXT, 0, 0x10 };
	o->symbols[2] = (Elf64_Sym){ 7, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 0, TEXT, 0x10, 0x30 };
	o->symbols[3] = (Elf64_Sym){ 14, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, TEXT, 0, 8 };
}
