/* SPDX-License-Identifier: Apache-2.0
 * callback_ruby.c - what a C extension does that calls back: by name, by block, inside an ensure, without and with the GVL.
 *
 * No headers of Ruby's: these functions are the same in all versions. */
typedef unsigned long VALUE;

extern unsigned long rb_intern(const char *name);
extern VALUE rb_funcallv(VALUE self, unsigned long name, int count, const VALUE *values);
extern VALUE rb_yield(VALUE value);
extern VALUE rb_ensure(VALUE (*body)(VALUE), VALUE arg, VALUE (*after)(VALUE), VALUE after_arg);
extern void *rb_thread_call_without_gvl(void *(*fn)(void *), void *arg, void (*unblock)(void *),
					void *unblock_arg);
extern void *rb_thread_call_with_gvl(void *(*fn)(void *), void *arg);
extern void rb_define_global_function(const char *name, VALUE (*fn)(VALUE), int count);

#define APART __attribute__((noinline))
#define ONE ((VALUE)3) /* as an Integer */

/* Behind each call: no call is the last thing a function does. */
static volatile unsigned long turns;

static VALUE call(VALUE self, const char *name)
{
	return rb_funcallv(self, rb_intern(name), 0, 0);
}

APART static VALUE c_funcall(VALUE self)
{
	VALUE result = call(self, "ruby_b");

	turns++;
	return result;
}

APART static VALUE c_yield(VALUE self)
{
	VALUE result = rb_yield(ONE);

	(void)self;
	turns++;
	return result;
}

APART static VALUE ensured(VALUE self)
{
	VALUE result = call(self, "ruby_d");

	turns++;
	return result;
}

APART static VALUE after(VALUE self)
{
	turns++;
	return self;
}

APART static VALUE c_ensure(VALUE self)
{
	VALUE result = rb_ensure(ensured, self, after, self);

	turns++;
	return result;
}

APART static void *inside(void *self)
{
	call((VALUE)self, "ruby_e");
	turns++;
	return 0;
}

APART static void *outside(void *self)
{
	for (unsigned i = 0; i < 20000; i++)
		turns++;
	rb_thread_call_with_gvl(inside, self);
	turns++;
	return 0;
}

APART static VALUE c_without(VALUE self)
{
	rb_thread_call_without_gvl(outside, (void *)self, 0, 0);
	turns++;
	return ONE;
}

void Init_callback(void);
void Init_callback(void)
{
	rb_define_global_function("c_funcall", c_funcall, 0);
	rb_define_global_function("c_yield", c_yield, 0);
	rb_define_global_function("c_ensure", c_ensure, 0);
	rb_define_global_function("c_without", c_without, 0);
}
