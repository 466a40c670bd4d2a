/* SPDX-License-Identifier: Apache-2.0
 * versions.c - where the fields of layout.h lie, a row a version.
 *
 * The numbers are those of the two builds of tests/targets/toy/vm.c. */
#include "runtimes/toy/layout.h"

// clang-format off
static const struct toy_version versions[] = {
	{ 0x100, { .thread_next = 0, .thread_tid = 8,  .thread_root = 16, .thread_frame = 24,
		   .frame_prev = 0,  .frame_code = 8,  .frame_line = 16,
		   .code_name = 0 } },
	/* 2.0 put the line first, and gave code a number in front of its name. */
	{ 0x200, { .thread_next = 8, .thread_tid = 0,  .thread_root = 24, .thread_frame = 16,
		   .frame_prev = 16, .frame_code = 8,  .frame_line = 0,
		   .code_name = 8 } },
};
// clang-format on

const struct toy_version *toy_version_find(u32 version)
{
	for (u32 i = 0; i < COUNT_OF(versions); i++)
		if (versions[i].version == version)
			return &versions[i];
	return NULL;
}
