/* SPDX-License-Identifier: Apache-2.0
 * demangle.c - C++ (Itanium) and Rust (legacy and v0) names, by libiberty. */
#include "symbols/symbols.h"

#include <libiberty/demangle.h>
#include <string.h>

char *symbol_demangle(const char *name)
{
	bool is_mangled = name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');

	if (!is_mangled || strnlen(name, SYMBOL_NAME_MAX + 1) > SYMBOL_NAME_MAX)
		return NULL;
	return cplus_demangle(name, DMGL_AUTO);
}
