/* SPDX-License-Identifier: Apache-2.0
 * repr.h - texts and floats as Python's repr() writes them. */
#pragma once
#include "base/str.h"

/* Bytes: what is not ASCII is escaped. */
void python_repr_bytes(const char *bytes, u32 length, struct str *out);
/* Text in UTF-8, surrogates like other characters: what cannot be printed is escaped; with `ascii` (Python 2) all
 * that is not ASCII. */
void python_repr_text(const char *text, u32 length, bool ascii, struct str *out);
void python_repr_float(double value, struct str *out);
