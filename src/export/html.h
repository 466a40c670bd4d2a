/* SPDX-License-Identifier: Apache-2.0
 * html.h - the report page of two profiles compared.  Of one profile it is an exporter like the others. */
#pragma once
#include "base/out.h"
#include "profile/diff.h"

/* Colour is what changed; what is inside the noise is grey.  out->errnum says when memory ran out. */
void html_write_diff(const struct diff *diff, const struct diff_file *before,
		     const struct diff_file *after, struct out *out);
