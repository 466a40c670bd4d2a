/* SPDX-License-Identifier: Apache-2.0
 * gaps.c - see gaps.h. */
#include "unwind/gaps.h"

#include "elf/image.h"
#include "unwind/arch.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
	GAP_MIN = 16,        /* less is padding */
	BYTES_MAX = 8 << 20, /* some 0.4 s */
	SECTIONS_MAX = 64,   /* of code */
};

/* ---- gaps ---------------------------------------------------------------------------------- */

/* The same byte, over and over. */
static bool is_filling(const struct gap *gap)
{
	return memcmp(gap->bytes, gap->bytes + 1, gap->end - gap->begin - 1) == 0;
}

static void add_gap(struct gaps *gaps, u64 begin, u64 end)
{
	struct gap gap = { .begin = begin, .end = end };
	u64 size = end - begin;

	if (end < begin + GAP_MIN || size > BYTES_MAX - gaps->total)
		return;
	gap.bytes = malloc(size);
	gap.marks = calloc(size, 1);
	gap.states = calloc(size, sizeof gap.states[0]);
	bool good = gap.bytes && gap.marks && gap.states;
	gaps->no_memory |= !good;
	if (good && image_bytes(gaps->image, begin, gap.bytes, (u32)size) && !is_filling(&gap) &&
	    vec_push(&gaps->list, gap)) {
		gaps->total += size;
		return;
	}
	free(gap.bytes);
	free(gap.marks);
	free(gap.states);
}

static void find_gaps_in(struct gaps *gaps, u64 at, u64 end, const struct unwind_covered *covered,
			 u32 count)
{
	for (u32 i = 0; i < count && at < end; i++) {
		if (covered[i].end <= at)
			continue;
		if (covered[i].begin > at)
			add_gap(gaps, at, covered[i].begin < end ? covered[i].begin : end);
		at = covered[i].end;
	}
	if (at < end)
		add_gap(gaps, at, end);
}

/* By sections, where there are any: a segment can hold data, too. */
static void find_gaps(struct gaps *gaps, const struct unwind_covered *covered, u32 count)
{
	const struct image *image = gaps->image;
	struct image_section section;
	struct image_segment segment;
	u32 sections = 0;

	for (u32 i = 0; i < image_section_count(image) && sections < SECTIONS_MAX; i++) {
		if (!image_section(image, i, &section) || section.type != SHT_PROGBITS ||
		    !(section.flags & SHF_EXECINSTR))
			continue;
		sections++;
		find_gaps_in(gaps, section.address, section.address + section.size, covered, count);
	}
	for (u32 i = 0; !sections && i < image_segment_count(image); i++)
		if (image_segment(image, i, &segment) && segment.type == PT_LOAD &&
		    segment.flags & PF_X)
			find_gaps_in(gaps, segment.address, segment.address + segment.file_size,
				     covered, count);
}

/* They are in ascending order, as sections and segments are. */
struct gap *gaps_at(const struct gaps *gaps, u64 address)
{
	u32 low = 0, high = gaps->list.count;

