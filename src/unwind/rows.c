/* SPDX-License-Identifier: Apache-2.0
 * rows.c - see rows.h.
 *
 *	sections -> spans (pcs, rule) in any order -> points (pc, the rule from there on) -> pages of rows
 *
 * A program that BOLT has rewritten has wrong rows (rewritten.h): points are put right.
 *
 * Between two functions lies padding that never runs, or a short function of assembly without rows.  Less than 16 bytes
 * of it belong to what is in front of it, which saves rows, if that ends as a function begins: then the way back out of a
 * short function is where the rule says.  Else they have no rule (behind a call of abort, there is still a frame). */
#include "unwind/rows.h"

#include "base/table.h"
#include "base/vec.h"
#include "elf/cfi.h"
#include "unwind/arch.h"
#include "unwind/code.h"
#include "unwind/go.h"
#include "unwind/landing.h"
#include "unwind/order.h"
#include "unwind/outermost.h"
#include "unwind/rewritten.h"
#include "unwind/rules.h"
#include "unwind/search.h"

#include <stdlib.h>
#include <string.h>

enum {
	PADDING_MAX = 16,
	ENTRY_MAX = 64, /* bytes of code at an image's entry */
	/* 4 GiB of code. */
	PAGES_MAX = 1 << 16,
	/* What is behind so many rows has no rule: a browser has some 4 million. */
	SPANS_MAX = 1 << 23,
	NO_RULE = 0, /* the first rule: UNWIND_NONE */
};

struct compiling {
	const struct image *image;
	VEC(struct unwind_span) spans;
	VEC(struct unwind_point) points;
	VEC(struct unwind_rule) rules;
	struct table table; /* of the rules */
	u8 source;
	bool is_rewritten;
	VEC(u64) entries; /* of such an image: where functions begin as functions do */
	struct unwind_report *report;
	bool no_memory;
};

/* ---- rules and spans ----------------------------------------------------------------------- */

static bool same_rule(const void *owner, u32 item, const void *key)
{
	const struct compiling *compiling = owner;

	return memcmp(&compiling->rules.at[item], key, sizeof(struct unwind_rule)) == 0;
}

/* NO_RULE, too, when there is no room for one more. */
static u16 rule_number(struct compiling *compiling, const struct unwind_rule *rule)
{
	u64 hash = table_hash(rule, sizeof *rule);
	u32 item = table_find(&compiling->table, hash, same_rule, compiling, rule);

	if (item != TABLE_NONE)
		return (u16)item;
	if (compiling->rules.count == UNWIND_RULES_MAX)
		return NO_RULE;
	if (!vec_push(&compiling->rules, *rule) ||
	    !table_add(&compiling->table, hash, compiling->rules.count - 1)) {
		compiling->no_memory = true;
		return NO_RULE;
	}
	return (u16)(compiling->rules.count - 1);
}

static bool add_span(void *arg, u64 begin, u64 end, const struct unwind_rule *rule)
{
	struct compiling *compiling = arg;
	struct unwind_span span = { begin, end, rule_number(compiling, rule), compiling->source };

	if (compiling->spans.count == SPANS_MAX)
		return false;
	compiling->no_memory |= !vec_push(&compiling->spans, span);
	return !compiling->no_memory;
}

/* The span in front of a leap ends where the handler's frame counts. */
static void cut_before_leap(struct compiling *compiling, u64 leap)
{
	struct unwind_span *last = compiling->spans.count ?
					   &compiling->spans.at[compiling->spans.count - 1] :
					   NULL;
	struct unwind_rule rule;

	if (!last || last->end != leap)
		return;
	u64 begin = unwind_rule_before_leap(compiling->image, last->begin, leap, &rule);
	last->end = begin;
	if (begin < leap)
		add_span(compiling, begin, leap, &rule);
}

