/* SPDX-License-Identifier: Apache-2.0
 * names.c - labels, as rb_profile_frame_full_label() builds them.
 *
 *	Foo#bar   Foo.bar   block in Foo#bar   <class:Foo>   <main>   Array#map
 *
 * The class is the method entry's defined_class; the method's name replaces the
 * base label behind "block in ".  Code that is in no method, and a method made of a
 * block, has its iseq's own label.  Before 3.3 a class's name is a hidden instance
 * variable, and labels stand without it.
 *
 * Each hop checks the type of what it finds, and the first one is checked again at the end: the
 * process runs on.  Names are bytes: nothing is escaped. */
#include "runtimes/ruby/names.h"

#include "base/table.h"
#include "runtimes/ruby/lines.h"
#include "runtimes/ruby/objects.h"
#include "runtimes/ruby/step.h"
#include "runtimes/ruby/symbols.h"

#include <string.h>

enum {
	SUPERS_MAX = 64, /* singleton and included classes before the real one */
	NESTED_MAX = 4,  /* classes of classes of modules in a made-up name */
};

/* ---- classes ------------------------------------------------------------------------------- */

struct class_words {
	u64 flags, klass;
	u32 type;
};

static bool read_class(const struct mem *mem, u64 klass, struct class_words *out)
{
	return ruby_value_type(mem, klass, &out->type, &out->flags) &&
	       mem_u64(mem, klass + RUBY_BASIC_CLASS, &out->klass);
}

static bool is_singleton(const struct ruby_state *state, const struct class_words *class)
{
	return class->type == RUBY_T_CLASS && (class->flags >> state->at.class_singleton & 1);
}

/* rb_class_real(): past singleton classes and included modules. */
static bool class_real(const struct mem *mem, const struct ruby_state *state, u64 *klass)
{
	struct class_words words;

	for (u32 i = 0; i < SUPERS_MAX; i++) {
		if (!read_class(mem, *klass, &words))
			return false;
		if (words.type == RUBY_T_CLASS && !is_singleton(state, &words))
			return true;
		if (words.type != RUBY_T_CLASS && words.type != RUBY_T_ICLASS)
			return false;
		if (!mem_u64(mem, *klass + state->at.class_super, klass))
			return false;
	}
	return false;
}

static bool read_class_path(const struct mem *mem, const struct ruby_state *state, u64 klass,
			    u32 depth, struct str *out);

/* "#<Foo:0x0000...>", with a class for Foo; what Ruby prints for things without a name. */
static bool made_up_path(const struct mem *mem, const struct ruby_state *state, u64 value,
			 u64 klass, u32 depth, struct str *out)
{
	str_add_text(out, "#<");
	if (!klass)
		str_add_text(out, "Class");
	else if (depth >= NESTED_MAX || !read_class_path(mem, state, klass, depth + 1, out))
		return false;
	str_addf(out, ":0x%016llx>", (unsigned long long)value);
	return true;
}

/* rb_class_path() of a class or module. */
static bool read_class_path(const struct mem *mem, const struct ruby_state *state, u64 klass,
			    u32 depth, struct str *out)
{
	struct class_words words;
	u64 path;

	if (!read_class(mem, klass, &words) ||
	    (words.type != RUBY_T_CLASS && words.type != RUBY_T_MODULE) ||
	    !mem_u64(mem, klass + state->at.class_path, &path))
		return false;
	if (path)
		return ruby_read_string(mem, state, path, out);
	if (words.type == RUBY_T_CLASS)
		return made_up_path(mem, state, klass, 0, depth, out);
	/* A module is a Module even when it has a singleton class; a refinement is not. */
	return class_real(mem, state, &words.klass) &&
	       made_up_path(mem, state, klass, words.klass, depth, out);
}

/* rb_profile_frame_classpath(), and the separator behind it. */
static bool read_method_class(const struct mem *mem, const struct ruby_state *state, u64 klass,
			      struct str *out)
{
	struct class_words words, attached;
	u64 object;

	if (!read_class(mem, klass, &words))
		return false;
	if (words.type == RUBY_T_ICLASS) {
		if (!read_class_path(mem, state, words.klass, 0, out))
			return false;
		str_add_text(out, "#");
		return true;
	}
	if (!is_singleton(state, &words)) {
		if (!read_class_path(mem, state, klass, 0, out))
			return false;
		str_add_text(out, "#");
		return true;
	}
	if (!mem_u64(mem, klass + state->at.class_attached, &object) ||
	    !read_class(mem, object, &attached))
		return false;
	if (attached.type == RUBY_T_CLASS || attached.type == RUBY_T_MODULE) {
		if (!read_class_path(mem, state, object, 0, out))
			return false;
	} else if (!class_real(mem, state, &attached.klass) ||
		   !made_up_path(mem, state, object, attached.klass, 0, out)) {
		return false;
	}
	str_add_text(out, ".");
	return true;
}

