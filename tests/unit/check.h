/* SPDX-License-Identifier: Apache-2.0
 * check.h - cmocka with what its header forgot to include. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
