/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * identity.h - what tells one code object from another that lies where it lay.
 *
 * From 3.12 on each has a version of its own, until these run out and are 0.  Where there is none, what names it is part of what
 * it is: two that agree in all of this have the same name.  Addresses alone do not say it: what dies last is what is
 * made first.
 *
 * BPF-safe text, as step.h. */
#pragma once
#include "base/spread.h"
#include "runtimes/python/thread_list.h"

enum {
	PYTHON_TEXT_PART =
		64, /* of a text, at its beginning and at its end: all of one that is twice as long */
};

/* What stands in front of a string's text: in this order in all versions. */
struct python_text_head {
	u64 length; /* in characters */
	u64 hash;   /* -1: nobody has asked for it */
	u32 state, behind;
};

PYTHON_WALKER bool python_is_interned(u32 string_state)
{
	return string_state & 3;
}

PYTHON_WALKER u64 python_text_at(const struct python_state *state, u64 string,
				 const struct python_text_head *head, u64 *bytes)
{
	const struct python_layout *at = &state->at;
	u32 bits = head->state >> state->string_kind_shift, kind = bits & 7;

	*bytes = head->length;
	if (state->facts & PYTHON_NAMES_ARE_BYTES)
		return string + at->bytes_data;
	*bytes *= kind;
	return string + (bits & 16 ? at->string_ascii : at->string_compact);
}

/* So many bytes of the beginning, and of the end. */
PYTHON_WALKER bool python_text_ends(const struct mem *mem, u64 text, u64 bytes, u32 part,
				    u64 ends[2 * PYTHON_TEXT_PART / 8])
{
	return mem_peek_beside(mem, text, ends, part) &&
	       mem_peek_beside(mem, text + bytes - part, ends + PYTHON_TEXT_PART / 8, part);
}

/* Each size is a number: the verifier wants it so. */
PYTHON_WALKER bool python_text_read(const struct mem *mem, u64 text, u64 bytes,
				    u64 ends[2 * PYTHON_TEXT_PART / 8])
{
	if (bytes >= 64)
		return python_text_ends(mem, text, bytes, 64, ends);
	if (bytes >= 32)
		return python_text_ends(mem, text, bytes, 32, ends);
	if (bytes >= 16)
		return python_text_ends(mem, text, bytes, 16, ends);
	if (bytes >= 8)
		return python_text_ends(mem, text, bytes, 8, ends);
	if (!mem_peek_beside(mem, text, ends, 8))
		return false;
	ends[0] &= (1ull << bytes * 8) - 1;
	return true;
}

/* A string by its text: no hash is asked for of a path, nor of a name that was made at run time, before somebody looks it up. */
PYTHON_WALKER bool python_text_mark(const struct mem *mem, const struct python_state *state,
				    u64 string, u64 *out)
{
	u64 ends[2 * PYTHON_TEXT_PART / 8] = { 0 }, bytes, mark;
	struct python_text_head head;

	if (mem_recall(mem, string, out))
		return true;
	if (!python_address_ok(string) ||
	    !mem_peek_beside(mem, string + state->at.string_length, &head, sizeof head))
		return false;
	u64 text = python_text_at(state, string, &head, &bytes);
	if (!python_text_read(mem, text, bytes, ends))
		return false;
	mark = head.length;
	for (u32 i = 0; i < 2 * PYTHON_TEXT_PART / 8; i++)
		mark = (mark ^ mark >> 29 ^ ends[i]) * SPREAD;
	*out = mark;
	mem_note(mem, string, mark);
	return true;
}

/* A name: an interned string has a hash, and is itself for as long as the dict of all of them is what it was (interned.h). */
PYTHON_WALKER bool python_name_mark(const struct mem *mem, const struct python_state *state,
				    u64 name, u64 *out)
{
	struct python_text_head head;
	u64 addr = name + state->at.string_length;

	/* of what was no such string when this was kept it says nothing now */
	bool is_known = MEM_KEEPS_CONSTANTS && state->interned &&
			mem_constant(mem, addr, &head, sizeof head) &&
			python_is_interned(head.state);
	if (!is_known && !mem_peek(mem, addr, &head, sizeof head))
		return false;
	*out = head.hash;
	return python_is_interned(head.state) || python_text_mark(mem, state, name, out);
}

/* Where code has no version. */
PYTHON_WALKER bool python_fingerprint(const struct mem *mem, const struct python_state *state,
				      u64 code, u64 *out)
{
	const struct python_layout *at = &state->at;
	u64 name, filename, lines, called, path;
	u32 line;

	if (!mem_peek_beside(mem, code + at->code_filename, &filename, 8) ||
	    !mem_peek_beside(mem, code + (at->code_qualname ? at->code_qualname : at->code_name),
			     &name, 8) ||
	    !mem_peek_beside(mem, code + at->code_lines, &lines, 8) ||
	    !mem_peek_beside(mem, code + at->code_first_line, &line, 4) ||
	    !python_address_ok(name) || !python_name_mark(mem, state, name, &called) ||
	    !python_text_mark(mem, state, filename, &path))
		return false;
	*out = (name ^ filename << 20 ^ lines << 40) * SPREAD ^ called ^ line ^ path;
	return true;
}

/* Code objects die and others take their place. */
PYTHON_WALKER bool python_identity(const struct mem *mem, const struct python_state *state,
				   u64 code, u64 *out)
{
	u32 version = 0;

	if (mem_recall(mem, code, out))
		return true;
	if (state->at.code_version) {
		if (!mem_constant(mem, code + state->at.code_version, &version, 4))
			return false;
		*out = version;
	}
	if (!version && !python_fingerprint(mem, state, code, out))
		return false;
	mem_note(mem, code, *out);
	return true;
}
