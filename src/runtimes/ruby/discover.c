/* SPDX-License-Identifier: Apache-2.0
 * discover.c - three witnesses for the address of the VM.
 *
 *	symbol  ruby_current_vm_ptr: hidden since 3.3, gone when stripped
 *	code    rb_during_gc() and rb_gc_count() are exported and begin by loading it
 *	scan    of all words in the image's writable pages, the one that leads
 *	        vm -> main_thread -> ec -> thread_ptr back to the same thread
 *
 * A candidate counts when the closure holds, whoever named it.  The scan needs no
 * symbol, no file name and no known instruction; on Debian's stripped 3.3 and 3.4
 * exactly one word passes. */
#include "runtimes/ruby/discover.h"

#include "elf/image.h"
#include "runtimes/ruby/calibrate.h"
#include "runtimes/ruby/step.h"
#include "runtimes/ruby/symbols.h"
#include "target/getter.h"
#include "target/loaded.h"
#include "target/target.h"

#include <elf.h>
#include <string.h>

enum { PROBE_BYTES = 32 };

/* ---- the image ----------------------------------------------------------------------------- */

/* Is this where the image's bytes are? Code is the same wherever it is mapped. */
static bool bytes_match(const struct loaded *place, u64 linked)
{
	u8 file[PROBE_BYTES], live[PROBE_BYTES];

	return image_bytes(place->image, linked, file, sizeof file) &&
	       mem_peek(place->mem, place->bias + linked, live, sizeof live) &&
	       !memcmp(file, live, sizeof file);
}

bool ruby_find_image(const struct target *target, const struct image *image, struct loaded *place,
		     struct err *err)
{
	struct image_symbol version, code;

	if (!image_symbol_named(image, "ruby_version", &version) ||
	    !image_symbol_named(image, "rb_gc_count", &code) || !version.section || !code.section)
		return err_set(err, ERR_NOT_MINE, "%s: not a Ruby", image_name(image));
	*place = (struct loaded){ .target = target, .image = image, .mem = &target->mem.mem };
	for (u32 i = 0; i < target->maps.all.count; i++) {
		const struct mapping *mapping = &target->maps.all.at[i];
		if (mapping->executable && target_load_bias(target, mapping, image, &place->bias) &&
		    bytes_match(place, code.value) && bytes_match(place, version.value))
			return true;
	}
	return err_set(err, ERR_NOT_MINE, "%s: not mapped by process %u", image_name(image),
		       target->pid);
}

/* ---- what small functions say -------------------------------------------------------------- */

static void note(struct ruby_state *state, enum ruby_field field, u64 value)
{
	*ruby_field_at(&state->at, field) = (u16)value;
	state->source[field] = RUBY_FROM_CODE;
}

void ruby_decode_numbers(const struct loaded *place, struct ruby_state *state)
{
	struct getter getter;

	/* vm->objspace->flags.during_gc: bit 5 of the flags. */
	if (state->at.vm_objspace && getter_named(place, "rb_during_gc", &getter) &&
	    getter.loads >= 2 && getter.shift == 5) {
		s32 objspace = getter.displacement[getter.loads - 2];
		s32 flags = getter.displacement[getter.loads - 1];
		if (getter.base && objspace > 0 && objspace < UINT16_MAX)
			note(state, RUBY_vm_objspace, (u64)objspace);
		if (flags > 0 && flags < UINT16_MAX)
			note(state, RUBY_gc_flags, (u64)flags);
	}
	if (getter_named(place, "rb_gc_count", &getter) && getter.loads >= 1) {
		s32 count = getter.displacement[getter.loads - 1];
		if (count > 0 && count < UINT16_MAX && !(count & 7))
			note(state, RUBY_gc_count, (u64)count);
	}
	/* Followed to its jump, or given up behind the comparison: that is what is asked. */
	(void)getter_named(place, "rb_id2str", &getter);
	if (getter.compared > 128 && getter.compared < 256)
		note(state, RUBY_id_last_operator, getter.compared);
}

/* The VM pointer's own address: where the load before the one of objspace reads. */
static bool vm_variable_by_code(const struct loaded *place, const char *name, u64 *variable)
{
	struct getter getter;

	return getter_named(place, name, &getter) && getter.loads >= 3 &&
	       getter_address(place->mem, &getter, getter.loads - 3, variable);
}

