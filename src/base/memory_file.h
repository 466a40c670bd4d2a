/* SPDX-License-Identifier: Apache-2.0
 * memory_file.h - bytes as a file that is in no file system. */
#pragma once
#include <stddef.h>

/* Its descriptor, the caller's; -1 and errno: there is none, or no room. */
int memory_file(const char *name, const void *bytes, size_t size);
