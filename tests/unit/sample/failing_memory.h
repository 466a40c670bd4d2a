/* SPDX-License-Identifier: Apache-2.0
 * failing_memory.h - the nth allocation fails, and with it every later one.
 *
 *	for (long n = 0; ; n++) {
 *		failing_memory_after(n);
 *		bool worked = the_thing();
 *		failing_memory_after(-1);
 *		...
 *		if (worked) break;
 *	}
 *
 * Include it in one file of an executable that is linked with the `failing_memory`
 * dependency of tests/unit/sample/meson.build. */
#pragma once
#include <stdlib.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);

static long failing_memory_left = -1;

/* `left` allocations work from now on; -1: all. */
static inline void failing_memory_after(long left)
{
	failing_memory_left = left;
}

static inline int failing_memory_now(void)
{
	if (failing_memory_left < 0)
		return 0;
	return failing_memory_left == 0 || failing_memory_left-- == 0;
}

void *__wrap_malloc(size_t size)
{
	return failing_memory_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return failing_memory_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return failing_memory_now() ? NULL : __real_realloc(old, size);
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
	return failing_memory_now() ? NULL : __real_reallocarray(old, count, size);
}