/* ---- the scan ------------------------------------------------------------------------------ */

/* Objects live in writable memory: most words of .data.rel.ro lead to code or constants.  What is
 * mapped nowhere may have been mapped since the maps were read. */
static bool may_be_object(const struct loaded *place, u64 addr)
{
	const struct mapping *mapping;

	if (!ruby_address_ok(addr))
		return false;
	mapping = target_mapping_at(place->target, addr);
	return !mapping || mapping->writable;
}

static bool word_is_vm(const struct loaded *place, void *state_, u64 addr, const u64 word[3])
{
	struct ruby_state *state = state_;

	if (word[2] == word[1] || !may_be_object(place, word[2]) ||
	    !ruby_close_vm(place->mem, state, word[2]))
		return false;
	state->vm_variable = addr;
	return true;
}

/* rb_symbols_t: {u32 last_id, st_table *, VALUE ids}. */
static bool word_is_ids(const struct loaded *place, void *state_, u64 addr, const u64 word[3])
{
	struct ruby_state *state = state_;

	if (word[0] <= state->at.id_last_operator || word[0] > UINT32_MAX ||
	    !ruby_address_ok(word[1]) || !may_be_object(place, word[2]) ||
	    !ruby_ids_hold(place->mem, state, addr))
		return false;
	state->ids = addr;
	return true;
}

/* ---- the answers --------------------------------------------------------------------------- */

enum vm { VM_NONE, VM_TO_COME, VM_RUNS };

/* TO_COME: nothing has been written there yet. */
static enum vm try_variable(const struct loaded *place, struct ruby_state *state, u64 variable,
			    enum ruby_source source)
{
	u64 vm;

	if (!mem_peek(place->mem, variable, &vm, 8))
		return VM_NONE;
	if (!vm)
		return VM_TO_COME;
	if (!ruby_close_vm(place->mem, state, vm))
		return VM_NONE;
	state->vm_variable = variable;
	state->vm_source = source;
	return VM_RUNS;
}

/* By those who name the variable: one who finds it running is believed. */
static enum vm find_named_vm(const struct loaded *place, struct ruby_state *state, u32 ways)
{
	static const char *const names[] = { "ruby_current_vm_ptr", "ruby_current_vm" };
	static const char *const getters[] = { "rb_during_gc", "rb_gc_count" };
	enum vm said = VM_NONE, vm;
	u64 variable;

	for (u32 i = 0; i < COUNT_OF(names) && said != VM_RUNS && (ways & RUBY_BY_SYMBOL); i++)
		if (loaded_symbol(place, names[i], &variable) &&
		    (vm = try_variable(place, state, variable, RUBY_FROM_SYMBOL)))
			said = vm;
	for (u32 i = 0; i < COUNT_OF(getters) && said != VM_RUNS && (ways & RUBY_BY_CODE); i++)
		if (vm_variable_by_code(place, getters[i], &variable) &&
		    (vm = try_variable(place, state, variable, RUBY_FROM_CODE)))
			said = vm;
	return said;
}

bool ruby_find_vm(const struct loaded *place, struct ruby_state *state, u32 ways)
{
	enum vm vm = find_named_vm(place, state, ways);

	if (vm == VM_RUNS)
		return true;
	/* where it is to come, no other word of the image has to be asked */
	if (vm == VM_NONE && (ways & RUBY_BY_SCAN) && loaded_scan(place, word_is_vm, state)) {
		state->vm_source = RUBY_FROM_MEMORY;
		return true;
	}
	return false;
}

bool ruby_find_ids(const struct loaded *place, struct ruby_state *state, u32 ways)
{
	static const char *const names[] = { "ruby_global_symbols", "global_symbols" };
	u64 symbols;

	for (u32 i = 0; i < COUNT_OF(names) && (ways & RUBY_BY_SYMBOL); i++) {
		if (!loaded_symbol(place, names[i], &symbols) ||
		    !ruby_ids_hold(place->mem, state, symbols + RUBY_SYMBOLS_IDS))
			continue;
		state->ids = symbols + RUBY_SYMBOLS_IDS;
		state->ids_source = RUBY_FROM_SYMBOL;
		return true;
	}
	if ((ways & RUBY_BY_SCAN) && loaded_scan(place, word_is_ids, state)) {
		state->ids_source = RUBY_FROM_MEMORY;
		return true;
	}
	return false;
}