/* As a function begins, and mostly ends: the way back is on top of the stack. */
static bool is_entry(const struct unwind_rule *rule)
{
	bool is_entry = rule->kind == UNWIND_PLUS && rule->reg == UNWIND_SP &&
			rule->offset == UNWIND_ENTRY_CFA && !rule->return_register;

	for (u32 i = 0; i < UNWIND_SAVED; i++)
		is_entry &= rule->saved[i] == UNWIND_SAVED_SAME;
	return is_entry;
}

static enum cfi_wish add_row(void *arg, const struct cfi_row *row)
{
	struct compiling *compiling = arg;
	struct unwind_rule rule;

	unwind_rule_of_row(row, &rule);
	if (compiling->is_rewritten && row->begin == row->function_begin && is_entry(&rule))
		compiling->no_memory |= !vec_push(&compiling->entries, row->begin);
	if (unwind_row_lands(row)) {
		if (row->cfa.reg != UNWIND_SP)
			cut_before_leap(compiling, row->begin);
		unwind_rule_behind_leap(&rule);
	}
	return add_span(arg, row->begin, row->end, &rule) ? CFI_MORE : CFI_ENOUGH;
}

/* Where a program, and ld.so, begins there is no caller, also when no row says so (Debian 12's ld.so has none there).  Rows that
 * there are stand. */
static void add_entry(struct compiling *compiling, const struct image *image)
{
	static const struct unwind_rule end = { .kind = UNWIND_END };
	u64 entry = image_entry(image);
	struct unwind_span span = { entry, entry + ENTRY_MAX, 0, compiling->source };

	for (u32 i = 0; i < compiling->spans.count; i++) {
		const struct unwind_span *other = &compiling->spans.at[i];
		if (other->begin <= entry && entry < other->end)
			return;
		if (other->begin > entry && other->begin < span.end)
			span.end = other->begin;
	}
	if (!entry || !compiling->spans.count)
		return;
	span.rule = rule_number(compiling, &end);
	compiling->no_memory |= !vec_push(&compiling->spans, span);
}

static bool read_section(struct compiling *compiling, const struct image *image,
			 enum cfi_source section, struct err *err)
{
	struct cfi_summary summary;

	if (!cfi_each_row(image, section, add_row, compiling, &summary, err))
		return false;
	compiling->report->functions += summary.functions;
	compiling->report->damaged += summary.damaged;
	compiling->source++;
	return true;
}

/* What no table tells about, from its instructions. */
static void read_code(struct compiling *compiling, const struct image *image)
{
	VEC(struct unwind_covered) covered = { 0 };

	compiling->no_memory |= !unwind_order(compiling->spans.at, compiling->spans.count);
	for (u32 i = 0; i < compiling->spans.count; i++) {
		const struct unwind_span *span = &compiling->spans.at[i];
		struct unwind_covered *last = covered.count ? &covered.at[covered.count - 1] : NULL;
		if (last && span->begin <= last->end)
			last->end = span->end > last->end ? span->end : last->end;
		else
			compiling->no_memory |= !vec_push(
				&covered, (struct unwind_covered){ span->begin, span->end });
	}
	compiling->no_memory |= !unwind_code_spans(image, covered.at, covered.count, add_span,
						   compiling);
	compiling->source++;
	vec_free(&covered);
}

static bool read_all(struct compiling *compiling, const struct image *image, struct err *err)
{
	static const struct unwind_rule none;

	compiling->is_rewritten = unwind_is_rewritten(image);
	rule_number(compiling, &none);
	unwind_outermost_spans(image, add_span, compiling);
	compiling->source++;
	if (!read_section(compiling, image, CFI_EH_FRAME, err))
		return false;
	unwind_go_spans(image, add_span, compiling, NULL); /* a bad one is none */
	compiling->source++;
	if (!read_section(compiling, image, CFI_DEBUG_FRAME, err))
		return false;
	read_code(compiling, image);
	add_entry(compiling, image);
	return !compiling->no_memory || err_no_memory(err);
}

/* ---- points -------------------------------------------------------------------------------- */

static void add_point(struct compiling *compiling, u64 pc, u16 rule)
{
	u32 count = compiling->points.count;

	if (count && compiling->points.at[count - 1].rule == rule)
		return;
	compiling->no_memory |= !vec_push(&compiling->points, (struct unwind_point){ pc, rule });
}

