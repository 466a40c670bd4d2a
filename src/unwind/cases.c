/* SPDX-License-Identifier: Apache-2.0
 * cases.c - see cases.h.
 *
 *	lea table(%rip), %base; ... movslq (%base,%index,4), %word; add %base, %word; jmp *%word
 *	jmp *table(,%index,8)
 *
 * The table's address may have been made far in front of the jump. A table ends where another thing begins whose address is made, or
 * where its words lead to no instruction. */
#include "unwind/cases.h"

#include "elf/image.h"
#include "unwind/arch.h"

enum {
	CASES_MAX = 1024,
	REACH = 16 << 10, /* bytes to either side of the jump: more is not looked at */
	SUM_MAX = 8,      /* instructions, from the sum to the jump */
};

struct cases {
	u64 table;
	u32 word;    /* bytes */
	bool is_far; /* its words are counted from itself */
};

/* The function that jumps, as far as it is looked at. */
struct range {
	const struct gap *gap;
	u64 begin, end;
};

static struct range function_at(const struct gap *gap, u64 at)
{
	struct range range = { gap, at, at + 1 };
	u64 least = at - gap->begin > REACH ? at - REACH : gap->begin;
	u64 most = gap->end - at > REACH ? at + REACH : gap->end;

	while (range.begin > least && !(gap->marks[range.begin - gap->begin] & IS_ENTRY))
		range.begin--;
	while (range.end < most && !(gap->marks[range.end - gap->begin] & IS_ENTRY))
		range.end++;
	return range;
}

/* The instruction in front; 0: there is none. */
static u64 before(const struct range *range, u64 at)
{
	while (at > range->begin)
		if (range->gap->marks[--at - range->gap->begin] & BEGINS)
			return at;
	return 0;
}

/* The register that is added to what the jump goes through: one of the two has the table's address. */
static u64 find_sum(const struct range *range, u64 at, u8 through, u8 *base)
{
	struct instruction instruction;

	for (u32 i = 0; i < SUM_MAX && (at = before(range, at)); i++)
		if (gap_read(range->gap, at, &instruction) && instruction.kind == INSTRUCTION_SUM &&
		    instruction.reg == through) {
			*base = instruction.other;
			return at;
		}
	return 0;
}

static bool find_table(const struct range *range, u64 at, const struct instruction *jump,
		       struct cases *out)
{
	struct instruction instruction;
	u8 base = UNWIND_PC;

	*out = (struct cases){ .table = (u64)(s64)jump->amount, .word = 8 };
	if (out->table)
		return true;
	at = jump->reg == UNWIND_PC ? 0 : find_sum(range, at, jump->reg, &base);
	while (at && (at = before(range, at)))
		if (gap_read(range->gap, at, &instruction) &&
		    instruction.kind == INSTRUCTION_ADDRESS &&
		    (instruction.reg == base || instruction.reg == jump->reg)) {
			*out = (struct cases){ instruction.target, 4, true };
			return true;
		}
	return false;
}

/* Where what is there ends at the latest: where the next begins. */
static u64 end_of(const struct gaps *gaps, u64 table)
{
	u32 low = 0, high = gaps->addresses.count;

	while (low < high) {
		u32 middle = (low + high) / 2;
		if (gaps->addresses.at[middle] <= table)
			low = middle + 1;
		else
			high = middle;
	}
	return low < gaps->addresses.count ? gaps->addresses.at[low] : UINT64_MAX;
}

static bool read_case(const struct image *image, const struct cases *cases, u32 number, u64 *out)
{
	u64 at = cases->table + (u64)number * cases->word;
	s32 distance;

	if (!cases->is_far)
		return image_bytes(image, at, out, sizeof *out);
	if (!image_bytes(image, at, &distance, sizeof distance))
		return false;
	*out = cases->table + (u64)(s64)distance;
	return true;
}

static bool is_instruction(const struct gap *gap, u64 address)
{
	return gap && gap->marks[address - gap->begin] & BEGINS;
}

void unwind_each_case(const struct gaps *gaps, const struct gap *gap, u64 at,
		      const struct instruction *jump, unwind_case_fn *fn, void *arg)
{
	struct range function = function_at(gap, at);
	struct cases cases;
	u64 address;

	if (!find_table(&function, at, jump, &cases))
		return;
	u64 end = end_of(gaps, cases.table);
	for (u32 i = 0; i < CASES_MAX && cases.table + (i + 1) * cases.word <= end &&
			read_case(gaps->image, &cases, i, &address);
	     i++) {
		if (!is_instruction(gaps_at(gaps, address), address))
			return;
		if (address >= function.begin && address < function.end)
			fn(arg, address);
	}
}
