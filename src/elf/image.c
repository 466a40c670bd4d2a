/* SPDX-License-Identifier: Apache-2.0
 * image.c - opening an ELF file and answering about its headers.
 *
 *	file:   [Elf64_Ehdr] .. [program headers] .. bytes .. [section headers]
 *	memory:                  PT_LOAD: file bytes [offset, +file_size) stand at
 *	                         [address + bias, +memory_size), zeros behind them
 *
 * The file is read with pread() into buffers of our own and never mapped: whoever
 * owns it may truncate it at any time, and a mapping would answer with SIGBUS.
 * Every offset is checked against the size, every size against a limit.
 *
 * The section headers are optional at run time and the first thing that packers
 * cut off: when they do not make sense they count as absent.  Program headers
 * must make sense.
 *
 * What this does not do: decompress, relocate, or look for separate debug files.
 * In such a debug file the program headers may describe bytes that are not there,
 * so image_bytes() is for images that a process has mapped. */
#include "elf/image_parts.h"

#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_DOMAIN LOG_elf

/* --- reading the file -------------------------------------------------------------------- */

bool image_pread(const struct image *image, u64 offset, void *out, u64 length)
{
	if (offset > image->size || length > image->size - offset)
		return false;
	for (u64 done = 0; done < length;) {
		ssize_t got = pread(image->fd, (u8 *)out + done, length - done,
				    (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) /* 0: the file has shrunk since it was opened */
			return false;
		done += (u64)got;
	}
	return true;
}

void *image_load(const struct image *image, u64 offset, u64 length, u64 limit, const char *what,
		 struct err *err)
{
	if (length > limit) {
		err_set(err, ERR_UNSUPPORTED,
			"%s: its %s is %llu MB, more than the %llu MB that are read", image->name,
			what, (unsigned long long)length >> 20, (unsigned long long)limit >> 20);
		return NULL;
	}
	if (offset > image->size || length > image->size - offset) {
		err_set(err, ERR_BAD_DATA, "%s: its %s lies outside the file (%llu bytes)",
			image->name, what, (unsigned long long)image->size);
		return NULL;
	}
	char *bytes = malloc(length + 1);
	if (!bytes) {
		err_no_memory(err);
		return NULL;
	}
	if (!image_pread(image, offset, bytes, length)) {
		free(bytes);
		err_set(err, ERR_BAD_DATA, "%s: its %s cannot be read: the file was cut off",
			image->name, what);
		return NULL;
	}
	bytes[length] = 0;
	return bytes;
}

/* --- opening ----------------------------------------------------------------------------- */

static const char *kind_of_file(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "a directory";
	case S_IFIFO:
		return "a pipe";
	case S_IFSOCK:
		return "a socket";
	case S_IFCHR:
	case S_IFBLK:
		return "a device";
	default:
		return "no regular file";
	}
}

/* What the first bytes say: is this a file that we read? */
static bool check_ident(const struct image *image, const Elf64_Ehdr *header, struct err *err)
{
	const u8 *id = header->e_ident;

	if (memcmp(id, ELFMAG, SELFMAG) != 0)
		return err_set(err, ERR_BAD_DATA,
			       "%s: not an ELF file: it starts with %02x %02x %02x %02x%s",
			       image->name, id[0], id[1], id[2], id[3],
			       id[0] == '#' && id[1] == '!' ? " (a script)" : "");
	if (id[EI_CLASS] == ELFCLASS32)
		return err_set(err, ERR_UNSUPPORTED,
			       "%s: a 32-bit ELF file; only 64-bit ones are read", image->name);
	if (id[EI_CLASS] != ELFCLASS64)
		return err_set(err, ERR_BAD_DATA, "%s: ELF class %u is neither 32 nor 64 bit",
			       image->name, id[EI_CLASS]);
	if (id[EI_DATA] == ELFDATA2MSB)
		return err_set(err, ERR_UNSUPPORTED,
			       "%s: a big-endian ELF file; only little-endian ones are read",
			       image->name);
	if (id[EI_DATA] != ELFDATA2LSB)
		return err_set(err, ERR_BAD_DATA, "%s: ELF byte order %u is unknown", image->name,
			       id[EI_DATA]);
	return true;
}

