/* SPDX-License-Identifier: Apache-2.0
 * svg.c - a flame graph that is a picture: no script, so that it shows where scripts do not run.
 *
 *	root at the top, as on the page; a frame is a function; <title> has its whole name, its
 *	weight and its share; colour is language (kinds.h), shade is file, or library, or name
 *
 * Frames below a tenth of a pixel are left out, with what stands on them, and the line above the
 * graph says how many of all are drawn.  A label is cut at its end, where the path is: the
 * letters are of one width, so that how many fit is known without asking the viewer's font. */
#include "base/cleanup.h"
#include "base/text.h"
#include "base/utf8.h"
#include "export/exporter.h"
#include "export/facts.h"
#include "export/kinds.h"
#include "profile/fold.h"
#include "sample/label.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	WIDTH = 1200,
	MARGIN = 10,
	ROW = 17,
	TOP = 64,    /* title, two lines */
	BOTTOM = 34, /* legend */
	SHADES = 5,  /* as html/colour.js */
	/* Hundredths of a pixel from here on. */
	GRAPH = (WIDTH - 2 * MARGIN) * 100,
	NARROWEST = 10,
	LETTER = 663, /* 11 px of DejaVu Sans Mono; others are as wide or narrower */
};

struct drawing {
	const struct profile *profile;
	struct out *out;
	struct fold fold;
	struct preorder order;
	const char *counted;
	u64 total;
	u32 rows; /* the deepest frame that is drawn */
	u64 frames, drawn;
	bool kind_used[16];
	struct str label;
	bool bad;
};

/* The characters that fit, counted as people see them: East Asian ones are two letters wide. */
static size_t fitting(const char *text, size_t length, u32 letters, bool *whole)
{
	size_t at = 0, cut = 0;
	u32 used = 0;

	while (at < length) {
		u32 size = utf8_length(text + at, length - at);
		used += size >= 3 ? 2 : 1;
		if (used > letters)
			break;
		at += size ? size : 1;
		if (used < letters) /* room for the dots */
			cut = at;
	}
	*whole = at >= length;
	return *whole ? length : cut;
}

/* What is not allowed in XML at all has been made \xNN by text_add_safe(), but for these. */
static void put_xml(struct out *out, const char *text, size_t length)
{
	for (size_t i = 0, size; i < length; i += size) {
		size = 1;
		switch (text[i]) {
		case '&':
			out_text(out, "&amp;");
			break;
		case '<':
			out_text(out, "&lt;");
			break;
		case '>':
			out_text(out, "&gt;");
			break;
		case '"':
			out_text(out, "&quot;");
			break;
		case '\xef': /* U+FFFE and U+FFFF are no characters of XML */
			size = i + 2 < length ? 3 : 1;
			if (size == 3 && text[i + 1] == '\xbf' && (u8)text[i + 2] >= 0xbe)
				outf(out, "\\xef\\xbf\\x%02x", (u8)text[i + 2]);
			else
				out_bytes(out, text + i, size);
			break;
		default:
			while (i + size < length && !strchr("&<>\"\xef", text[i + size]))
				size++;
			out_bytes(out, text + i, size);
		}
	}
}

/* Shade: of the path, or else of what is known instead, FNV-1a, as in html/colour.js but for the letters past ASCII. */
static u32 shade_of(const struct names *names, u32 function)
{
	const struct name_function *of = &names->functions.at[function];
	u32 string = of->path ? of->path : of->image ? of->image : of->name;
	const struct name_string *text = &names->strings.at[string];
	u32 hash = 0x811c9dc5;

	for (u32 i = 0; i < text->length; i++)
		hash = (hash ^ (u8)text->text[i]) * 0x01000193;
	return hash % SHADES;
}

static void put_value(struct drawing *d, u64 value, u64 samples)
{
	u64 tenths = d->total ? (u64)((unsigned __int128)value * 1000 / d->total) : 0;

	outf(d->out, "%" PRIu64 ".%" PRIu64 " %%", tenths / 10, tenths % 10);
	if (!d->fold.by_samples)
		outf(d->out, ", %.3f s", (double)value / 1e9);
	outf(d->out, ", %" PRIu64 " ", samples);
	put_xml(d->out, d->counted, strlen(d->counted));
}

