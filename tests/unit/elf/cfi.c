/* SPDX-License-Identifier: Apache-2.0
 * cfi.c - rows of unwind tables that are written here byte by byte. */
#include "check.h"

#include "base/vec.h"
#include "elf/cfi.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BASE = 0x10000, ROOM = 512, RBP = 6, RSP = 7, RIP = 16, TEXT = 0x4000 };

/* One segment, one section with a table, and what leads to it when there are no section headers. */
struct file {
	Elf64_Ehdr header;
	Elf64_Phdr load, lookup_segment;
	u8 lookup[16];
	u8 table[ROOM];
	char names[32];
	Elf64_Shdr sections[3];
	u32 used; /* of the table */
};

#define AT(member) (BASE + offsetof(struct file, member))

static void file_init(struct file *file, const char *section)
{
	*file = (struct file){
		.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					 ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_DYN,
			    .e_machine = EM_X86_64,
			    .e_version = EV_CURRENT,
			    .e_phoff = offsetof(struct file, load),
			    .e_shoff = offsetof(struct file, sections),
			    .e_ehsize = sizeof(Elf64_Ehdr),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 2,
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = 3,
			    .e_shstrndx = 1 },
		.load = { .p_type = PT_LOAD,
			  .p_flags = PF_R,
			  .p_vaddr = BASE,
			  .p_filesz = offsetof(struct file, used),
			  .p_memsz = offsetof(struct file, used) },
		.lookup_segment = { .p_type = PT_GNU_EH_FRAME,
				    .p_offset = offsetof(struct file, lookup),
				    .p_vaddr = AT(lookup),
				    .p_filesz = 16,
				    .p_memsz = 16 },
		.lookup = { 1, 0x1b, 0xff, 0xff }, /* version, a relative s32, nothing else */
	};
	u32 ahead = (u32)(AT(table) - (AT(lookup) + 4));
	memcpy(file->lookup + 4, &ahead, 4);
	memcpy(file->names, "\0.names\0", 8);
	strcpy(file->names + 8, section);
	file->sections[1] = (Elf64_Shdr){ .sh_name = 1,
					  .sh_type = SHT_STRTAB,
					  .sh_offset = offsetof(struct file, names),
					  .sh_size = sizeof file->names };
	file->sections[2] = (Elf64_Shdr){ .sh_name = 8,
					  .sh_type = SHT_PROGBITS,
					  .sh_addr = AT(table),
					  .sh_offset = offsetof(struct file, table),
					  .sh_size = ROOM };
}

static void put(struct file *file, const void *bytes, u32 count)
{
	assert_true(file->used + count <= ROOM);
	memcpy(file->table + file->used, bytes, count);
	file->used += count;
}

/* An entry of .eh_frame: its length, what leads to its CIE (0 for one), and the rest. */
static u32 put_entry(struct file *file, u32 id, const void *bytes, u32 count)
{
	u32 offset = file->used, length = 4 + count;

	put(file, &length, 4);
	put(file, &id, 4);
	put(file, bytes, count);
	return offset;
}

/* CFA = rsp + 8, the return address in front of it; pcs as absolute 8 bytes. `mark` is "R" or "RS". */
static u32 put_cie(struct file *file, const char *mark)
{
	u8 bytes[32] = { 1, 'z' };
	u32 at = 2;

	at += (u32)strlen(strcpy((char *)bytes + at, mark)) + 1;
	u8 rest[] = { 1, 0x78, RIP, 1, 0, 0x0c, RSP, 8, 0x80 | RIP, 1 };
	memcpy(bytes + at, rest, sizeof rest);
	return put_entry(file, 0, bytes, at + (u32)sizeof rest);
}

static void put_function(struct file *file, u32 cie, u64 begin, u64 length, const void *code,
			 u32 count)
{
	u8 bytes[128];

	memcpy(bytes, &begin, 8);
	memcpy(bytes + 8, &length, 8);
	bytes[16] = 0;
	memcpy(bytes + 17, code, count);
	put_entry(file, file->used + 4 - cie, bytes, 17 + count);
}
#define PUT_FUNCTION(file, cie, begin, length, ...)                         \
	put_function(file, cie, begin, length, (const u8[]){ __VA_ARGS__ }, \
		     sizeof((const u8[]){ __VA_ARGS__ }))

struct rows {
	VEC(struct cfi_row) all;
	struct cfi_summary summary;
	enum cfi_wish wish; /* behind each row */
};

static enum cfi_wish keep(void *arg, const struct cfi_row *row)
{
	struct rows *rows = arg;

	assert_true(vec_push(&rows->all, *row));
	return rows->wish;
}

