/* SPDX-License-Identifier: Apache-2.0
 * getter.c - one straight line through a getter, gcc's or clang's.
 *
 * Seen on Debian (2.7 to 3.4, x86-64):
 *
 *	mov rip-rel,%rax; mov (%rax),%rax; mov 0x450(%rax),%rax; mov 0x1b8(%rax),%rax; ret
 *	lea rip-rel,%rax; mov (%rax),%rax; test %rax,%rax; je ...; mov 0x518(%rax),%rax;
 *	movzbl 0x10(%rax),%eax; shr $0x5,%al; and $0x1,%eax; ret
 *	sub $8,%rsp; call rb_gc_get_objspace@plt; mov 0x3f0(%rax),%rax; add $8,%rsp; ret
 *
 * Branches are not taken (they lead to the answer for NULL), one jump is followed
 * (ruby -> the function behind an alias).  No table of opcodes: what is not listed
 * here ends the decoding, and the caller has other witnesses. */
#include "target/getter.h"

#include "base/cursor.h"
#include "elf/image.h"
#include "target/loaded.h"

#include <elf.h>

enum {
	CODE_BYTES = 96,
	JUMPS_MAX = 1,
	REX = 0x40,
	REX_MASK = 0xf0,
	RAX = 0,
	RSP = 4,
	RIP_RELATIVE = 5,
};

struct decoder {
	struct cursor at;
	u64 address; /* of the first byte */
	const u8 *first;
	u32 current; /* the register that holds the value so far */
	struct getter *out;
};

struct operand {
	u8 mod, reg, rm;
	s32 displacement;
};

static struct operand read_operand(struct decoder *d, u8 rex)
{
	u8 byte = cursor_u8(&d->at);
	struct operand o = { .mod = byte >> 6,
			     .reg = (byte >> 3 & 7) | (rex & 4) << 1,
			     .rm = (byte & 7) | (rex & 1) << 3 };

	if (o.mod != 3 && (byte & 7) == RSP)
		d->at.bad = true; /* a SIB byte: not a pointer that is followed */
	if (o.mod == 1)
		o.displacement = (int8_t)cursor_u8(&d->at);
	else if (o.mod == 2 || (o.mod == 0 && (byte & 7) == RIP_RELATIVE))
		o.displacement = (s32)cursor_u32(&d->at);
	return o;
}

static bool add_load(struct decoder *d, s32 displacement)
{
	if (d->out->loads == GETTER_LOADS_MAX)
		return false;
	d->out->displacement[d->out->loads++] = displacement;
	return true;
}

/* mov, movzbl or lea with a memory operand. `after`: bytes of the instruction behind it. */
static bool follow(struct decoder *d, const struct operand *o, bool load, u32 after)
{
	if (d->at.bad || o->mod == 3)
		return false;
	if (o->mod == 0 && (o->rm & 7) == RIP_RELATIVE) {
		/* A new beginning. */
		d->out->loads = 0;
		d->out->base = d->address + (u64)(d->at.at - d->first) + after +
			       (u64)(s64)o->displacement;
		d->current = o->reg;
		return !load || add_load(d, 0);
	}
	if (!load || o->rm != d->current)
		return false;
	d->current = o->reg;
	return add_load(d, o->displacement);
}

/* 0f xx: false ends the decoding. */
static bool decode_two_bytes(struct decoder *d, u8 rex)
{
	u8 opcode = cursor_u8(&d->at);
	struct operand o;

	switch (opcode) {
	case 0x1e: /* endbr64 */
	case 0x1f: /* nop */
		read_operand(d, rex);
		return true;
	case 0x84: /* je rel32, jne rel32 */
	case 0x85:
		cursor_u32(&d->at);
		return true;
	case 0xb6: /* movzbl */
		o = read_operand(d, rex);
		return o.mod == 3 || follow(d, &o, true, 0);
	case 0x46: /* cmovbe, cmova between registers */
	case 0x47:
		return read_operand(d, rex).mod == 3;
	default:
		return (opcode & 0xf0) == 0x90 && read_operand(d, rex).mod == 3; /* setcc */
	}
}

/* Groups 80, 81, 83 and c0, c1: arithmetic with a constant. */
static bool decode_constant(struct decoder *d, u8 rex, u8 opcode)
{
	struct operand o = read_operand(d, rex);
	u32 value = opcode == 0x81 ? cursor_u32(&d->at) : cursor_u8(&d->at);

	if (o.mod != 3) /* a variable that is compared with 0 */
		return opcode == 0x83 && (o.reg & 7) == 7 && follow(d, &o, true, 0);
	if ((opcode == 0xc0 || opcode == 0xc1) && (o.reg & 7) == 5) /* shr */
		d->out->shift = d->out->loads && o.rm == d->current ? value : d->out->shift;
	else if ((o.reg & 7) == 7 && !d->out->compared) /* cmp */
		d->out->compared = value;
	return true;
}

