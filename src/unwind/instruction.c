/* SPDX-License-Identifier: Apache-2.0
 * instruction.c - see instruction.h.
 *
 *	prefixes | rex, vex or evex | opcode of a map | modrm | sib | displacement | immediate */
#include "unwind/instruction.h"

#include "unwind/arch.h"

#include <string.h>

enum { LENGTH_MAX = 15, BX = 3, SP = 4, FP = 5 /* as instructions number them */ };
enum { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A };

/* DWARF's number of the registers, as instructions number them. */
static const u8 dwarf_number[16] = { X86_RAX, X86_RCX, X86_RDX, X86_RBX, X86_RSP, X86_RBP,
				     X86_RSI, X86_RDI, X86_R8,  X86_R9,  X86_R10, X86_R11,
				     X86_R12, X86_R13, X86_R14, X86_R15 };

struct reader {
	const u8 *bytes;
	u32 at, end;
	bool is_short;    /* behind 66 */
	bool is_repeated; /* behind f3, or what stands for it in vex and evex */
	bool is_vector;   /* behind vex or evex */
	bool has_address; /* 67 */
	u8 rex;
	u8 map, op;
	bool has_modrm;
	u8 mod, reg, rm; /* with rex */
	u8 third;        /* of vex */
	bool is_rip;     /* memory, counted from behind the instruction */
	bool is_table;   /* memory at a fixed address, and an index */
	u8 base;         /* of memory; 0xff: there is none, or there is an index, too */
	s32 displacement;
	s64 immediate;
};

/* 0, and a reader that stands behind its end, when there are none left. */
static u8 next(struct reader *reader)
{
	if (reader->at < reader->end)
		return reader->bytes[reader->at++];
	reader->at = reader->end + 1;
	return 0;
}

static s64 next_number(struct reader *reader, u32 bytes)
{
	u64 number = 0;

	for (u32 i = 0; i < bytes; i++)
		number |= (u64)next(reader) << (8 * i);
	u32 unused = 64 - 8 * bytes;
	return bytes ? (s64)(number << unused) >> unused : 0;
}

/* ---- opcode -------------------------------------------------------------------------------- */

static bool read_vector(struct reader *reader, u8 first)
{
	u8 byte = next(reader), last = byte;

	reader->is_vector = true;
	reader->map = MAP_0F;
	if (first != 0xc5) {
		reader->map = byte & (first == 0x62 ? 7 : 0x1f);
		reader->rex = (u8)(~byte >> 5 & 7); /* r, x and b, the other way around */
		last = next(reader);
	} else {
		reader->rex = (u8)(~byte >> 5 & 4);
	}
	reader->third = ~last >> 3 & 15;
	reader->is_repeated = (last & 3) == 2;
	if (first == 0x62)
		next(reader);
	reader->op = next(reader);
	return reader->map >= MAP_0F && reader->map <= MAP_0F3A;
}

static bool read_opcode(struct reader *reader)
{
	u8 byte = next(reader);

	for (;; byte = next(reader)) {
		reader->is_short |= byte == 0x66;
		reader->has_address |= byte == 0x67;
		reader->is_repeated |= byte == 0xf3;
		if (byte != 0x66 && byte != 0x67 && byte != 0xf2 && byte != 0xf3 && byte != 0xf0 &&
		    byte != 0x2e && byte != 0x36 && byte != 0x3e && byte != 0x26 && byte != 0x64 &&
		    byte != 0x65)
			break;
	}
	if ((byte & 0xf0) == 0x40) {
		reader->rex = byte;
		byte = next(reader);
	}
	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62)
		return read_vector(reader, byte);
	reader->op = byte;
	if (byte != 0x0f)
		return true;
	reader->map = MAP_0F;
	reader->op = next(reader);
	if (reader->op == 0x38 || reader->op == 0x3a) {
		reader->map = reader->op == 0x38 ? MAP_0F38 : MAP_0F3A;
		reader->op = next(reader);
	}
	return true;
}

/* Those that 64-bit code does not have. */
static bool is_invalid(u8 op)
{
	static const u8 none[] = { 0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37,
				   0x3f, 0x60, 0x61, 0x82, 0x9a, 0xce, 0xd4, 0xd5, 0xd6, 0xea };

	return memchr(none, op, sizeof none) != NULL;
}

