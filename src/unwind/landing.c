/* SPDX-License-Identifier: Apache-2.0
 * landing.c - see landing.h. */
#include "unwind/landing.h"

#include "elf/cfi.h"
#include "elf/image.h"
#include "unwind/arch.h"
#include "unwind/instruction.h"
#include "unwind/rule.h"

#include <string.h>

enum {
	CODE_MAX = 4096, /* bytes between two rows; libgcc's have some 400 */
	RET = 0xc3,
	/* mov disp32(%rbp), %reg: REX.W, opcode, mod 2 and rm 5 */
	LOAD_BYTES = 7,
	LOAD = 0x8b,
	LOAD_MODRM = 0x85,
	LOAD_MODRM_MASK = 0xc7,
};

struct code {
	const struct image *image;
	u64 begin, size;
	const u8 *bytes;
};

bool unwind_row_lands(const struct cfi_row *row)
{
	return row->registers[UNWIND_EH_FIRST].how == CFI_AT_CFA &&
	       row->registers[UNWIND_EH_SECOND].how == CFI_AT_CFA &&
	       row->registers[UNWIND_FP].how == CFI_SAME;
}

void unwind_rule_behind_leap(struct unwind_rule *rule)
{
	if (rule->kind != UNWIND_PLUS)
		return;
	rule->kind = UNWIND_INTERRUPTED;
	memset(rule->saved, UNWIND_SAVED_SAME, sizeof rule->saved);
}

/* _Unwind_DebugHook is called last, and is there for debuggers to stop at. */
static bool does_nothing(const struct image *image, u64 function)
{
	u8 bytes[INSTRUCTION_MARK_BYTES + 1];

	return function && image_bytes(image, function, bytes, sizeof bytes) &&
	       bytes[instruction_is_mark(bytes) ? INSTRUCTION_MARK_BYTES : 0] == RET;
}

/* Of a function that does something; `size`: there is none. */
static u64 last_call(const struct code *code)
{
	struct instruction instruction;
	u64 last = code->size;

	for (u64 at = 0;
	     instruction_read(code->bytes + at, code->size - at, code->begin + at, &instruction);
	     at += instruction.length)
		if (instruction.kind == INSTRUCTION_CALL &&
		    !does_nothing(code->image, instruction.target))
			last = at;
	return last;
}

/* Does it load what is at fp + distance? */
static bool is_load(const u8 *bytes, s32 *distance)
{
	memcpy(distance, bytes + LOAD_BYTES - sizeof *distance, sizeof *distance);
	return (bytes[0] & 0xfb) == 0x48 && bytes[1] == LOAD &&
	       (bytes[2] & LOAD_MODRM_MASK) == LOAD_MODRM;
}

static bool loads(const struct code *code, u64 from, s32 distance)
{
	s32 other;

	for (u64 at = from; at + LOAD_BYTES <= code->size; at++)
		if (is_load(code->bytes + at, &other) && other == distance)
			return true;
	return false;
}

/* The handler's sp and pc lie side by side. */
static bool find_context(const struct code *code, u64 from, s32 *out)
{
	s32 distance;

	for (u64 at = from; at + LOAD_BYTES <= code->size; at++) {
		if (!is_load(code->bytes + at, &distance) || !loads(code, from, distance + 8))
			continue;
		*out = distance - UNWIND_CONTEXT_SP;
		return true;
	}
	return false;
}

u64 unwind_rule_before_leap(const struct image *image, u64 begin, u64 end, struct unwind_rule *rule)
{
	u8 bytes[CODE_MAX];
	struct code code = { .image = image, .begin = begin, .size = end - begin, .bytes = bytes };

	*rule = (struct unwind_rule){ 0 };
	if (code.size > sizeof bytes || !image_bytes(image, begin, bytes, (u32)code.size))
		return end;
	u64 call = last_call(&code);
	if (find_context(&code, call, &rule->offset)) {
		rule->kind = UNWIND_LANDING;
		rule->reg = UNWIND_FP;
	}
	return begin + call;
}
