/* SPDX-License-Identifier: Apache-2.0
 * loaded.c - see loaded.h.
 *
 *	copy of the object -> sections that are loaded, functions -> header | segments | contents | symbols | names | sections */
#include "elf/loaded.h"

#include "base/cleanup.h"
#include "base/memory_file.h"
#include "base/table.h"
#include "base/vec.h"
#include "mem/mem.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	OBJECT_BYTES_MAX = 16 << 20,
	PARTS_MAX = 64,
	SYMBOLS_MAX = 1 << 16,
	NAME_BYTES_MAX = 4096,
};

typedef VEC(u8) bytes;

struct part {
	struct image_section section;
	u64 offset; /* in the new file */
};

struct making {
	const struct mem *mem;
	const struct image *object;
	VEC(struct part) parts;
	VEC(Elf64_Sym) symbols;
	bytes names, section_names, file;
	bool is_bad;
};

/* Where they are. */
static u64 put(struct making *making, bytes *to, const void *from, size_t length)
{
	u64 at = to->count;

	if (!length)
		return at;
	if (to->count + length > 2 * OBJECT_BYTES_MAX || !vec_grow(to, to->count + (u32)length)) {
		making->is_bad = true;
		return 0;
	}
	memcpy(to->at + at, from, length);
	to->count += (u32)length;
	return at;
}

static u32 put_name(struct making *making, bytes *to, const char *name)
{
	size_t length = strnlen(name, NAME_BYTES_MAX);
	u32 at = (u32)put(making, to, name, length);

	put(making, to, "", 1);
	return at;
}

static void align(struct making *making)
{
	static const u8 zeros[16];

	put(making, &making->file, zeros, -(size_t)making->file.count % sizeof zeros);
}

/* ---- the object ---------------------------------------------------------------------------- */

static struct image *image_of_bytes(const void *from, size_t size, const char *name,
				    struct err *err)
{
	int fd = memory_file("sonde-jit", from, size);

	if (fd >= 0)
		return image_open(fd, name, err);
	err_sys(err, errno, "%s: copying it", name);
	return NULL;
}

/* NULL: it cannot be read. To be freed. */
static u8 *read_copy(const struct mem *mem, u64 object, u64 size)
{
	u8 *copy = size && size <= OBJECT_BYTES_MAX ? malloc(size) : NULL;

	if (copy && mem_read(mem, object, copy, (u32)size))
		return copy;
	free(copy);
	return NULL;
}

u64 loaded_hash(const struct mem *mem, u64 object, u64 size)
{
	AUTO_FREE u8 *copy = read_copy(mem, object, size);

	return copy ? table_hash(copy, size) : 0;
}

static struct image *open_copy(const struct mem *mem, u64 object, u64 size, const char *name,
			       struct err *err)
{
	AUTO_FREE u8 *copy = read_copy(mem, object, size);

	if (copy)
		return image_of_bytes(copy, size, name, err);
	err_set(err, ERR_BAD_DATA, "%s: an object of %llu bytes at %llx cannot be read", name,
		(unsigned long long)size, (unsigned long long)object);
	return NULL;
}

static bool is_loaded(const struct image_section *section)
{
	return section->flags & SHF_ALLOC && section->address && section->size &&
	       section->size <= OBJECT_BYTES_MAX && section->type != SHT_NOBITS &&
	       (section->flags & SHF_EXECINSTR || !strcmp(section->name, ".eh_frame"));
}

static void find_parts(struct making *making)
{
	struct part part = { 0 };

	for (u32 i = 0; i < image_section_count(making->object); i++)
		if (image_section(making->object, i, &part.section) && is_loaded(&part.section) &&
		    making->parts.count < PARTS_MAX)
			making->is_bad |= !vec_push(&making->parts, part);
}

static void find_symbols(struct making *making)
{
	struct image_symbol symbol;
	struct image_section section;

	making->is_bad |= !vec_push(&making->symbols, (Elf64_Sym){ 0 });
	put_name(making, &making->names, "");
	for (u32 i = 0;
	     !making->is_bad && i < SYMBOLS_MAX && image_symbol(making->object, i, &symbol); i++) {
		if (symbol.type != STT_FUNC || !symbol.section ||
		    !image_section(making->object, symbol.section, &section) ||
		    !is_loaded(&section) || symbol.value >= section.size)
			continue;
		Elf64_Sym own = { .st_name = put_name(making, &making->names, symbol.name),
				  .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				  .st_shndx = 1,
				  .st_value = section.address + symbol.value,
				  .st_size = symbol.size };
		making->is_bad |= !vec_push(&making->symbols, own);
	}
}

/* ---- the image ----------------------------------------------------------------------------- */

