/* SPDX-License-Identifier: Apache-2.0
 * lines.c - the line table of an iseq, and the bit vector that indexes it.
 *
 * The table has an entry where the line changes, in order.  Which entry holds at a
 * position is the number of entries at or before it: a rank query.  Ruby 2.5 keeps
 * the positions; since 2.6 they are a succinct bit vector (struct succ_index_table):
 *
 *	positions 0..53     6 words of nine 7-bit ranks
 *	then blocks of 512  u32 rank before the block
 *	                    u64 seven 9-bit ranks, before each 64 positions but the first
 *	                    u64 bits[8]
 *
 * The last entry is the line of the method's `end`: to take it for the current line
 * is the classic mistake. */
#include "runtimes/ruby/lines.h"

#include "runtimes/ruby/objects.h"
#include "runtimes/ruby/step.h"

enum {
	IMMEDIATE = 54, /* positions whose rank is stored as it is */
	PER_WORD = 9,
	BLOCK_POSITIONS = 512,
	BLOCK_BYTES = 80,
	ENTRIES_MAX = 1 << 20,
};

bool ruby_read_body(const struct mem *mem, u64 iseq, u64 *body_addr, struct ruby_body *body)
{
	return ruby_is_imemo(mem, iseq, RUBY_IMEMO_ISEQ) &&
	       mem_u64(mem, iseq + RUBY_ISEQ_BODY, body_addr) && ruby_address_ok(*body_addr) &&
	       mem_read(mem, *body_addr + RUBY_BODY_TYPE, body, sizeof *body);
}

u32 ruby_first_line(const struct mem *mem, const struct ruby_state *state, u64 body_addr)
{
	u64 line;

	if (!mem_u64(mem, body_addr + RUBY_BODY_PATHOBJ + 24, &line))
		return 0;
	if (state->facts & RUBY_LINE_IS_FIXNUM)
		return (line & 1) && line >> 1 <= INT32_MAX ? (u32)(line >> 1) : 0;
	return (u32)line <= INT32_MAX ? (u32)line : 0;
}

/* How many entries begin at or before `position`. */
static bool succinct_rank(const struct mem *mem, u64 table, u32 position, u64 *rank)
{
	struct {
		u64 rank, before, bits[8];
	} block;
	u64 word;

	_Static_assert(sizeof block == BLOCK_BYTES, "struct succ_dict_block");
	if (position < IMMEDIATE) {
		if (!mem_u64(mem, table + position / PER_WORD * 8, &word))
			return false;
		*rank = word >> position % PER_WORD * 7 & 0x7f;
		return true;
	}
	u32 index = (position - IMMEDIATE) / BLOCK_POSITIONS;
	u32 bit = (position - IMMEDIATE) % BLOCK_POSITIONS;
	u64 at = table + IMMEDIATE / PER_WORD * 8 + (u64)index * BLOCK_BYTES;
	if (!mem_read(mem, at, &block, sizeof block))
		return false;
	u32 part = bit / 64;
	u64 before = part ? block.before >> (part - 1) * 9 & 0x1ff : 0;
	u64 upto = block.bits[part] << (63 - bit % 64);
	*rank = (u32)block.rank + before + (u64)__builtin_popcountll(upto);
	return true;
}

/* 2.5: positions stand in the entries; the last one at or before ours. */
static bool searched_rank(const struct mem *mem, const struct ruby_state *state, u64 entries,
			  u32 count, u32 position, u64 *rank)
{
	u32 low = 1, high = count, at;

	while (low < high) {
		u32 middle = low + (high - low) / 2;
		if (!mem_u32(mem, entries + (u64)middle * state->at.insn_size, &at))
			return false;
		if (at <= position)
			low = middle + 1;
		else
			high = middle;
	}
	*rank = low;
	return true;
}

u32 ruby_read_line(const struct mem *mem, const struct ruby_state *state, u64 body_addr,
		   const struct ruby_body *body, u32 pos)
{
	const struct ruby_layout *at = &state->at;
	u64 entries, succinct, rank = 1;
	u32 count, line;

	if (!pos)
		return ruby_first_line(mem, state, body_addr);
	u32 offset = pos - (u32)body->encoded;
	if (offset % 8 || offset / 8 > body->size)
		return 0;
	/* The pc stands behind the instruction that runs. */
	u32 position = offset ? offset / 8 - 1 : 0;

	if (!mem_u64(mem, body_addr + at->body_insns, &entries) ||
	    !mem_u32(mem, body_addr + at->body_insns_size, &count))
		return 0;
	if (!count || count > ENTRIES_MAX)
		return 0;
	if (count > 1 && !at->body_succinct) {
		if (!searched_rank(mem, state, entries, count, position, &rank))
			return 0;
	} else if (count > 1 && (!mem_u64(mem, body_addr + at->body_succinct, &succinct) ||
				 !succinct_rank(mem, succinct, position, &rank))) {
		return 0;
	}
	if (rank < 1 || rank > count ||
	    !mem_u32(mem, entries + (rank - 1) * at->insn_size + at->insn_line, &line))
		return 0;
	return line <= INT32_MAX ? line : 0;
}
