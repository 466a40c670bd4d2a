/* SPDX-License-Identifier: Apache-2.0
 * cfi.c - see cfi.h.
 *
 *	.eh_frame   length | 0 | CIE: version, augmentation, alignments, return register, instructions
 *	            length | distance back to its CIE | FDE: first pc, length, instructions
 *	            ...
 *	            0
 *
 * A CIE is what many functions share: how pcs are encoded, and the row that each begins with.  An FDE is
 * one function.  In .debug_frame the CIE's mark is ~0, and an FDE names it by its offset. */
#include "elf/cfi.h"

#include "base/cleanup.h"
#include "base/cursor.h"
#include "elf/image_parts.h"

#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
	/* Most bytes of a section: a browser's .eh_frame has some 30 MB. */
	SECTION_BYTES_MAX = 256 << 20,
	/* CIEs are read again where functions name them in turn: at the most so often all of the section's bytes. */
	CIE_TURNS = 16,
	/* Rows that DW_CFA_remember_state keeps; compilers nest one or two. */
	REMEMBERED_MAX = 8,
};

/* DWARF exception header encodings (LSB 10.5): a format, what it is relative to, and a flag. */
enum {
	PE_ABSOLUTE = 0x00,
	PE_ULEB = 0x01,
	PE_U16 = 0x02,
	PE_U32 = 0x03,
	PE_U64 = 0x04,
	PE_SLEB = 0x09,
	PE_S16 = 0x0a,
	PE_S32 = 0x0b,
	PE_S64 = 0x0c,
	PE_FORMAT = 0x0f,
	PE_PC_RELATIVE = 0x10,
	PE_DATA_RELATIVE = 0x30,
	PE_RELATION = 0x70,
	PE_INDIRECT = 0x80,
};

/* Call frame instructions (DWARF 5, 7.24). The first three hold an operand in their low six bits. */
enum {
	OP_ADVANCE = 0x40,
	OP_OFFSET = 0x80,
	OP_RESTORE = 0xc0,
	OP_OPERAND = 0x3f,
	OP_NOP = 0x00,
	OP_SET_LOC = 0x01,
	OP_ADVANCE1 = 0x02,
	OP_ADVANCE2 = 0x03,
	OP_ADVANCE4 = 0x04,
	OP_OFFSET_EXTENDED = 0x05,
	OP_RESTORE_EXTENDED = 0x06,
	OP_UNDEFINED = 0x07,
	OP_SAME_VALUE = 0x08,
	OP_REGISTER = 0x09,
	OP_REMEMBER = 0x0a,
	OP_RECALL = 0x0b,
	OP_DEF_CFA = 0x0c,
	OP_DEF_CFA_REGISTER = 0x0d,
	OP_DEF_CFA_OFFSET = 0x0e,
	OP_DEF_CFA_EXPRESSION = 0x0f,
	OP_EXPRESSION = 0x10,
	OP_OFFSET_EXTENDED_SF = 0x11,
	OP_DEF_CFA_SF = 0x12,
	OP_DEF_CFA_OFFSET_SF = 0x13,
	OP_VAL_OFFSET = 0x14,
	OP_VAL_OFFSET_SF = 0x15,
	OP_VAL_EXPRESSION = 0x16,
	OP_AARCH64_NEGATE_RA_STATE = 0x2d,
	OP_GNU_ARGS_SIZE = 0x2e,
	OP_GNU_NEGATIVE_OFFSET = 0x2f,
};

struct cie {
	u64 offset; /* in the section */
	bool good;
	u64 code_align;
	s64 data_align;
	u8 encoding; /* of its functions' pcs */
	bool has_augmentation;
	struct cfi_row row; /* with which each function begins */
};

struct reading {
	const u8 *bytes;
	u64 size, address;
	enum cfi_source source;
	struct cie cie; /* the last one */
	u64 cie_bytes;  /* read so far */
	struct cfi_row remembered[REMEMBERED_MAX];
	cfi_row_fn *fn;
	void *arg;
	struct cfi_summary *summary;
	bool enough;
};

/* ---- numbers ------------------------------------------------------------------------------- */

static u64 format_value(struct cursor *c, u8 encoding)
{
	switch (encoding & PE_FORMAT) {
	case PE_ABSOLUTE:
	case PE_U64:
	case PE_S64:
		return cursor_u64(c);
	case PE_ULEB:
		return cursor_uleb(c);
	case PE_SLEB:
		return (u64)cursor_sleb(c);
	case PE_U16:
		return cursor_u16(c);
	case PE_S16:
		return (u64)(s64)(s16)cursor_u16(c);
	case PE_U32:
		return cursor_u32(c);
	case PE_S32:
		return (u64)(s64)(s32)cursor_u32(c);
	default:
		c->bad = true;
		return 0;
	}
}

