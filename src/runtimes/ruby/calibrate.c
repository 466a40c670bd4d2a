/* SPDX-License-Identifier: Apache-2.0
 * calibrate.c - a live process knows its own layout.
 *
 * The frame path is stable inside a minor version; the tails of thread, ractor and
 * vm are not: a patch level moved them four times, other C libraries and build
 * options do.  Each number has a property that only the right one has:
 *
 *	thread.ec, ec.thread_ptr   lead from the main thread back to it
 *	ractor.threads             the one node of the ring of threads that lies in the ractor
 *	ractor.node                the one node of the ring of ractors that does
 *	thread.name                nil, or a String, in every thread
 *	ractor.owner               one of the threads, or NULL
 *	vm.main_thread             the first thread that leads back to the VM
 *	class.super, path          of Class: Module; of Object: "Object"
 *	class.attached             of Object's singleton class: Object
 *
 * The process runs on: a ring can change while it is walked.  What fails is tried
 * again a few times before it is believed. */
#include "runtimes/ruby/calibrate.h"

#include "runtimes/ruby/objects.h"
#include "runtimes/ruby/step.h"
#include "target/loaded.h"
#include "target/pthread_tid.h"
#include "target/target.h"

#include <string.h>

enum {
	TRIES = 8,
	ENOUGH_FRAMES = 16,
	THREADS_MAX = 64, /* so many are proof enough */
	THREAD_BYTES = 640,
	RACTOR_BYTES = 1024,
	RING_MAX = 1 << 14,
	VM_WORDS = 16, /* from the VM's first to behind its main thread */
	CLASS_WORDS = 32,
};

static void found(struct ruby_state *state, enum ruby_field field, u64 value)
{
	u16 *at = ruby_field_at(&state->at, field);

	if (*at == value && state->source[field] == RUBY_FROM_TABLE)
		return;
	*at = (u16)value;
	state->source[field] = value ? RUBY_FROM_MEMORY : RUBY_FROM_NOWHERE;
}

/* ---- vm -> main_thread -> ec -> thread ----------------------------------------------------- */

static bool close_ec(const struct mem *mem, u64 thread, u64 thread_ec, u64 ec_thread_ptr)
{
	struct {
		u64 vm_stack, size, cfp;
	} head;
	u64 ec, back;

	if (!mem_peek(mem, thread + thread_ec, &ec, 8) || !ruby_address_ok(ec) ||
	    !mem_peek(mem, ec + ec_thread_ptr, &back, 8) || back != thread ||
	    !mem_peek(mem, ec + RUBY_EC_VM_STACK, &head, sizeof head))
		return false;
	return ruby_address_ok(head.vm_stack) && ruby_address_ok(head.cfp) &&
	       head.size <= RUBY_STACK_WORDS_MAX && head.cfp > head.vm_stack &&
	       head.cfp <= head.vm_stack + head.size * 8;
}

static bool close_thread(const struct mem *mem, struct ruby_state *state, u64 vm, u64 thread)
{
	const struct ruby_layout *at = &state->at;
	u64 back;

	if (!ruby_address_ok(thread) || !mem_peek(mem, thread + at->thread_vm, &back, 8) ||
	    back != vm)
		return false;
	if (close_ec(mem, thread, at->thread_ec, at->ec_thread_ptr)) {
		state->vm = vm;
		return true;
	}
	/* ec stands among the first words of every rb_thread_t, thread_ptr of every ec. */
	for (u64 ec = 24; ec <= 48; ec += 8)
		for (u64 thread_ptr = 24; thread_ptr <= 96; thread_ptr += 8)
			if (close_ec(mem, thread, ec, thread_ptr)) {
				found(state, RUBY_thread_ec, ec);
				found(state, RUBY_ec_thread_ptr, thread_ptr);
				state->vm = vm;
				return true;
			}
	return false;
}

/* Of a version that the table does not know: main_thread stands behind main_ractor. */
static bool find_main_thread(const struct mem *mem, struct ruby_state *state, u64 vm)
{
	u64 words[VM_WORDS];

	if (!(state->facts & RUBY_HAS_RACTORS) || !mem_peek(mem, vm, words, sizeof words))
		return false;
	for (u32 i = 1; i < VM_WORDS; i++)
		if (close_thread(mem, state, vm, words[i])) {
			found(state, RUBY_vm_main_thread, i * 8);
			found(state, RUBY_vm_main_ractor, (i - 1) * 8);
			return true;
		}
	return false;
}

