/* SPDX-License-Identifier: Apache-2.0
 * symbols.c - symbol tables by sections and by the dynamic segment, and against nm. */
#include "elf/image.h"

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "elf_file.h"

/* --- built files ------------------------------------------------------------------------- */

static void both_tables_in_file_order(void **state)
{
	static const char *const names[] = { "imported", "exported", "data", "local", "exported" };
	struct elf_file file = elf_make();
	struct image *image = elf_open(&file, NULL);
	struct image_symbol symbol;
	(void)state;

	assert_non_null(image);
	assert_true(image_read_symbols(image, NULL));
	for (u32 i = 0; i < COUNT_OF(names); i++) {
		assert_true(image_symbol(image, i, &symbol));
		assert_string_equal(symbol.name, names[i]);
	}
	assert_false(image_symbol(image, COUNT_OF(names), &symbol));
	assert_false(image_symbol(image, UINT32_MAX, &symbol));
	image_close(image);
}

static void a_name_is_found_where_it_is_defined(void **state)
{
	struct elf_file file = elf_make();
	struct image *image = elf_open(&file, NULL);
	struct image_symbol symbol;
	(void)state;

	assert_non_null(image);
	assert_true(image_symbol_named(image, "exported", &symbol));
	assert_int_equal(symbol.value, 0x10100); /* .dynsym comes first */
	assert_int_equal(symbol.size, 0x20);
	assert_int_equal(symbol.type, STT_FUNC);
	assert_true(image_symbol_named(image, "local", &symbol));
	assert_int_equal(symbol.value, 0x10140);
	assert_false(image_symbol_named(image, "imported", &symbol));
	assert_false(image_symbol_named(image, "export", &symbol));
	assert_false(image_symbol_named(image, "", &symbol));
	image_close(image);
}

static void the_last_name_may_end_with_its_table(void **state)
{
	struct elf_file file = elf_make();
	struct image_symbol symbol;
	(void)state;

	memcpy(file.strtab + file.symtab[2].st_name, "end", 4);
	file.sections[SECTION_STRTAB].sh_size = file.symtab[2].st_name + 3;
	struct image *image = elf_open(&file, NULL);
	assert_non_null(image);
	assert_true(image_symbol_named(image, "end", &symbol));
	assert_int_equal(symbol.value, file.symtab[2].st_value);
	image_close(image);
}

static void symbols_found_by(struct elf_file *file, u32 want)
{
	struct image *image = elf_open(file, NULL);
	struct image_symbol symbol;
	u32 count = 0;

	assert_non_null(image);
	while (image_symbol(image, count, &symbol))
		count++;
	assert_int_equal(count, want);
	assert_int_equal(image_symbol_named(image, "data", &symbol), want == 3);
	image_close(image);
}

static void without_sections_a_hash_table_counts(void **state)
{
	struct elf_file file = elf_make();
	(void)state;

	elf_drop_sections(&file);
	symbols_found_by(&file, 3); /* DT_GNU_HASH */
	file.dynamic[3].d_tag = DT_DEBUG;
	symbols_found_by(&file, 3); /* DT_HASH */
	file.hash.chains = UINT32_MAX;
	struct image *image = elf_open(&file, NULL);
	struct image_symbol symbol;
	assert_non_null(image);
	assert_true(image_symbol_named(image, "data", &symbol)); /* as many as the file can hold */
	image_close(image);
	file.dynamic[4].d_tag = DT_DEBUG;
	symbols_found_by(&file, 0); /* nothing says how many */
}

static void an_empty_gnu_hash_leaves_the_imports(void **state)
{
	struct elf_file file = elf_make();
	(void)state;

	elf_drop_sections(&file);
	file.gnu_hash.bucket[0] = 0;
	symbols_found_by(&file, 1);
}

static void a_gnu_hash_without_an_end_is_not_believed(void **state)
{
	struct elf_file file = elf_make();
	(void)state;

	elf_drop_sections(&file);
	file.load.p_filesz = offsetof(struct elf_file, gnu_hash) + sizeof file.gnu_hash;
	file.gnu_hash.chain[1] = 0;
	file.gnu_hash.chain[2] = 0;
	symbols_found_by(&file, 0);
	file = elf_make();
	elf_drop_sections(&file);
	file.gnu_hash.buckets = UINT32_MAX; /* in 32 bits 4 + 2 * words + buckets wraps */
	file.gnu_hash.bloom_words = 0x7fffffff;
	symbols_found_by(&file, 3); /* by DT_HASH */
}

static void why_a_table_cannot_be_read_is_said(void **state)
{
	static const struct {
		u64 offset, size, entry;
		u32 link;
		enum err_code code;
		const char *words;
	} rows[] = {
		{ 0, 64, 16, SECTION_DYNSTR, ERR_BAD_DATA, "16 bytes each" },
		{ 0, 48, 24, SECTION_COUNT, ERR_BAD_DATA, "does not hold the names" },
		{ 0, 48, 24, SECTION_NOTE, ERR_BAD_DATA, "does not hold the names" },
		{ 0, UINT64_MAX, 24, SECTION_DYNSTR, ERR_UNSUPPORTED, "more than the 256 MB" },
		{ 0, 1 << 20, 24, SECTION_DYNSTR, ERR_BAD_DATA, "outside the file" },
		{ UINT64_MAX - 8, 48, 24, SECTION_DYNSTR, ERR_BAD_DATA, "outside the file" },
	};
	(void)state;

	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		struct elf_file file = elf_make();
		struct err err = { 0 };
		struct image_symbol symbol;
		Elf64_Shdr *section = &file.sections[SECTION_DYNSYM];
		section->sh_offset = rows[i].offset;
		section->sh_size = rows[i].size;
		section->sh_entsize = rows[i].entry;
		section->sh_link = rows[i].link;
		struct image *image = elf_open(&file, &err);
		assert_non_null(image);
		assert_false(image_read_symbols(image, &err));
		assert_int_equal(err.code, rows[i].code);
		assert_non_null(strstr(err.text, rows[i].words));
		/* The other table is none the worse. */
		assert_true(image_symbol_named(image, "local", &symbol));
		image_close(image);
	}
}