/* A pc. `data` is what PE_DATA_RELATIVE is relative to. */
static u64 pointer_value(struct cursor *c, u8 encoding, const u8 *bytes, u64 address, u64 data)
{
	u64 here = address + (u64)(c->at - bytes);
	u64 value = format_value(c, encoding);

	switch (encoding & (PE_RELATION | PE_INDIRECT)) {
	case PE_ABSOLUTE:
		return value;
	case PE_PC_RELATIVE:
		return value + here;
	case PE_DATA_RELATIVE:
		return value + data;
	default:
		c->bad = true;
		return 0;
	}
}

/* ---- the bytecode -------------------------------------------------------------------------- */

/* One run of instructions: a CIE's, which make the first row, or a function's. */
struct machine {
	struct reading *reading;
	const struct cie *cie;
	struct cursor c;
	struct cfi_row *row;
	u32 remembered;
	struct cfi_rule ignored; /* of registers that are not kept */
};

static struct cfi_rule *rule_of(struct machine *m, u64 reg)
{
	return reg < CFI_REGISTERS ? &m->row->registers[reg] : &m->ignored;
}

static void set_rule(struct machine *m, u64 reg, enum cfi_how how, s64 offset)
{
	*rule_of(m, reg) = (struct cfi_rule){ .how = (u8)how, .offset = offset };
}

static struct cfi_rule expression(struct machine *m, enum cfi_how how)
{
	u64 length = cursor_uleb(&m->c);
	const u8 *bytes = length <= UINT16_MAX ? cursor_take(&m->c, length) : NULL;

	m->c.bad |= !bytes;
	return (struct cfi_rule){ .how = (u8)how, .length = (u16)length, .expression = bytes };
}

/* Sign and scale of an offset: wraps as the bytecode's own arithmetic does. */
static s64 scaled(const struct machine *m, u64 factor)
{
	return (s64)(factor * (u64)m->cie->data_align);
}

static void restore(struct machine *m, u64 reg)
{
	if (reg < CFI_REGISTERS)
		*rule_of(m, reg) = m->cie->row.registers[reg];
}

static void remember(struct machine *m)
{
	if (m->remembered == REMEMBERED_MAX)
		m->c.bad = true;
	else
		m->reading->remembered[m->remembered++] = *m->row;
}

static void recall(struct machine *m)
{
	if (!m->remembered) {
		m->c.bad = true;
		return;
	}
	u64 begin = m->row->begin, end = m->row->end;
	*m->row = m->reading->remembered[--m->remembered];
	m->row->begin = begin;
	m->row->end = end;
}

static void define_cfa(struct machine *m, u64 reg, s64 offset)
{
	m->c.bad |= reg >= CFI_REGISTERS;
	m->row->cfa =
		(struct cfi_rule){ .how = CFI_REGISTER_PLUS, .reg = (u8)reg, .offset = offset };
}

/* Where the CFA is an expression these make no sense. */
static void move_cfa(struct machine *m, u64 reg, s64 offset)
{
	m->c.bad |= m->row->cfa.how != CFI_REGISTER_PLUS;
	if (!m->c.bad)
		define_cfa(m, reg, offset);
}

static bool cfa_instruction(struct machine *m, u8 op)
{
	struct cursor *c = &m->c;
	const struct cfi_rule *cfa = &m->row->cfa;
	u64 reg;

	switch (op) {
	case OP_DEF_CFA:
		reg = cursor_uleb(c);
		define_cfa(m, reg, (s64)cursor_uleb(c));
		return true;
	case OP_DEF_CFA_SF:
		reg = cursor_uleb(c);
		define_cfa(m, reg, scaled(m, (u64)cursor_sleb(c)));
		return true;
	case OP_DEF_CFA_REGISTER:
		move_cfa(m, cursor_uleb(c), cfa->offset);
		return true;
	case OP_DEF_CFA_OFFSET:
		move_cfa(m, cfa->reg, (s64)cursor_uleb(c));
		return true;
	case OP_DEF_CFA_OFFSET_SF:
		move_cfa(m, cfa->reg, scaled(m, (u64)cursor_sleb(c)));
		return true;
	case OP_DEF_CFA_EXPRESSION:
		m->row->cfa = expression(m, CFI_IS_EXPRESSION);
		return true;
	default:
		return false;
	}
}