static bool has_modrm(const struct reader *reader)
{
	u8 op = reader->op;

	if (reader->is_vector)
		return reader->map != MAP_0F || op != 0x77;
	if (reader->map == MAP_0F)
		return !((op >= 0x05 && op <= 0x0b) || op == 0x0e || (op >= 0x30 && op <= 0x37) ||
			 op == 0x77 || (op & 0xf0) == 0x80 || (op >= 0xa0 && op <= 0xa2) ||
			 (op >= 0xa8 && op <= 0xaa) || op >= 0xc8) ||
		       op >= 0xd0;
	if (reader->map != MAP_ONE)
		return true;
	return (op < 0x40 && (op & 7) < 4) || op == 0x63 || op == 0x69 || op == 0x6b ||
	       (op & 0xf0) == 0x80 || (op & 0xfe) == 0xc0 || (op & 0xfe) == 0xc6 ||
	       (op & 0xfc) == 0xd0 || (op & 0xf8) == 0xd8 || (op & 0xfe) == 0xf6 ||
	       (op & 0xfe) == 0xfe;
}

static void read_modrm(struct reader *reader)
{
	u8 byte = next(reader);
	u32 displaced = 0;

	reader->has_modrm = true;
	reader->mod = byte >> 6;
	reader->reg = (u8)((byte >> 3 & 7) | (reader->rex & 4) << 1);
	reader->rm = (u8)((byte & 7) | (reader->rex & 1) << 3);
	reader->base = reader->rm;
	if (reader->mod == 3)
		return;
	bool has_base = true;
	if ((byte & 7) == SP) {
		u8 sib = next(reader);
		bool has_index = (sib >> 3 & 7) != SP || reader->rex & 2;
		has_base = (sib & 7) != FP || reader->mod;
		reader->is_table = has_index && !has_base;
		reader->base = has_index || !has_base ? 0xff :
							(u8)((sib & 7) | (reader->rex & 1) << 3);
	} else if ((byte & 7) == FP && !reader->mod) {
		has_base = false;
		reader->base = 0xff;
		reader->is_rip = true;
	}
	displaced = reader->mod == 1 ? 1 : reader->mod == 2 || !has_base ? 4 : 0;
	reader->displacement = (s32)next_number(reader, displaced);
}

/* ---- immediate ----------------------------------------------------------------------------- */

static u8 immediate_of_one(const struct reader *reader)
{
	u8 op = reader->op, word = reader->is_short ? 2 : 4, low = op & 7;

	if (op < 0x40)
		return low == 4 ? 1 : low == 5 ? word : 0;
	switch (op) {
	case 0x68:
	case 0x69:
	case 0x81:
	case 0xa9:
	case 0xc7:
		return word;
	case 0xe8:
	case 0xe9:
		return 4;
	case 0x6a:
	case 0x6b:
	case 0x80:
	case 0x83:
	case 0xa8:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xcd:
	case 0xeb:
		return 1;
	case 0xc2:
	case 0xca:
		return 2;
	case 0xc8:
		return 3;
	case 0xf6:
		return (reader->reg & 7) < 2;
	case 0xf7:
		return (reader->reg & 7) < 2 ? word : 0;
	default:
		break;
	}
	if ((op & 0xf0) == 0x70 || (op & 0xf8) == 0xe0 || (op & 0xf8) == 0xb0)
		return 1;
	if ((op & 0xf8) == 0xb8)
		return reader->rex & 8 ? 8 : word;
	return (op & 0xfc) == 0xa0 ? (reader->has_address ? 4 : 8) : 0;
}

static u8 immediate_bytes(const struct reader *reader)
{
	u8 op = reader->op;

	if (reader->map == MAP_ONE)
		return immediate_of_one(reader);
	if (reader->map != MAP_0F)
		return reader->map == MAP_0F3A;
	if ((op & 0xf0) == 0x80 && !reader->is_vector)
		return 4;
	return (op >= 0x70 && op <= 0x73) || op == 0xa4 || op == 0xac || op == 0xba || op == 0xc2 ||
	       (op >= 0xc4 && op <= 0xc6) || op == 0x0f;
}

