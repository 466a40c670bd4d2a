/* SPDX-License-Identifier: Apache-2.0
 * functions.c - see functions.h.
 *
 *	e8 dddddddd	call
 *	e9 dddddddd	jmp
 *	0f 8c dddddddd	jcc	the distance counts from behind it
 *	48 8d 15 dddddddd	lea rip + d, %rdx
 *	ba nnnnnnnn	mov $n, %edx
 *	31 d2	xor %edx, %edx
 *	48 89 5d 18	mov %rbx, 0x18(%rbp)	(49 89 5c 24 18: in front of %r12; 48: of %rsp) */
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

static enum cfi_wish take_row(void *arg, const struct cfi_row *row)
{
	struct unwind_functions *functions = arg;
	bool is_entered = row->cfa.how == CFI_REGISTER_PLUS && row->cfa.reg == UNWIND_SP &&
			  row->cfa.offset == UNWIND_ENTRY_CFA;

	return vec_push(&functions->all,
			(struct unwind_function){ row->function_begin, row->function_end,
						  !is_entered }) ?
		       CFI_NEXT_FUNCTION :
		       CFI_ENOUGH;
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

/* By their first byte. */
enum kind { NONE, CONDITIONAL = 0x0f, CALL = 0xe8, JUMP = 0xe9 };

/* Code that lies at `address`; behind its `length` bytes there are OVERLAP more. */
struct code {
	const u8 *bytes;
	u32 length;
	u64 address;
};

static void each_of_kind(const struct code *code, enum kind kind, target_fn *fn, void *arg)
{
	const u8 *here = code->bytes, *end = here + code->length;
	u32 opcode = kind == CONDITIONAL ? 2 : 1;

	for (; here < end && (here = memchr(here, kind, (size_t)(end - here))); here++) {
		u64 at = code->address + (u64)(here - code->bytes);
		s32 distance;
		if (kind == CONDITIONAL && (here[1] & 0xf0) != 0x80)
			continue;
		memcpy(&distance, here + opcode, sizeof distance);
		fn(arg, at, at + opcode + 4 + (u64)(s64)distance);
	}
}

/* Calls for each of the kinds in [begin, end). */
static void each_target(const struct image *image, u64 begin, u64 end, enum kind kind,
			enum kind second, target_fn *fn, void *arg)
{
	u8 bytes[CHUNK + OVERLAP];

