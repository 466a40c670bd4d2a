/* SPDX-License-Identifier: Apache-2.0
 * functions.c - see functions.h.
 *
 *	e8 dddddddd	call
 *	e9 dddddddd	jmp
 *	0f 8c dddddddd	jcc	the distance counts from behind it */
#include "unwind/functions.h"

#include "elf/cfi.h"
#include "unwind/arch.h"

#include <elf.h>
#include <string.h>

enum {
	CHUNK = 64 << 10,
	OVERLAP = 8, /* an instruction may lie across two chunks */
	TEXT_MAX = 1 << 30,
};

/* ---- bounds -------------------------------------------------------------------------------- */

static bool take_row(void *arg, const struct cfi_row *row)
{
	struct unwind_functions *functions = arg;
	bool is_entered = row->cfa.how == CFI_REGISTER_PLUS && row->cfa.reg == UNWIND_SP &&
			  row->cfa.offset == UNWIND_ENTRY_CFA;

	return row->begin != row->function_begin ||
	       vec_push(&functions->all,
			(struct unwind_function){ row->function_begin, row->function_end,
						  !is_entered });
}

static int by_begin(const void *left, const void *right)
{
	const struct unwind_function *a = left, *b = right;

	return (a->begin > b->begin) - (a->begin < b->begin);
}

bool unwind_functions_read(struct unwind_functions *functions, const struct image *image)
{
	struct cfi_summary summary;

	*functions = (struct unwind_functions){ .image = image };
	if (!cfi_each_row(image, CFI_EH_FRAME, take_row, functions, &summary, NULL) ||
	    !functions->all.count)
		return false;
	qsort(functions->all.at, functions->all.count, sizeof functions->all.at[0], by_begin);
	return true;
}

void unwind_functions_free(struct unwind_functions *functions)
{
	vec_free(&functions->all);
}

const struct unwind_function *unwind_function_at(const struct unwind_functions *functions,
						 u64 address)
{
	u32 at = vec_first_not(&functions->all, one, one->end <= address);

	if (at == functions->all.count || functions->all.at[at].begin > address)
		return NULL;
	return &functions->all.at[at];
}

/* ---- instructions with a distance ---------------------------------------------------------- */

typedef void target_fn(void *arg, u64 at, u64 target);

static bool is_call(const u8 *at)
{
	return at[0] == 0xe8;
}

static bool is_call_or_jump(const u8 *at)
{
	return at[0] == 0xe8 || at[0] == 0xe9;
}

static bool is_jump(const u8 *at)
{
	return at[0] == 0xe9 || (at[0] == 0x0f && (at[1] & 0xf0) == 0x80);
}

/* Calls for each in [begin, end) whose kind is asked for. */
static void each_target(const struct image *image, u64 begin, u64 end, bool (*is)(const u8 *),
			target_fn *fn, void *arg)
{
	u8 bytes[CHUNK + OVERLAP];

	for (u64 at = begin; at < end && end - at <= TEXT_MAX; at += CHUNK) {
		u32 length = end - at < CHUNK ? (u32)(end - at) : CHUNK;
		u32 more = end - at - length < OVERLAP ? (u32)(end - at - length) : OVERLAP;
		memset(bytes + length, 0, OVERLAP);
		if (!image_bytes(image, at, bytes, length + more))
			return;
		for (u32 i = 0; i < length; i++) {
			u32 opcode = bytes[i] == 0x0f ? 2 : 1;
			s32 distance;
			if (!is(bytes + i))
				continue;
			memcpy(&distance, bytes + i + opcode, sizeof distance);
			fn(arg, at + i, at + i + opcode + 4 + (u64)(s64)distance);
		}
	}
}

struct found {
	const struct unwind_functions *functions;
	const struct unwind_function *of;
	struct unwind_function *out;
	u32 count, room;
	u64 stub; /* stands for `of`; 0: nothing does */
};

static void add_found(struct found *found, const struct unwind_function *function)
{
	for (u32 i = 0; i < found->count && i < found->room; i++)
		if (found->out[i].begin == function->begin)
			return;
	if (found->count < found->room)
		found->out[found->count] = *function;
	found->count += found->count <= found->room;
}

static void take_jump(void *arg, u64 at, u64 target)
{
	struct found *found = arg;
	const struct unwind_function *function;

	(void)at;
	if (target >= found->of->begin && target < found->of->end)
		return;
	function = unwind_function_at(found->functions, target);
	if (function && function->is_part)
		add_found(found, function);
}

static void take_call(void *arg, u64 at, u64 target)
{
	struct found *found = arg;
	const struct unwind_function *function;

	if (target != found->of->begin && (!found->stub || target != found->stub))
		return;
	function = unwind_function_at(found->functions, at);
	if (function && function->begin != found->of->begin)
		add_found(found, function);
}

u32 unwind_function_parts(const struct unwind_functions *functions,
			  const struct unwind_function *of, struct unwind_function *out, u32 room)
{
	struct found found = { .functions = functions, .of = of, .out = out, .room = room };

	each_target(functions->image, of->begin, of->end, is_jump, take_jump, &found);
	return found.count;
}

/* In all code of the image. */
static u32 find_callers(struct found *found, bool (*is)(const u8 *))
{
	const struct image *image = found->functions->image;
	struct image_section section;

	for (u32 i = 0; i < image_section_count(image); i++)
		if (image_section(image, i, &section) && section.type == SHT_PROGBITS &&
		    (section.flags & SHF_EXECINSTR))
			each_target(image, section.address, section.address + section.size, is,
				    take_call, found);
	return found->count;
}

u32 unwind_function_callers(const struct unwind_functions *functions,
			    const struct unwind_function *of, struct unwind_function *out, u32 room)
{
	struct found found = { .functions = functions, .of = of, .out = out, .room = room };

	return find_callers(&found, is_call);
}

u32 unwind_function_doors(const struct unwind_functions *functions,
			  const struct unwind_function *of, struct unwind_function *out, u32 room)
{
	struct found found = { .functions = functions,
			       .of = of,
			       .out = out,
			       .room = room,
			       .stub = image_stub_of(functions->image, of->begin) };

	return find_callers(&found, is_call_or_jump);
}
