/* SPDX-License-Identifier: Apache-2.0
 * image.c - opening images: what is refused and why, headers, bytes, build-ids. */
#include "elf/image.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "check.h"
#include "../../fuzz/fuzz.h"
#include "elf_file.h"

/* --- what is refused --------------------------------------------------------------------- */

static void refused(struct image *image, const struct err *err, enum err_code code,
		    const char *words)
{
	assert_null(image);
	assert_int_equal(err->code, code);
	if (!strstr(err->text, words))
		fail_msg("\"%s\" does not say \"%s\"", err->text, words);
}

static void only_regular_files_are_opened(void **state)
{
	struct err err = { 0 };
	int ends[2];
	(void)state;

	assert_int_equal(pipe(ends), 0);
	refused(image_open(ends[0], "fifo", &err), &err, ERR_BAD_DATA, "a pipe");
	assert_int_equal(fcntl(ends[0], F_GETFD), -1); /* it took the descriptor */
	close(ends[1]);
	refused(image_open(open("/", O_RDONLY), "root", &err), &err, ERR_BAD_DATA, "a directory");
	refused(image_open(open("/dev/null", O_RDONLY), "null", &err), &err, ERR_BAD_DATA,
		"a device");
}

static void other_files_are_refused_with_what_they_are(void **state)
{
	struct err err = { 0 };
	struct elf_file file = elf_make();
	(void)state;

	refused(elf_open_bytes("", 0, &err), &err, ERR_BAD_DATA, "only 0 bytes");
	refused(elf_open_bytes(&file, 63, &err), &err, ERR_BAD_DATA, "only 63 bytes");
	char script[80] = "#!/bin/sh\n";
	refused(elf_open_bytes(script, sizeof script, &err), &err, ERR_BAD_DATA,
		"23 21 2f 62 (a script)");
	file.header.e_ident[EI_CLASS] = ELFCLASS32;
	refused(elf_open(&file, &err), &err, ERR_UNSUPPORTED, "32-bit");
	file.header.e_ident[EI_CLASS] = 9;
	refused(elf_open(&file, &err), &err, ERR_BAD_DATA, "class 9");
	file.header.e_ident[EI_CLASS] = ELFCLASS64;
	file.header.e_ident[EI_DATA] = ELFDATA2MSB;
	refused(elf_open(&file, &err), &err, ERR_UNSUPPORTED, "big-endian");
	file.header.e_ident[EI_DATA] = 7;
	refused(elf_open(&file, &err), &err, ERR_BAD_DATA, "byte order 7");
}

static void program_headers_must_make_sense(void **state)
{
	struct err err = { 0 };
	struct elf_file file = elf_make();
	(void)state;

	file.header.e_phoff = sizeof file - 8;
	refused(elf_open(&file, &err), &err, ERR_BAD_DATA, "outside the file");
	file.header.e_phoff = UINT64_MAX - 8;
	refused(elf_open(&file, &err), &err, ERR_BAD_DATA, "outside the file");
	file = elf_make();
	file.header.e_phentsize = 8;
	refused(elf_open(&file, &err), &err, ERR_BAD_DATA, "8 bytes each");
	/* PN_XNUM: section 0 says how many there are. */
	file = elf_make();
	file.header.e_phnum = PN_XNUM;
	file.sections[0].sh_info = UINT32_MAX;
	refused(elf_open(&file, &err), &err, ERR_UNSUPPORTED, "more than the 16 MB");
}

/* --- what it answers --------------------------------------------------------------------- */

static void headers_are_as_in_the_file(void **state)
{
	struct elf_file file = elf_make();
	struct image *image = elf_open(&file, NULL);
	struct image_section section;
	struct image_segment segment;
	(void)state;

	assert_non_null(image);
	assert_string_equal(image_name(image), "test.so");
	assert_int_equal(image_machine(image), EM_X86_64);
	assert_true(image_is_relocatable(image));
	assert_int_equal(image_section_count(image), SECTION_COUNT);
	assert_true(image_section_named(image, ".bss", &section));
	assert_int_equal(section.type, SHT_NOBITS);
	assert_int_equal(section.size, ELF_BSS);
	assert_false(image_section_named(image, ".text", &section));
	assert_false(image_section(image, SECTION_COUNT, &section));
	assert_int_equal(image_segment_count(image), 3);
	assert_true(image_segment(image, 0, &segment));
	assert_int_equal(segment.address, ELF_BASE);
	assert_int_equal(segment.memory_size, sizeof file + ELF_BSS);
	assert_false(image_segment(image, 3, &segment));
	image_close(image);
}

static void counts_beyond_16_bits_stand_in_section_0(void **state)
{
	struct elf_file file = elf_make();
	(void)state;

	file.header.e_phnum = PN_XNUM;
	file.header.e_shnum = 0;
	file.header.e_shstrndx = SHN_XINDEX;
	file.sections[0].sh_info = 3;
	file.sections[0].sh_size = SECTION_COUNT;
	file.sections[0].sh_link = SECTION_NAMES;
	struct image *image = elf_open(&file, NULL);
	assert_non_null(image);
	assert_int_equal(image_segment_count(image), 3);
	assert_int_equal(image_section_count(image), SECTION_COUNT);
	image_close(image);
}

