/* SPDX-License-Identifier: Apache-2.0
 * written.h - what an exporter writes, as text. */
#pragma once
#include "check.h"
#include "export/built.h"
#include "export/exporter.h"

/* To be freed; `length` may be NULL. */
static inline char *written(const char *format, const struct profile *profile,
			    struct export_options options, size_t *length)
{
	struct out out;

	out_open_memory(&out);
	exporter_named(format)->write(profile, &options, &out);
	assert_int_equal(out.errnum, 0);
	char *text = malloc(out.used + 1);
	assert_non_null(text);
	if (out.used)
		memcpy(text, out.buffer, out.used);
	text[out.used] = 0;
	if (length)
		*length = out.used;
	assert_true(out_close(&out, NULL));
	return text;
}

static inline void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no \"%s\" in:\n%s", part, text);
}

static inline void assert_has_not(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("\"%s\" in:\n%s", part, text);
}

/* Two threads, recursion, every kind of frame, a name for each thing that may go wrong. */
static inline void written_sample(struct profile *p)
{
	assert_true(profile_init(p));
	built_lines(p, "thread main (7);<main> (/a.rb:1);Foo#bar (/a.rb:3);Foo#bar (/a.rb:4) 12\n"
		       "thread main (7);<main> (/a.rb:2);Array#map [c];<script>&\" [c] 5\n"
		       "thread main (7);<main> (/a.rb:2);\\xff\\n\\x3b [c];memcpy [native] 2\n"
		       "thread puma (8);Foo#bar (/a.rb:3);[moving] 1\n");
	built_facts(p);
}

/* Each sample of the profile at a time of its own, 10 ms apart, in the order of the entries. */
static inline void written_times(struct profile *p)
{
	u64 time_ns = 0;

	p->timeline.cells_most = 1 << 20;
	for (u32 i = 0; i < p->entries.count; i++)
		for (u64 n = 0; n < p->entries.at[i].count; n++, time_ns += BUILT_WEIGHT_NS)
			timeline_add(&p->timeline, time_ns, i);
}
