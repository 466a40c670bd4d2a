/* SPDX-License-Identifier: Apache-2.0
 * versions.c - a version is a row of numbers.
 *
 * A row a minor version, as its first release had it, and under the rows what
 * changed at which patch level.  x86-64, glibc; the numbers up to the control frame
 * hold on every 64-bit machine, the tails of thread, ractor and vm do not, and are
 * checked in the live process (calibrate.c).  Up to 3.0 a jump buffer stands before
 * thread.name: that of __builtin_setjmp, five words, which configure prefers.
 *
 * tests/unit/runtimes/ruby-offsets.txt holds what upstream's headers say for every
 * release; a test compares. */
#include "runtimes/ruby/versions.h"

#include <stddef.h>

struct version_row {
	u8 major, minor;
	u16 last_patch; /* checked up to here */
	u32 facts;
	struct ruby_layout at;
};

enum {
	OLD_STRINGS = RUBY_LINE_IS_FIXNUM | RUBY_SHORT_IN_FLAGS,
};

/* clang-format off */
static const struct version_row rows[] = {
	{ .major = 2, .minor = 5, .last_patch = 9,
	  .facts = RUBY_FILLS_LATE | OLD_STRINGS, .at = {
		.ec_thread_ptr = 72,
		.thread_vm = 24, .thread_ec = 32, .thread_native = 72, .thread_status = 80,
		.thread_name = 400,
		.vm_main_thread = 280, .vm_threads = 312, .vm_owner = 288, .vm_acquired = 8,
		.vm_objspace = 1168, .gc_flags = 16,
		.frame_size = 48,
		.body_insns = 112, .body_insns_size = 200, .body_local_iseq = 144,
		.insn_size = 12, .insn_line = 4, .string_embedded = 16, .id_last_operator = 166 } },
	{ .major = 2, .minor = 6, .last_patch = 10,
	  .facts = RUBY_FILLS_LATE | OLD_STRINGS, .at = {
		.ec_thread_ptr = 56,
		.thread_vm = 24, .thread_ec = 32, .thread_native = 72, .thread_status = 80,
		.thread_ready = 88, .thread_name = 352,
		.vm_main_thread = 192, .vm_threads = 312, .vm_owner = 8, .vm_objspace = 1224,
		.gc_flags = 16,
		.frame_size = 56,
		.body_insns = 120, .body_insns_size = 136, .body_succinct = 144,
		.body_local_iseq = 176, .insn_size = 8, .string_embedded = 16,
		.id_last_operator = 164 } },
	{ .major = 2, .minor = 7, .last_patch = 8,
	  .facts = RUBY_FILLS_LATE | RUBY_CACHES_CLASSES | OLD_STRINGS, .at = {
		.ec_thread_ptr = 56,
		.thread_vm = 24, .thread_ec = 32, .thread_native = 72, .thread_status = 80,
		.thread_ready = 88, .thread_name = 360,
		.vm_main_thread = 192, .vm_threads = 312, .vm_owner = 8, .vm_objspace = 1152,
		.gc_flags = 16,
		.frame_size = 56,
		.body_insns = 120, .body_insns_size = 136, .body_succinct = 144,
		.body_local_iseq = 176, .insn_size = 8, .string_embedded = 16,
		.id_last_operator = 168 } },
	{ .major = 3, .minor = 0, .last_patch = 7,
	  .facts = RUBY_HAS_RACTORS | OLD_STRINGS, .at = {
		.ec_thread_ptr = 56,
		.thread_vm = 32, .thread_ractor = 24, .thread_ec = 40, .thread_native = 80,
		.thread_status = 88, .thread_ready = 96, .thread_name = 384,
		.ractor_threads = 304, .ractor_node = 568, .ractor_owner = 336,
		.vm_ractors = 8, .vm_main_ractor = 32, .vm_main_thread = 40, .vm_objspace = 1088,
		.gc_flags = 16,
		.frame_size = 56,
		.body_insns = 120, .body_insns_size = 136, .body_succinct = 144,
		.body_local_iseq = 176, .insn_size = 8, .string_embedded = 16,
		.id_last_operator = 168 } },
	{ .major = 3, .minor = 1, .last_patch = 7,
	  .facts = RUBY_HAS_RACTORS | RUBY_HAS_JIT_RETURN | OLD_STRINGS, .at = {
		.ec_thread_ptr = 48,
		.thread_vm = 32, .thread_ractor = 24, .thread_ec = 40, .thread_native = 80,
		.thread_tid = 88, .thread_status = 92, .thread_ready = 104, .thread_name = 352,
		.ractor_threads = 304, .ractor_node = 568, .ractor_owner = 336,
		.vm_ractors = 8, .vm_main_ractor = 32, .vm_main_thread = 40, .vm_objspace = 1104,
		.gc_flags = 16,
		.frame_size = 64,
		.body_insns = 120, .body_insns_size = 136, .body_succinct = 144,
		.body_local_iseq = 176, .insn_size = 12, .string_embedded = 16,
		.id_last_operator = 169 } },
	{ .major = 3, .minor = 2, .last_patch = 11,
	  .facts = RUBY_HAS_RACTORS | RUBY_HAS_JIT_RETURN, .at = {
		.ec_thread_ptr = 48,
		.thread_vm = 32, .thread_ractor = 24, .thread_ec = 48, .thread_nt = 40,
		.thread_status = 112, .thread_ready = 56, .thread_name = 304,
		.nt_native = 8, .nt_tid = 16,
		.ractor_threads = 304, .ractor_node = 568, .ractor_owner = 336,
		.vm_ractors = 8, .vm_main_ractor = 32, .vm_main_thread = 40, .vm_objspace = 1128,
		.gc_flags = 16,
		.frame_size = 64,
		.body_insns = 112, .body_insns_size = 128, .body_succinct = 136,
		.body_local_iseq = 168, .insn_size = 12, .string_embedded = 24,
		.id_last_operator = 169 } },
	{ .major = 3, .minor = 3, .last_patch = 12,
	  .facts = RUBY_HAS_RACTORS | RUBY_HAS_JIT_RETURN | RUBY_HAS_CLASS_PATHS, .at = {
		.ec_thread_ptr = 48,
		.thread_vm = 32, .thread_ractor = 24, .thread_ec = 48, .thread_nt = 40,
		.thread_status = 240, .thread_ready = 72, .thread_name = 432,
		.nt_native = 16, .nt_tid = 24,
		.ractor_threads = 256, .ractor_node = 432, .ractor_owner = 328,
		.vm_ractors = 8, .vm_main_ractor = 32, .vm_main_thread = 40, .vm_objspace = 1304,
		.gc_flags = 16,
		.frame_size = 56,
		.body_insns = 112, .body_insns_size = 128, .body_succinct = 136,
		.body_local_iseq = 168, .insn_size = 12, .class_path = 152, .class_attached = 128,
		.class_super = 16, .class_singleton = 12, .string_embedded = 24,
		.id_last_operator = 169 } },
	{ .major = 3, .minor = 4, .last_patch = 11, /* 11: by Debian's, on which every row of tests/e2e runs */
	  .facts = RUBY_HAS_RACTORS | RUBY_HAS_JIT_RETURN | RUBY_HAS_CLASS_PATHS |
		   RUBY_JIT_KEEPS_ARGUMENTS, .at = {
		.ec_thread_ptr = 48,
		.thread_vm = 32, .thread_ractor = 24, .thread_ec = 48, .thread_nt = 40,
		.thread_status = 240, .thread_ready = 72, .thread_name = 448,
		.nt_native = 16, .nt_tid = 24,
		.ractor_threads = 256, .ractor_node = 432, .ractor_owner = 328,
		.vm_ractors = 8, .vm_main_ractor = 32, .vm_main_thread = 40, .vm_objspace = 1296,
		.gc_flags = 20,
		.frame_size = 56,
		.body_insns = 112, .body_insns_size = 128, .body_succinct = 136,
		.body_local_iseq = 168, .insn_size = 12, .class_path = 152, .class_attached = 128,
		.class_super = 16, .class_singleton = 13, .string_embedded = 24,
		.id_last_operator = 170 } },
	{ .major = 4, .minor = 0, .last_patch = 6,
	  .facts = RUBY_HAS_RACTORS | RUBY_HAS_JIT_RETURN | RUBY_HAS_CLASS_PATHS |
		   RUBY_JIT_KEEPS_ARGUMENTS, .at = {
		.ec_thread_ptr = 48,
		.thread_vm = 32, .thread_ractor = 24, .thread_ec = 48, .thread_nt = 40,
		.thread_status = 248, .thread_ready = 72, .thread_name = 448,
		.nt_native = 16, .nt_tid = 24,
		.ractor_threads = 184, .ractor_node = 360, .ractor_owner = 256,
		.vm_ractors = 8, .vm_main_ractor = 32, .vm_main_thread = 40, .vm_objspace = 1248,
		.gc_flags = 28,
		.frame_size = 56,
		.body_insns = 112, .body_insns_size = 128, .body_succinct = 136,
		.body_local_iseq = 176, .insn_size = 12, .class_path = 152, .class_attached = 136,
		.class_super = 32, .class_singleton = 13, .string_embedded = 24,
		.id_last_operator = 171 } },
};
/* clang-format on */