/* ---- what it does -------------------------------------------------------------------------- */

static bool is_register(const struct reader *reader, u8 number)
{
	return reader->mod == 3 && reader->rm == number;
}

/* Which of its registers an instruction writes, as far as they are those that a program computes addresses in. */
enum { TO_REG = 1, TO_RM = 2, TO_LOW = 4, TO_THIRD = 8, TO_RBX = 16 };

static u32 written_of_one(const struct reader *reader)
{
	u8 op = reader->op, what = reader->reg & 7;

	if (!reader->has_modrm)
		return (op & 0xf8) == 0x58 || (op & 0xf8) == 0x90 || (op & 0xf8) == 0xb8 ? TO_LOW :
											   0;
	bool compares = (op & 0xf8) == 0x38 || ((op == 0x81 || op == 0x83) && what == 7) ||
			(op == 0xf7 && what < 2);
	if (compares)
		return 0;
	bool to_reg = op == 0x63 || op == 0x69 || op == 0x6b || op == 0x8b || op == 0x8d ||
		      op == 0x87 || (op < 0x40 && (op & 7) == 3);
	bool to_rm = (op < 0x40 && (op & 7) == 1) || op == 0x81 || op == 0x83 || op == 0x87 ||
		     op == 0x89 || op == 0x8f || op == 0xc1 || op == 0xc7 || op == 0xd1 ||
		     op == 0xd3 || op == 0xf7 || (op == 0xff && what < 2);
	return (to_reg ? TO_REG : 0) | (to_rm ? TO_RM : 0);
}

/* cmov, imul, movzx, movsx, popcnt, bsf, bsr; shifts of two, bits, xadd, cmpxchg, bswap; and from vectors. */
static u32 written_of_0f(const struct reader *reader)
{
	u8 op = reader->op;

	if (op == 0x2c || op == 0x2d || op == 0x50 || op == 0xc5 || op == 0xd7)
		return TO_REG;
	if (op == 0x7e)
		return reader->is_repeated ? 0 : TO_RM;
	if (reader->is_vector)
		return op == 0x93 ? TO_REG : 0;
	if (op == 0xa2)
		return TO_RBX;
	if ((op & 0xf8) == 0xc8)
		return TO_LOW;
	if (op == 0xc1)
		return TO_REG | TO_RM;
	if ((op & 0xf0) == 0x40 || op == 0xaf || (op & 0xf6) == 0xb6 || op == 0xb8 || op == 0xbc ||
	    op == 0xbd)
		return TO_REG;
	bool to_rm = (op & 0xf6) == 0xa4 || op == 0xab || op == 0xb1 || op == 0xb3 || op == 0xbb ||
		     op == 0xc7 || (op == 0xba && (reader->reg & 7) > 4);
	return to_rm ? TO_RM : 0;
}

static u32 written_of_rest(const struct reader *reader)
{
	u8 op = reader->op;

	if (reader->map == MAP_0F3A)
		return op >= 0x14 && op <= 0x17 ? TO_RM : op == 0xf0 ? TO_REG : 0;
	if (!reader->is_vector)
		return op == 0xf0 || op == 0xf1 ? TO_REG : 0;
	return op == 0xf3                             ? TO_THIRD :
	       op == 0xf6                             ? TO_REG | TO_THIRD :
	       op == 0xf2 || op == 0xf5 || op == 0xf7 ? TO_REG :
							0;
}

/* A bit for each, as instructions number them. */
static u16 written(const struct reader *reader)
{
	u32 to = reader->map == MAP_ONE ? written_of_one(reader) :
		 reader->map == MAP_0F  ? written_of_0f(reader) :
					  written_of_rest(reader);
	u32 bits = to & TO_REG ? 1u << reader->reg : 0;

	if (to & TO_RM && reader->mod == 3)
		bits |= 1u << reader->rm;
	if (to & TO_LOW)
		bits |= 1u << ((reader->op & 7) | (reader->rex & 1) << 3);
	if (to & TO_THIRD)
		bits |= 1u << reader->third;
	if (to & TO_RBX)
		bits |= 1u << BX;
	return (u16)bits;
}