/* The counts that do not fit the header's 16 bits stand in section 0 (ELF specification, "Extended
 * numbering": e_shnum 0, e_shstrndx SHN_XINDEX, e_phnum PN_XNUM). */
struct header_counts {
	u64 sections, segments, names;
};

static struct header_counts counts_of(const struct image *image, const Elf64_Ehdr *header)
{
	struct header_counts counts = { header->e_shnum, header->e_phnum, header->e_shstrndx };
	Elf64_Shdr first;

	if (!header->e_shoff || header->e_shentsize != sizeof first) {
		counts.sections = 0;
		return counts;
	}
	if (counts.sections && counts.names != SHN_XINDEX && counts.segments != PN_XNUM)
		return counts;
	if (!image_pread(image, header->e_shoff, &first, sizeof first)) {
		counts.sections = 0;
		return counts;
	}
	if (counts.sections == 0)
		counts.sections = first.sh_size;
	if (counts.names == SHN_XINDEX)
		counts.names = first.sh_link;
	if (counts.segments == PN_XNUM)
		counts.segments = first.sh_info;
	return counts;
}

static bool load_segments(struct image *image, const Elf64_Ehdr *header, u64 count, struct err *err)
{
	if (count == 0)
		return true;
	if (header->e_phentsize != sizeof(Elf64_Phdr))
		return err_set(err, ERR_BAD_DATA,
			       "%s: its program headers are %u bytes each, not %zu", image->name,
			       header->e_phentsize, sizeof(Elf64_Phdr));
	image->segments = image_load(image, header->e_phoff, count * sizeof(Elf64_Phdr),
				     HEADER_BYTES_MAX, "table of program headers", err);
	if (!image->segments)
		return false;
	image->segment_count = (u32)count;
	return true;
}

static bool load_section_names(struct image *image, u64 index, struct err *err)
{
	if (index >= image->section_count || image->sections[index].sh_type != SHT_STRTAB)
		return err_set(err, ERR_BAD_DATA, "%s: section %llu does not hold section names",
			       image->name, (unsigned long long)index);
	const Elf64_Shdr *names = &image->sections[index];
	image->section_names = image_load(image, names->sh_offset, names->sh_size, HEADER_BYTES_MAX,
					  "section names", err);
	image->section_names_size = names->sh_size;
	return image->section_names;
}

/* Section headers that make no sense are as good as none: the process runs without them. */
static void load_sections(struct image *image, const Elf64_Ehdr *header,
			  const struct header_counts *counts)
{
	struct err err = { 0 };

	if (counts->sections == 0 || counts->sections > HEADER_BYTES_MAX / sizeof(Elf64_Shdr))
		return;
	image->sections = image_load(image, header->e_shoff, counts->sections * sizeof(Elf64_Shdr),
				     HEADER_BYTES_MAX, "table of section headers", &err);
	if (image->sections) {
		image->section_count = (u32)counts->sections;
		if (load_section_names(image, counts->names, &err))
			return;
	}
	log_debug(1, "sections ignored: %s", err.text);
	free(image->sections);
	image->sections = NULL;
	image->section_count = 0;
	image->section_names_size = 0;
}

