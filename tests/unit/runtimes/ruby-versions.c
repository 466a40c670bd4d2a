/* SPDX-License-Identifier: Apache-2.0
 * ruby-versions.c - the rows against what upstream's headers say (ruby-offsets.txt). */
#include "runtimes/ruby/versions.h"

#include "base/cleanup.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/check.h"

/* What the code takes for constant, by the name it has in the file. */
static const struct {
	const char *name;
	u32 value;
} constants[] = {
	{ "ec.vm_stack", RUBY_EC_VM_STACK },
	{ "ec.cfp", RUBY_EC_VM_STACK + 16 },
	{ "frame.pc", offsetof(struct ruby_control_frame, pc) },
	{ "frame.sp", offsetof(struct ruby_control_frame, sp) },
	{ "frame.iseq", offsetof(struct ruby_control_frame, iseq) },
	{ "frame.self", offsetof(struct ruby_control_frame, self) },
	{ "frame.ep", offsetof(struct ruby_control_frame, ep) },
	{ "iseq.body", RUBY_ISEQ_BODY },
	{ "body.type", RUBY_BODY_TYPE },
	{ "body.iseq_size", RUBY_BODY_TYPE + 4 },
	{ "body.encoded", RUBY_BODY_TYPE + 8 },
	{ "body.pathobj", RUBY_BODY_PATHOBJ },
	{ "body.base_label", RUBY_BODY_PATHOBJ + 8 },
	{ "body.label", RUBY_BODY_PATHOBJ + 16 },
	{ "body.first_lineno", RUBY_BODY_PATHOBJ + 24 },
	{ "method.defined_class", RUBY_METHOD_CLASS },
	{ "method.def", RUBY_METHOD_DEF },
	{ "def.original_id", RUBY_DEF_ORIGINAL_ID },
};

/* What no header has an offset for. */
static bool is_from_elsewhere(enum ruby_field field)
{
	return field == RUBY_gc_flags || field == RUBY_gc_count || field == RUBY_class_singleton ||
	       field == RUBY_string_embedded || field == RUBY_id_last_operator;
}

/* The release so far: a value a field, and one a constant. */
struct release {
	u32 field[RUBY_FIELD_COUNT];
	bool seen[COUNT_OF(constants)];
	u32 parent_iseq;
};

static void apply_word(struct release *release, const char *word)
{
	char name[64];
	u32 value = 0;

	if (sscanf(word, "-%63s", name) != 1)
		assert_int_equal(sscanf(word, "%63[^=]=%u", name, &value), 2);
	for (u32 i = 0; i < RUBY_FIELD_COUNT; i++)
		if (!strcmp(name, ruby_field_name(i))) {
			release->field[i] = value;
			return;
		}
	for (u32 i = 0; i < COUNT_OF(constants); i++)
		if (!strcmp(name, constants[i].name)) {
			assert_int_equal(value, constants[i].value);
			release->seen[i] = true;
			return;
		}
	assert_string_equal(name, "body.parent_iseq");
	release->parent_iseq = value;
}

static void check_release(const struct release *release, const char *version)
{
	struct ruby_state state = { 0 };
	unsigned major, minor, patch;

	assert_int_equal(sscanf(version, "%u.%u.%u", &major, &minor, &patch), 3);
	state.major = (u16)major;
	state.minor = (u16)minor;
	state.patch = (u16)patch;
	assert_int_equal(ruby_versions_find(&state), RUBY_MATCH_EXACT);
	for (u32 i = 0; i < RUBY_FIELD_COUNT; i++) {
		u32 ours = *ruby_field_at(&state.at, i);
		if (!is_from_elsewhere(i) && ours != release->field[i])
			fail_msg("%s: %s is %u, the headers say %u", version, ruby_field_name(i),
				 ours, release->field[i]);
	}
	assert_int_equal(release->parent_iseq, state.at.body_local_iseq - 8);
}