/* ---- method entries ------------------------------------------------------------------------ */

struct method_entry {
	u64 flags, defined_class, def, called_id, owner;
};

static bool read_method_entry(const struct mem *mem, u64 entry, struct method_entry *out)
{
	return ruby_is_imemo(mem, entry, RUBY_IMEMO_MENT) &&
	       mem_read(mem, entry, out, sizeof *out) && ruby_address_ok(out->def);
}

/* "Foo#" in front of what is in a method; nothing when the class has no name we can read. */
static void add_qualifier(const struct mem *mem, const struct ruby_state *state, u64 klass,
			  struct str *out)
{
	struct str text = { 0 };

	if ((state->facts & RUBY_HAS_CLASS_PATHS) && klass &&
	    read_method_class(mem, state, klass, &text))
		str_add(out, text.text, text.length);
	out->bad |= text.bad;
	str_free(&text);
}

/* Does the entry lead to what was called?  That has a name of its own, whoever it was called as, and where that is gone: owner is 0. */
static bool read_owner(const struct mem *mem, const struct frame *frame, struct method_entry *out)
{
	*out = (struct method_entry){ 0 };
	return !frame->owner ||
	       (read_method_entry(mem, frame->owner, out) && out->def == frame->id);
}

static bool name_c_function(const struct mem *mem, const struct ruby_state *state,
			    const struct frame *frame, struct frame_name *out)
{
	struct method_entry owner, again;
	struct str name = { 0 };
	u64 id, id_again;

	bool ok = read_owner(mem, frame, &owner) &&
		  mem_u64(mem, frame->id + RUBY_DEF_ORIGINAL_ID, &id) &&
		  ruby_read_id(mem, state, id, &name) && !name.bad;
	if (ok) {
		add_qualifier(mem, state, owner.defined_class, &out->label);
		str_add(&out->label, name.text, name.length);
		out->flags |= FRAME_C;
		out->code = table_hash(name.text, name.length);
		ok = read_owner(mem, frame, &again) &&
		     mem_u64(mem, frame->id + RUBY_DEF_ORIGINAL_ID, &id_again) && id_again == id;
	}
	str_free(&name);
	return ok && !out->label.bad;
}

/* ---- iseqs --------------------------------------------------------------------------------- */

/* A String, or an Array of path and real path. */
static bool read_path(const struct mem *mem, const struct ruby_state *state, u64 pathobj,
		      struct str *out)
{
	u64 path;

	if (ruby_read_string(mem, state, pathobj, out))
		return true;
	return ruby_read_element(mem, pathobj, 0, &path) && ruby_read_string(mem, state, path, out);
}

/* rb_iseq_method_name(): the base label of the method around the code, if that is a method. */
static bool read_method_name(const struct mem *mem, const struct ruby_state *state, u64 body_addr,
			     struct str *out)
{
	struct ruby_body local;
	u64 local_iseq, local_addr, name;

	return mem_u64(mem, body_addr + state->at.body_local_iseq, &local_iseq) &&
	       ruby_read_body(mem, local_iseq, &local_addr, &local) &&
	       local.type == RUBY_ISEQ_TYPE_METHOD &&
	       mem_u64(mem, local_addr + RUBY_BODY_PATHOBJ + 8, &name) &&
	       ruby_read_string(mem, state, name, out);
}

static bool ends_with(const struct str *text, const struct str *end)
{
	return end->length <= text->length &&
	       !memcmp(text->text + text->length - end->length, end->text, end->length);
}

/* label: the iseq's own, "block in bar"; base: "bar".  With a class, what stands in front of the
 * base stays, and the rest becomes "Foo#bar".  `owner`: NULL, there is none. */
static void qualify(const struct mem *mem, const struct ruby_state *state,
		    const struct method_entry *owner, u64 body_addr, const struct str *label,
		    const struct str *base, struct str *out)
{
	struct str name = { 0 };

	if (owner && ends_with(label, base) && read_method_name(mem, state, body_addr, &name)) {
		str_add(out, label->text, label->length - base->length);
		add_qualifier(mem, state, owner->defined_class, out);
		str_add(out, name.text, name.length);
	} else {
		str_add(out, label->text, label->length);
	}
	out->bad |= name.bad;
	str_free(&name);
}