/* Of a register by its number in the opcode. */
static u8 low_register(const struct reader *reader)
{
	return dwarf_number[(reader->op & 7) | (reader->rex & 1) << 3];
}

static bool take_push(const struct reader *reader, struct instruction *out)
{
	u8 op = reader->op, reg = UNWIND_PC;
	bool is_low = (op & 0xf0) == 0x50;

	if (op == 0x68 || op == 0x6a || op == 0x9c || (op == 0xff && (reader->reg & 7) == 6) ||
	    (is_low && !(op & 8)))
		out->kind = INSTRUCTION_PUSH;
	else if (op == 0x9d || op == 0x8f || is_low)
		out->kind = INSTRUCTION_POP;
	else
		return false;
	if (is_low)
		reg = low_register(reader);
	if (out->kind == INSTRUCTION_POP &&
	    (reg == X86_RSP || (op == 0x8f && is_register(reader, SP))))
		out->kind = INSTRUCTION_LOSE;
	out->reg = reg;
	return true;
}

static bool take_lea(const struct reader *reader, struct instruction *out)
{
	bool is_sp = reader->base == SP;

	if (reader->reg == SP)
		out->kind = is_sp                ? INSTRUCTION_ADD :
			    reader->base == FP   ? INSTRUCTION_UNFRAME :
			    reader->base != 0xff ? INSTRUCTION_UNCOPY :
						   INSTRUCTION_LOSE;
	else if (is_sp)
		out->kind = reader->reg == FP ? INSTRUCTION_FRAME : INSTRUCTION_COPY;
	else
		return false;
	out->amount = reader->displacement;
	out->reg = dwarf_number[out->kind == INSTRUCTION_UNCOPY ? reader->base : reader->reg];
	return true;
}

/* mov, in either of its two encodings. */
static bool moves(const struct reader *reader, u8 from, u8 to)
{
	return (reader->op == 0x89 && is_register(reader, to) && reader->reg == from) ||
	       (reader->op == 0x8b && is_register(reader, from) && reader->reg == to);
}

/* mov of sp to another register and back, and of a register to the stack. */
static bool take_copy(const struct reader *reader, struct instruction *out)
{
	bool to_rm = reader->op == 0x89, is_register = reader->mod == 3;
	u8 from = to_rm ? reader->reg : reader->rm, to = to_rm ? reader->rm : reader->reg;

	if ((!to_rm && reader->op != 0x8b) ||
	    (is_register ? (from == SP) == (to == SP) : !to_rm || reader->base != SP))
		return false;
	out->kind = !is_register ? INSTRUCTION_STORE :
		    from == SP   ? INSTRUCTION_COPY :
				   INSTRUCTION_UNCOPY;
	out->amount = reader->displacement;
	out->reg = dwarf_number[is_register && from == SP ? to : from];
	return true;
}

/* Arithmetic on the stack pointer and the frame pointer. */
static bool take_frame(const struct reader *reader, struct instruction *out)
{
	u8 op = reader->op, what = reader->reg & 7;
	bool is_wide = reader->rex & 8;

	/* xor %ebp, %ebp clears all of it */
	if ((op == 0x31 || op == 0x33) && is_register(reader, FP) && reader->reg == FP) {
		out->kind = INSTRUCTION_CLEAR;
	} else if (is_wide && (op == 0x81 || op == 0x83) && is_register(reader, SP) &&
		   (what == 0 || what == 5)) {
		out->kind = INSTRUCTION_ADD;
		out->amount = (s32)(what ? -reader->immediate : reader->immediate);
	} else if (is_wide && moves(reader, SP, FP)) {
		out->kind = INSTRUCTION_FRAME;
	} else if (is_wide && moves(reader, FP, SP)) {
		out->kind = INSTRUCTION_UNFRAME;
	} else {
		return is_wide && (take_copy(reader, out) ||
				   (op == 0x8d && reader->mod != 3 && take_lea(reader, out)));
	}
	return true;
}

static enum instruction_kind flow_of(const struct reader *reader)
{
	u8 op = reader->op, what = reader->reg & 7;

