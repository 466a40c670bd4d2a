/* SPDX-License-Identifier: Apache-2.0
 * elf_file.h - a small shared library, built in memory field by field.
 *
 * A test changes what it wants to be wrong and opens the bytes as a file.  The
 * whole file is one PT_LOAD segment at ELF_BASE, so an address is ELF_BASE plus
 * the offset in struct elf_file. */
#pragma once
#include "elf/image.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ELF_BASE = 0x10000, ELF_BSS = 0x800 };

enum elf_section_number {
	SECTION_NULL,
	SECTION_NOTE,
	SECTION_DYNSYM,
	SECTION_DYNSTR,
	SECTION_SYMTAB,
	SECTION_STRTAB,
	SECTION_NAMES,
	SECTION_BSS,
	SECTION_COUNT,
};

struct elf_file {
	Elf64_Ehdr header;
	Elf64_Phdr load, dynamic_segment, note_segment;
	struct {
		Elf64_Nhdr header;
		char name[4];
		u8 id[20];
	} note;
	Elf64_Sym dynsym[4];
	char dynstr[40];
	struct {
		u32 buckets, first, bloom_words, shift;
		u64 bloom[1];
		u32 bucket[1];
		u32 chain[3];
	} gnu_hash;
	struct {
		u32 buckets, chains, bucket[1], chain[4];
		u32 padding;
	} hash;
	Elf64_Dyn dynamic[7];
	Elf64_Sym symtab[3];
	char strtab[32];
	char names[72];
	Elf64_Shdr sections[SECTION_COUNT];
};

#define ELF_AT(member) (ELF_BASE + offsetof(struct elf_file, member))

static inline Elf64_Shdr elf_section(u32 name, u32 type, u64 offset, u64 size, u32 link, u64 entry)
{
	return (Elf64_Shdr){ .sh_name = name,
			     .sh_type = type,
			     .sh_addr = ELF_BASE + offset,
			     .sh_offset = offset,
			     .sh_size = size,
			     .sh_link = link,
			     .sh_entsize = entry,
			     .sh_addralign = 4 };
}

/* Section of a member of the file. */
#define ELF_SECTION(name, type, member, link, entry)               \
	elf_section(name, type, offsetof(struct elf_file, member), \
		    sizeof((struct elf_file *)0)->member, link, entry)

static inline void elf_make_headers(struct elf_file *file)
{
	file->header = (Elf64_Ehdr){
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = offsetof(struct elf_file, load),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 3,
		.e_shoff = offsetof(struct elf_file, sections),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTION_COUNT,
		.e_shstrndx = SECTION_NAMES,
		.e_ehsize = sizeof(Elf64_Ehdr),
	};
	file->load = (Elf64_Phdr){ .p_type = PT_LOAD,
				   .p_flags = PF_R | PF_X,
				   .p_vaddr = ELF_BASE,
				   .p_filesz = sizeof *file,
				   .p_memsz = sizeof *file + ELF_BSS,
				   .p_align = 4096 };
	file->dynamic_segment = (Elf64_Phdr){ .p_type = PT_DYNAMIC,
					      .p_offset = offsetof(struct elf_file, dynamic),
					      .p_vaddr = ELF_AT(dynamic),
					      .p_filesz = sizeof file->dynamic,
					      .p_align = 8 };
	file->note_segment = (Elf64_Phdr){ .p_type = PT_NOTE,
					   .p_offset = offsetof(struct elf_file, note),
					   .p_vaddr = ELF_AT(note),
					   .p_filesz = sizeof file->note,
					   .p_align = 4 };
	file->note.header =
		(Elf64_Nhdr){ .n_namesz = 4, .n_descsz = 20, .n_type = NT_GNU_BUILD_ID };
	memcpy(file->note.name, "GNU", 4);
	for (u32 i = 0; i < sizeof file->note.id; i++)
		file->note.id[i] = (u8)(0xa0 + i);
}