static bool register_instruction(struct machine *m, u8 op)
{
	struct cursor *c = &m->c;
	u64 reg = cursor_uleb(c);

	switch (op) {
	case OP_OFFSET_EXTENDED:
		set_rule(m, reg, CFI_AT_CFA, scaled(m, cursor_uleb(c)));
		return true;
	case OP_OFFSET_EXTENDED_SF:
		set_rule(m, reg, CFI_AT_CFA, scaled(m, (u64)cursor_sleb(c)));
		return true;
	case OP_GNU_NEGATIVE_OFFSET:
		set_rule(m, reg, CFI_AT_CFA, -scaled(m, cursor_uleb(c)));
		return true;
	case OP_VAL_OFFSET:
		set_rule(m, reg, CFI_CFA_PLUS, scaled(m, cursor_uleb(c)));
		return true;
	case OP_VAL_OFFSET_SF:
		set_rule(m, reg, CFI_CFA_PLUS, scaled(m, (u64)cursor_sleb(c)));
		return true;
	case OP_RESTORE_EXTENDED:
		restore(m, reg);
		return true;
	case OP_UNDEFINED:
		set_rule(m, reg, CFI_UNDEFINED, 0);
		return true;
	case OP_SAME_VALUE:
		set_rule(m, reg, CFI_SAME, 0);
		return true;
	case OP_REGISTER: {
		u64 other = cursor_uleb(c);
		c->bad |= other >= CFI_REGISTERS;
		*rule_of(m, reg) = (struct cfi_rule){ .how = CFI_REGISTER_PLUS, .reg = (u8)other };
		return true;
	}
	case OP_EXPRESSION:
		*rule_of(m, reg) = expression(m, CFI_AT_EXPRESSION);
		return true;
	case OP_VAL_EXPRESSION:
		*rule_of(m, reg) = expression(m, CFI_IS_EXPRESSION);
		return true;
	default:
		return false;
	}
}

/* Where the next row begins, if the instruction says that; else false. */
static bool place_instruction(struct machine *m, u8 op, u64 *next)
{
	struct cursor *c = &m->c;
	const struct reading *reading = m->reading;
	u64 delta;

	switch (op) {
	case OP_SET_LOC:
		*next = pointer_value(c, m->cie->encoding, reading->bytes, reading->address, 0);
		return true;
	case OP_ADVANCE1:
		delta = cursor_u8(c);
		break;
	case OP_ADVANCE2:
		delta = cursor_u16(c);
		break;
	case OP_ADVANCE4:
		delta = cursor_u32(c);
		break;
	default:
		if ((op & ~OP_OPERAND) != OP_ADVANCE)
			return false;
		delta = op & OP_OPERAND;
	}
	*next = m->row->begin + delta * m->cie->code_align;
	return true;
}

static void other_instruction(struct machine *m, u8 op)
{
	switch (op) {
	case OP_NOP:
	case OP_AARCH64_NEGATE_RA_STATE: /* signed or not, the address is masked by who reads it */
		return;
	case OP_REMEMBER:
		remember(m);
		return;
	case OP_RECALL:
		recall(m);
		return;
	case OP_GNU_ARGS_SIZE:
		cursor_uleb(&m->c);
		return;
	default:
		if ((op & ~OP_OPERAND) == OP_OFFSET)
			set_rule(m, op & OP_OPERAND, CFI_AT_CFA, scaled(m, cursor_uleb(&m->c)));
		else if ((op & ~OP_OPERAND) == OP_RESTORE)
			restore(m, op & OP_OPERAND);
		else if (!cfa_instruction(m, op) && !register_instruction(m, op))
			m->c.bad = true;
	}
}

/* The row so far ends at `next`. False: no more of this function are wanted. */
static bool hand_out(struct reading *reading, struct cfi_row *row, u64 next)
{
	enum cfi_wish wish = CFI_MORE;
	u64 end = row->end;

	if (next > row->begin) {
		row->end = next;
		wish = reading->fn(reading->arg, row);
		reading->enough = wish == CFI_ENOUGH;
		row->end = end;
	}
	row->begin = next;
	return wish == CFI_MORE;
}

