/* SPDX-License-Identifier: Apache-2.0
 * value.h - the words behind options, read strictly.
 *
 * The whole word must be the value: "12x" is no number.  A failure says what was
 * given and what is allowed; the caller puts the option's name in front. */
#pragma once
#include "base/err.h"
#include "base/str.h"
#include "base/types.h"

enum { VALUE_PID_HIGHEST = 4 * 1024 * 1024 }; /* PID_MAX_LIMIT of the kernel */

/* Decimal, within [low, high]. */
bool value_parse_number(const char *text, u32 low, u32 high, u32 *out, struct err *err);
/* "30", "30s", "5m", "1h", "1.5s", "200ms", "50us"; more than nothing, a year at the most. */
bool value_parse_duration(const char *text, u64 *out_ns, struct err *err);
/* The same, from a beginning on: it may be 0. */
bool value_parse_moment(const char *text, u64 *out_ns, struct err *err);
/* The number of the word in a comma-separated list. */
bool value_parse_choice(const char *text, const char *choices, u32 *out, struct err *err);
/* The nth word of a comma-separated list, copied; false past the last. */
bool value_choice(const char *choices, u32 index, char out[static 32]);
/* 1234567 as "1,234,567"; `out` is returned. */
const char *value_grouped(u64 number, char out[static 32]);
/* "1,234 threads", "1 thread". */
void value_add_count(struct str *out, u64 count, const char *one, const char *many);
/* A duration for people: "12.5 s", "3 min 20 s". */
const char *value_duration_text(u64 ns, char out[static 32]);