static inline void elf_make_symbols(struct elf_file *file)
{
	const u8 function = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
	const u8 object = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);

	memcpy(file->dynstr, "\0imported\0exported\0data", 24);
	file->dynsym[1] = (Elf64_Sym){ .st_name = 1, .st_info = function };
	file->dynsym[2] = (Elf64_Sym){ .st_name = 10,
				       .st_info = function,
				       .st_shndx = 1,
				       .st_value = 0x10100,
				       .st_size = 0x20 };
	file->dynsym[3] = (Elf64_Sym){ .st_name = 19,
				       .st_info = object,
				       .st_shndx = SECTION_BSS,
				       .st_value = 0x10200,
				       .st_size = 8 };
	memcpy(file->strtab, "\0local\0exported", 16);
	file->symtab[1] = (Elf64_Sym){
		.st_name = 1, .st_info = STT_FUNC, .st_shndx = 1, .st_value = 0x10140, .st_size = 4
	};
	file->symtab[2] =
		(Elf64_Sym){ .st_name = 7, .st_info = function, .st_shndx = 1, .st_value = 0xbad };
	/* One bucket: its chain begins at symbol 2 and ends with symbol 3. */
	file->gnu_hash.buckets = 1;
	file->gnu_hash.first = 2;
	file->gnu_hash.bloom_words = 1;
	file->gnu_hash.bucket[0] = 2;
	file->gnu_hash.chain[1] = 1;
	file->hash.buckets = 1;
	file->hash.chains = 4;
	const Elf64_Dyn dynamic[] = {
		{ DT_SYMTAB, { ELF_AT(dynsym) } },     { DT_STRTAB, { ELF_AT(dynstr) } },
		{ DT_STRSZ, { sizeof file->dynstr } }, { DT_GNU_HASH, { ELF_AT(gnu_hash) } },
		{ DT_HASH, { ELF_AT(hash) } },         { DT_NULL, { 0 } },
	};
	memcpy(file->dynamic, dynamic, sizeof dynamic);
}

static inline void elf_make_sections(struct elf_file *file)
{
	static const char names[] = "\0.note\0.dynsym\0.dynstr\0.symtab\0.strtab\0.names\0.bss";

	memcpy(file->names, names, sizeof names);
	file->sections[SECTION_NOTE] = ELF_SECTION(1, SHT_NOTE, note, 0, 0);
	file->sections[SECTION_DYNSYM] = ELF_SECTION(7, SHT_DYNSYM, dynsym, SECTION_DYNSTR,
						     sizeof(Elf64_Sym));
	file->sections[SECTION_DYNSTR] = ELF_SECTION(15, SHT_STRTAB, dynstr, 0, 0);
	file->sections[SECTION_SYMTAB] = ELF_SECTION(23, SHT_SYMTAB, symtab, SECTION_STRTAB,
						     sizeof(Elf64_Sym));
	file->sections[SECTION_STRTAB] = ELF_SECTION(31, SHT_STRTAB, strtab, 0, 0);
	file->sections[SECTION_NAMES] = ELF_SECTION(39, SHT_STRTAB, names, 0, 0);
	file->sections[SECTION_BSS] = elf_section(46, SHT_NOBITS, sizeof(struct elf_file), ELF_BSS,
						  0, 0);
}

static inline struct elf_file elf_make(void)
{
	struct elf_file file;

	memset(&file, 0, sizeof file);
	elf_make_headers(&file);
	elf_make_symbols(&file);
	elf_make_sections(&file);
	return file;
}

static inline void elf_drop_sections(struct elf_file *file) /* as `sstrip` leaves it */
{
	file->header.e_shoff = 0;
	file->header.e_shnum = 0;
	file->header.e_shstrndx = 0;
}

static inline struct image *elf_open_bytes(const void *bytes, size_t length, struct err *err)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, bytes, length) == (ssize_t)length)
		return image_open(fd, "test.so", err);
	return NULL;
}

static inline struct image *elf_open(const struct elf_file *file, struct err *err)
{
	return elf_open_bytes(file, sizeof *file, err);
}