static void section_headers_without_sense_count_as_none(void **state)
{
	(void)state;
	for (u32 i = 0; i < 5; i++) {
		struct elf_file file = elf_make();
		if (i == 0)
			file.header.e_shoff = sizeof file - 64;
		else if (i == 1)
			file.header.e_shentsize = 40;
		else if (i == 2)
			file.header.e_shstrndx = SECTION_COUNT;
		else if (i == 3)
			file.sections[SECTION_NAMES].sh_size = UINT64_MAX;
		else
			file.sections[SECTION_NAMES].sh_type = SHT_NOBITS;
		struct image *image = elf_open(&file, NULL);
		assert_non_null(image);
		assert_int_equal(image_section_count(image), 0);
		/* What the process runs by is there. */
		struct image_symbol symbol;
		assert_true(image_symbol_named(image, "exported", &symbol));
		image_close(image);
	}
}

static void names_end_inside_the_table(void **state)
{
	struct elf_file file = elf_make();
	struct image_section section;
	(void)state;

	memset(file.names, 'x', sizeof file.names);
	file.sections[SECTION_NOTE].sh_name = sizeof file.names - 1;
	file.sections[SECTION_BSS].sh_name = sizeof file.names;
	struct image *image = elf_open(&file, NULL);
	assert_non_null(image);
	assert_true(image_section(image, SECTION_NOTE, &section));
	assert_string_equal(section.name, "x");
	assert_true(image_section(image, SECTION_BSS, &section));
	assert_string_equal(section.name, "");
	image_close(image);
}

static void bytes_are_those_of_one_segment(void **state)
{
	struct elf_file file = elf_make();
	struct image *image = elf_open(&file, NULL);
	u8 bytes[4];
	(void)state;

	assert_non_null(image);
	assert_true(image_bytes(image, ELF_AT(note.name), bytes, 4));
	assert_memory_equal(bytes, "GNU", 4);
	assert_true(image_bytes(image, ELF_BASE + sizeof file - 4, bytes, 4));
	assert_false(image_bytes(image, ELF_BASE + sizeof file - 3, bytes, 4));
	assert_false(image_bytes(image, ELF_BASE - 1, bytes, 4));
	assert_false(
		image_bytes(image, ELF_BASE + sizeof file, bytes, 1)); /* zeros, not in the file */

	image_close(image);
}

static void a_segment_that_wraps_has_no_bytes(void **state)
{
	struct elf_file file = elf_make();
	u8 byte;
	(void)state;

	file.load.p_offset = UINT64_MAX - 15;
	file.load.p_filesz = UINT64_MAX;
	struct image *image = elf_open(&file, NULL);
	assert_non_null(image);
	assert_false(image_bytes(image, ELF_BASE, &byte, 1));
	assert_false(image_bytes(image, ELF_BASE + 16, &byte, 1));
	image_close(image);
}

/* --- build-id ---------------------------------------------------------------------------- */

static u32 build_id_of(const struct elf_file *file, u8 out[BUILD_ID_MAX])
{
	struct image *image = elf_open(file, NULL);

	assert_non_null(image);
	u32 length = image_build_id(image, out);
	image_close(image);
	return length;
}

static void the_build_id_is_found_by_segment_or_section(void **state)
{
	struct elf_file file = elf_make();
	u8 id[BUILD_ID_MAX];
	(void)state;

	assert_int_equal(build_id_of(&file, id), 20);
	assert_memory_equal(id, file.note.id, 20);
	file.note_segment.p_type = PT_NULL;
	assert_int_equal(build_id_of(&file, id), 20);
	elf_drop_sections(&file);
	assert_int_equal(build_id_of(&file, id), 0);
}

static void a_build_id_that_is_loaded_has_an_address(void **state)
{
	struct elf_file file = elf_make();
	u8 id[BUILD_ID_MAX];
	u64 address;
	(void)state;

	file.note_segment.p_vaddr = 0x7000;
	struct image *image = elf_open(&file, NULL);
	assert_non_null(image);
	assert_int_equal(image_loaded_build_id(image, id, &address), 20);
	assert_memory_equal(id, file.note.id, 20);
	u64 in_note = (u64)((const u8 *)file.note.id - (const u8 *)&file.note);
	assert_int_equal(address, 0x7000 + in_note);
	image_close(image);
	/* one that only a section leads to is not */
	file.note_segment.p_type = PT_NULL;
	image = elf_open(&file, NULL);
	assert_non_null(image);
	assert_int_equal(image_loaded_build_id(image, id, &address), 0);
	image_close(image);
}

static void notes_without_sense_have_no_build_id(void **state)
{
	static const u32 sizes[] = { 0x7fffffff, 0xfffffffc, 0xffffffff, 1000 };
	u8 id[BUILD_ID_MAX];
	(void)state;

	for (u32 i = 0; i < COUNT_OF(sizes); i++) {
		struct elf_file file = elf_make();
		file.note.header.n_namesz = sizes[i];
		assert_int_equal(build_id_of(&file, id), 0);
		file = elf_make();
		file.note.header.n_descsz = sizes[i];
		assert_int_equal(build_id_of(&file, id), 0);
	}
}

