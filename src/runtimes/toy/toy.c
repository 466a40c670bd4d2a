/* SPDX-License-Identifier: Apache-2.0
 * toy.c - the runtime of the toy VM (tests/targets/toy/vm.c): found, and its frames named.
 *
 * The smallest runtime there can be, and a true one: it is in the list beside Ruby.
 * Read layout.h, then step.h, then this. */
#include "elf/image.h"
#include "runtimes/runtime.h"
#include "runtimes/toy/step.h"
#include "target/target.h"

#include <string.h>

_Static_assert(sizeof(struct toy_state) <= RUNTIME_STATE_MAX, "engines give no more room");

/* The head, wherever this image is loaded: its magic proves that the load bias was right. */
static bool find_head(const struct target *target, const struct image *image, u64 linked,
		      u64 *address, struct toy_vm_head *head)
{
	for (u32 i = 0; i < target->maps.all.count; i++) {
		u64 bias;

		if (!target_load_bias(target, &target->maps.all.at[i], image, &bias))
			continue;
		*address = linked + bias;
		if (mem_read(&target->mem.mem, *address, head, sizeof *head) &&
		    head->magic == TOY_MAGIC)
			return true;
	}
	return false;
}

static bool toy_attach(const struct target *target, const struct image *image, void *state_,
		       struct err *err)
{
	struct toy_state *state = state_;
	struct image_symbol symbol;
	struct toy_vm_head head;
	u64 address;

	if (!image_symbol_named(image, "toy_vm", &symbol))
		return err_set(err, ERR_NOT_MINE, "no symbol toy_vm");
	if (!find_head(target, image, symbol.value, &address, &head))
		return err_set(err, ERR_NOT_READY, "the toy VM has not started yet");
	const struct toy_version *version = toy_version_find(head.version);
	if (!version)
		return err_set(err, ERR_UNSUPPORTED, "toy VM %u.%u: versions 1.0 and 2.0 are known",
			       head.version >> 8, head.version & 0xff);
	state->threads = address + offsetof(struct toy_vm_head, threads);
	state->version = version->version;
	state->at = version->at;
	return true;
}

static bool toy_name_frame(const struct mem *mem, const void *state_, const struct frame *frame,
			   struct frame_name *out)
{
	const struct toy_state *state = state_;
	char name[TOY_NAME_SIZE];

	if (!mem_read(mem, frame->id + state->at.code_name, name, sizeof name) ||
	    !memchr(name, 0, sizeof name))
		return false;
	str_add_text(&out->label, name);
	str_add_text(&out->path, "toy");
	out->line = frame->pos;
	return true;
}

static void toy_describe(const void *state_, struct str *out)
{
	const struct toy_state *state = state_;

	str_addf(out, "toy VM %u.%u, from the table\n", state->version >> 8, state->version & 0xff);
#define X(type, field) str_addf(out, #type "." #field "\t%u\n", state->at.type##_##field);
	TOY_LAYOUT(X)
#undef X
}

/* The walkers take the state as what it is; the contract has it as bytes. */
static enum step next_thread(const struct mem *mem, const void *state, u64 *where,
			     struct vm_thread *out)
{
	return toy_next_thread(mem, state, where, out);
}

static enum step begin(const struct mem *mem, const void *state, u64 thread, struct walk *walk)
{
	return toy_begin(mem, state, thread, walk);
}

static enum step step(const struct mem *mem, const void *state, struct walk *walk,
		      struct frame *out)
{
	return toy_step(mem, state, walk, out);
}

extern const struct runtime toy_runtime;
const struct runtime toy_runtime = {
	.name = "toy",
	.lock = "lock",
	.state_size = sizeof(struct toy_state),
	.attach = toy_attach,
	.next_thread = next_thread,
	.begin = begin,
	.step = step,
	.name_frame = toy_name_frame,
	.describe = toy_describe,
};