/* Where spans overlap, the first to begin has its pcs. */
static bool make_points(struct compiling *compiling, struct err *err)
{
	u64 covered = 0;
	bool is_after_entry = false;

	compiling->no_memory |= !unwind_order(compiling->spans.at, compiling->spans.count);
	for (u32 i = 0; i < compiling->spans.count; i++) {
		const struct unwind_span *span = &compiling->spans.at[i];
		u64 begin = span->begin > covered ? span->begin : covered;
		if (span->end <= begin)
			continue;
		if (i && begin > covered && !(is_after_entry && begin - covered < PADDING_MAX))
			add_point(compiling, covered, NO_RULE);
		add_point(compiling, begin, span->rule);
		covered = span->end;
		const struct unwind_rule *last = &compiling->rules.at[span->rule];
		/* behind the call of sigreturn is where a thread is that is in it */
		is_after_entry = last->kind == UNWIND_SIGNAL || is_entry(last);
	}
	add_point(compiling, covered, NO_RULE);
	return !compiling->no_memory || err_no_memory(err);
}

/* ---- corrections --------------------------------------------------------------------------- */

struct correction {
	u64 begin, end;
	struct unwind_rule rule;
};

struct corrections {
	VEC(struct correction) list;
	bool no_memory;
};

static bool add_correction(void *arg, u64 begin, u64 end, const struct unwind_rule *rule)
{
	struct corrections *corrections = arg;
	struct correction correction = { begin, end, *rule };

	corrections->no_memory |= !vec_push(&corrections->list, correction);
	return !corrections->no_memory;
}

static void put_corrections(struct compiling *compiling, const struct corrections *corrections)
{
	struct unwind_point *old = compiling->points.at;
	u32 count = compiling->points.count, at = 0;
	u16 rule = NO_RULE;

	memset(&compiling->points, 0, sizeof compiling->points);
	for (u32 i = 0; i < corrections->list.count; i++) {
		const struct correction *better = &corrections->list.at[i];
		bool is_last = i + 1 == corrections->list.count;
		for (; at < count && old[at].pc < better->begin; at++) {
			rule = old[at].rule;
			add_point(compiling, old[at].pc, rule);
		}
		add_point(compiling, better->begin, rule_number(compiling, &better->rule));
		for (; at < count && old[at].pc <= better->end; at++)
			rule = old[at].rule;
		if (is_last || better[1].begin > better->end)
			add_point(compiling, better->end, rule);
	}
	for (; at < count; at++)
		add_point(compiling, old[at].pc, old[at].rule);
	free(old);
}

/* Where the rows of a program that was rewritten are wrong. */
static bool correct(struct compiling *compiling, struct err *err)
{
	const struct unwind_told told = { .points = compiling->points.at,
					  .point_count = compiling->points.count,
					  .rules = compiling->rules.at,
					  .entries = compiling->entries.at,
					  .entry_count = compiling->entries.count };
	struct corrections corrections = { 0 };

	compiling->no_memory |= !unwind_rewritten_spans(compiling->image, &told, add_correction,
							&corrections) ||
				corrections.no_memory;
	if (corrections.list.count)
		put_corrections(compiling, &corrections);
	vec_free(&corrections.list);
	return !compiling->no_memory || err_no_memory(err);
}

/* ---- words --------------------------------------------------------------------------------- */

static void write_rows(const struct compiling *compiling, const struct unwind_header *header,
		       u32 *words)
{
	u32 *first = words + UNWIND_HEADER_WORDS, *rows = words + header->rows;
	u32 count = 0, point = 0;
	u16 rule = NO_RULE;

	for (u32 page = 0; page < header->pages; page++) {
		u64 begin = header->base + ((u64)page << UNWIND_PAGE_SHIFT);
		u64 end = begin + (1 << UNWIND_PAGE_SHIFT);
		first[page] = count;
		if (point == compiling->points.count || compiling->points.at[point].pc > begin)
			rows[count++] = (u32)rule << 16;
		for (; point < compiling->points.count && compiling->points.at[point].pc < end;
		     point++) {
			rule = compiling->points.at[point].rule;
			rows[count++] = (u32)(compiling->points.at[point].pc & 0xffff) |
					(u32)rule << 16;
		}
	}
	first[header->pages] = count;
}