enum verdict { GO_ON, RETURNS, JUMPS, FAILS };

static enum verdict decode_one(struct decoder *d, s32 *jump)
{
	u8 rex = 0, opcode = cursor_u8(&d->at);
	struct operand o;

	while (opcode == 0x66 || opcode == 0xf3)
		opcode = cursor_u8(&d->at);
	if ((opcode & REX_MASK) == REX) {
		rex = opcode;
		opcode = cursor_u8(&d->at);
	}
	switch (opcode) {
	case 0x0f:
		return decode_two_bytes(d, rex) ? GO_ON : FAILS;
	case 0x8b:
	case 0x8d:
		o = read_operand(d, rex);
		return follow(d, &o, opcode == 0x8b, 0) ? GO_ON : FAILS;
	case 0xf6: /* test byte with a constant: the load and the bit in one */
		o = read_operand(d, rex);
		if ((o.reg & 7) || (o.mod != 3 && !follow(d, &o, true, 1)))
			return FAILS;
		d->out->shift = (u32)__builtin_ctz(cursor_u8(&d->at) | 0x100);
		return GO_ON;
	case 0x80:
	case 0x81:
	case 0x83:
	case 0xc0:
	case 0xc1:
		return decode_constant(d, rex, opcode) ? GO_ON : FAILS;
	case 0x3d: /* cmp with eax */
		if (!d->out->compared)
			d->out->compared = cursor_u32(&d->at);
		return GO_ON;
	case 0x24: /* and with al */
		cursor_u8(&d->at);
		return GO_ON;
	case 0x31:
	case 0x85:
	case 0x89:
	case 0x84: /* xor, test, mov between registers */
		return read_operand(d, rex).mod == 3 ? GO_ON : FAILS;
	case 0x74:
	case 0x75:
		cursor_u8(&d->at);
		return GO_ON;
	case 0xe8: /* what it returns is the new beginning */
		cursor_u32(&d->at);
		d->out->base = 0;
		d->out->loads = 0;
		d->current = RAX;
		return GO_ON;
	case 0xe9:
		*jump = (s32)cursor_u32(&d->at);
		return JUMPS;
	case 0xeb:
		*jump = (int8_t)cursor_u8(&d->at);
		return JUMPS;
	case 0xc3:
		return RETURNS;
	default: /* push and pop of a frame */
		return opcode >= 0x50 && opcode <= 0x5f ? GO_ON : FAILS;
	}
}

bool getter_read(const struct mem *mem, u64 function, struct getter *out)
{
	u8 bytes[CODE_BYTES];

	*out = (struct getter){ 0 };
	for (u32 jumps = 0; jumps <= JUMPS_MAX; jumps++) {
		if (!mem_read(mem, function, bytes, sizeof bytes))
			return false;
		struct decoder d = { .at = cursor_make(bytes, sizeof bytes),
				     .address = function,
				     .first = bytes,
				     .current = RAX,
				     .out = out };
		enum verdict verdict = GO_ON;
		s32 jump = 0;

		while (verdict == GO_ON && !d.at.bad)
			verdict = decode_one(&d, &jump);
		if (d.at.bad || verdict == FAILS)
			return false;
		if (verdict == RETURNS)
			return true;
		/* rb_id2str() ends in a jump: what it compared is all that is asked of it. */
		if (out->compared)
			return true;
		function += (u64)(d.at.at - bytes) + (u64)(s64)jump;
	}
	return false;
}

bool getter_named(const struct loaded *loaded, const char *name, struct getter *out)
{
	u64 addr;

	*out = (struct getter){ 0 };
	return image_machine(loaded->image) == EM_X86_64 && loaded_symbol(loaded, name, &addr) &&
	       getter_read(loaded->mem, addr, out);
}

bool getter_address(const struct mem *mem, const struct getter *getter, u32 index, u64 *out)
{
	u64 addr = getter->base;

	if (!getter->base || index >= getter->loads)
		return false;
	for (u32 i = 0; i < index; i++)
		if (!mem_u64(mem, addr + (u64)(s64)getter->displacement[i], &addr))
			return false;
	*out = addr + (u64)(s64)getter->displacement[index];
	return true;
}