static void a_note_padded_to_8_is_stepped_over(void **state)
{
	struct elf_file file = elf_make();
	u8 id[BUILD_ID_MAX];
	/* As .note.gnu.property stands before the build-id: descriptor of 4 bytes, padded to 8. */
	const struct {
		Elf64_Nhdr header;
		char name[4];
		u32 value, padding;
		Elf64_Nhdr next;
		char next_name[4];
		u8 id[8];
	} notes = { { 4, 4, NT_GNU_PROPERTY_TYPE_0 }, "GNU", 1, 0, { 4, 8, NT_GNU_BUILD_ID }, "GNU",
		    { 1, 2, 3, 4, 5, 6, 7, 8 } };
	(void)state;

	memcpy(&file.dynsym, &notes, sizeof notes);
	file.note_segment.p_offset = offsetof(struct elf_file, dynsym);
	file.note_segment.p_filesz = sizeof notes;
	file.note_segment.p_align = 8;
	assert_int_equal(build_id_of(&file, id), 8);
	assert_memory_equal(id, notes.id, 8);
}

static void a_long_build_id_is_cut(void **state)
{
	struct elf_file file = elf_make();
	u8 id[BUILD_ID_MAX];
	(void)state;

	file.note.header.n_descsz = 64;
	file.note_segment.p_filesz = sizeof(Elf64_Nhdr) + 4 + 64;
	assert_int_equal(build_id_of(&file, id), BUILD_ID_MAX);
	assert_memory_equal(id, file.note.id, 20);
}

/* --- hostile ----------------------------------------------------------------------------- */

/* Every word of the file is replaced in turn by the numbers that break parsers. */
static void no_word_of_the_file_can_do_harm(void **state)
{
	const struct elf_file whole = elf_make();
	const u64 words[] = { 0,
			      1,
			      8,
			      0x7fffffff,
			      0xffffffff,
			      INT64_MAX,
			      UINT64_MAX,
			      UINT64_MAX - 7,
			      sizeof whole,
			      sizeof whole - 8,
			      0x100000001,
			      0xffffffff00000000 };
	(void)state;

	for (size_t at = 0; at + sizeof(u64) <= sizeof whole; at += 4)
		for (u32 i = 0; i < COUNT_OF(words); i++) {
			struct elf_file file = whole;
			memcpy((u8 *)&file + at, &words[i], sizeof words[i]);
			LLVMFuzzerTestOneInput((u8 *)&file, sizeof file);
			elf_drop_sections(&file);
			LLVMFuzzerTestOneInput((u8 *)&file, sizeof file);
		}
}

static void a_file_may_end_anywhere(void **state)
{
	const struct elf_file whole = elf_make();
	(void)state;

	for (size_t length = 0; length < sizeof whole; length++)
		LLVMFuzzerTestOneInput((const u8 *)&whole, length);
}

static void a_file_may_shrink_while_it_is_open(void **state)
{
	struct elf_file file = elf_make();
	int fd = memfd_create("test", MFD_CLOEXEC);
	struct image_symbol symbol;
	struct err err = { 0 };
	u8 byte;
	(void)state;

	assert_int_equal(write(fd, &file, sizeof file), sizeof file);
	struct image *image = image_open(fd, "test.so", &err);
	assert_non_null(image);
	assert_int_equal(ftruncate(fd, 100), 0);
	assert_false(image_symbol_named(image, "exported", &symbol));
	assert_false(image_read_symbols(image, &err));
	assert_non_null(strstr(err.text, "cut off"));
	assert_false(image_bytes(image, ELF_BASE + 200, &byte, 1));
	image_close(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_regular_files_are_opened),
		cmocka_unit_test(other_files_are_refused_with_what_they_are),
		cmocka_unit_test(program_headers_must_make_sense),
		cmocka_unit_test(headers_are_as_in_the_file),
		cmocka_unit_test(counts_beyond_16_bits_stand_in_section_0),
		cmocka_unit_test(section_headers_without_sense_count_as_none),
		cmocka_unit_test(names_end_inside_the_table),
		cmocka_unit_test(bytes_are_those_of_one_segment),
		cmocka_unit_test(a_segment_that_wraps_has_no_bytes),
		cmocka_unit_test(the_build_id_is_found_by_segment_or_section),
		cmocka_unit_test(a_build_id_that_is_loaded_has_an_address),
		cmocka_unit_test(notes_without_sense_have_no_build_id),
		cmocka_unit_test(a_note_padded_to_8_is_stepped_over),
		cmocka_unit_test(a_long_build_id_is_cut),
		cmocka_unit_test(no_word_of_the_file_can_do_harm),
		cmocka_unit_test(a_file_may_end_anywhere),
		cmocka_unit_test(a_file_may_shrink_while_it_is_open),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
