/* SPDX-License-Identifier: Apache-2.0
 * ruby_vm.h - a small Ruby written by hand.
 *
 * One ractor, two threads; on the first, a method with a block in a block, through a C function. */
#pragma once
#include "runtimes/ruby/step.h"
#include "runtimes/ruby/versions.h"

#include "unit/memory.h"

enum {
	BASE = 0x100000,
	VM = BASE, /* 2 KiB */
	RACTOR = BASE + 0x800,
	MAIN = BASE + 0x1000, /* threads */
	OTHER = BASE + 0x1400,
	EC = BASE + 0x1800,
	OTHER_EC = BASE + 0x1a00,
	NT = BASE + 0x1c00,
	OBJSPACE = BASE + 0x1d00,
	STACK = BASE + 0x2000,
	STACK_WORDS = 256,
	HEAP = BASE + 0x3000, /* a slot every 0x100 */
	SIZE = 0x8000,
	FRAMES = 5, /* without the dummy */
};

static struct memory memory;
static struct ruby_state ruby;
static u32 stands = WALK_STANDS; /* what is walked */
static u64 heap_top;

static inline u64 make_object(u64 flags)
{
	u64 at = heap_top;

	heap_top += 0x100;
	memory_put_u64(&memory, at, flags);
	return at;
}

static inline u64 make_string(const char *text)
{
	u64 at = make_object(RUBY_T_STRING);

	memory_put_u64(&memory, at + RUBY_STRING_LENGTH, strlen(text));
	memory_put(&memory, at + ruby.at.string_embedded, text, (u32)strlen(text));
	return at;
}

static inline u64 make_imemo(u32 type)
{
	return make_object(RUBY_T_IMEMO | type << RUBY_IMEMO_SHIFT);
}

static inline u64 make_class(const char *name)
{
	u64 at = make_object(RUBY_T_CLASS);

	memory_put_u64(&memory, at + ruby.at.class_path, make_string(name));
	return at;
}

/* Of a method written in Ruby. */
static inline u64 make_entry(u64 klass, u64 id, u64 iseq)
{
	u64 at = make_imemo(RUBY_IMEMO_MENT), def = make_object(0);

	memory_put_u64(&memory, at + RUBY_METHOD_CLASS, klass);
	memory_put_u64(&memory, at + RUBY_METHOD_DEF, def);
	memory_put_u64(&memory, def + RUBY_DEF_TYPE + 8, iseq);
	memory_put_u64(&memory, def + RUBY_DEF_ORIGINAL_ID, id);
	return at;
}

/* An iseq of eight words on line 5; `method`: the iseq of the method around it, 0: itself. */
static inline u64 make_iseq(const char *label, const char *base, u64 method)
{
	u64 at = make_imemo(RUBY_IMEMO_ISEQ), body = make_object(0), code = make_object(0);

	memory_put_u64(&memory, at + RUBY_ISEQ_BODY, body);
	memory_put_u32(&memory, body + RUBY_BODY_TYPE, method ? 2 : RUBY_ISEQ_TYPE_METHOD);
	memory_put_u32(&memory, body + 4, 8);
	memory_put_u64(&memory, body + 8, code);
	memory_put_u64(&memory, body + RUBY_BODY_PATHOBJ, make_string("file.rb"));
	memory_put_u64(&memory, body + RUBY_BODY_PATHOBJ + 8, make_string(base));
	memory_put_u64(&memory, body + RUBY_BODY_PATHOBJ + 16, make_string(label));
	memory_put_u32(&memory, body + ruby.at.body_insns_size, 1);
	memory_put_u64(&memory, body + ruby.at.body_insns, code + 0x80);
	memory_put_u32(&memory, code + 0x80, 5);
	memory_put_u64(&memory, body + ruby.at.body_local_iseq, method ? method : at);
	return at;
}

/* Control frame `number` from the root, its environment at word `word` of the stack. */
static inline u64 put_frame(u32 number, u32 word, u64 iseq, u64 type, u64 me_cref, u64 specval)
{
	u64 at = STACK + STACK_WORDS * 8 - (number + 1ull) * ruby.at.frame_size,
	    ep = STACK + word * 8;
	u64 code = 0;

	if (iseq && (type & RUBY_TYPE_MASK) != RUBY_TYPE_IFUNC) {
		memcpy(&code, memory.bytes + (iseq + RUBY_ISEQ_BODY - BASE), 8);
		memcpy(&code, memory.bytes + (code + 8 - BASE), 8);
		code += 16;
	}
	memory_put_u64(&memory, at, code);
	memory_put_u64(&memory, at + 16, iseq);
	memory_put_u64(&memory, at + 32, ep);
	memory_put_u64(&memory, ep - 16, me_cref);
	memory_put_u64(&memory, ep - 8, specval);
	memory_put_u64(&memory, ep, type);
	memory_put_u64(&memory, EC + 16, at);
	return ep;
}

