/* SPDX-License-Identifier: Apache-2.0
 * html_page.h - what a report page is made of, and the parts that fill its slots. */
#pragma once
#include "base/out.h"
#include "export/sink.h"
#include "profile/diff.h"

/* Of two profiles: `profile` has the merged tree, and its entries are of the one after. */
struct html_comparison {
	const struct diff *diff;
	const struct diff_file *before, *after;
	const struct profile_entry *was; /* for each entry: what the one before has there */
};

struct html_page {
	const struct profile *profile;
	const struct html_comparison *comparison; /* NULL: of one profile */
};

/* Text for <title> or an attribute, or the inside of a JSON string in an element of HTML. */
void html_write_escaped(struct out *out, const char *text, bool json);
/* The JSON of the first screen. */
void html_write_facts(const struct html_page *page, struct out *out);
/* The columns that html/decode.js reads. False when out of memory: what went to the sink is then not
 * whole. */
bool html_encode(const struct html_page *page, const struct sink *sink);
