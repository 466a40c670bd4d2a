/* SPDX-License-Identifier: Apache-2.0
 * go_file.h - a small program of Go, as its linker lays out what its tracebacks need, in each layout that there has been.
 *
 * Three functions: main.main, which makes a frame of 24 bytes behind its first four; runtime.systemstack, which pushes rbp and
 * goes to another stack; runtime.goexit. */
#pragma once
#include "elf/image.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GO_TEXT = 0x401000, GO_TEXT_BYTES = 0x100, GO_FUNCTIONS = 3, GO_TABLE = 0x1200 };

/* Where functions begin. */
static const u64 go_begin[GO_FUNCTIONS + 1] = { 0, 0x40, 0x80, 0xa0 };
static const char go_names[] = "\0main.main\0runtime.systemstack\0runtime.goexit";
static const u32 go_name_at[GO_FUNCTIONS] = { 1, 11, 31 };
/* Depths: 0 for 4 bytes, 24 for 44, 0 for 16;  0 for 1, 8 for 60, 0 for 3;  0 for 32. */
static const u8 go_values[] = { 0, 2, 4, 48, 44, 47, 16, 0, 2, 1, 16, 60, 15, 3, 0, 2, 32, 0 };
static const u32 go_values_at[GO_FUNCTIONS] = { 1, 8, 15 };

struct go_bytes {
	u8 bytes[0x2000];
	u32 used;
};

static inline void go_put(struct go_bytes *to, u64 value, u32 bytes)
{
	for (u32 i = 0; i < bytes; i++)
		to->bytes[to->used++] = i < sizeof value ? (u8)(value >> 8 * i) : 0;
}

static inline void go_put_bytes(struct go_bytes *to, const void *from, u32 bytes)
{
	memcpy(to->bytes + to->used, from, bytes);
	to->used += bytes;
}

/* The entry of one function, behind its pc. */
static inline void go_put_function(struct go_bytes *to, u32 index, u32 magic, u64 names, u64 values)
{
	go_put(to, names + go_name_at[index], 4);
	go_put(to, 0, 4); /* args */
	go_put(to, 0, 4); /* deferreturn */
	go_put(to, values + go_values_at[index], 4);
	go_put(to, 0, 12); /* files, lines, count of more */
	if (magic != 0xfffffffb)
		go_put(to, 0, 4); /* unit */
	if (magic == 0xfffffff1)
		go_put(to, 0, 4);          /* first line */
	go_put(to, 0, 1);                  /* id */
	go_put(to, index == 1 ? 2 : 0, 1); /* writes SP */
	go_put(to, 0, 2);
}

/* `text`: as the head says it. */
static inline struct go_bytes go_table_bytes(u32 magic, u64 text)
{
	struct go_bytes out = { .used = 0 };
	bool is_old = magic == 0xfffffffb, has_text = magic == 0xfffffff0 || magic == 0xfffffff1;
	u32 width = has_text ? 4 : 8;
	u64 head = is_old ? 16 : has_text ? 72 : 64;
	u64 by_pc = (2 * GO_FUNCTIONS + 1) * width;
	u64 entry = width + (is_old ? 32 : magic == 0xfffffff1 ? 40 : 36);
	u64 functions = is_old ? 16 : head + sizeof go_names + sizeof go_values;
	u64 names = is_old ? 16 + by_pc + GO_FUNCTIONS * entry : head;
	u64 values = names + sizeof go_names;

	go_put(&out, magic, 4);
	go_put(&out, 0x08010000, 4); /* quantum 1, pointers of 8 */
	go_put(&out, GO_FUNCTIONS, 8);
	if (!is_old) {
		go_put(&out, 1, 8); /* files */
		if (has_text)
			go_put(&out, text, 8);
		go_put(&out, names, 8);
		go_put(&out, 0, 8);
		go_put(&out, 0, 8);
		go_put(&out, values, 8);
		go_put(&out, functions, 8);
		go_put_bytes(&out, go_names, sizeof go_names);
		go_put_bytes(&out, go_values, sizeof go_values);
	}
	u64 base = has_text ? 0 : GO_TEXT, entries = by_pc + (is_old ? 16 : 0);
	for (u32 i = 0; i < GO_FUNCTIONS; i++) {
		go_put(&out, base + go_begin[i], width);
		go_put(&out, entries + i * entry, width);
	}
	go_put(&out, base + go_begin[GO_FUNCTIONS], width);
	for (u32 i = 0; i < GO_FUNCTIONS; i++) {
		go_put(&out, base + go_begin[i], width);
		go_put_function(&out, i, magic, is_old ? names : 0, is_old ? values : 0);
	}
	if (is_old) {
		go_put_bytes(&out, go_names, sizeof go_names);
		go_put_bytes(&out, go_values, sizeof go_values);
	}
	return out;
}

static inline Elf64_Shdr go_section(u32 name, u64 address, u64 offset, u64 size, u64 flags)
{
	return (Elf64_Shdr){ .sh_name = name,
			     .sh_type = SHT_PROGBITS,
			     .sh_flags = flags,
			     .sh_addr = address,
			     .sh_offset = offset,
			     .sh_size = size };
}

/* A stripped program that holds such a table, entered at main.main. To be freed; `length` of it is the file. */
static inline u8 *go_file(const struct go_bytes *table, u32 *length)
{
	enum { NAMES = 0x200, SECTIONS = 0x300, TEXT = 0x1000 };
	static const char names[] = "\0.text\0.gopclntab\0.names";
	u8 *file = calloc(1, GO_TABLE + sizeof table->bytes);
	const Elf64_Ehdr header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_entry = GO_TEXT,
		.e_phoff = sizeof header,
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shoff = SECTIONS,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 4,
		.e_shstrndx = 3,
		.e_ehsize = sizeof header,
	};
	const Elf64_Phdr load = { .p_type = PT_LOAD,
				  .p_flags = PF_R | PF_X,
				  .p_vaddr = GO_TEXT - TEXT,
				  .p_filesz = GO_TABLE + table->used,
				  .p_memsz = GO_TABLE + table->used,
				  .p_align = 4096 };
	const Elf64_Shdr sections[] = {
		{ 0 },
		go_section(1, GO_TEXT, TEXT, GO_TEXT_BYTES, SHF_ALLOC | SHF_EXECINSTR),
		go_section(7, GO_TEXT - TEXT + GO_TABLE, GO_TABLE, table->used, SHF_ALLOC),
		{ .sh_name = 18,
		  .sh_type = SHT_STRTAB,
		  .sh_offset = NAMES,
		  .sh_size = sizeof names },
	};

	*length = GO_TABLE + table->used;
	if (!file)
		return NULL;
	memcpy(file, &header, sizeof header);
	memcpy(file + sizeof header, &load, sizeof load);
	memcpy(file + NAMES, names, sizeof names);
	memcpy(file + SECTIONS, sections, sizeof sections);
	memcpy(file + GO_TABLE, table->bytes, table->used);
	return file;
}

/* NULL: out of memory. */
static inline struct image *go_open(const struct go_bytes *table)
{
	u32 length;
	u8 *file = go_file(table, &length);
	int fd = memfd_create("go", MFD_CLOEXEC);
	bool good = file && fd >= 0 && write(fd, file, length) == (ssize_t)length;

	free(file);
	return good ? image_open(fd, "go", NULL) : NULL;
}
