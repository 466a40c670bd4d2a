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

/* Of any length: all bytes of one that is not twice as long as what is compared at a time. */
static void a_text_is_known_by_its_bytes(void **unused)
{
	enum { LONGEST = 200 };
	struct python_state state;
	char text[LONGEST + 1];

	(void)unused;
	for (u32 length = 1; length <= LONGEST; length++) {
		make_function(&state, VERSIONS[length % COUNT_OF(VERSIONS)]);
		memset(text, 'a', length);
		text[length] = 0;
		make_text(length & 1 ? &name : &filename, &state, text);
		u64 first = identity(&state);
		for (u32 i = 0; i < length; i++) {
			bool is_between = i >= PYTHON_TEXT_PART && i + PYTHON_TEXT_PART < length;
			text[i] = 'b';
			make_text(length & 1 ? &name : &filename, &state, text);
			assert_true((identity(&state) != first) == !is_between);
			text[i] = 'a';
		}
	}
}

static void set_interned(const struct python_state *state, u64 hash)
{
	name.bytes[state->at.string_state] |= 2;
	put(&name, state->at.string_hash, hash);
}

static void an_interned_name_is_its_hash(void **unused)
{
	struct python_state state;

	(void)unused;
	make_function(&state, 0x030900f0);
	put(&name, state.at.string_hash, 5);
	u64 by_text = identity(&state);
	put(&name, state.at.string_hash, 6); /* somebody has looked it up */
	assert_true(identity(&state) == by_text);
	set_interned(&state, 6);
	u64 first = identity(&state);
	set_interned(&state, 7);
	assert_true(identity(&state) != first);
}

/* Memory whose constants are what they were when they were asked for the first time. */
struct keeping {
	struct mem mem;
	u64 addr[8];
	u8 bytes[8][24];
	u32 count;
};

static bool keeping_read(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	struct keeping *keeping = (struct keeping *)mem; /* made non-const by its owner */
	u32 i = 0;

	if (hold != MEM_CONSTANT)
		return mem_self.read(&mem_self, addr, dst, len, hold);
	assert_true(len <= sizeof keeping->bytes[0]);
	while (i < keeping->count && keeping->addr[i] != addr)
		i++;
	if (i == keeping->count) {
		assert_true(keeping->count < COUNT_OF(keeping->addr));
		keeping->addr[keeping->count++] = addr;
		memcpy(keeping->bytes[i], (const void *)(uintptr_t)addr, len);
	}
	memcpy(dst, keeping->bytes[i], len);
	return true;
}

static u64 kept_identity(struct keeping *keeping, const struct python_state *state)
{
	u64 owner = 0;

	assert_true(python_identity(&keeping->mem, state, address(&code), &owner));
	return owner;
}

/* Only what was interned when it was read is what it was. */
static void an_interned_name_is_read_once(void **unused)
{
	struct keeping keeping = { .mem.read = keeping_read }, other = keeping;
	struct python_state state;

	(void)unused;
	make_function(&state, 0x030900f0);
	state.interned = address(&type);
	set_interned(&state, 6);
	u64 first = kept_identity(&keeping, &state);
	set_interned(&state, 7);
	assert_true(kept_identity(&keeping, &state) == first);
	assert_int_equal(keeping.count, 1); /* and nothing else is */
	make_text(&name, &state, "work");
	first = kept_identity(&other, &state);
	make_text(&name, &state, "play");
	assert_true(kept_identity(&other, &state) != first);
	state.interned = 0;
	assert_true(kept_identity(&keeping, &state) != first);
	assert_int_equal(keeping.count, 1);
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
		cmocka_unit_test(a_text_is_known_by_its_bytes),
		cmocka_unit_test(an_interned_name_is_its_hash),
		cmocka_unit_test(an_interned_name_is_read_once),
		cmocka_unit_test(references_are_counted_twice_without_a_gil),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
