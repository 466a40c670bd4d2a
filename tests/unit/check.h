/* SPDX-License-Identifier: Apache-2.0
 * check.h - cmocka with what its header forgot to include. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

/* How many of what takes long: the usual number, or SONDE_PERCENT of it. */
static inline uint32_t check_many(uint32_t usual)
{
	const char *percent = getenv("SONDE_PERCENT");

	return percent ? usual * (uint32_t)atoi(percent) / 100 : usual;
}