/* A frame from `left` on, both in hundredths of a pixel; its label is in d->label. */
static void put_frame(struct drawing *d, u64 left, u64 width, u32 depth, const char *class,
		      const struct fold_value *value)
{
	u32 y = TOP + depth * ROW;
	u64 x = left + MARGIN * 100;
	bool whole;

	d->bad |= d->label.bad;
	outf(d->out, "<g><title>");
	put_xml(d->out, d->label.text, d->label.length);
	out_text(d->out, " - ");
	put_value(d, value->total, value->total_samples);
	outf(d->out,
	     "</title><rect class=\"%s\" x=\"%" PRIu64 ".%02" PRIu64 "\" y=\"%u\" width=\"%" PRIu64
	     ".%02" PRIu64 "\" height=\"%d\"/>",
	     class, x / 100, x % 100, y, width / 100, width % 100, ROW - 1);
	u32 letters = width > 600 ? (u32)((width - 600) / LETTER) : 0;
	size_t shown = fitting(d->label.text, d->label.length, letters, &whole);
	if (letters >= 3) {
		outf(d->out, "<text x=\"%" PRIu64 ".%02" PRIu64 "\" y=\"%u\">", (x + 300) / 100,
		     (x + 300) % 100, y + 12);
		put_xml(d->out, d->label.text, shown);
		out_text(d->out, whole ? "</text>" : "\xe2\x80\xa6</text>");
	}
	out_text(d->out, "</g>\n");
	d->drawn++;
}

/* Hundredths of a pixel for so much of the whole. */
static u64 width_of(const struct drawing *d, u64 value)
{
	return d->total ? (u64)((unsigned __int128)value * GRAPH / d->total) : 0;
}

/* The thread that the frame is, or PROFILE_NONE. */
static u32 thread_of(const struct drawing *d, u32 stack)
{
	u32 key = d->fold.tree.stacks.at[stack].location;

	return key < d->fold.first_thread ? PROFILE_NONE : d->fold.keys.at[key].item;
}

static void put_node(struct drawing *d, u32 stack, u64 before, u64 upto, u32 depth)
{
	const struct names *names = &d->profile->names;
	u32 function = d->fold.tree.stacks.at[stack].location, thread = thread_of(d, stack);
	char class[16] = "all";

	str_clear(&d->label);
	if (thread != PROFILE_NONE) {
		facts_add_thread(&d->label, d->profile, thread);
	} else {
		u32 kind = kind_of(names, function);
		snprintf(class, sizeof class, "k%u s%u", kind, shade_of(names, function));
		label_function(&d->label, names, function, 0);
	}
	put_frame(d, width_of(d, before), width_of(d, upto) - width_of(d, before), depth, class,
		  &d->fold.node[stack]);
}

static void measure(struct drawing *d, u32 stack, u64 before, u64 upto, u32 depth)
{
	u32 function = d->fold.tree.stacks.at[stack].location;

	(void)before, (void)upto;
	if (thread_of(d, stack) == PROFILE_NONE)
		d->kind_used[kind_of(&d->profile->names, function)] = true;
	if (depth > d->rows)
		d->rows = depth;
	d->drawn++;
}

/* `visit` for each frame that is wide enough; `start` is where the next child of a node begins. */
static void each_frame(struct drawing *d,
		       void (*visit)(struct drawing *d, u32 stack, u64 before, u64 upto, u32 depth))
{
	const struct name_stack *stacks = d->fold.tree.stacks.at;
	const struct preorder *order = &d->order;
	AUTO_FREE u64 *start = calloc((size_t)order->count + 1, sizeof *start);
	u32 hidden =
		UINT32_MAX; /* the depth of a frame that is too narrow: what is deeper is too */

	d->bad |= !start;
	for (u32 i = 0; i < order->count && start; i++) {
		u32 stack = order->stack_of[i], depth = stacks[stack].depth;
		u64 value = d->fold.node[stack].total;
		u64 *next = &start[order->node_of[stacks[stack].outer]];
		u64 before = *next;
		*next += value;
		start[i + 1] = before;
		if (depth > hidden)
			continue;
		hidden = width_of(d, before + value) - width_of(d, before) < NARROWEST ? depth :
											 UINT32_MAX;
		if (hidden == UINT32_MAX)
			visit(d, stack, before, before + value, depth);
	}
}

static void put_style(struct drawing *d)
{
	out_text(d->out, "<style>\n"
			 ".paper{fill:#fbfaf7}text{font:11px ui-monospace,\"DejaVu Sans Mono\","
			 "monospace;fill:#221d1a;white-space:pre}\n"
			 ".title{font-size:15px}.soft{fill:#6a645b}.all{fill:#e3ded5}\n");
	for (u32 dark = 0; dark < 2; dark++) {
		if (dark)
			out_text(d->out,
				 "@media (prefers-color-scheme:dark){.paper{fill:#17161a}"
				 "text{fill:#f6f4f7}.soft{fill:#a19ca8}.all{fill:#34313a}\n");
		for (u32 k = 0; k < kind_count; k++)
			for (u32 s = 0; s < SHADES && d->kind_used[k]; s++)
				outf(d->out, ".k%u.s%u{fill:hsl(%u,%u%%,%.1f%%)}\n", k, s,
				     kinds[k].hue,
				     kinds[k].is_grey ? 4 :
				     dark             ? 34 :
							78,
				     dark ? 30 + 3 * s : 78 + 2.6 * s);
	}
	out_text(d->out, "}\n</style>\n");
}

