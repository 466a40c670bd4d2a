/* SPDX-License-Identifier: Apache-2.0
 * plt.c - stubs, of a library that the compiler and the linker have made. */
#include "check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/image.h"
#include "elf_file.h"

static struct image *library(void)
{
	char path[4096];

	snprintf(path, sizeof path, "%s/tests/unit/elf/libplt-library.so", getenv("SONDE_BUILD"));
	struct image *image = image_open(open(path, O_RDONLY | O_CLOEXEC), path, NULL);
	assert_non_null(image);
	return image;
}

static u64 address_of(const struct image *image, const char *name)
{
	struct image_symbol symbol;

	assert_true(image_symbol_named(image, name, &symbol));
	return symbol.value;
}

/* Where the first call or jump in a function leads. */
static u64 first_target(const struct image *image, const char *name)
{
	struct image_symbol symbol;
	u8 code[64];

	assert_true(image_symbol_named(image, name, &symbol));
	u32 size = symbol.size < sizeof code ? (u32)symbol.size : sizeof code;
	assert_true(image_bytes(image, symbol.value, code, size));
	for (u32 i = 0; i + 5 <= size; i++) {
		s32 distance;
		if (code[i] != 0xe8)
			continue;
		memcpy(&distance, code + i + 1, sizeof distance);
		return symbol.value + i + 5 + (u64)(s64)distance;
	}
	return 0;
}

static void calls_lead_to_the_stub(void **unused)
{
	struct image *image = library();
	u64 called = address_of(image, "plt_called");
	u64 target = first_target(image, "plt_calls");

	(void)unused;
	assert_true(target != 0 && target != called);
	assert_true(image_stub_of(image, called) == target);
	assert_true(image_stub_of(image, address_of(image, "plt_unused")) == 0);
	assert_true(image_stub_of(image, called + 1) == 0);
	image_close(image);
}

static void a_file_without_relocations_has_none(void **unused)
{
	struct elf_file file = elf_make();
	struct image *image = elf_open(&file, NULL);

	(void)unused;
	assert_non_null(image);
	assert_true(image_stub_of(image, 0x10100) == 0);
	image_close(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_lead_to_the_stub),
		cmocka_unit_test(a_file_without_relocations_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