static bool load_headers(struct image *image, struct err *err)
{
	Elf64_Ehdr header;
	struct stat st;

	if (fstat(image->fd, &st) < 0)
		return err_sys(err, errno, "%s", image->name);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_BAD_DATA, "%s: %s, not a regular file", image->name,
			       kind_of_file(st.st_mode));
	image->size = (u64)st.st_size;
	if (!image_pread(image, 0, &header, sizeof header))
		return err_set(err, ERR_BAD_DATA, "%s: not an ELF file: only %llu bytes long",
			       image->name, (unsigned long long)image->size);
	if (!check_ident(image, &header, err))
		return false;
	image->machine = header.e_machine;
	image->entry = header.e_entry;
	image->type = header.e_type;

	struct header_counts counts = counts_of(image, &header);
	if (!load_segments(image, &header, counts.segments, err))
		return false;
	load_sections(image, &header, &counts);
	return true;
}

struct image *image_open(int fd, const char *name, struct err *err)
{
	struct image *image = calloc(1, sizeof *image);

	if (!image) {
		close(fd);
		err_no_memory(err);
		return NULL;
	}
	image->fd = fd;
	image->name = strdup(name);
	image->tables = calloc(TABLE_COUNT, sizeof *image->tables);
	if (!image->name || !image->tables)
		err_no_memory(err);
	else if (load_headers(image, err))
		return image;
	image_close(image);
	return NULL;
}

void image_close(struct image *image)
{
	if (!image)
		return;
	if (image->tables)
		symbol_tables_free(image->tables);
	free(image->tables);
	free(image->segments);
	free(image->sections);
	free(image->section_names);
	free(image->name);
	close(image->fd);
	free(image);
}

/* --- headers ----------------------------------------------------------------------------- */

const char *image_name(const struct image *image)
{
	return image->name;
}

int image_fd(const struct image *image)
{
	return image->fd;
}

void image_set_mapped(struct image *image, u32 device, u64 inode)
{
	image->device = device;
	image->inode = inode;
}

bool image_is_mapped(const struct image *image, u32 device, u64 inode)
{
	return !image->inode || (image->inode == inode && image->device == device);
}

u64 image_entry(const struct image *image)
{
	return image->entry;
}

u16 image_machine(const struct image *image)
{
	return image->machine;
}

bool image_is_relocatable(const struct image *image)
{
	return image->type == ET_DYN;
}

u32 image_section_count(const struct image *image)
{
	return image->section_count;
}

bool image_section(const struct image *image, u32 index, struct image_section *out)
{
	if (index >= image->section_count)
		return false;
	const Elf64_Shdr *section = &image->sections[index];
	*out = (struct image_section){
		.name = section->sh_name < image->section_names_size ?
				image->section_names + section->sh_name :
				"",
		.address = section->sh_addr,
		.offset = section->sh_offset,
		.size = section->sh_size,
		.type = section->sh_type,
		.flags = section->sh_flags,
	};
	return true;
}

bool image_section_named(const struct image *image, const char *name, struct image_section *out)
{
	for (u32 i = 0; image_section(image, i, out); i++)
		if (strcmp(out->name, name) == 0)
			return true;
	return false;
}

u32 image_segment_count(const struct image *image)
{
	return image->segment_count;
}

bool image_segment(const struct image *image, u32 index, struct image_segment *out)
{
	if (index >= image->segment_count)
		return false;
	const Elf64_Phdr *segment = &image->segments[index];
	*out = (struct image_segment){
		.address = segment->p_vaddr,
		.memory_size = segment->p_memsz,
		.offset = segment->p_offset,
		.file_size = segment->p_filesz,
		.type = segment->p_type,
		.flags = segment->p_flags,
	};
	return true;
}

/* --- bytes and addresses ----------------------------------------------------------------- */

bool image_offset_of_address(const struct image *image, u64 address, u64 *offset, u64 *left)
{
	for (u32 i = 0; i < image->segment_count; i++) {
		const Elf64_Phdr *segment = &image->segments[i];
		u64 into = address - segment->p_vaddr; /* wraps to a large number when below */

		if (segment->p_type != PT_LOAD || into >= segment->p_filesz)
			continue;
		*offset = segment->p_offset + into;
		*left = segment->p_filesz - into;
		return *offset >= segment->p_offset; /* a sum that wrapped is no offset */
	}
	return false;
}