static struct rows read_rows_until(const struct file *file, enum cfi_source source,
				   enum cfi_wish wish)
{
	struct rows rows = { .wish = wish };
	struct err err = { 0 };
	int fd = memfd_create("cfi", MFD_CLOEXEC);

	assert_int_equal(write(fd, file, sizeof *file), sizeof *file);
	struct image *image = image_open(fd, "cfi", &err);
	assert_non_null(image);
	assert_true(cfi_each_row(image, source, keep, &rows, &rows.summary, &err));
	image_close(image);
	return rows;
}

static struct rows read_rows(const struct file *file, enum cfi_source source)
{
	return read_rows_until(file, source, CFI_MORE);
}

static void rows_follow_the_instructions(void **state)
{
	struct file file;

	(void)state;
	file_init(&file, ".eh_frame");
	u32 cie = put_cie(&file, "R");
	/* push rbp; mov rbp, rsp; ...; ret */
	PUT_FUNCTION(&file, cie, TEXT, 32, 0x41, 0x0e, 16, 0x80 | RBP, 2, 0x43, 0x0d, RBP, 0x02, 27,
		     0x0c, RSP, 8);
	struct rows rows = read_rows(&file, CFI_EH_FRAME);
	assert_int_equal(rows.all.count, 4);
	const struct cfi_row *row = rows.all.at;
	assert_int_equal(row[0].begin, TEXT);
	assert_int_equal(row[0].end, TEXT + 1);
	assert_int_equal(row[0].cfa.reg, RSP);
	assert_int_equal(row[0].cfa.offset, 8);
	assert_int_equal(row[0].registers[RIP].how, CFI_AT_CFA);
	assert_int_equal(row[0].registers[RIP].offset, -8);
	assert_int_equal(row[0].registers[RBP].how, CFI_SAME);
	assert_int_equal(row[1].cfa.offset, 16);
	assert_int_equal(row[1].registers[RBP].offset, -16);
	assert_int_equal(row[2].begin, TEXT + 4);
	assert_int_equal(row[2].cfa.reg, RBP);
	assert_int_equal(row[3].begin, TEXT + 31);
	assert_int_equal(row[3].end, TEXT + 32);
	assert_int_equal(row[3].cfa.reg, RSP);
	assert_int_equal(rows.summary.functions, 1);
	vec_free(&rows.all);
}

static void no_more_than_wanted_is_handed_out(void **state)
{
	static const struct {
		enum cfi_wish wish;
		u32 rows, functions;
	} wishes[] = { { CFI_MORE, 5, 2 }, { CFI_NEXT_FUNCTION, 2, 2 }, { CFI_ENOUGH, 1, 1 } };
	struct file file;

	(void)state;
	file_init(&file, ".eh_frame");
	u32 cie = put_cie(&file, "R");
	PUT_FUNCTION(&file, cie, TEXT, 32, 0x41, 0x0e, 16, 0x44, 0x0e, 8);
	PUT_FUNCTION(&file, cie, TEXT + 32, 32, 0x41, 0x0e, 16);
	for (u32 i = 0; i < COUNT_OF(wishes); i++) {
		struct rows rows = read_rows_until(&file, CFI_EH_FRAME, wishes[i].wish);
		assert_int_equal(rows.all.count, wishes[i].rows);
		assert_int_equal(rows.summary.functions, wishes[i].functions);
		vec_free(&rows.all);
	}
}

static void a_row_is_remembered(void **state)
{
	struct file file;

	(void)state;
	file_init(&file, ".eh_frame");
	u32 cie = put_cie(&file, "R");
	PUT_FUNCTION(&file, cie, TEXT, 32, 0x41, 0x0e, 16, 0x44, 0x0a, 0x0e, 8, 0x41, 0x0b);
	struct rows rows = read_rows(&file, CFI_EH_FRAME);
	assert_int_equal(rows.all.count, 4);
	assert_int_equal(rows.all.at[1].cfa.offset, 16);
	assert_int_equal(rows.all.at[2].cfa.offset, 8);
	assert_int_equal(rows.all.at[3].cfa.offset, 16);
	assert_int_equal(rows.all.at[3].end, TEXT + 32);
	vec_free(&rows.all);
}

static void expressions_and_marks_are_handed_out(void **state)
{
	struct file file;

	(void)state;
	file_init(&file, ".eh_frame");
	u32 cie = put_cie(&file, "RS");
	PUT_FUNCTION(&file, cie, TEXT, 8, 0x0f, 3, 0x77, 16, 0x06, 0x10, RBP, 2, 0x76, 0);
	struct rows rows = read_rows(&file, CFI_EH_FRAME);
	assert_int_equal(rows.all.count, 1);
	assert_true(rows.all.at[0].is_signal);
	assert_int_equal(rows.all.at[0].cfa.how, CFI_IS_EXPRESSION);
	assert_int_equal(rows.all.at[0].cfa.length, 3);
	assert_int_equal(rows.all.at[0].registers[RBP].how, CFI_AT_EXPRESSION);
	vec_free(&rows.all);
}

