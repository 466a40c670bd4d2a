/* SPDX-License-Identifier: Apache-2.0
 * python-names.c - a code object has a name as long as it lives and is the one that was sampled. */
#include "check.h"

#include <string.h>

#include "mem/self.h"
#include "runtimes/python/names.h"
#include "runtimes/python/step.h"
#include "runtimes/python/types.h"
#include "runtimes/python/versions.h"

/* Python objects of all versions in question, as far as somebody looks at them. */
struct object {
	_Alignas(8) u8 bytes[256];
};

static struct object code, name, filename, lines, type;

static void put(struct object *object, u32 at, u64 value)
{
	memcpy(object->bytes + at, &value, sizeof value);
}

static u64 address(const void *of)
{
	return (u64)(uintptr_t)of;
}

static void make(struct object *object, const struct python_state *state)
{
	memset(object, 0, sizeof *object);
	put(object, 0, 3);
	put(object, state->at.bytes_length - 8, address(&type));
}

static void make_text(struct object *object, const struct python_state *state, const char *text)
{
	bool is_bytes = state->facts & PYTHON_NAMES_ARE_BYTES;
	u32 length = is_bytes ? state->at.bytes_length : state->at.string_length;
	u32 data = is_bytes ? state->at.bytes_data : state->at.string_ascii;

	make(object, state);
	put(object, length, strlen(text));
	memcpy(object->bytes + data, text, strlen(text));
	if (!is_bytes)
		object->bytes[state->at.string_state] = (u8)((1 | 8 | 16)
							     << state->string_kind_shift);
}

static const u32 VERSIONS[] = { 0x020712f0, 0x030600f0, 0x030900f0, 0x030a00f0, 0x030b02f0 };

static void make_function(struct python_state *state, u32 version)
{
	*state = (struct python_state){ .version = version };
	assert_true(python_versions_find(state));
	make(&type, state);
	put(&type, state->at.bytes_length + 8, address("code"));
	make_text(&name, state, "work");
	make_text(&filename, state, "/made/up/generation-1.py");
	make(&lines, state);
	make(&code, state);
	put(&code, state->at.code_name, address(&name));
	if (state->at.code_qualname)
		put(&code, state->at.code_qualname, address(&name));
	put(&code, state->at.code_filename, address(&filename));
	put(&code, state->at.code_lines, address(&lines));
	memcpy(code.bytes + state->at.code_first_line, &(u32){ 7 }, 4);
}

static bool is_named(const struct python_state *state, u64 owner)
{
	struct frame frame = { .id = address(&code), .owner = owner };
	struct frame_name out = { 0 };
	bool named = python_name_frame(&mem_self, state, &frame, &out);

	if (named) {
		assert_string_equal(out.label.text, "work");
		assert_memory_equal(out.path.text, "/made/up/generation-", 20);
		assert_int_equal(out.line, 7);
	}
	str_free(&out.label);
	str_free(&out.path);
	return named;
}

static u64 identity(const struct python_state *state)
{
	u64 owner = 0;

	assert_true(python_identity(&mem_self, state, address(&code), &owner));
	return owner;
}

static void dead_code_has_no_name(void **unused)
{
	struct python_state state;

	(void)unused;
	for (u32 i = 0; i < COUNT_OF(VERSIONS); i++) {
		make_function(&state, VERSIONS[i]);
		u64 owner = identity(&state);
		assert_true(is_named(&state, owner));
		put(&code, 0, 0); /* it dies */
		assert_false(is_named(&state, owner));
		put(&code, 0, address(&lines)); /* and is in a list of what is free */
		assert_false(is_named(&state, owner));
		put(&code, 0, 0xffffffff); /* it never dies */
		assert_true(is_named(&state, owner));
		put(&type, state.at.bytes_length + 8,
		    address("frame")); /* something else is there */
		assert_false(is_named(&state, owner));
	}
}

/* At the same addresses: what dies last is what is made first. */
static void another_path_is_another_function(void **unused)
{
	struct python_state state;

	(void)unused;
	for (u32 i = 0; i < COUNT_OF(VERSIONS); i++) {
		make_function(&state, VERSIONS[i]);
		u64 first = identity(&state);
		assert_true(identity(&state) == first);
		make_text(&filename, &state, "/made/up/generation-2.py");
		u64 second = identity(&state);
		assert_true(second != first);
		assert_false(is_named(&state, first));
		assert_true(is_named(&state, second));
		make_text(&filename, &state, "2.py"); /* shorter than what is compared */
		assert_true(identity(&state) != second);
	}
}

static void references_are_counted_twice_without_a_gil(void **unused)
{
	struct python_state state = { .version = 0x030d05f0 };

	(void)unused;
	python_versions_facts(&state, true);
	state.at.bytes_length = 32;
	make(&code, &state);
	put(&code, 0, address(&code)); /* the owner */
	assert_false(python_is_alive(&mem_self, &state, address(&code)));
	put(&code, 16, 3); /* flags alone */
	assert_false(python_is_alive(&mem_self, &state, address(&code)));
	put(&code, 16, 1 << 2 | 3);
	assert_true(python_is_alive(&mem_self, &state, address(&code)));
	put(&code, 16, 0);
	put(&code, 8, 1ull << 32);
	assert_true(python_is_alive(&mem_self, &state, address(&code)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dead_code_has_no_name),
		cmocka_unit_test(another_path_is_another_function),
		cmocka_unit_test(references_are_counted_twice_without_a_gil),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