static void put_line(struct drawing *d, const char *class, u32 y)
{
	bool whole;
	u32 letters = GRAPH / (strcmp(class, "title") ? LETTER : LETTER * 15 / 11);
	size_t shown = fitting(d->label.text, d->label.length, letters, &whole);

	d->bad |= d->label.bad;
	outf(d->out, "<text class=\"%s\" x=\"%d\" y=\"%u\">", class, MARGIN, y);
	put_xml(d->out, d->label.text, shown);
	out_text(d->out, whole ? "</text>\n" : "\xe2\x80\xa6</text>\n");
	str_clear(&d->label);
}

static void put_heading(struct drawing *d)
{
	const struct profile *profile = d->profile;

	str_clear(&d->label);
	text_add_safe(&d->label, profile->title ? profile->title : "",
		      strlen(profile->title ? profile->title : ""), 0);
	put_line(d, "title", 22);
	if (profile_total_weight(profile))
		str_addf(&d->label, "%s, ", fold_unit(profile));
	else if (profile->count_type)
		str_addf(&d->label, "%s, ", profile->count_type);
	str_addf(&d->label, "%" PRIu64 " %s", d->fold.node[0].total_samples, d->counted);
	if (profile->duration_ns)
		str_addf(&d->label, " in %.1f s", (double)profile->duration_ns / 1e9);
	if (profile->quality.expected) {
		str_add_text(&d->label, "; ");
		facts_add_quality(&d->label, profile);
	}
	put_line(d, "soft", 40);
	str_addf(&d->label, "%" PRIu64 " of %" PRIu64 " frames drawn%s", d->drawn, d->frames,
		 d->drawn < d->frames ? "; the others are narrower than 0.1 px" : "");
	put_line(d, "soft", 55);
}

static void put_legend(struct drawing *d, u32 y)
{
	u32 x = MARGIN;

	for (u32 k = 0; k < kind_count; k++) {
		if (!d->kind_used[k])
			continue;
		outf(d->out,
		     "<rect class=\"k%u s0\" x=\"%u\" y=\"%u\" width=\"12\" height=\"12\"/>"
		     "<text class=\"soft\" x=\"%u\" y=\"%u\">%s</text>\n",
		     k, x, y, x + 17, y + 10, kinds[k].label);
		x += 40 + 7 * (u32)strlen(kinds[k].label);
	}
}

static void draw(struct drawing *d)
{
	each_frame(d, measure);
	u32 bottom = TOP + (d->rows + 1) * ROW;
	outf(d->out,
	     "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %u\" width=\"%d\" "
	     "height=\"%u\">\n",
	     WIDTH, bottom + BOTTOM, WIDTH, bottom + BOTTOM);
	put_style(d);
	out_text(d->out, "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
	d->drawn++; /* "all" */
	put_heading(d);
	str_add_text(&d->label, "all");
	put_frame(d, 0, GRAPH, 0, "all", &d->fold.node[0]);
	each_frame(d, put_node);
	put_legend(d, bottom + 12);
	out_text(d->out, "</svg>\n");
}

static void svg_write(const struct profile *profile, const struct export_options *options,
		      struct out *out)
{
	struct drawing d = { .profile = profile, .counted = facts_count_word(profile), .out = out };

	d.bad = !profile->names.stacks.count ||
		!fold_make(&d.fold, profile, FOLD_FUNCTIONS, options->threads);
	d.bad = d.bad || !preorder_make(&d.order, &d.fold.tree);
	if (!d.bad) {
		d.total = d.fold.node[0].total;
		d.frames = 1 + d.order.count;
		draw(&d);
	}
	if ((d.bad || d.label.bad) && !out->errnum)
		out->errnum = ENOMEM;
	preorder_free(&d.order);
	fold_free(&d.fold);
	str_free(&d.label);
}

const struct exporter svg_exporter = {
	.name = "svg",
	.extension = ".svg",
	.summary = "a flame graph as a picture without scripts, for documents and mails",
	.write = svg_write,
};