/* Row by row to the function's end. */
static bool run_function(struct reading *reading, const struct cie *cie, struct cursor instructions,
			 u64 begin, u64 end)
{
	struct cfi_row row = cie->row;
	struct machine m = { .reading = reading, .cie = cie, .c = instructions, .row = &row };
	u64 next;

	row.begin = row.function_begin = begin;
	row.end = row.function_end = end;
	while (cursor_left(&m.c)) {
		u8 op = cursor_u8(&m.c);
		if (!place_instruction(&m, op, &next)) {
			other_instruction(&m, op);
			continue;
		}
		if (m.c.bad || next < row.begin || next > end)
			return false;
		if (!hand_out(reading, &row, next))
			return true;
	}
	if (m.c.bad)
		return false;
	hand_out(reading, &row, end);
	return true;
}

/* ---- entries ------------------------------------------------------------------------------- */

/* The letters behind 'z' say what is in the data (LSB 10.6.1.1.1). */
static void read_augmentation(struct cursor *c, const char *letters, struct cie *cie)
{
	u64 length = cursor_uleb(c);
	const u8 *bytes = cursor_take(c, length);

	if (!bytes)
		return;
	struct cursor data = cursor_make(bytes, length);
	for (; *letters && !data.bad; letters++) {
		switch (*letters) {
		case 'R':
			cie->encoding = cursor_u8(&data);
			break;
		case 'S':
			cie->row.is_signal = true;
			break;
		case 'L':
			cursor_u8(&data);
			break;
		case 'P':
			format_value(&data, cursor_u8(&data));
			break;
		default:
			return; /* its length is known, what it means is not needed */
		}
	}
	c->bad |= data.bad;
}

static bool read_cie(struct reading *reading, struct cursor c, u64 offset)
{
	struct cie *cie = &reading->cie;

	*cie = (struct cie){ .offset = offset };
	u8 version = cursor_u8(&c);
	const char *letters = cursor_text(&c);
	if (c.bad || version < 1 || version > 4 || (*letters && *letters != 'z'))
		return false;
	if (version == 4 && (cursor_u8(&c) != 8 || cursor_u8(&c) != 0))
		return false; /* addresses of eight bytes, no segments */
	cie->code_align = cursor_uleb(&c);
	cie->data_align = cursor_sleb(&c);
	u64 return_register = version == 1 ? cursor_u8(&c) : cursor_uleb(&c);
	cie->has_augmentation = *letters == 'z';
	if (cie->has_augmentation)
		read_augmentation(&c, letters + 1, cie);
	if (c.bad || return_register >= CFI_REGISTERS)
		return false;
	cie->row.cfa.how = CFI_UNDEFINED;
	cie->row.return_register = (u8)return_register;
	struct machine m = { .reading = reading, .cie = cie, .c = c, .row = &cie->row };
	while (cursor_left(&m.c)) {
		u64 next;
		u8 op = cursor_u8(&m.c);
		if (place_instruction(&m, op, &next))
			return false;
		other_instruction(&m, op);
	}
	cie->good = !m.c.bad;
	return cie->good;
}

struct entry {
	u64 offset;      /* in the section, of its length */
	u64 id_offset;   /* and of what follows that */
	u64 id;          /* a CIE's mark, or what leads to it */
	bool is_wide;    /* 64-bit DWARF */
	struct cursor c; /* behind the id */
};

/* The entry at c, which moves behind it; false at the end. */
static bool next_entry(const struct reading *reading, struct cursor *c, struct entry *entry)
{
	entry->offset = (u64)(c->at - reading->bytes);
	u64 length = cursor_u32(c);
	entry->is_wide = length == UINT32_MAX;
	if (entry->is_wide)
		length = cursor_u64(c);
	/* zeros end .eh_frame, and are padding in .debug_frame */
	if (c->bad || !length || length > cursor_left(c))
		return false;
	entry->id_offset = (u64)(c->at - reading->bytes);
	entry->c = cursor_make(cursor_take(c, length), length);
	entry->id = entry->is_wide && reading->source == CFI_DEBUG_FRAME ? cursor_u64(&entry->c) :
									   cursor_u32(&entry->c);
	return true;
}

static bool is_cie(const struct reading *reading, const struct entry *entry)
{
	if (reading->source == CFI_EH_FRAME)
		return entry->id == 0;
	return entry->id == (entry->is_wide ? UINT64_MAX : UINT32_MAX);
}

/* The function's CIE is the last one, mostly; else it is read again. */
static bool find_cie(struct reading *reading, const struct entry *function)
{
	u64 offset = reading->source == CFI_EH_FRAME ? function->id_offset - function->id :
						       function->id;
	struct entry entry;

	if (reading->cie.good && reading->cie.offset == offset)
		return true;
	if (offset >= reading->size)
		return false;
	struct cursor c = cursor_make(reading->bytes + offset, reading->size - offset);
	reading->cie.good = false;
	if (!next_entry(reading, &c, &entry) || !is_cie(reading, &entry))
		return false;
	reading->cie_bytes += cursor_left(&entry.c);
	reading->enough = reading->cie_bytes / CIE_TURNS > reading->size;
	return !reading->enough && read_cie(reading, entry.c, offset);
}