static bool make_words(const struct compiling *compiling, struct unwind_table *table,
		       struct err *err)
{
	const struct unwind_point *points = compiling->points.at;
	u32 count = compiling->points.count;
	u64 base = points[0].pc & ~0xffffull;
	u64 pages = ((points[count - 1].pc - base) >> UNWIND_PAGE_SHIFT) + 1;

	if (pages > PAGES_MAX)
		return err_set(err, ERR_BAD_DATA, "unwind table: covers %llu MiB of addresses",
			       (unsigned long long)(pages >> 4));
	struct unwind_header header = { .magic = UNWIND_MAGIC,
					.pages = (u32)pages,
					.base = base,
					.rule_count = compiling->rules.count };
	/* a row more for each page that begins inside a span */
	u32 rows_room = count + header.pages;
	header.rows = UNWIND_HEADER_WORDS + header.pages + 1;
	u32 *words = calloc(header.rows + rows_room + (u64)UNWIND_RULE_WORDS * header.rule_count,
			    sizeof *words);
	if (!words)
		return err_no_memory(err);
	write_rows(compiling, &header, words);
	header.row_count = words[UNWIND_HEADER_WORDS + header.pages];
	header.rules = header.rows + header.row_count;
	memcpy(words, &header, sizeof header);
	memcpy(words + header.rules, compiling->rules.at,
	       header.rule_count * sizeof compiling->rules.at[0]);
	*table = (struct unwind_table){ words,
					header.rules + UNWIND_RULE_WORDS * header.rule_count };
	return true;
}

/* ---- tables -------------------------------------------------------------------------------- */

bool unwind_compile(const struct image *image, struct unwind_table *table,
		    struct unwind_report *report, struct err *err)
{
	struct compiling compiling = { .image = image, .report = report };

	*table = (struct unwind_table){ 0 };
	*report = (struct unwind_report){ 0 };
	bool good = read_all(&compiling, image, err);
	if (good && compiling.spans.count)
		good = make_points(&compiling, err) &&
		       (!compiling.is_rewritten || correct(&compiling, err)) &&
		       make_words(&compiling, table, err);
	vec_free(&compiling.spans);
	vec_free(&compiling.points);
	vec_free(&compiling.rules);
	vec_free(&compiling.entries);
	table_free(&compiling.table);
	return good;
}

void unwind_table_free(struct unwind_table *table)
{
	free(table->words);
	*table = (struct unwind_table){ 0 };
}

bool unwind_table_is_good(const u32 *words, u64 count)
{
	struct unwind_header header;

	if (count < UNWIND_HEADER_WORDS)
		return false;
	memcpy(&header, words, sizeof header);
	if (header.magic != UNWIND_MAGIC || !header.pages || header.pages > PAGES_MAX ||
	    header.rows != UNWIND_HEADER_WORDS + header.pages + 1 ||
	    header.rules != (u64)header.rows + header.row_count ||
	    count != header.rules + (u64)UNWIND_RULE_WORDS * header.rule_count)
		return false;
	const u32 *first = words + UNWIND_HEADER_WORDS;
	if (first[0] != 0 || first[header.pages] != header.row_count)
		return false;
	for (u32 i = 0; i < header.pages; i++)
		if (first[i] >= first[i + 1])
			return false;
	for (u32 i = 0; i < header.row_count; i++)
		if (words[header.rows + i] >> 16 >= header.rule_count)
			return false;
	return true;
}

bool unwind_find_rule(const struct unwind_table *table, u64 pc, struct unwind_rule *out)
{
	return table->words && unwind_search(table->words, 0, pc, out);
}