/* From this patch level on, a number is another one. */
static const struct {
	u8 major, minor;
	u16 patch;
	u8 field; /* enum ruby_field */
	u16 value;
} changes[] = {
	/* vm.fork_gen went in front of the list of threads. */
	{ 2, 5, 4, RUBY_vm_threads, 320 },
	{ 2, 5, 4, RUBY_vm_objspace, 1176 },
	/* Members came and went in the middle of rb_vm_t. */
	{ 3, 1, 5, RUBY_vm_objspace, 1112 },
	{ 3, 2, 3, RUBY_vm_objspace, 1136 },
	{ 3, 2, 4, RUBY_vm_objspace, 1144 },
	/* rb_thread_sched got runnable_hot_th. */
	{ 4, 0, 6, RUBY_thread_status, 256 },
	{ 4, 0, 6, RUBY_thread_name, 456 },
	{ 4, 0, 6, RUBY_ractor_node, 368 },
	{ 4, 0, 6, RUBY_vm_objspace, 1256 },
};

static const struct {
	const char *name;
	size_t offset;
} fields[RUBY_FIELD_COUNT] = {
#define X(type, member)   \
	[RUBY_##type##_## \
		member] = { #type "." #member, offsetof(struct ruby_layout, type##_##member) },
	RUBY_LAYOUT(X)
#undef X
};

const char *ruby_field_name(enum ruby_field field)
{
	return fields[field].name;
}

u16 *ruby_field_at(struct ruby_layout *at, enum ruby_field field)
{
	return (u16 *)((u8 *)at + fields[field].offset);
}

enum ruby_match ruby_versions_find(struct ruby_state *state)
{
	u32 wanted = (u32)state->major << 8 | state->minor;
	const struct version_row *row = NULL;

	for (u32 i = 0; i < COUNT_OF(rows); i++)
		if (((u32)rows[i].major << 8 | rows[i].minor) <= wanted)
			row = &rows[i];
	if (!row)
		return RUBY_MATCH_NONE;

	bool same_minor = row->major == state->major && row->minor == state->minor;
	bool exact = same_minor && state->patch <= row->last_patch;
	state->at = row->at;
	state->facts = row->facts;
	for (u32 i = 0; i < COUNT_OF(changes); i++)
		if (changes[i].major == row->major && changes[i].minor == row->minor &&
		    (!same_minor || changes[i].patch <= state->patch))
			*ruby_field_at(&state->at, changes[i].field) = changes[i].value;
	if (!same_minor) /* collectors are rebuilt, and what else stands there passes for flags */
		state->at.vm_objspace = 0;
	for (u32 i = 0; i < RUBY_FIELD_COUNT; i++)
		state->source[i] = !*ruby_field_at(&state->at, i) ? RUBY_FROM_NOWHERE :
				   exact                          ? RUBY_FROM_TABLE :
								    RUBY_FROM_NEIGHBOUR;
	return exact ? RUBY_MATCH_EXACT : RUBY_MATCH_NEAREST;
}