static bool read_function(struct reading *reading, struct entry *entry)
{
	struct cursor *c = &entry->c;
	const struct cie *cie = &reading->cie;

	if (!find_cie(reading, entry))
		return false;
	u64 begin = pointer_value(c, cie->encoding, reading->bytes, reading->address, 0);
	u64 length = format_value(c, cie->encoding);
	if (cie->has_augmentation)
		cursor_take(c, cursor_uleb(c));
	if (c->bad || begin + length < begin)
		return false;
	/* what the linker threw away, it left at 0 */
	return !length || !begin || run_function(reading, cie, *c, begin, begin + length);
}

static void read_entries(struct reading *reading)
{
	struct cursor c = cursor_make(reading->bytes, reading->size);
	struct entry entry;

	while (!reading->enough && next_entry(reading, &c, &entry)) {
		if (is_cie(reading, &entry))
			continue;
		bool good = read_function(reading, &entry);
		reading->summary->functions += good;
		reading->summary->damaged += !good;
	}
}

/* ---- sections ------------------------------------------------------------------------------ */

/* Without section headers: the header that the loader maps for the unwinder leads to .eh_frame, which is as long as
 * its segment at the most, and ends with zeros. */
static bool find_by_header(const struct image *image, struct image_section *out)
{
	struct image_segment segment;
	u8 bytes[16];
	u64 offset;

	for (u32 i = 0; image_segment(image, i, &segment); i++) {
		if (segment.type != PT_GNU_EH_FRAME)
			continue;
		if (!image_pread(image, segment.offset, bytes, sizeof bytes) || bytes[0] != 1)
			return false;
		struct cursor c = cursor_make(bytes + 4, sizeof bytes - 4);
		*out = (struct image_section){ 0 };
		out->address = pointer_value(&c, bytes[1], bytes, segment.address, segment.address);
		if (c.bad || !image_offset_of_address(image, out->address, &offset, &out->size))
			return false;
		out->offset = offset;
		return true;
	}
	return false;
}

static bool find_section(const struct image *image, enum cfi_source source,
			 struct image_section *out)
{
	const char *name = source == CFI_EH_FRAME ? ".eh_frame" : ".debug_frame";

	if (image_section_named(image, name, out))
		return out->type != SHT_NOBITS && !(out->flags & SHF_COMPRESSED);
	return source == CFI_EH_FRAME && find_by_header(image, out);
}

static void *load_section(const struct image *image, const struct image_section *section,
			  struct err *err)
{
	return image_load(image, section->offset, section->size, SECTION_BYTES_MAX, "unwind table",
			  err);
}

bool cfi_digest(const struct image *image, struct cfi_digest *out, struct err *err)
{
	XXH3_state_t state;

	XXH3_128bits_reset(&state);
	for (enum cfi_source source = CFI_EH_FRAME; source <= CFI_DEBUG_FRAME; source++) {
		struct image_section section;
		if (!find_section(image, source, &section) || !section.size)
			continue;
		AUTO_FREE u8 *bytes = load_section(image, &section, err);
		if (!bytes)
			return false;
		u64 place[] = { source, section.address, section.size };
		XXH3_128bits_update(&state, place, sizeof place);
		XXH3_128bits_update(&state, bytes, section.size);
	}
	XXH128_hash_t hash = XXH3_128bits_digest(&state);
	*out = (struct cfi_digest){ { hash.low64, hash.high64 } };
	return true;
}

bool cfi_each_row(const struct image *image, enum cfi_source source, cfi_row_fn *fn, void *arg,
		  struct cfi_summary *summary, struct err *err)
{
	struct image_section section;

	*summary = (struct cfi_summary){ 0 };
	if (!find_section(image, source, &section) || !section.size)
		return true;
	AUTO_FREE u8 *bytes = load_section(image, &section, err);
	AUTO_FREE struct reading *reading = bytes ? malloc(sizeof *reading) : NULL;
	if (!reading)
		return bytes ? err_no_memory(err) : false;
	*reading = (struct reading){ .bytes = bytes,
				     .size = section.size,
				     .address = section.address,
				     .source = source,
				     .fn = fn,
				     .arg = arg,
				     .summary = summary };
	read_entries(reading);
	return true;
}
