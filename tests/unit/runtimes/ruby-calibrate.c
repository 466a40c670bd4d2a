/* SPDX-License-Identifier: Apache-2.0
 * ruby-calibrate.c - numbers taken away from a state, and found again in the process. */
#include "runtimes/ruby/calibrate.h"

#include "elf/image.h"
#include "ruby-live.h"
#include "runtimes/ruby/discover.h"
#include "target/loaded.h"
#include "unit/check.h"

#include <stdio.h>
#include <string.h>

static const char program[] =
	"$ready = 0\n"
	"3.times { |i| Thread.new { Thread.current.name = \"named #{i}\"; $ready += 1; sleep } }\n"
	"Thread.main.name = 'main'\n"
	"Thread.pass until Thread.list.all? { |t| t.name } && $ready == 3\n"
	"puts 'END'\n"
	"$stdout.flush\n"
	"sleep\n";

/* A number that the process can prove. The lock moves with the list in front of it. */
static const enum ruby_field provable[] = {
	RUBY_thread_ec,  RUBY_ec_thread_ptr,  RUBY_ractor_threads, RUBY_ractor_node,
	RUBY_vm_threads, RUBY_thread_name,    RUBY_frame_size,     RUBY_thread_tid,
	RUBY_nt_tid,     RUBY_vm_main_thread,
};
static const enum ruby_field of_classes[] = { RUBY_class_path, RUBY_class_attached,
					      RUBY_class_super };

static void damage(struct ruby_state *state, enum ruby_field field)
{
	u16 *at = ruby_field_at(&state->at, field);

	if (!*at || (field == RUBY_vm_main_thread && !state->at.vm_main_ractor))
		return; /* not in this Ruby, or too old for it to be another number in a newer one */
	*at += field == RUBY_thread_ec ? (u16)-8 : 8;
	if (field == RUBY_ractor_threads)
		state->at.ractor_owner += 8;
	if (field == RUBY_vm_main_thread)
		state->at.vm_main_ractor += 8;
}

/* As ruby_attach() does, from a layout for a version that nobody knows. */
static bool find_again(struct ruby_live *live, struct ruby_state *state)
{
	const struct mem *mem = &live->target.mem.mem;
	u64 vm = state->vm;

	memset(state->source, RUBY_FROM_NEIGHBOUR, sizeof state->source);
	state->vm = state->objspace = 0;
	state->pthread_tid = 0;
	return ruby_close_vm(mem, state, vm) && ruby_calibrate(&live->target, mem, state);
}

static void check_layout(const struct ruby_live *live, const struct ruby_state *state,
			 const char *what)
{
	struct ruby_state found = *state, known = live->state;

	for (u32 i = 0; i < RUBY_FIELD_COUNT; i++)
		if (*ruby_field_at(&found.at, i) != *ruby_field_at(&known.at, i))
			fail_msg("Ruby %u.%u, %s: %s is %u, was %u", known.major, known.minor, what,
				 ruby_field_name(i), *ruby_field_at(&found.at, i),
				 *ruby_field_at(&known.at, i));
	assert_int_equal(state->pthread_tid, live->state.pthread_tid);
	assert_int_equal(state->objspace, live->state.objspace);
}

/* What the process maps of its Ruby. */
static void calibrate_classes(struct ruby_live *live, struct ruby_state *state)
{
	const struct maps *maps = &live->target.maps;
	struct loaded place;
	bool is_found = false;

	for (u32 i = 0; i < maps->all.count && !is_found; i++) {
		const struct mapping *mapping = &maps->all.at[i];
		if (!mapping->executable || !mapping->inode)
			continue;
		struct image *image = target_open_image(&live->target, mapping, NULL);
		is_found = image && ruby_find_image(&live->target, image, &place, NULL);
		if (is_found)
			ruby_calibrate_classes(&place, state);
		image_close(image);
	}
	assert_true(is_found);
}

static void numbers_are_found_in_the_process(void **unused)
{
	(void)unused;
	FOR_EACH_RUBY(kind)
	{
		struct ruby_live live;
		struct ruby_state state;
		struct err err = { 0 };

		ruby_live_start(&live, kind, NULL, program, NULL);
		assert_true(ruby_live_attach(&live, RUBY_BY_ALL, &err));
		for (u32 i = 0; i < COUNT_OF(provable); i++) {
			state = live.state;
			damage(&state, provable[i]);
			assert_true(find_again(&live, &state));
			check_layout(&live, &state, ruby_field_name(provable[i]));
		}
		/* And all of them at once. */
		state = live.state;
		for (u32 i = 0; i < COUNT_OF(provable); i++)
			damage(&state, provable[i]);
		assert_true(find_again(&live, &state));
		check_layout(&live, &state, "all");
		for (u32 i = 0; i < COUNT_OF(of_classes); i++)
			damage(&state, of_classes[i]);
		calibrate_classes(&live, &state);
		check_layout(&live, &state, "classes");
		ruby_live_stop(&live);
	}
}

/* What is nowhere is dropped, and nothing else with it. */
static void what_cannot_be_proven_is_left_out(void **unused)
{
	(void)unused;
	FOR_EACH_RUBY(kind)
	{
		struct ruby_live live;
		struct ruby_state state;
		struct err err = { 0 };

		ruby_live_start(&live, kind, NULL, program, NULL);
		assert_true(ruby_live_attach(&live, RUBY_BY_ALL, &err));
		bool ractors = live.state.facts & RUBY_HAS_RACTORS;
		enum ruby_field owner = ractors ? RUBY_ractor_owner : RUBY_vm_owner;
		state = live.state;
		/* The number of the ractor; the heap. */
		*ruby_field_at(&state.at, owner) = ractors ? 8 : state.at.vm_objspace;
		assert_true(find_again(&live, &state));
		assert_int_equal(*ruby_field_at(&state.at, owner), 0);
		assert_int_equal(state.source[owner], RUBY_FROM_NOWHERE);
		assert_int_equal(state.at.ractor_threads, live.state.at.ractor_threads);
		/* A process that is not there proves nothing. */
		state = live.state;
		ruby_live_stop(&live);
		assert_false(ruby_close_vm(&live.target.mem.mem, &state, state.vm));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_found_in_the_process),
		cmocka_unit_test(what_cannot_be_proven_is_left_out),
	};

	if (!ruby_kinds_here())
		return RUBY_LIVE_SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
