/* SPDX-License-Identifier: Apache-2.0
 * outermost.c - see outermost.h.
 *
 * A greenlet (greenlet 2.0 and later, and what is built on it: gevent, SQLAlchemy's asyncio) has the slice of a thread's stack that is inside of
 * its first function. When it is switched to, that is copied back; what lies outside stays as whoever had it last has left it.  Who once
 * started the greenlet is not there any more. Earlier greenlets have that function, too, and no symbol of it.
 *
 * A context of makecontext() returns to the first instruction of a piece of glibc (sysdeps/unix/sysv/linux/x86_64/__start_context.S) that nobody
 * calls, and whose rows lead on to whatever lies behind the stack that was given. No symbol of a stripped libc is at it, but makecontext() has
 * its address. */
#include "unwind/outermost.h"

#include "elf/image.h"
#include "unwind/instruction.h"
#include "unwind/rule.h"

#include <elf.h>
#include <string.h>

/* How their names begin, as they are linked: what follows are the parameters, and a part that was moved elsewhere (.cold). */
static const char *const names[] = {
	"_ZN8greenlet12UserGreenlet15inner_bootstrapE",
};

static bool is_outermost(const struct image_symbol *symbol)
{
	for (u32 i = 0; i < COUNT_OF(names); i++)
		if (strncmp(symbol->name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

enum {
	MAKER_MAX = 1024, /* bytes of makecontext() */
	START_MAX = 64,   /* and of what it has the address of */
	HLT = 0xf4,       /* its last instruction */
};

/* mov %rbx, %rsp: its first instruction, behind a mark. */
static const u8 unstacks[] = { 0x48, 0x89, 0xdc };

/* Where it ends; 0: it is something else. */
static u64 start_of_context_end(const struct image *image, u64 begin)
{
	u8 code[START_MAX];
	struct instruction instruction;

	if (!image_bytes(image, begin, code, sizeof code))
		return 0;
	u32 at = instruction_is_mark(code) ? INSTRUCTION_MARK_BYTES : 0;
	if (memcmp(code + at, unstacks, sizeof unstacks) != 0)
		return 0;
	for (; instruction_read(code + at, sizeof code - at, begin + at, &instruction);
	     at += instruction.length)
		if (code[at] == HLT)
			return begin + at + 1;
	return 0;
}

/* The byte in front is the one that is looked up for a way back that leads to its first instruction. */
static bool add_start_of_context(const struct image *image, const struct image_symbol *maker,
				 const struct unwind_rule *end, unwind_span_fn *fn, void *arg)
{
	struct instruction instruction;
	u8 code[MAKER_MAX];

	if (maker->size > sizeof code || !image_bytes(image, maker->value, code, (u32)maker->size))
		return true;
	for (u64 at = 0;
	     instruction_read(code + at, maker->size - at, maker->value + at, &instruction);
	     at += instruction.length) {
		u64 begin = instruction.kind == INSTRUCTION_ADDRESS ? instruction.target : 0;
		u64 behind = begin ? start_of_context_end(image, begin) : 0;
		if (behind)
			return fn(arg, begin - 1, behind, end);
	}
	return true;
}

void unwind_outermost_spans(const struct image *image, unwind_span_fn *fn, void *arg)
{
	static const struct unwind_rule end = { .kind = UNWIND_END };
	struct image_symbol symbol;

	for (u32 i = 0; image_symbol(image, i, &symbol); i++) {
		if (!symbol.section || symbol.type != STT_FUNC || !symbol.size)
			continue;
		if (is_outermost(&symbol) &&
		    !fn(arg, symbol.value, symbol.value + symbol.size, &end))
			return;
		if (strcmp(symbol.name, "makecontext") == 0 &&
		    !add_start_of_context(image, &symbol, &end, fn, arg))
			return;
	}
}