static inline void put_thread(u64 thread, u64 ec, u64 next)
{
	memory_put_u64(&memory, thread, next);
	memory_put_u64(&memory, thread + ruby.at.thread_vm, VM);
	memory_put_u64(&memory, thread + ruby.at.thread_ractor, RACTOR);
	memory_put_u64(&memory, thread + ruby.at.thread_ec, ec);
	memory_put_u64(&memory, thread + ruby.at.thread_nt, thread == MAIN ? NT : 0);
	memory_put_u64(&memory, ec + ruby.at.ec_thread_ptr, thread);
}

static inline void build(void)
{
	free(memory.bytes);
	memory_init(&memory, BASE, SIZE);
	heap_top = HEAP;
	ruby = (struct ruby_state){ .major = 3, .minor = 4, .patch = 5 };
	assert_int_equal(ruby_versions_find(&ruby), RUBY_MATCH_EXACT);
	ruby.vm = VM;
	ruby.objspace = OBJSPACE;
	ruby.at.gc_count = 0x80;

	memory_put_u64(&memory, VM + ruby.at.vm_ractors, RACTOR + ruby.at.ractor_node);
	memory_put_u64(&memory, RACTOR + ruby.at.ractor_node, VM + ruby.at.vm_ractors);
	memory_put_u64(&memory, RACTOR + ruby.at.ractor_threads, MAIN);
	memory_put_u64(&memory, RACTOR + ruby.at.ractor_owner, MAIN);
	put_thread(MAIN, EC, OTHER);
	put_thread(OTHER, OTHER_EC, RACTOR + ruby.at.ractor_threads);
	memory_put_u32(&memory, NT + ruby.at.nt_tid, 4242);
	memory_put_u32(&memory, OBJSPACE + ruby.at.gc_flags, 0x20 | 1);
	memory_put_u64(&memory, OBJSPACE + ruby.at.gc_count, 9);

	u64 method = make_iseq("bar", "bar", 0), block = make_iseq("block in bar", "bar", method);
	u64 entry = make_entry(make_class("Foo"), 0, method);
	u64 svar = make_imemo(RUBY_IMEMO_SVAR);
	memory_put_u64(&memory, svar + RUBY_SVAR_ME_CREF, entry);
	memory_put_u64(&memory, EC, STACK);
	memory_put_u64(&memory, EC + 8, STACK_WORDS);
	put_frame(0, 4, 0, 0x79990001 | RUBY_FRAME_FINISH | RUBY_ENV_LOCAL, 0, 0);
	u64 ep = put_frame(1, 10, method, 0x11110001 | RUBY_FRAME_FINISH | RUBY_ENV_LOCAL, svar, 0);
	put_frame(2, 20, 0, RUBY_TYPE_CFUNC | RUBY_ENV_LOCAL | 0x80, entry, 0);
	put_frame(3, 30, make_imemo(4), RUBY_TYPE_IFUNC | 0x80, 0, ep | 1);
	ep = put_frame(4, 40, block, 0x22220001 | RUBY_FRAME_FINISH, 0, ep | 1);
	put_frame(5, 50, block, 0x22220001, 0, ep | 1);
}

struct result {
	enum step end;
	u32 count;
	u32 torn;
	struct walk walk;
	struct frame frames[64];
};

/* The iseq that it runs, or the entry that a C function was called through. */
static inline u64 entered(const struct frame *frame)
{
	return frame->flags & FRAME_C ? frame->owner : frame->id;
}

static inline void walk(u64 thread, struct result *out)
{
	memset(out, 0, sizeof *out);
	out->end = ruby_begin(&memory.mem, &ruby, thread, &out->walk);
	out->walk.flags |= stands;
	while (step_goes_on(out->end)) {
		struct frame *frame = &out->frames[out->count];
		assert_true(out->count + out->torn < COUNT_OF(out->frames) - 1);
		out->end = ruby_step(&memory.mem, &ruby, &out->walk, frame);
		out->count += out->end == STEP_MORE;
		out->torn += out->end == STEP_TORN;
	}
}
