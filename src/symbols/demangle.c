/* SPDX-License-Identifier: Apache-2.0
 * demangle.c - C++ (Itanium) and Rust (legacy and v0) names, by libiberty.
 *
 * What stands for a part that was there before lets a name double itself every few bytes: 256 of them can become 142 MB. So the
 * name is taken piece by piece, and when it is too long libiberty, which knows no other way to be stopped, is left by a jump. It
 * keeps all that it needs on the stack (for a Rust name with letters beyond ASCII, a few bytes of the heap, which are lost). */
#include "symbols/symbols.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

#include "base/str.h"

enum { PLAIN_MAX = 64 << 10 };

struct plain {
	struct str text;
	jmp_buf give_up;
};

static void add_piece(const char *piece, size_t length, void *arg)
{
	struct plain *plain = arg;

	if (plain->text.bad || plain->text.length + length > PLAIN_MAX)
		longjmp(plain->give_up, 1);
	str_add(&plain->text, piece, length);
}

/* Rust first: its old names look like those of C++. */
static bool demangle(const char *name, struct plain *plain)
{
	if (setjmp(plain->give_up))
		return false;
	if (rust_demangle_callback(name, DMGL_AUTO, add_piece, plain))
		return true;
	str_clear(&plain->text);
	return cplus_demangle_v3_callback(name, DMGL_AUTO, add_piece, plain);
}

char *symbol_demangle(const char *name)
{
	struct plain plain = { 0 };
	bool is_mangled = name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');

	if (!is_mangled || strnlen(name, SYMBOL_NAME_MAX + 1) > SYMBOL_NAME_MAX)
		return NULL;
	if (demangle(name, &plain) && plain.text.length && !plain.text.bad)
		return plain.text.text;
	str_free(&plain.text);
	return NULL;
}
