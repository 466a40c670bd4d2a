/* SPDX-License-Identifier: Apache-2.0
 * go.c - see go.h.
 *
 * A Go function's return address is at a known distance from its stack pointer, and below it the caller's rbp, when it has a
 * frame at all (Go 1.7 and later).  Registers outlive no call but that one.  Where the runtime goes to another stack (to run on the
 * thread's own, to call C, or Go from C) it keeps rbp, which leads back to the stack that it left. */
#include "unwind/go.h"

#include "elf/go_table.h"
#include "unwind/arch.h"
#include "unwind/rule.h"

#include <elf.h>
#include <string.h>

enum {
	WORD = 8,
	PUSH_MAX = 8,      /* bytes of code in which a frame is made, where one is */
	PROLOGUE_MAX = 10, /* and after which rbp leads to it */
	CALLER_FP = -2,    /* words from the CFA */
};

enum go_kind {
	GO_PLAIN,
	GO_FIRST, /* of a goroutine, or of what a thread does for the runtime: its caller is another thing */
	GO_SWITCH,   /* goes to another stack */
	GO_FROM_C,   /* saves what C wants kept */
	GO_SIGNAL,   /* what a signal's handler returns to */
	GO_INJECTED, /* a call of it was put between two instructions, by a signal's handler */
};

/* Those that are not told by a flag. In symbols they end with .abi0, in the table not. */
static const struct {
	const char *name;
	enum go_kind kind;
} known[] = {
	{ "runtime.goexit", GO_FIRST },
	{ "runtime.mstart", GO_FIRST },
	{ "runtime.rt0_go", GO_FIRST },
	{ "runtime.mcall", GO_FIRST },
	{ "runtime.morestack", GO_FIRST },
	{ "runtime.gogo", GO_FIRST },
	{ "gogo", GO_FIRST },
	{ "runtime.systemstack", GO_SWITCH },
	{ "runtime.asmcgocall", GO_SWITCH },
	{ "runtime.cgocallback", GO_SWITCH },
	{ "runtime.cgocallback_gofunc", GO_SWITCH },
	{ "runtime.nanotime1", GO_SWITCH },
	{ "runtime.walltime", GO_SWITCH },
	{ "runtime.walltime1", GO_SWITCH },
	{ "crosscall2", GO_FROM_C },
	{ "runtime.asyncPreempt", GO_INJECTED },
	{ "runtime.sigpanic", GO_INJECTED },
	{ "runtime.sigpanic0", GO_INJECTED },
	{ "runtime.debugCallV2", GO_INJECTED },
	{ "runtime.sigreturn", GO_SIGNAL },
	{ "runtime.sigreturn__sigaction", GO_SIGNAL },
};

static enum go_kind kind_of(const struct go_function *function)
{
	for (u32 i = 0; i < COUNT_OF(known); i++)
		if (!strcmp(function->name, known[i].name))
			return known[i].kind;
	return function->writes_sp ? GO_SWITCH : GO_PLAIN;
}

struct spans {
	unwind_span_fn *fn;
	void *arg;
	struct go_function function;
	enum go_kind kind;
	u64 limit;  /* where its rows end */
	u64 framed; /* where its frame has been made; 0: not yet */
	bool enough;
};

static bool put(struct spans *spans, u64 begin, u64 end, const struct unwind_rule *rule)
{
	end = end < spans->limit ? end : spans->limit;
	spans->enough = end > begin && !spans->fn(spans->arg, begin, end, rule);
	return !spans->enough;
}

static struct unwind_rule plain_rule(s32 depth)
{
	struct unwind_rule rule = { .kind = UNWIND_PLUS, .reg = UNWIND_SP, .offset = depth + WORD };

	memset(rule.saved, UNWIND_SAVED_LOST, sizeof rule.saved);
	rule.saved[1] = depth > 0 ? CALLER_FP : UNWIND_SAVED_SAME;
	return rule;
}

