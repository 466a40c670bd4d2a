/* SPDX-License-Identifier: Apache-2.0
 * loaded.c - an object that a program has loaded: its code is where it is, its symbols, too, and .eh_frame is what is in memory. */
#include "check.h"

#include "elf/loaded.h"
#include "elf/loaded_object.h"
#include "mem/mem.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

enum { OBJECT = 0x10000, CODE = 0x20000, FRAMES = 0x20400 };

/* What the program's memory holds: the copy, and what was loaded of it. */
struct memory {
	struct mem mem; /* first */
	struct loaded_object object;
	u8 code[LOADED_CODE_BYTES], frames[LOADED_FRAMES_BYTES];
};

static bool read_piece(u64 addr, void *dst, u32 len, u64 at, const void *bytes, size_t size)
{
	if (addr < at || addr - at > size || len > size - (addr - at))
		return false;
	memcpy(dst, (const u8 *)bytes + (addr - at), len);
	return true;
}

static bool memory_read(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	const struct memory *m = (const struct memory *)mem;

	(void)hold;
	return read_piece(addr, dst, len, OBJECT, &m->object, sizeof m->object) ||
	       read_piece(addr, dst, len, CODE, m->code, sizeof m->code) ||
	       read_piece(addr, dst, len, FRAMES, m->frames, sizeof m->frames);
}

static void set_up(struct memory *m)
{
	memset(m, 0, sizeof *m);
	m->mem.read = memory_read;
	memset(m->code, 0x90, sizeof m->code);
	memset(m->frames, 0x77, sizeof m->frames);
	loaded_object_make(&m->object, CODE, FRAMES);
}

static struct image *open_it(const struct memory *m)
{
	struct err err = { 0 };

	return loaded_open(&m->mem, OBJECT, sizeof m->object, "[jit]", &err);
}

static void it_is_where_it_was_loaded(void **state)
{
	struct image_segment segment;
	struct image_section section;
	struct image_symbol symbol;
	struct memory m;
	u8 bytes[16];

	(void)state;
	set_up(&m);
	struct image *image = open_it(&m);
	assert_non_null(image);
	assert_false(image_is_relocatable(image));
	assert_int_equal(image_machine(image), EM_X86_64);
	assert_true(image_segment(image, 0, &segment));
	assert_int_equal(segment.address, CODE);
	assert_int_equal(segment.memory_size, LOADED_CODE_BYTES);
	assert_true(segment.flags & PF_X);
	assert_true(image_section_named(image, ".eh_frame", &section));
	assert_int_equal(section.address, FRAMES);
	assert_true(image_bytes(image, FRAMES, bytes, sizeof bytes));
	assert_int_equal(bytes[0], 0x77); /* as it is in memory, and not in the copy */
	assert_true(image_symbol_named(image, "second", &symbol));
	assert_int_equal(symbol.value, CODE + 0x10);
	assert_int_equal(symbol.size, 0x30);
	assert_true(image_symbol_named(image, "first", &symbol));
	assert_false(image_symbol_named(image, "data", &symbol));
	image_close(image);
}

static void what_is_none_is_refused(void **state)
{
	struct err err = { 0 };
	struct memory m;

	(void)state;
	set_up(&m);
	assert_null(loaded_open(&m.mem, OBJECT, 0, "[jit]", &err));
	assert_null(loaded_open(&m.mem, OBJECT, UINT64_MAX, "[jit]", &err));
	assert_null(loaded_open(&m.mem, OBJECT + 1, sizeof m.object, "[jit]", &err));
	m.object.header.e_ident[1] = 0;
	assert_null(open_it(&m));
	set_up(&m);
	m.object.sections[TEXT].sh_addr = 0; /* not loaded */
	m.object.sections[EH_FRAME].sh_addr = 0;
	assert_null(open_it(&m));
	set_up(&m);
	m.object.sections[TEXT].sh_size = 1 << 30;
	m.object.sections[EH_FRAME].sh_size = 1 << 30;
	assert_null(open_it(&m));
	set_up(&m);
	m.object.sections[TEXT].sh_addr = 0x900000; /* nothing is there */
	assert_null(open_it(&m));
}

static void a_symbol_behind_its_section_is_passed_by(void **state)
{
	struct image_symbol symbol;
	struct memory m;

	(void)state;
	set_up(&m);
	m.object.symbols[1].st_value = LOADED_CODE_BYTES;
	m.object.symbols[2].st_shndx = SECTIONS + 7;
	struct image *image = open_it(&m);
	assert_non_null(image);
	assert_false(image_symbol_named(image, "first", &symbol));
	assert_false(image_symbol_named(image, "second", &symbol));
	image_close(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_where_it_was_loaded),
		cmocka_unit_test(what_is_none_is_refused),
		cmocka_unit_test(a_symbol_behind_its_section_is_passed_by),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