	if (reader->map == MAP_0F && !reader->is_vector)
		return (op & 0xf0) == 0x80 ? INSTRUCTION_BRANCH :
		       op == 0x0b          ? INSTRUCTION_RETURN :
					     INSTRUCTION_OTHER;
	if (reader->map != MAP_ONE)
		return INSTRUCTION_OTHER;
	if (op == 0xe8 || (op == 0xff && (what == 2 || what == 3)))
		return INSTRUCTION_CALL;
	if (op == 0xe9 || op == 0xeb || (op == 0xff && (what == 4 || what == 5)))
		return INSTRUCTION_JUMP;
	if ((op & 0xf0) == 0x70 || (op & 0xfc) == 0xe0)
		return INSTRUCTION_BRANCH;
	return (op & 0xf6) == 0xc2 || op == 0xcc || op == 0xcf || op == 0xf4 ? INSTRUCTION_RETURN :
									       INSTRUCTION_OTHER;
}

static bool take_flow(const struct reader *reader, u64 behind, struct instruction *out)
{
	out->kind = flow_of(reader);
	if (out->kind == INSTRUCTION_OTHER || out->kind == INSTRUCTION_RETURN)
		return out->kind == INSTRUCTION_RETURN;
	if (reader->op != 0xff) {
		out->target = behind + (u64)reader->immediate;
	} else {
		out->reg = reader->mod == 3 ? dwarf_number[reader->rm] : UNWIND_PC;
		out->amount = reader->is_table ? reader->displacement : 0;
	}
	return true;
}

/* add, in either of its two encodings. */
static bool take_sum(const struct reader *reader, struct instruction *out)
{
	bool to_rm = reader->op == 0x01;

	if ((!to_rm && reader->op != 0x03) || reader->mod != 3 || !(reader->rex & 8))
		return false;
	out->kind = INSTRUCTION_SUM;
	out->reg = dwarf_number[to_rm ? reader->rm : reader->reg];
	out->other = dwarf_number[to_rm ? reader->reg : reader->rm];
	return true;
}

static bool take_address(const struct reader *reader, u64 behind, struct instruction *out)
{
	if (reader->op != 0x8d || !reader->is_rip)
		return false;
	out->kind = INSTRUCTION_ADDRESS;
	out->reg = dwarf_number[reader->reg];
	out->target = behind + (u64)(s64)reader->displacement;
	return true;
}

static void take(const struct reader *reader, u64 behind, struct instruction *out)
{
	bool is_one = reader->map == MAP_ONE;
	u16 bits = written(reader);

	for (u32 left = bits; left; left &= left - 1)
		out->written |= (u16)(1u << dwarf_number[__builtin_ctz(left)]);
	if (take_flow(reader, behind, out) ||
	    (is_one && (take_push(reader, out) || take_frame(reader, out))))
		return;
	if (is_one && reader->op == 0xc9)
		out->kind = INSTRUCTION_LEAVE;
	else if ((is_one && reader->op == 0xc8) || bits >> SP & 1)
		out->kind = INSTRUCTION_LOSE;
	else if (is_one && (take_sum(reader, out) || take_address(reader, behind, out)))
		return;
	else if (bits >> FP & 1)
		out->kind = INSTRUCTION_LOSE_FP;
}

bool instruction_is_mark(const u8 *bytes)
{
	static const u8 endbr64[INSTRUCTION_MARK_BYTES] = { 0xf3, 0x0f, 0x1e, 0xfa };

	return memcmp(bytes, endbr64, sizeof endbr64) == 0;
}

bool instruction_read(const u8 *bytes, u64 left, u64 address, struct instruction *out)
{
	struct reader reader = { .bytes = bytes,
				 .end = left < LENGTH_MAX ? (u32)left : LENGTH_MAX,
				 .base = 0xff };

	*out = (struct instruction){ .kind = INSTRUCTION_OTHER };
	if (!read_opcode(&reader) || (reader.map == MAP_ONE && is_invalid(reader.op)))
		return false;
	if (has_modrm(&reader))
		read_modrm(&reader);
	reader.immediate = next_number(&reader, immediate_bytes(&reader));
	if (reader.at > reader.end)
		return false;
	out->length = (u8)reader.at;
	take(&reader, address + out->length, out);
	return true;
}