/* What makes no sense is passed over, and what follows is not. */
static void damaged_functions_are_counted(void **state)
{
	struct file file;

	(void)state;
	file_init(&file, ".eh_frame");
	u32 cie = put_cie(&file, "R");
	PUT_FUNCTION(&file, cie, TEXT, 8, 0x3f);           /* no such instruction */
	PUT_FUNCTION(&file, cie, TEXT + 8, 8, 0x0b);       /* nothing to recall */
	PUT_FUNCTION(&file, cie, TEXT + 16, 8, 0x02, 9);   /* past its end */
	PUT_FUNCTION(&file, cie, TEXT + 24, 8, 0x0f, 99);  /* a cut expression */
	PUT_FUNCTION(&file, cie + 1, TEXT + 32, 8, 0x00);  /* leads to no CIE */
	PUT_FUNCTION(&file, cie, UINT64_MAX - 3, 8, 0x00); /* wraps */
	PUT_FUNCTION(&file, cie, TEXT + 40, 8, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a,
		     0x0a);
	PUT_FUNCTION(&file, cie, TEXT + 48, 8, 0x00);
	struct rows rows = read_rows(&file, CFI_EH_FRAME);
	assert_int_equal(rows.summary.damaged, 7);
	assert_int_equal(rows.summary.functions, 1);
	assert_int_equal(rows.all.at[rows.all.count - 1].begin, TEXT + 48);
	vec_free(&rows.all);
}

static void a_length_past_the_end_ends_the_table(void **state)
{
	struct file file;
	u32 length = ROOM;

	(void)state;
	file_init(&file, ".eh_frame");
	u32 cie = put_cie(&file, "R");
	PUT_FUNCTION(&file, cie, TEXT, 8, 0x00);
	memcpy(file.table + file.used, &length, 4);
	struct rows rows = read_rows(&file, CFI_EH_FRAME);
	assert_int_equal(rows.all.count, 1);
	vec_free(&rows.all);
}

static void the_table_is_found_without_section_headers(void **state)
{
	struct file file;

	(void)state;
	file_init(&file, ".eh_frame");
	u32 cie = put_cie(&file, "R");
	PUT_FUNCTION(&file, cie, TEXT, 8, 0x00);
	file.header.e_shnum = 0;
	file.header.e_shoff = 0;
	struct rows rows = read_rows(&file, CFI_EH_FRAME);
	assert_int_equal(rows.all.count, 1);
	vec_free(&rows.all);
}

/* There the CIE's mark is ~0, and a function names it by its offset. */
static void debug_frame_is_read(void **state)
{
	static const u8 cie[] = { 4, 0, 8, 0, 1, 0x78, RIP, 0x0c, RSP, 8 };
	u8 function[18] = { 0 };
	u64 begin = TEXT, length = 8;
	struct file file;

	(void)state;
	file_init(&file, ".debug_frame");
	u32 offset = put_entry(&file, UINT32_MAX, cie, sizeof cie);
	memcpy(function, &begin, 8);
	memcpy(function + 8, &length, 8);
	put_entry(&file, offset, function, sizeof function);
	struct rows rows = read_rows(&file, CFI_DEBUG_FRAME);
	assert_int_equal(rows.all.count, 1);
	assert_int_equal(rows.all.at[0].cfa.offset, 8);
	vec_free(&rows.all);
}

static void an_image_without_a_table_has_no_rows(void **state)
{
	struct file file;

	(void)state;
	file_init(&file, ".other");
	file.lookup_segment.p_type = PT_NULL;
	struct rows rows = read_rows(&file, CFI_EH_FRAME);
	assert_int_equal(rows.all.count, 0);
	vec_free(&rows.all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_follow_the_instructions),
		cmocka_unit_test(no_more_than_wanted_is_handed_out),
		cmocka_unit_test(a_row_is_remembered),
		cmocka_unit_test(expressions_and_marks_are_handed_out),
		cmocka_unit_test(damaged_functions_are_counted),
		cmocka_unit_test(a_length_past_the_end_ends_the_table),
		cmocka_unit_test(the_table_is_found_without_section_headers),
		cmocka_unit_test(debug_frame_is_read),
		cmocka_unit_test(an_image_without_a_table_has_no_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