	for (u64 at = begin; at < end && end - at <= TEXT_MAX; at += CHUNK) {
		u32 length = end - at < CHUNK ? (u32)(end - at) : CHUNK;
		u32 more = end - at - length < OVERLAP ? (u32)(end - at - length) : OVERLAP;
		memset(bytes + length, 0, OVERLAP);
		if (!image_bytes(image, at, bytes, length + more))
			return;
		struct code code = { bytes, length, at };
		each_of_kind(&code, kind, fn, arg);
		if (second)
			each_of_kind(&code, second, fn, arg);
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

/* `stub` stands for the function; 0: nothing does. */
static bool leads_to(u64 target, u64 function, u64 stub)
{
	return target == function || (stub && target == stub);
}

static void take_call(void *arg, u64 at, u64 target)
{
	struct found *found = arg;
	const struct unwind_function *function;

	if (!leads_to(target, found->of->begin, found->stub))
		return;
	function = unwind_function_at(found->functions, at);
	if (function && function->begin != found->of->begin)
		add_found(found, function);
}

u32 unwind_function_parts(const struct unwind_functions *functions,
			  const struct unwind_function *of, struct unwind_function *out, u32 room)
{
	struct found found = { .functions = functions, .of = of, .out = out, .room = room };

	each_target(functions->image, of->begin, of->end, JUMP, CONDITIONAL, take_jump, &found);
	return found.count;
}

/* In all code of the image. */
static void find_callers(struct found *found, enum kind kind, enum kind second)
{
	const struct image *image = found->functions->image;
	struct image_section section;

	for (u32 i = 0; i < image_section_count(image); i++)
		if (image_section(image, i, &section) && section.type == SHT_PROGBITS &&
		    (section.flags & SHF_EXECINSTR))
			each_target(image, section.address, section.address + section.size, kind,
				    second, take_call, found);
}

u32 unwind_function_callers(const struct unwind_functions *functions,
			    const struct unwind_function *of, struct unwind_function *out, u32 room)
{
	struct found found = { .functions = functions, .of = of, .out = out, .room = room };

	find_callers(&found, CALL, NONE);
	return found.count;
}

u32 unwind_function_doors(const struct unwind_functions *functions,
			  const struct unwind_function *of, struct unwind_function *out, u32 room)
{
	struct found found = { .functions = functions,
			       .of = of,
			       .out = out,
			       .room = room,
			       .stub = image_stub_of(functions->image, of->begin) };

	find_callers(&found, CALL, JUMP);
	return found.count;
}

/* ---- calls with a text --------------------------------------------------------------------- */

enum {
	SET_UP_MAX = 40, /* bytes in front of a call in which its arguments are set */
	TEXT_LEAST = 8,
	LEA_BYTES = 7,
	MOVE_BYTES = 5,
};

/* The registers of the first four arguments, by number. */
static const u8 argument_registers[] = { 7, 6, 2, 1 };

static bool is_text(const struct image *image, u64 address)
{
	char text[TEXT_LEAST];

	if (!image_bytes(image, address, text, sizeof text))
		return false;
	for (u32 i = 0; i < sizeof text; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return true;
}

/* From a register; with a REX prefix that has B it is to another, of r8 to r15. */
static bool is_move_to(const u8 *code, u32 i, u8 reg)
{
	bool is_high = i && (code[i - 1] & 0xf1) == 0x41;

	return code[i] == 0x89 && (code[i + 1] & 0xc7) == (0xc0 | reg) && !is_high;
}

/* What was the register set to last? */
static bool is_set_to_text(const struct image *image, u64 call, u8 reg)
{
	u8 code[SET_UP_MAX];

	if (!image_bytes(image, call - SET_UP_MAX, code, sizeof code))
		return false;
	for (u32 i = SET_UP_MAX - 1; i-- > 0;) {
		u32 left = SET_UP_MAX - i;
		u64 here = call - left;
		s32 number;
		if (code[i] == 0x31 && code[i + 1] == (0xc0 | reg << 3 | reg))
			return false;
		if (is_move_to(code, i, reg))
			return false;
		if (left >= LEA_BYTES && code[i] == 0x48 && code[i + 1] == 0x8d &&
		    code[i + 2] == (0x05 | reg << 3)) {
			memcpy(&number, code + i + 3, sizeof number);
			return is_text(image, here + LEA_BYTES + (u64)(s64)number);
		}
		if (left >= MOVE_BYTES && code[i] == (0xb8 | reg)) {
			memcpy(&number, code + i + 1, sizeof number);
			if (is_text(image, (u32)number))
				return true;
		}
	}
	return false;
}

struct text_calls {
	const struct image *image;
	u64 callee, stub; /* 0: it has none */
	u8 reg;
	u64 *out;
	u32 count, room;
};

static void take_text_call(void *arg, u64 at, u64 target)
{
	struct text_calls *calls = arg;

	if (leads_to(target, calls->callee, calls->stub) && calls->count < calls->room &&
	    is_set_to_text(calls->image, at, calls->reg))
		calls->out[calls->count++] = at;
}

u32 unwind_function_text_calls(const struct unwind_functions *functions,
			       const struct unwind_function *of, u64 callee, u32 argument, u64 *out,
			       u32 room)
{
	const struct image *image = functions->image;
	struct text_calls calls = { .image = image,
				    .callee = callee,
				    .stub = image_stub_of(image, callee),
				    .reg = argument_registers[argument],
				    .out = out,
				    .room = room };

	each_target(image, of->begin, of->end, CALL, NONE, take_text_call, &calls);
	return calls.count;
}

/* ---- stores -------------------------------------------------------------------------------- */

enum {
	FIRST_BYTES = 256, /* of a function */
	STORE_BYTES = 5,
	REX_B = 1,
	HAS_INDEX = 4, /* of the last three bits of ModRM: SIB follows */
	SIB_STACK = 0x24,
};

/* Of 64 bits, at a distance of one byte, and not from the stack pointer. */
static bool is_store_at(const u8 *code, u32 offset)
{
	u8 rex = code[0], mode = code[2] >> 6, base = code[2] & 7;

	if ((rex & 0xf8) != 0x48 || code[1] != 0x89 || mode != 1)
		return false;
	if (base != HAS_INDEX)
		return code[3] == offset;
	return (rex & REX_B) && code[3] == SIB_STACK && code[4] == offset;
}

u64 unwind_function_store(const struct unwind_functions *functions, u64 begin, u32 offset)
{
	u8 code[FIRST_BYTES];

	if (offset > INT8_MAX || !image_bytes(functions->image, begin, code, sizeof code))
		return 0;
	for (u32 i = 0; i + STORE_BYTES <= sizeof code; i++)
		if (is_store_at(code + i, offset))
			return begin + i;
	return 0;
}