	while (low < high) {
		u32 middle = (low + high) / 2;
		if (gaps->list.at[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < gaps->list.count && address >= gaps->list.at[low].begin ? &gaps->list.at[low] :
									       NULL;
}

bool gap_read(const struct gap *gap, u64 address, struct instruction *out)
{
	return instruction_read(gap->bytes + (address - gap->begin), gap->end - address, address,
				out);
}

/* ---- where functions begin ----------------------------------------------------------------- */

/* What fills the room between functions: one of the instructions that do nothing, or a trap. */
bool gap_is_padding(const struct gap *gap, u64 address, u32 length)
{
	const u8 *bytes = gap->bytes + (address - gap->begin);
	u32 at = 0;

	while (at < length && (bytes[at] == 0x66 || bytes[at] == 0x2e))
		at++;
	return at < length && (bytes[at] == 0x90 || bytes[at] == 0xcc ||
			       (at + 1 < length && bytes[at] == 0x0f && bytes[at + 1] == 0x1f));
}

bool instruction_ends_way(const struct instruction *instruction)
{
	return instruction->kind == INSTRUCTION_JUMP || instruction->kind == INSTRUCTION_RETURN;
}

/* endbr64, or what saves a register that a caller wants back: no loop begins so. */
static bool looks_like_entry(const struct gap *gap, u64 at, const struct instruction *instruction)
{
	static const u8 endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	return (instruction->kind == INSTRUCTION_PUSH && UNWIND_KEPT >> instruction->reg & 1) ||
	       (instruction->length == sizeof endbr64 &&
		!memcmp(gap->bytes + (at - gap->begin), endbr64, sizeof endbr64));
}

/* One instruction after the other, from the gap's begin. */
static void sweep(struct gap *gap)
{
	struct instruction instruction;
	bool is_behind_end = true, is_behind_padding = true;

	for (u64 at = gap->begin; at < gap->end;) {
		u64 place = at - gap->begin;
		if (!gap_read(gap, at, &instruction)) {
			at++;
			continue;
		}
		gap->marks[place] |= BEGINS;
		if (is_behind_end || is_behind_padding)
			gap->marks[place] |= MAY_BE_ENTRY;
		if (is_behind_padding && at % UNWIND_LINE == 0 &&
		    looks_like_entry(gap, at, &instruction))
			gap->marks[place] |= IS_ENTRY;
		is_behind_padding = gap_is_padding(gap, at, instruction.length);
		is_behind_end = instruction_ends_way(&instruction) ||
				instruction.kind == INSTRUCTION_CALL;
		at += instruction.length;
	}
}

static void mark(struct gaps *gaps, u64 address, u8 where, u8 what)
{
	struct gap *gap = gaps_at(gaps, address);

	if (gap && (gap->marks[address - gap->begin] & where) == where)
		gap->marks[address - gap->begin] |= what;
}

static void mark_symbols(struct gaps *gaps)
{
	struct image_symbol symbol;

	mark(gaps, image_entry(gaps->image), 0, BEGINS | IS_ENTRY);
	for (u32 i = 0; image_symbol(gaps->image, i, &symbol); i++)
		if (symbol.type == STT_FUNC || symbol.type == STT_GNU_IFUNC)
			mark(gaps, symbol.value, 0, BEGINS | IS_ENTRY);
}

/* Where calls and jumps lead, and what has its address taken. */
static void mark_targets(struct gaps *gaps, const struct gap *gap)
{
	struct instruction instruction;

	for (u64 at = gap->begin; at < gap->end; at++) {
		if (!(gap->marks[at - gap->begin] & BEGINS) || !gap_read(gap, at, &instruction) ||
		    !instruction.target)
			continue;
		if (instruction.kind == INSTRUCTION_ADDRESS)
			gaps->no_memory |= !vec_push(&gaps->addresses, instruction.target);
		if (instruction.kind == INSTRUCTION_CALL)
			mark(gaps, instruction.target, BEGINS, IS_CALLED);
		if (instruction.kind == INSTRUCTION_CALL || instruction.kind == INSTRUCTION_ADDRESS)
			mark(gaps, instruction.target, BEGINS | MAY_BE_ENTRY, IS_ENTRY);
		else
			mark(gaps, instruction.target, BEGINS, IS_LED_TO);
	}
}

static int compare_addresses(const void *left_, const void *right_)
{
	u64 left = *(const u64 *)left_, right = *(const u64 *)right_;

	return (left > right) - (left < right);
}

/* ---- all of it ----------------------------------------------------------------------------- */

void gaps_find(struct gaps *gaps, const struct unwind_covered *covered, u32 count)
{
	find_gaps(gaps, covered, count);
	for (u32 i = 0; i < gaps->list.count; i++)
		sweep(&gaps->list.at[i]);
	mark_symbols(gaps);
	for (u32 i = 0; i < gaps->list.count; i++)
		mark_targets(gaps, &gaps->list.at[i]);
	if (gaps->addresses.count)
		qsort(gaps->addresses.at, gaps->addresses.count, sizeof gaps->addresses.at[0],
		      compare_addresses);
}

void gaps_find_of(struct gaps *gaps, const struct unwind_covered *covered, const u64 *entries,
		  u32 count)
{
	gaps_find(gaps, covered, 1);
	for (u32 i = 0; i < gaps->list.count; i++)
		for (u64 at = 0; at < gaps->list.at[i].end - gaps->list.at[i].begin; at++)
			gaps->list.at[i].marks[at] &= (u8)~IS_ENTRY;
	for (u32 i = 0; i < count; i++) {
		const struct gap *gap = gaps_at(gaps, entries[i]);
		u8 how = gap ? gap->marks[entries[i] - gap->begin] : 0;
		if (!(how & IS_LED_TO) || (how & IS_CALLED))
			mark(gaps, entries[i], 0, BEGINS | IS_ENTRY);
	}
}

void gaps_free(struct gaps *gaps)
{
	for (u32 i = 0; i < gaps->list.count; i++) {
		free(gaps->list.at[i].bytes);
		free(gaps->list.at[i].marks);
		free(gaps->list.at[i].states);
	}
	vec_free(&gaps->list);
	vec_free(&gaps->addresses);
}
