/* SPDX-License-Identifier: Apache-2.0
 * unwind.c - fuzzing the unwind tables: any bytes as .eh_frame, .debug_frame or .gopclntab of an image (and
 * those are its code, too), as a compiled table, and as code that is followed to its end.
 *
 * Whatever the bytes are, a table that was compiled is a good one, and a search in a good one stays inside it. */
#include "elf/image.h"
#include "unwind/follow.h"
#include "unwind/rows.h"
#include "unwind/rule.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

const char fuzz_name[] = "unwind";

struct head {
	Elf64_Ehdr header;
	Elf64_Shdr sections[3];
	char names[32];
};

static struct image *open_image(const u8 *data, size_t size, const char *section)
{
	struct head head = {
		.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					 ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_DYN,
			    .e_machine = EM_X86_64,
			    .e_version = EV_CURRENT,
			    .e_shoff = offsetof(struct head, sections),
			    .e_ehsize = sizeof(Elf64_Ehdr),
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = 3,
			    .e_shstrndx = 1 },
		.sections = { { 0 },
			      { .sh_name = 1,
				.sh_type = SHT_STRTAB,
				.sh_offset = offsetof(struct head, names),
				.sh_size = sizeof head.names },
			      { .sh_name = 8,
				.sh_type = SHT_PROGBITS,
				.sh_flags = SHF_EXECINSTR,
				.sh_addr = 0x100000,
				.sh_offset = sizeof head,
				.sh_size = size } },
		.names = "\0.names",
	};
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	strcpy(head.names + 8, section);
	if (fd < 0 || write(fd, &head, sizeof head) != (ssize_t)sizeof head ||
	    write(fd, data, size) != (ssize_t)size) {
		close(fd);
		return NULL;
	}
	return image_open(fd, "fuzz", NULL);
}

static void search(const struct unwind_table *table)
{
	static const u64 places[] = { 0, 1, 0xffff, 0x10000, 0x12345, 0x100000, UINT64_MAX };
	struct unwind_header header;
	struct unwind_rule rule;

	memcpy(&header, table->words, sizeof header);
	for (u32 i = 0; i < COUNT_OF(places); i++) {
		unwind_find_rule(table, places[i], &rule);
		unwind_find_rule(table, header.base + places[i], &rule);
	}
}

/* Bytes that are code at address 1 << 20. */
struct bytes {
	struct mem mem;
	const u8 *data;
	size_t size;
};

static bool read_bytes(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	const struct bytes *bytes = (const struct bytes *)mem;
	u64 at = addr - (1 << 20);

	(void)hold;
	if (at > bytes->size || len > bytes->size - at)
		return false;
	memcpy(dst, bytes->data + at, len);
	return true;
}

static void follow(const u8 *data, size_t size)
{
	struct bytes bytes = { { .read = read_bytes }, data, size };
	struct unwind_follower *follower = NULL;

	for (u32 i = 0; i < 4; i++)
		unwind_follow(&follower, &bytes.mem, (1 << 20) + i * size / 4);
	unwind_follower_free(follower);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const sections[] = { ".eh_frame", ".debug_frame", ".gopclntab" };
	struct unwind_report report;
	struct unwind_table table;

	follow(data, size);
	for (u32 i = 0; i < COUNT_OF(sections); i++) {
		struct image *image = open_image(data, size, sections[i]);
		if (!image)
			continue;
		if (unwind_compile(image, &table, &report, NULL) && table.words) {
			if (!unwind_table_is_good(table.words, table.count))
				abort();
			search(&table);
		}
		unwind_table_free(&table);
		image_close(image);
	}
	table.count = (u32)(size / 4);
	table.words = malloc(size / 4 * 4 + 4);
	if (table.words) {
		memcpy(table.words, data, size / 4 * 4);
		if (unwind_table_is_good(table.words, table.count))
			search(&table);
	}
	unwind_table_free(&table);
	return 0;
}