/* By rbp, and to wherever that leads. */
static struct unwind_rule switch_rule(void)
{
	struct unwind_rule rule = plain_rule(WORD);

	rule.kind = UNWIND_SWITCH;
	rule.reg = UNWIND_FP;
	rule.offset = 2 * WORD;
	return rule;
}

/* runtime/cgo/abi_amd64.h: six registers, then three arguments; in later versions behind a frame of its own. */
static struct unwind_rule from_c_rule(s32 depth)
{
	enum { ARGUMENTS = 24, SAVED_BYTES = 72 };
	static const s8 places[] = { 0, 5, 1, 2, 3, 4 }; /* rbx, rbp, r12 to r15 */
	struct unwind_rule rule = plain_rule(depth);

	if (depth < SAVED_BYTES)
		return rule;
	for (u32 i = 0; i < UNWIND_SAVED; i++)
		rule.saved[i] = (s8)(places[i] + (ARGUMENTS - depth - WORD) / WORD);
	if (depth > SAVED_BYTES)
		rule.saved[1] = CALLER_FP;
	return rule;
}

static bool add_switch_row(struct spans *spans, const struct go_row *row)
{
	static const struct unwind_rule none;
	struct unwind_rule by_sp = plain_rule(row->depth), by_fp = switch_rule();

	if (row->depth && !spans->framed)
		spans->framed = row->begin;
	if (!row->depth)
		return put(spans, row->begin, row->end, &by_sp);
	if (spans->framed - spans->function.begin > PUSH_MAX)
		return put(spans, row->begin, row->end,
			   &none); /* rbp is its caller's (before Go 1.21) */
	u64 until = spans->framed + PROLOGUE_MAX;
	u64 middle = until < row->begin ? row->begin : until > row->end ? row->end : until;
	return put(spans, row->begin, middle, &by_sp) && put(spans, middle, row->end, &by_fp);
}

static bool add_row(void *arg, const struct go_row *row)
{
	struct spans *spans = arg;

	if (spans->kind == GO_SWITCH)
		return add_switch_row(spans, row);
	struct unwind_rule rule = spans->kind == GO_FROM_C ? from_c_rule(row->depth) :
							     plain_rule(row->depth);
	if (spans->kind == GO_INJECTED)
		rule.kind = UNWIND_INTERRUPTED;
	return put(spans, row->begin, row->end, &rule);
}

static void add_function(struct spans *spans, const struct go_table *table, u32 index)
{
	static const struct unwind_rule first = { .kind = UNWIND_END };
	static const struct unwind_rule signal = { .kind = UNWIND_SIGNAL };
	const struct go_function *function = &spans->function;

	spans->kind = kind_of(function);
	spans->framed = 0;
	if (spans->kind == GO_FIRST)
		put(spans, function->begin, function->end, &first);
	else if (spans->kind ==
		 GO_SIGNAL) /* what comes back to its first instruction, came from in front of it */
		put(spans, function->begin - 1, function->end, &signal);
	else
		go_table_each_row(table, index, add_row, spans);
}

bool unwind_go_spans(const struct image *image, unwind_span_fn *fn, void *arg, struct err *err)
{
	struct err why = { 0 };
	struct go_table *table = image_machine(image) == EM_X86_64 ? go_table_open(image, &why) :
								     NULL;
	struct spans spans = { .fn = fn, .arg = arg };
	struct go_function next;

	for (u32 i = 0; table && i < go_table_count(table) && !spans.enough; i++) {
		if (!go_table_function(table, i, &spans.function))
			continue;
		bool is_before_signal = go_table_function(table, i + 1, &next) &&
					kind_of(&next) == GO_SIGNAL;
		spans.limit = spans.function.end - is_before_signal;
		add_function(&spans, table, i);
	}
	go_table_close(table);
	if (err && why.code)
		*err = why;
	return !why.code;
}