bool ruby_close_vm(const struct mem *mem, struct ruby_state *state, u64 vm)
{
	u64 thread;

	if (!ruby_address_ok(vm) || !mem_peek(mem, vm + state->at.vm_main_thread, &thread, 8))
		return false;
	return close_thread(mem, state, vm, thread) ||
	       (state->source[RUBY_vm_main_thread] == RUBY_FROM_NEIGHBOUR &&
		find_main_thread(mem, state, vm));
}

bool ruby_main_has_frames(const struct mem *mem, const struct ruby_state *state)
{
	struct walk walk;
	u64 thread;

	return mem_peek(mem, state->vm + state->at.vm_main_thread, &thread, 8) &&
	       ruby_begin(mem, state, thread, &walk) == STEP_MORE && walk.cursor < walk.limit;
}

/* ---- lists --------------------------------------------------------------------------------- */

/* Follows a ring of list nodes from `start`; the node inside [low, low + bytes), 0: none. */
static u64 ring_node_inside(const struct mem *mem, u64 start, u64 low, u64 bytes)
{
	u64 node = start;

	for (u32 i = 0; i < RING_MAX; i++) {
		if (!ruby_address_ok(node) || !mem_peek(mem, node, &node, 8))
			return 0;
		if (node - low < bytes)
			return node;
		if (node == start)
			return 0;
	}
	return 0;
}

struct thread_list {
	u32 count;
	struct vm_thread at[THREADS_MAX];
};

/* The first threads, the main one among them. */
static bool list_threads(const struct mem *mem, const struct ruby_state *state, u64 main_thread,
			 struct thread_list *list)
{
	u64 where = 0;
	bool has_main = false;
	enum step step = STEP_MORE;

	list->count = 0;
	while (list->count < THREADS_MAX) {
		struct vm_thread *thread = &list->at[list->count];
		step = ruby_next_thread(mem, state, &where, thread);
		if (step != STEP_MORE)
			break;
		has_main |= thread->thread == main_thread;
		list->count++;
	}
	return step != STEP_FAULT && (has_main || list->count == THREADS_MAX);
}

static bool find_lists(const struct mem *mem, struct ruby_state *state, u64 main_thread,
		       struct thread_list *list)
{
	const struct ruby_layout *at = &state->at;
	u64 ractor, node;

	if (list_threads(mem, state, main_thread, list))
		return true;
	if (!(state->facts & RUBY_HAS_RACTORS)) {
		/* The head is the node of the ring that lies in the VM. */
		node = ring_node_inside(mem, main_thread, state->vm, RACTOR_BYTES);
		if (node)
			found(state, RUBY_vm_threads, node - state->vm);
		return node && list_threads(mem, state, main_thread, list);
	}
	if (!mem_peek(mem, main_thread + at->thread_ractor, &ractor, 8) || !ruby_address_ok(ractor))
		return false;
	node = ring_node_inside(mem, main_thread, ractor, RACTOR_BYTES);
	if (!node)
		return false;
	/* The lock moves with the list before it. */
	u64 moved = node - ractor - at->ractor_threads;
	if (at->ractor_owner)
		found(state, RUBY_ractor_owner, at->ractor_owner + moved);
	found(state, RUBY_ractor_threads, node - ractor);
	node = ring_node_inside(mem, state->vm + at->vm_ractors, ractor, RACTOR_BYTES);
	if (node)
		found(state, RUBY_ractor_node, node - ractor);
	return node && list_threads(mem, state, main_thread, list);
}

/* ---- the lock ------------------------------------------------------------------------------ */

static bool is_thread_or_null(const struct mem *mem, const struct ruby_state *state, u64 owner)
{
	struct ruby_thread_words words;

	return !owner || ruby_read_thread(mem, state, owner, &words);
}

/* A thread's states are a fact about the lock: without it they are left unknown. */
static void check_owner(const struct mem *mem, struct ruby_state *state, u64 main_thread)
{
	enum ruby_field field = state->facts & RUBY_HAS_RACTORS ? RUBY_ractor_owner : RUBY_vm_owner;
	u64 ractor = 0, owner;

	if (field == RUBY_ractor_owner &&
	    !mem_peek(mem, main_thread + state->at.thread_ractor, &ractor, 8))
		return;
	for (u32 i = 0; i < TRIES; i++)
		if (ruby_lock_owner(mem, state, ractor, &owner) &&
		    is_thread_or_null(mem, state, owner))
			return;
	found(state, field, 0);
}

/* ---- tids ---------------------------------------------------------------------------------- */

