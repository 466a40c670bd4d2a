/* SPDX-License-Identifier: Apache-2.0
 * columns.h - text that fits a terminal. */
#pragma once
#include "base/out.h"
#include "base/str.h"

enum {
	COLUMNS_LEAST = 60,        /* narrower ones wrap */
	COLUMNS_NO_TERMINAL = 160, /* of a file or a pipe */
};

/* Of standard output, at least COLUMNS_LEAST. */
u32 columns_of_output(void);
/* The label and a newline; where it is longer than `columns`, "..." stands for its end: the path is last,
 * the name stays. Wide characters are counted as one. */
void columns_put(struct out *out, const struct str *label, u32 columns);
