/* SPDX-License-Identifier: Apache-2.0
 * html_data.h - a profile as the columns that the report page decodes (html/decode.js). */
#pragma once
#include "export/sink.h"
#include "profile/profile.h"

/* False when out of memory: what went to the sink is then not whole. */
bool html_encode(const struct profile *profile, const struct sink *sink);