/* Label and base label.  Code given to eval is called like what is around it; since 3.4 (Prism) its
 * own label is "<compiled>", and Ruby asks the parent, as we do. */
static bool read_labels(const struct mem *mem, const struct ruby_state *state, u64 body_addr,
			struct ruby_body body, struct str *label, struct str *base)
{
	static const char compiled[] = "<compiled>";
	u64 text[2], parent;

	for (u32 i = 0; i <= RUBY_LEVELS_MAX; i++) {
		str_clear(label);
		str_clear(base);
		if (!mem_read(mem, body_addr + RUBY_BODY_PATHOBJ + 8, text, sizeof text) ||
		    !ruby_read_string(mem, state, text[0], base) ||
		    !ruby_read_string(mem, state, text[1], label))
			return false;
		if (body.type != RUBY_ISEQ_TYPE_EVAL || label->length != sizeof compiled - 1 ||
		    memcmp(label->text, compiled, label->length))
			return true;
		if (!mem_u64(mem, body_addr + state->at.body_local_iseq - 8, &parent) ||
		    !ruby_read_body(mem, parent, &body_addr, &body))
			return true;
	}
	return true;
}

/* A caller's pc stands in its code. A leaf's moves while it is read, and JIT code leaves it as it was. */
static bool has_run(const struct ruby_body *body, const struct frame *frame)
{
	return !frame->pos || (frame->flags & FRAME_LEAF) ||
	       frame->pos - (u32)body->encoded <= (u64)body->size * 8;
}

/* Is the entry of the method that the code is in or is? */
static bool is_entry_of(const struct mem *mem, const struct ruby_state *state,
			const struct method_entry *entry, u64 body_addr)
{
	u64 method[2], local_iseq;

	return mem_read(mem, entry->def + RUBY_DEF_TYPE, method, sizeof method) &&
	       mem_u64(mem, body_addr + state->at.body_local_iseq, &local_iseq) &&
	       ((method[0] & RUBY_DEF_TYPE_MASK) || method[1] == local_iseq);
}

static bool name_iseq(const struct mem *mem, const struct ruby_state *state,
		      const struct frame *frame, struct frame_name *out)
{
	struct str label = { 0 }, base = { 0 };
	struct method_entry entry;
	struct ruby_body body;
	u64 body_addr, body_again, pathobj;

	/* code and entry are freed and replaced one by one: they must belong to the frame, and together */
	if (!ruby_read_body(mem, frame->id, &body_addr, &body) || !has_run(&body, frame) ||
	    (frame->owner && !(read_method_entry(mem, frame->owner, &entry) &&
			       is_entry_of(mem, state, &entry, body_addr))) ||
	    !mem_u64(mem, body_addr + RUBY_BODY_PATHOBJ, &pathobj))
		return false;
	bool ok = read_labels(mem, state, body_addr, body, &label, &base) &&
		  read_path(mem, state, pathobj, &out->path);
	if (ok) {
		qualify(mem, state, frame->owner ? &entry : NULL, body_addr, &label, &base,
			&out->label);
		out->code = table_hash(label.text, label.length);
		out->first_line = ruby_first_line(mem, state, body_addr);
		out->line = ruby_read_line(mem, state, body_addr, &body, frame->pos);
		ok = ruby_read_body(mem, frame->id, &body_again, &body) && body_again == body_addr;
	}
	ok = ok && !label.bad && !base.bad && !out->label.bad && !out->path.bad;
	str_free(&label);
	str_free(&base);
	return ok;
}

static bool name_thread(const struct mem *mem, const struct ruby_state *state,
			const struct frame *frame, struct frame_name *out)
{
	struct ruby_thread_words words;
	u64 name;

	if (!ruby_read_thread(mem, state, frame->id, &words) || !state->at.thread_name ||
	    !mem_u64(mem, frame->id + state->at.thread_name, &name))
		return false;
	/* nil, Qfalse and NULL are no addresses: no name. */
	return !ruby_address_ok(name) || ruby_read_string(mem, state, name, &out->label);
}

bool ruby_name_frame(const struct mem *mem, const void *state_, const struct frame *frame,
		     struct frame_name *out)
{
	const struct ruby_state *state = state_;

	if (frame->pos == FRAME_POS_THREAD)
		return name_thread(mem, state, frame, out);
	if (frame->flags & FRAME_C)
		return name_c_function(mem, state, frame, out);
	return name_iseq(mem, state, frame, out);
}
