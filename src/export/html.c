/* SPDX-License-Identifier: Apache-2.0
 * html.c - the report: one file, no network, no server.
 *
 * The page (html/, packed and embedded at build) has three slots:
 *
 *	%%title%%   text in <title>, escaped for HTML
 *	%%facts%%   JSON in <script type="application/json">: what the first screen says
 *	%%data%%    base64 of the deflated columns of html_data.c
 *
 * The page trusts none of it: names become text nodes and canvas text, and its policy lets
 * no script run but its own (by hash).  Here every '<', '>', '&' is escaped and every name
 * went through text.h, so that nothing can end the element that it stands in.
 *
 * The same profile gives the same bytes. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "export/deflate.h"
#include "export/exporter.h"
#include "export/html_data.h"
#include "base/text.h"

#include <errno.h>
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

static void write_data(const struct profile *profile, struct out *out)
{
	struct base64 base64 = { .out = out };
	struct deflater *deflater = deflater_open(DEFLATE_RAW,
						  (struct sink){ base64_write, &base64 });
	const struct sink sink = { deflater_write, deflater };
	bool whole = deflater && html_encode(profile, &sink);

	if (deflater)
		deflater_close(deflater);
	if (base64.carried)
		put_quad(&base64);
	if (!whole && !out->errnum)
		out->errnum = ENOMEM;
}

/* ---- the facts ---- */

/* Printable UTF-8 inside an element of HTML, and inside quotes. */
static void write_escaped(struct out *out, const char *text, bool json)
{
	struct str safe = { 0 };

	text_add_safe(&safe, text, strlen(text), 0);
	for (u32 i = 0; i < safe.length; i++) {
		char c = safe.text[i];
		if (c == '<' || c == '>' || c == '&' || c == '"')
			outf(out, json ? "\\u%04x" : "&#%u;", (unsigned)c);
		else if (c == '\\' && json)
			out_text(out, "\\\\");
		else
			out_bytes(out, &c, 1);
	}
	if (safe.bad && !out->errnum)
		out->errnum = ENOMEM;
	str_free(&safe);
}

static void write_title(const struct profile *profile, struct out *out)
{
	write_escaped(out, profile->title && *profile->title ? profile->title : "profile", false);
}

static void put_text(struct out *out, const char *key, const char *text)
{
	outf(out, "\"%s\":\"", key);
	write_escaped(out, text ? text : "", true);
	out_text(out, "\",");
}

static void put_number(struct out *out, const char *key, u64 value)
{
	outf(out, "\"%s\":%llu,", key, (unsigned long long)value);
}

static void put_row(struct out *out, const char *key, u64 value, const char *text)
{
	outf(out, "[\"%s\",%llu,\"", key, (unsigned long long)value);
	write_escaped(out, text, true);
	out_text(out, "\"],");
}

static void write_facts(const struct profile *profile, struct out *out)
{
	const struct quality *q = &profile->quality;

	out_text(out, "{");
	put_text(out, "version", SONDE_VERSION);
	put_text(out, "title", profile->title);
	put_text(out, "command", profile->command);
	put_text(out, "mode", profile->mode);
	put_text(out, "engine", q->engine);
	put_text(out, "warning", q->warning);
	put_number(out, "hz", profile->hz);
	put_number(out, "start_ms", profile->start_unix_ns / NS_PER_MS);
	put_number(out, "duration_ns", profile->duration_ns);
	put_number(out, "own_cpu_ns", q->own_cpu_ns);
	put_number(out, "expected", q->expected);
	put_number(out, "taken", q->taken);
	put_number(out, "incomplete", profile->bad || profile->names.bad || profile->timeline.bad);
	/* Rows end with [], because JSON takes no comma at the end. */
	out_text(out, "\"losses\":[");
#define X(name, text) put_row(out, #name, q->lost.name, text);
	QUALITY_LOSSES(X)
#undef X
	out_text(out, "[]],\"counts\":[");
#define X(name, text) put_row(out, #name, q->name, text);
	QUALITY_COUNTS(X)
#undef X
	out_text(out, "[]]}");
}

/* ---- the page ---- */

static const struct {
	const char *marker;
	void (*write)(const struct profile *profile, struct out *out);
} slots[] = {
	/* in the page's order, each there once: html/pack.py sees to it */
	{ "%%title%%", write_title },
	{ "%%facts%%", write_facts },
	{ "%%data%%", write_data },
};

static void html_write(const struct profile *profile, const struct export_options *options,
		       struct out *out)
{
	const unsigned char *at = report_page, *end = report_page + report_page_size;

	(void)options; /* both values and the threads are always in it */
	for (u32 i = 0; i < COUNT_OF(slots); i++) {
		size_t length = strlen(slots[i].marker);
		const unsigned char *slot = memmem(at, (size_t)(end - at), slots[i].marker, length);
		if (!slot)
			break;
		out_bytes(out, at, (size_t)(slot - at));
		slots[i].write(profile, out);
		at = slot + length;
	}
	out_bytes(out, at, (size_t)(end - at));
}

const struct exporter html_exporter = {
	.name = "html",
	.extension = ".html",
	.summary = "a flame graph in one offline file, for any browser",
	.write = html_write,
};
