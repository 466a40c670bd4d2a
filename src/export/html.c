/* SPDX-License-Identifier: Apache-2.0
 * html.c - the report: one file, no network, no server.
 *
 * The page (html/, packed and embedded at build) has three slots:
 *
 *	%%title%%   text in <title>, escaped for HTML
 *	%%facts%%   JSON in <script type="application/json"> (html_facts.c): what the first screen says
 *	%%data%%    base64 of the deflated columns of html_data.c
 *
 * The page trusts none of it: names become text nodes and canvas text, and its policy lets
 * no script run but its own (by hash).  Here every '<', '>', '&' is escaped and every name
 * went through text.h, so that nothing can end the element that it stands in.
 *
 * The same profile gives the same bytes. */
#include "export/html.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "base/str.h"
#include "export/deflate.h"
#include "export/exporter.h"
#include "export/html_page.h"

#include <errno.h>
#include <math.h>
#include <string.h>

extern const unsigned char report_page[];
extern const unsigned long report_page_size;

/* ---- base64 ---- */

struct base64 {
	struct out *out;
	u8 carry[3];
	u32 carried;
};

static void put_quad(struct base64 *b)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	u32 bits = (u32)b->carry[0] << 16 | (u32)b->carry[1] << 8 | b->carry[2];
	char quad[4];

	for (u32 i = 0; i < 4; i++)
		quad[i] = i <= b->carried ? digits[bits >> (18 - 6 * i) & 63] : '=';
	out_bytes(b->out, quad, 4);
	memset(b->carry, 0, sizeof b->carry);
	b->carried = 0;
}

static void base64_write(void *base64, const void *bytes, size_t length)
{
	struct base64 *b = base64;

	for (size_t i = 0; i < length; i++) {
		b->carry[b->carried++] = ((const u8 *)bytes)[i];
		if (b->carried == 3)
			put_quad(b);
	}
}

static void write_data(const struct html_page *page, struct out *out)
{
	struct base64 base64 = { .out = out };
	struct deflater *deflater = deflater_open(DEFLATE_RAW,
						  (struct sink){ base64_write, &base64 });
	const struct sink sink = { deflater_write, deflater };
	bool whole = deflater && html_encode(page, &sink);

	if (deflater)
		deflater_close(deflater);
	if (base64.carried)
		put_quad(&base64);
	if (!whole && !out->errnum)
		out->errnum = ENOMEM;
}

/* ---- the page ---- */

static void write_title(const struct html_page *page, struct out *out)
{
	const char *title = page->profile->title;

	html_write_escaped(out, title && *title ? title : "profile", false);
}

static const struct {
	const char *marker;
	void (*write)(const struct html_page *page, struct out *out);
} slots[] = {
	/* in the page's order, each there once: html/pack.py sees to it */
	{ "%%title%%", write_title },
	{ "%%facts%%", html_write_facts },
	{ "%%data%%", write_data },
};

static void write_page(const struct html_page *page, struct out *out)
{
	const unsigned char *at = report_page, *end = report_page + report_page_size;

	for (u32 i = 0; i < COUNT_OF(slots); i++) {
		size_t length = strlen(slots[i].marker);
		const unsigned char *slot = memmem(at, (size_t)(end - at), slots[i].marker, length);
		if (!slot)
			break;
		out_bytes(out, at, (size_t)(slot - at));
		slots[i].write(page, out);
		at = slot + length;
	}
	out_bytes(out, at, (size_t)(end - at));
}

static void html_write(const struct profile *profile, const struct export_options *options,
		       struct out *out)
{
	(void)options; /* both values and the threads are always in it */
	write_page(&(struct html_page){ .profile = profile }, out);
}

const struct exporter html_exporter = {
	.name = "html",
	.extension = ".html",
	.summary = "a flame graph in one offline file, for any browser",
	.write = html_write,
};

/* ---- of two profiles ---- */

/* The entries of both, side by side: what ends at each node that has something of its own in either. */
struct merged {
	VEC(struct profile_entry) now, was;
	u64 *now_samples, *was_samples; /* by node */
};

/* From what passes through each node to what ends there. */
static bool take_samples(struct merged *merged, const struct diff *diff)
{
	u32 count = diff->names.stacks.count;

	merged->now_samples = calloc(count + 1, sizeof *merged->now_samples);
	merged->was_samples = calloc(count + 1, sizeof *merged->was_samples);
	if (!merged->now_samples || !merged->was_samples)
		return false;
	for (u32 i = 0; i < count; i++) {
		const struct diff_row *node = &diff->node[i];
		u32 outer = diff->names.stacks.at[i].outer;
		merged->now_samples[i] += node->after_samples;
		merged->was_samples[i] += node->before_samples;
		if (i) {
			merged->now_samples[outer] -= node->after_samples;
			merged->was_samples[outer] -= node->before_samples;
		}
	}
	return true;
}

static u64 weight_of(double share, const struct diff_side *side)
{
	return share > 0 ? (u64)llround(share * side->whole) : 0;
}

static bool merge(struct merged *merged, const struct diff *diff)
{
	if (!take_samples(merged, diff))
		return false;
	for (u32 i = 0; i < diff->names.stacks.count; i++) {
		const struct diff_value *self = &diff->node[i].self;
		struct profile_entry now = { .stack = i, .count = merged->now_samples[i] },
				     was = now;
		now.weight = weight_of(self->after, &diff->after);
		was.weight = weight_of(self->before, &diff->before);
		was.count = merged->was_samples[i];
		if ((now.weight || was.weight) &&
		    (!vec_push(&merged->now, now) || !vec_push(&merged->was, was)))
			return false;
	}
	return true;
}

static void merged_free(struct merged *merged)
{
	vec_free(&merged->now);
	vec_free(&merged->was);
	free(merged->now_samples);
	free(merged->was_samples);
}

void html_write_diff(const struct diff *diff, const struct diff_file *before,
		     const struct diff_file *after, struct out *out)
{
	const struct profile *last = after->profile;
	struct merged merged = { 0 };
	struct str title = { 0 };

	str_addf(&title, "%s \u2192 %s", path_base(before->path), path_base(after->path));
	if (!title.bad && merge(&merged, diff)) {
		struct profile_process process = { 0 };
		struct profile_thread thread = { 0 };
		/* A look at what others own. */
		struct profile profile = { .names = diff->names,
					   .processes = { &process, 1, 1 },
					   .threads = { &thread, 1, 1 },
					   .entries = { merged.now.at, merged.now.count, 0 },
					   .mode = last->mode,
					   .title = title.text };
		struct html_comparison comparison = { diff, before, after, merged.was.at };
		write_page(&(struct html_page){ &profile, &comparison }, out);
	} else {
		out->errnum = ENOMEM;
	}
	merged_free(&merged);
	str_free(&title);
}
