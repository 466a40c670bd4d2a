/* SPDX-License-Identifier: Apache-2.0
 * image.c - fuzzing the ELF reader: any bytes as a file, every question asked.
 *
 * Also linked into unit tests, which replay the corpus and hand in files of their
 * own.  Whatever the bytes are, no answer may read outside of them, run for long
 * or name a string without an end. */
#include "elf/loaded.h"
#include "mem/mem.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

const char fuzz_name[] = "image";

/* Adds up what was answered, so that nothing is optimised away and ASan sees every byte. */
static u64 ask_symbols(const struct image *image)
{
	struct image_symbol symbol;
	u64 sum = 0;

	for (u32 i = 0; i < 10000 && image_symbol(image, i, &symbol); i++)
		sum += symbol.value + strnlen(symbol.name, 4096);
	return sum + image_symbol_named(image, "main", &symbol) +
	       image_symbol_named(image, "", &symbol);
}

static u64 ask_headers(const struct image *image)
{
	struct image_section section;
	struct image_segment segment;
	u8 bytes[64];
	u64 offset, left, sum = image_machine(image) + image_is_relocatable(image);

	for (u32 i = 0; i < 10000 && image_section(image, i, &section); i++)
		sum += strnlen(section.name, 4096);
	for (u32 i = 0; i < 10000 && image_segment(image, i, &segment); i++) {
		sum += image_bytes(image, segment.address, bytes, sizeof bytes);
		sum += image_bytes(image, segment.address + segment.file_size - 1, bytes, 1);
		sum += image_offset_of_address(image, segment.address, &offset, &left);
	}
	return sum + image_section_named(image, ".text", &section);
}

/* The bytes are all the memory that there is. */
struct memory {
	struct mem mem; /* first */
	const uint8_t *bytes;
	size_t size;
};

enum { MEMORY_AT = 0x1000 };

static bool read_memory(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	const struct memory *memory = (const struct memory *)mem;

	(void)hold;
	if (addr < MEMORY_AT || addr - MEMORY_AT > memory->size ||
	    len > memory->size - (addr - MEMORY_AT))
		return false;
	memcpy(dst, memory->bytes + (addr - MEMORY_AT), len);
	return true;
}

/* As an object that a program has loaded itself. */
static void ask_loaded(const uint8_t *data, size_t size)
{
	struct memory memory = { { .read = read_memory }, data, size };
	struct image *image = loaded_open(&memory.mem, MEMORY_AT, size, "fuzz", NULL);

	if (!image)
		return;
	volatile u64 sum = ask_headers(image) + ask_symbols(image);
	(void)sum;
	image_close(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	u8 id[BUILD_ID_MAX];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
		close(fd);
		return 0;
	}
	ask_loaded(data, size);
	struct image *image = image_open(fd, "fuzz", NULL);
	if (!image)
		return 0;
	volatile u64 sum = ask_headers(image) + image_build_id(image, id) + ask_symbols(image);
	(void)sum;
	image_read_symbols(image, NULL);
	image_close(image);
	return 0;
}