static void names_are_bounded(void **state)
{
	struct elf_file file = elf_make();
	struct image_symbol symbol;
	(void)state;

	memset(file.dynstr, 'n', sizeof file.dynstr);
	file.dynsym[1].st_name = sizeof file.dynstr - 2;
	file.dynsym[2].st_name = sizeof file.dynstr;
	file.dynsym[3].st_name = UINT32_MAX;
	struct image *image = elf_open(&file, NULL);
	assert_non_null(image);
	assert_true(image_symbol(image, 0, &symbol));
	assert_string_equal(symbol.name, "nn");
	assert_true(image_symbol(image, 1, &symbol));
	assert_string_equal(symbol.name, "");
	assert_true(image_symbol(image, 2, &symbol));
	assert_string_equal(symbol.name, "");
	image_close(image);
}

/* --- real files, against binutils -------------------------------------------------------- */

/* Every defined dynamic symbol that nm prints is found with nm's value or, when there are several
 * versions of it, with one that nm prints for that name. Returns how many there were. */
static u32 compare_with_nm(const char *path)
{
	char command[512], line[1024], name[900];
	unsigned long long value;
	u32 compared = 0, equal = 0;
	struct err err = { 0 };
	struct image *image = image_open(open(path, O_RDONLY), path, &err);

	assert_non_null(image);
	snprintf(command, sizeof command, "nm -D --defined-only --without-symbol-versions '%s'",
		 path);
	FILE *pipe = popen(command, "r");
	assert_non_null(pipe);
	while (fgets(line, sizeof line, pipe)) {
		struct image_symbol symbol;
		char type;
		if (sscanf(line, "%llx %c %899s", &value, &type, name) != 3 || type == 'A')
			continue;
		compared++;
		if (!image_symbol_named(image, name, &symbol))
			fail_msg("%s: %s is not found", path, name);
		equal += symbol.value == value;
	}
	assert_int_equal(pclose(pipe), 0);
	/* Only names with several versions may differ: libc has about 100. */
	assert_true(equal + compared / 10 >= compared);
	image_close(image);
	return compared;
}

/* The same symbols without the section headers, which this zeroes in a copy. */
static u32 count_symbols(const char *path, bool sections)
{
	struct image_symbol symbol;
	u32 count = 0;
	int file = open(path, O_RDONLY), copy = memfd_create("copy", MFD_CLOEXEC);
	char bytes[65536];

	for (ssize_t got; (got = read(file, bytes, sizeof bytes)) > 0;)
		assert_int_equal(write(copy, bytes, (size_t)got), got);
	close(file);
	if (!sections) {
		const u64 nothing = 0;
		assert_int_equal(pwrite(copy, &nothing, 8, offsetof(Elf64_Ehdr, e_shoff)), 8);
	}
	struct image *image = image_open(copy, path, NULL);
	assert_non_null(image);
	while (image_symbol(image, count, &symbol))
		count++;
	assert_int_equal(image_section_count(image) > 0, sections);
	image_close(image);
	return count;
}

static void real_files_agree_with_nm(void **state)
{
	/* libruby-3.1.so.3.1.2 and its link libruby-3.1.so.3.1: the file has one number more. */
	static const char *const patterns[] = {
		"/lib/*/libc.so.6",
		"/usr/lib/*/libruby-*.so.*.*.*",
		"~/.cache/sonde/roots/*/usr/lib/*/libruby-*.so.*.*.*",
	};
	glob_t found = { 0 };
	u32 compared = 0;
	(void)state;

	if (system("nm --version > /dev/null 2>&1") != 0)
		skip();
	for (u32 i = 0; i < COUNT_OF(patterns); i++)
		glob(patterns[i], GLOB_TILDE | (i ? GLOB_APPEND : 0), NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		compared += compare_with_nm(found.gl_pathv[i]);
		assert_true(count_symbols(found.gl_pathv[i], false) > 0);
	}
	globfree(&found);
	assert_true(compared > 1000);
}

static void stripped_of_sections_libc_is_the_same(void **state)
{
	glob_t found = { 0 };
	(void)state;

	if (glob("/lib/*/libc.so.6", 0, NULL, &found) != 0)
		skip();
	/* Debian's libc has no .symtab, so both counts are those of .dynsym. */
	assert_int_equal(count_symbols(found.gl_pathv[0], true),
			 count_symbols(found.gl_pathv[0], false));
	globfree(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_tables_in_file_order),
		cmocka_unit_test(a_name_is_found_where_it_is_defined),
		cmocka_unit_test(the_last_name_may_end_with_its_table),
		cmocka_unit_test(without_sections_a_hash_table_counts),
		cmocka_unit_test(an_empty_gnu_hash_leaves_the_imports),
		cmocka_unit_test(a_gnu_hash_without_an_end_is_not_believed),
		cmocka_unit_test(why_a_table_cannot_be_read_is_said),
		cmocka_unit_test(names_are_bounded),
		cmocka_unit_test(real_files_agree_with_nm),
		cmocka_unit_test(stripped_of_sections_libc_is_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