static void put_contents(struct making *making)
{
	for (u32 i = 0; i < making->parts.count && !making->is_bad; i++) {
		struct part *part = &making->parts.at[i];
		u32 size = (u32)part->section.size;
		align(making);
		part->offset = making->file.count;
		if (part->offset + size > 2 * OBJECT_BYTES_MAX ||
		    !vec_grow(&making->file, making->file.count + size) ||
		    !mem_read(making->mem, part->section.address, making->file.at + part->offset,
			      size))
			making->is_bad = true;
		else
			making->file.count += size;
	}
}

static void put_segments(struct making *making, u64 at)
{
	for (u32 i = 0; i < making->parts.count && !making->is_bad; i++) {
		const struct part *part = &making->parts.at[i];
		Elf64_Phdr segment = { .p_type = PT_LOAD,
				       .p_flags = PF_R |
						  (part->section.flags & SHF_EXECINSTR ? PF_X : 0),
				       .p_offset = part->offset,
				       .p_vaddr = part->section.address,
				       .p_filesz = part->section.size,
				       .p_memsz = part->section.size,
				       .p_align = 1 };
		memcpy(making->file.at + at + i * sizeof segment, &segment, sizeof segment);
	}
}

/* How many there are. */
static u32 put_sections(struct making *making, u64 symbols, u64 names)
{
	u32 link = making->parts.count + 2;
	bytes *texts = &making->section_names;
	Elf64_Shdr section = { .sh_name = put_name(making, texts, "") };

	put(making, &making->file, &section, sizeof section);
	for (u32 i = 0; i < making->parts.count; i++) {
		const struct part *part = &making->parts.at[i];
		section = (Elf64_Shdr){ .sh_name = put_name(making, texts, part->section.name),
					.sh_type = SHT_PROGBITS,
					.sh_flags = part->section.flags,
					.sh_addr = part->section.address,
					.sh_offset = part->offset,
					.sh_size = part->section.size };
		put(making, &making->file, &section, sizeof section);
	}
	section = (Elf64_Shdr){ .sh_name = put_name(making, texts, ".symtab"),
				.sh_type = SHT_SYMTAB,
				.sh_offset = symbols,
				.sh_size = making->symbols.count * sizeof(Elf64_Sym),
				.sh_link = link,
				.sh_entsize = sizeof(Elf64_Sym) };
	put(making, &making->file, &section, sizeof section);
	section = (Elf64_Shdr){ .sh_name = put_name(making, texts, ".strtab"),
				.sh_type = SHT_STRTAB,
				.sh_offset = names,
				.sh_size = making->names.count };
	put(making, &making->file, &section, sizeof section);
	section.sh_name = put_name(making, texts, ".shstrtab");
	section.sh_size = texts->count;
	section.sh_offset = making->file.count + sizeof section;
	put(making, &making->file, &section, sizeof section);
	put(making, &making->file, texts->at, texts->count);
	return link + 2;
}

static void put_all(struct making *making)
{
	Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					   ELFDATA2LSB, EV_CURRENT },
			      .e_type = ET_EXEC,
			      .e_machine = image_machine(making->object),
			      .e_version = EV_CURRENT,
			      .e_phoff = sizeof header,
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = (u16)making->parts.count,
			      .e_ehsize = sizeof header,
			      .e_shentsize = sizeof(Elf64_Shdr) };
	static const Elf64_Phdr none[PARTS_MAX];

	put(making, &making->file, &header, sizeof header);
	put(making, &making->file, none, making->parts.count * sizeof none[0]);
	put_contents(making);
	align(making);
	u64 symbols = put(making, &making->file, making->symbols.at,
			  making->symbols.count * sizeof(Elf64_Sym));
	u64 names = put(making, &making->file, making->names.at, making->names.count);
	align(making);
	header.e_shoff = making->file.count;
	header.e_shnum = (u16)put_sections(making, symbols, names);
	header.e_shstrndx = header.e_shnum - 1;
	if (making->is_bad)
		return;
	put_segments(making, sizeof header);
	memcpy(making->file.at, &header, sizeof header);
}

struct image *loaded_open(const struct mem *mem, u64 object, u64 size, const char *name,
			  struct err *err)
{
	struct image *copy = open_copy(mem, object, size, name, err), *made = NULL;
	struct making making = { .mem = mem, .object = copy };

	if (!copy)
		return NULL;
	find_parts(&making);
	find_symbols(&making);
	if (making.parts.count)
		put_all(&making);
	if (making.parts.count && !making.is_bad)
		made = image_of_bytes(making.file.at, making.file.count, name, err);
	else
		err_set(err, ERR_BAD_DATA, "%s: the object at %llx has no code that is loaded",
			name, (unsigned long long)object);
	vec_free(&making.parts);
	vec_free(&making.symbols);
	vec_free(&making.names);
	vec_free(&making.section_names);
	vec_free(&making.file);
	image_close(copy);
	return made;
}