/* Ruby's own copy (th->tid, nt->tid up to 3.2) is still the parent's after a fork. */
static void find_pthread_tid(const struct target *target, const struct mem *mem,
			     struct ruby_state *state, u64 main_thread,
			     const struct thread_list *list)
{
	u64 natives[THREADS_MAX], main_native = 0;

	for (u32 i = 0; i < list->count; i++) {
		natives[i] = list->at[i].native;
		if (list->at[i].thread == main_thread)
			main_native = natives[i];
	}
	if (main_native)
		state->pthread_tid = target_find_pthread_tid(target, mem, natives, list->count,
							     main_native);
	if (state->pthread_tid)
		state->pthread_source = RUBY_FROM_MEMORY;
}

/* Where pthread_t is not the descriptor's address, Ruby's own copy has to do. Is one of them a tid? */
static bool check_tid(const struct target *target, const struct mem *mem, struct ruby_state *state,
		      u64 main_thread)
{
	bool by_nt = state->at.thread_nt;
	enum ruby_field field = by_nt ? RUBY_nt_tid : RUBY_thread_tid;
	u16 offset = *ruby_field_at(&state->at, field);
	u32 words[128 / 4];
	u64 at = main_thread;

	if (!offset && state->pthread_tid)
		return true;
	if (by_nt && (!mem_peek(mem, main_thread + state->at.thread_nt, &at, 8) || !at))
		return state->pthread_tid; /* M:N and asleep: nothing to compare with */
	if (!mem_peek(mem, at, words, sizeof words))
		return state->pthread_tid;
	if (offset && offset < sizeof words && words[offset / 4] == target->inner_pid)
		return true;
	for (u32 i = 2; i < COUNT_OF(words); i++)
		if (words[i] == target->inner_pid) {
			found(state, field, i * 4);
			return true;
		}
	return state->pthread_tid;
}

/* ---- names --------------------------------------------------------------------------------- */

enum names {
	NAMES_WRONG, /* something else stands there */
	NAMES_BLANK, /* nothing but zeros: not set yet, or another member */
	NAMES_NONE,  /* nil in every thread */
	NAMES_SOME,
};

/* What stands there in one thread: nil is 8, since 3.2 4. */
static enum names look_at_name(const struct mem *mem, u64 addr)
{
	u64 value, flags;

	if (!mem_peek(mem, addr, &value, 8))
		return NAMES_WRONG;
	if (!value || value == 4 || value == 8)
		return value ? NAMES_NONE : NAMES_BLANK;
	if (!ruby_address_ok(value) || !mem_peek(mem, value, &flags, 8) ||
	    (flags & RUBY_T_MASK) != RUBY_T_STRING)
		return NAMES_WRONG;
	return NAMES_SOME;
}

/* A blank among names is not one: th->name is nil before anybody can see the thread. */
static enum names look_at_names(const struct mem *mem, const struct ruby_state *state,
				const struct thread_list *list, u64 offset)
{
	struct ruby_thread_words words;
	enum names all = NAMES_BLANK;
	bool blank = false;

	for (u32 i = 0; i < list->count; i++) {
		enum names one = look_at_name(mem, list->at[i].thread + offset);
		if (one <= NAMES_BLANK && !ruby_read_thread(mem, state, list->at[i].thread, &words))
			continue; /* the thread is gone */
		if (one == NAMES_WRONG)
			return NAMES_WRONG;
		blank |= one == NAMES_BLANK;
		all = one > all ? one : all;
	}
	return blank && all > NAMES_BLANK ? NAMES_WRONG : all;
}

static void check_name(const struct mem *mem, struct ruby_state *state,
		       const struct thread_list *list)
{
	enum names table = NAMES_WRONG;

	if (state->at.thread_name)
		table = look_at_names(mem, state, list, state->at.thread_name);
	if (table >= NAMES_NONE)
		return;
	for (u64 offset = 64; offset < THREAD_BYTES; offset += 8)
		if (look_at_names(mem, state, list, offset) == NAMES_SOME) {
			found(state, RUBY_thread_name, offset);
			return;
		}
	if (table == NAMES_WRONG)
		found(state, RUBY_thread_name, 0);
}

/* ---- frames and the heap ------------------------------------------------------------------- */

/* Do the main thread's frames look like frames with this stride? Each frame takes three reads, and one of
 * a wrong stride is no frame: of a deep stack some are enough. */
static bool frames_hold(const struct mem *mem, const struct ruby_state *state, u64 main_thread)
{
	struct walk walk;
	struct frame frame;
	enum step step;

	for (u32 i = 0; i < TRIES; i++) {
		step = ruby_begin(mem, state, main_thread, &walk);
		while ((step == STEP_MORE || step == STEP_HIDDEN) && walk.depth < ENOUGH_FRAMES)
			step = ruby_step(mem, state, &walk, &frame);
		if (walk.depth >= ENOUGH_FRAMES || (step == STEP_DONE && walk.depth))
			return true;
	}
	return false;
}