bool image_bytes(const struct image *image, u64 address, void *out, u32 length)
{
	u64 offset, left;

	return image_offset_of_address(image, address, &offset, &left) && length <= left &&
	       image_pread(image, offset, out, length);
}

/* --- build-id ---------------------------------------------------------------------------- */

static u64 round_up(u64 value, u64 unit)
{
	return (value + unit - 1) & ~(unit - 1);
}

/* Notes are [name size][descriptor size][type] name descriptor; what comes behind the name and
 * behind the descriptor begins at a multiple of 8 in segments that say so (x86
 * .note.gnu.property), else of 4. */
static u32 build_id_in_notes(const void *notes, u64 size, u64 align, u8 out[BUILD_ID_MAX], u64 *at)
{
	struct cursor c = cursor_make(notes, size);
	u64 unit = align == 8 ? 8 : 4;

	while (cursor_left(&c) >= sizeof(Elf64_Nhdr)) {
		u64 name_size = cursor_u32(&c);
		u64 id_size = cursor_u32(&c);
		u32 type = cursor_u32(&c);
		u64 name_room = round_up(sizeof(Elf64_Nhdr) + name_size, unit) - sizeof(Elf64_Nhdr);
		const char *name = cursor_take(&c, name_room);
		const u8 *id = cursor_take(&c, id_size);
		if (c.bad)
			return 0;
		if (type == NT_GNU_BUILD_ID && name_size == sizeof ELF_NOTE_GNU &&
		    memcmp(name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
			u32 length = id_size < BUILD_ID_MAX ? (u32)id_size : BUILD_ID_MAX;
			memcpy(out, id, length);
			*at = (u64)(id - (const u8 *)notes);
			return length;
		}
		cursor_take(&c, round_up(id_size, unit) - id_size);
	}
	return 0;
}

/* Notes from `offset` on; `at`: where in them it is. `budget` is what may still be read in search of the build-id: there can be
 * a million notes. */
static u32 build_id_at(const struct image *image, u64 offset, u64 size, u64 align, u64 *budget,
		       u8 out[BUILD_ID_MAX], u64 *at)
{
	AUTO_FREE void *notes = image_load(image, offset, size, *budget, "notes", NULL);

	if (!notes)
		return 0;
	*budget -= size;
	return build_id_in_notes(notes, size, align, out, at);
}

/* Of what is loaded, and where it is then, as linked. */
static u32 loaded_build_id(const struct image *image, u64 *budget, u8 out[BUILD_ID_MAX],
			   u64 *address)
{
	for (u32 i = 0; i < image->segment_count; i++) {
		const Elf64_Phdr *segment = &image->segments[i];
		u32 length = segment->p_type == PT_NOTE ?
				     build_id_at(image, segment->p_offset, segment->p_filesz,
						 segment->p_align, budget, out, address) :
				     0;
		if (length) {
			*address += segment->p_vaddr;
			return length;
		}
	}
	return 0;
}

u32 image_build_id(const struct image *image, u8 out[BUILD_ID_MAX])
{
	u64 budget = NOTE_BYTES_MAX, at = 0;
	u32 length = loaded_build_id(image, &budget, out, &at);

	/* Relocatable files and some debug files have no PT_NOTE. */
	for (u32 i = 0; i < image->section_count && !length; i++) {
		const Elf64_Shdr *section = &image->sections[i];
		if (section->sh_type == SHT_NOTE)
			length = build_id_at(image, section->sh_offset, section->sh_size,
					     section->sh_addralign, &budget, out, &at);
	}
	return length;
}

u32 image_loaded_build_id(const struct image *image, u8 out[BUILD_ID_MAX], u64 *address)
{
	u64 budget = NOTE_BYTES_MAX;

	*address = 0;
	return loaded_build_id(image, &budget, out, address);
}
