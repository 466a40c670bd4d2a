/* SPDX-License-Identifier: Apache-2.0
 * debug-info.c - what is known of this program's own code, which is built with debugging information. */
#include "check.h"

#include "elf/image.h"
#include "symbols/debug_info.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>

#define APART __attribute__((noinline))
#define INSIDE static inline __attribute__((always_inline))

APART static u64 caller(void)
{
	return (u64)(uintptr_t)__builtin_return_address(0) - 1;
}

enum { INNER_LINE = __LINE__ + 3 };
INSIDE u64 inner(void)
{
	return caller() + 0;
}

enum { OUTER_LINE = __LINE__ + 3 };
INSIDE u64 outer(void)
{
	return inner() + 0;
}

static volatile u64 kept;

enum { AROUND_LINE = __LINE__ + 3 };
APART static u64 around(void)
{
	kept = outer();
	return kept;
}

static void check_place(const struct debug_place *place, const char *name, u32 line,
			bool is_inlined)
{
	assert_string_equal(place->name, name);
	assert_non_null(place->path);
	assert_non_null(strstr(place->path, "debug-info.c"));
	assert_int_equal(place->line, line);
	assert_int_equal(place->is_inlined, is_inlined);
}

/* As glibc's __restore_rt: without a size, and its frame's address is in front of it. */
__asm__(".pushsection .text\n"
	".balign 16\n"
	".type before, @function\n"
	"before: ret\n"
	".size before, . - before\n"
	".balign 16\n"
	".type has_no_size, @function\n"
	"has_no_size:\n"
	"mov $15, %eax\n"
	"syscall\n"
	".balign 16\n"
	".popsection\n");
extern const u8 has_no_size[];

static void check_only_name(struct debug_info *info, u64 address, const char *name)
{
	struct debug_place places[DEBUG_PLACES_MAX];
	u32 count = debug_info_find(info, address, places);

	assert_int_equal(count, 1);
	assert_string_equal(places[0].name, name);
}

static void an_address_is_in_what_was_inlined_there(void **state)
{
	struct image *image = image_open(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), "self",
					 NULL);
	struct debug_place places[DEBUG_PLACES_MAX];
	Dl_info here;

	(void)state;
	assert_non_null(image);
	assert_true(dladdr((void *)(uintptr_t)around, &here));
	u64 bias = image_is_relocatable(image) ? (u64)(uintptr_t)here.dli_fbase : 0;
	struct debug_info *info = debug_info_open(image);
	assert_non_null(info);
	assert_int_equal(debug_info_find(info, around() - bias, places), 3);
	check_place(&places[0], "inner", INNER_LINE, true);
	check_place(&places[1], "outer", OUTER_LINE, true);
	check_place(&places[2], "around", AROUND_LINE, false);
	u64 sizeless = (u64)(uintptr_t)has_no_size - bias;
	check_only_name(info, sizeless, "has_no_size");
	check_only_name(info, sizeless + 7, "has_no_size"); /* back from the system call */
	check_only_name(info, sizeless - 1, "has_no_size");
	assert_int_equal(debug_info_find(info, 0, places), 0);
	assert_int_equal(debug_info_find(info, UINT64_MAX, places), 0);
	debug_info_close(info);
	image_close(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_is_in_what_was_inlined_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