static bool find_frame_size(const struct mem *mem, struct ruby_state *state, u64 main_thread)
{
	u16 table = state->at.frame_size;

	if (frames_hold(mem, state, main_thread))
		return true;
	for (u16 size = 40; size <= 96; size += 8) {
		state->at.frame_size = size;
		if (size == table || !frames_hold(mem, state, main_thread))
			continue;
		state->source[RUBY_frame_size] = RUBY_FROM_MEMORY;
		return true;
	}
	return false;
}

static void find_objspace(const struct mem *mem, struct ruby_state *state)
{
	u64 objspace;
	u32 flags;

	/* 13 flag bits in 4.0; more set ones are no flags. */
	if (state->at.vm_objspace &&
	    mem_peek(mem, state->vm + state->at.vm_objspace, &objspace, 8) &&
	    ruby_address_ok(objspace) && mem_peek(mem, objspace + state->at.gc_flags, &flags, 4) &&
	    flags < 1 << 16)
		state->objspace = objspace;
}

/* ---- classes ------------------------------------------------------------------------------- */

static bool says_object(const struct mem *mem, const struct ruby_state *state, u64 value)
{
	struct str text = { 0 };
	bool says = ruby_read_string(mem, state, value, &text) && text.text &&
		    !strcmp(text.text, "Object");

	str_free(&text);
	return says;
}

/* The word of a class that is this value: where it is believed to be, or else the first one. */
static void find_class_word(const u64 words[CLASS_WORDS], u64 value, struct ruby_state *state,
			    enum ruby_field field)
{
	u16 table = *ruby_field_at(&state->at, field);

	if (table / 8 < CLASS_WORDS && words[table / 8] == value)
		return;
	for (u32 i = 2; i < CLASS_WORDS; i++)
		if (words[i] == value) {
			found(state, field, i * 8);
			return;
		}
}

static bool variable(const struct loaded *place, const char *name, u64 *value)
{
	u64 at;

	return loaded_symbol(place, name, &at) && mem_peek(place->mem, at, value, 8);
}

static bool class_words(const struct mem *mem, u64 klass, u64 words[CLASS_WORDS])
{
	return ruby_address_ok(klass) && mem_peek(mem, klass, words, CLASS_WORDS * sizeof *words);
}

void ruby_calibrate_classes(const struct loaded *place, struct ruby_state *state)
{
	u64 object, module, class, words[CLASS_WORDS];

	if (!(state->facts & RUBY_HAS_CLASS_PATHS) ||
	    state->source[RUBY_class_path] == RUBY_FROM_TABLE ||
	    !variable(place, "rb_cObject", &object) || !variable(place, "rb_cModule", &module) ||
	    !variable(place, "rb_cClass", &class))
		return;
	if (class_words(place->mem, class, words))
		find_class_word(words, module, state, RUBY_class_super);
	if (!class_words(place->mem, object, words))
		return;
	for (u32 i = 2; i < CLASS_WORDS; i++)
		if (says_object(place->mem, state, words[i])) {
			found(state, RUBY_class_path, i * 8);
			break;
		}
	if (class_words(place->mem, words[1], words))
		find_class_word(words, object, state, RUBY_class_attached);
}

bool ruby_calibrate(const struct target *target, const struct mem *mem, struct ruby_state *state)
{
	struct thread_list list;
	u64 main_thread;
	bool lists = false;

	if (!mem_peek(mem, state->vm + state->at.vm_main_thread, &main_thread, 8))
		return false;
	for (u32 i = 0; i < TRIES && !lists; i++)
		lists = find_lists(mem, state, main_thread, &list);
	if (!lists)
		return false;
	check_owner(mem, state, main_thread);
	/* A thread that ends meanwhile looks like one that proves the contrary. */
	for (u32 i = 0; i < TRIES && !state->pthread_tid; i++)
		if (list_threads(mem, state, main_thread, &list))
			find_pthread_tid(target, mem, state, main_thread, &list);
	bool has_tid = check_tid(target, mem, state, main_thread);
	check_name(mem, state, &list);
	find_objspace(mem, state);
	/* Of a version that the table does not know, what is taken must be all that stacks need. */
	return state->source[RUBY_frame_size] == RUBY_FROM_TABLE ||
	       (has_tid && find_frame_size(mem, state, main_thread));
}