static void rows_equal_the_headers(void **state)
{
	const char *tests = getenv("SONDE_TESTS");
	struct release release = { 0 };
	char path[4096], line[4096];
	u32 releases = 0;

	(void)state;
	snprintf(path, sizeof path, "%s/unit/runtimes/ruby-offsets.txt", tests ? tests : "tests");
	AUTO_FCLOSE FILE *file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof line, file)) {
		char *rest = NULL;
		if (line[0] == '#')
			continue;
		char *version = strtok_r(line, " \n", &rest);
		for (char *word; (word = strtok_r(NULL, " \n", &rest));)
			apply_word(&release, word);
		check_release(&release, version);
		releases++;
	}
	assert_true(releases > 70);
	for (u32 i = 0; i < COUNT_OF(constants); i++)
		assert_true(release.seen[i]);
}

static enum ruby_match find(u16 major, u16 minor, u16 patch, struct ruby_state *out)
{
	*out = (struct ruby_state){ .major = major, .minor = minor, .patch = patch };
	return ruby_versions_find(out);
}

static void newer_ones_get_the_nearest_row(void **state)
{
	struct ruby_state newer, known;

	(void)state;
	assert_int_equal(find(3, 3, 99, &newer), RUBY_MATCH_NEAREST);
	assert_int_equal(find(3, 4, 11, &known), RUBY_MATCH_EXACT);
	assert_int_equal(find(3, 3, 12, &known), RUBY_MATCH_EXACT);
	assert_memory_equal(&newer.at, &known.at, sizeof newer.at);
	assert_int_equal(newer.source[RUBY_frame_size], RUBY_FROM_NEIGHBOUR);
	assert_int_equal(known.source[RUBY_frame_size], RUBY_FROM_TABLE);
	/* A minor version that is not there: the one before it, with all of its changes, but not its heap. */
	assert_int_equal(find(4, 1, 0, &newer), RUBY_MATCH_NEAREST);
	assert_int_equal(find(4, 0, 6, &known), RUBY_MATCH_EXACT);
	known.at.vm_objspace = 0;
	assert_memory_equal(&newer.at, &known.at, sizeof newer.at);
	assert_int_equal(newer.source[RUBY_vm_objspace], RUBY_FROM_NOWHERE);
	assert_int_equal(newer.at.thread_status, 256);
	assert_int_equal(find(3, 5, 0, &newer), RUBY_MATCH_NEAREST);
	assert_int_equal(newer.at.thread_name, 448);
	assert_int_equal(find(2, 4, 10, &newer), RUBY_MATCH_NONE);
}

static void facts_follow_the_version(void **state)
{
	struct ruby_state ruby;

	(void)state;
	find(2, 6, 9, &ruby);
	assert_int_equal(ruby.facts, RUBY_FILLS_LATE | RUBY_LINE_IS_FIXNUM | RUBY_SHORT_IN_FLAGS);
	find(2, 7, 4, &ruby);
	assert_int_equal(ruby.facts, RUBY_FILLS_LATE | RUBY_CACHES_CLASSES | RUBY_LINE_IS_FIXNUM |
					     RUBY_SHORT_IN_FLAGS);
	find(3, 1, 2, &ruby);
	assert_int_equal(ruby.facts, RUBY_HAS_RACTORS | RUBY_HAS_JIT_RETURN | RUBY_LINE_IS_FIXNUM |
					     RUBY_SHORT_IN_FLAGS);
	find(3, 2, 0, &ruby);
	assert_int_equal(ruby.facts, RUBY_HAS_RACTORS | RUBY_HAS_JIT_RETURN);
	find(3, 3, 0, &ruby);
	assert_int_equal(ruby.facts, RUBY_HAS_RACTORS | RUBY_HAS_JIT_RETURN | RUBY_HAS_CLASS_PATHS);
	find(4, 0, 0, &ruby);
	assert_int_equal(ruby.facts, RUBY_HAS_RACTORS | RUBY_HAS_JIT_RETURN | RUBY_HAS_CLASS_PATHS |
					     RUBY_JIT_KEEPS_ARGUMENTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_equal_the_headers),
		cmocka_unit_test(newer_ones_get_the_nearest_row),
		cmocka_unit_test(facts_follow_the_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
