/* SPDX-License-Identifier: Apache-2.0
 * ruby-symbols.c - names of IDs, from both ways of keeping them. */
#include "runtimes/ruby/symbols.h"

#include "runtimes/ruby/versions.h"
#include "unit/memory.h"

enum {
	BASE = 0x100000,
	IDS = BASE, /* the word that leads there */
	OUTER = BASE + 0x100,
	INNER = BASE + 0x200, /* the second 512: the first has operators only */
	OPERATORS = BASE + 0x300,
	PLUS = BASE + 0x400,
	EACH = BASE + 0x500,
	OUTER_WORDS = BASE + 0x1000,
	INNER_WORDS = BASE + 0x2000,
	OPERATOR_WORDS = BASE + 0x5000,
	ROOM = 0x8000,
	EACH_SERIAL = 512 + 30,
};

struct world {
	struct memory memory;
	struct ruby_state ruby;
};

static void put_string(struct world *w, u64 at, const char *text)
{
	memory_put_u64(&w->memory, at, RUBY_T_STRING);
	memory_put_u64(&w->memory, at + RUBY_STRING_LENGTH, strlen(text));
	memory_put(&w->memory, at + w->ruby.at.string_embedded, text, (u32)strlen(text));
}

static void begin(struct world *w)
{
	memory_init(&w->memory, BASE, ROOM);
	w->ruby = (struct ruby_state){ .major = 4, .minor = 0, .ids = IDS };
	assert_int_equal(ruby_versions_find(&w->ruby), RUBY_MATCH_EXACT);
	put_string(w, PLUS, "+");
	put_string(w, EACH, "each");
	memory_put_u64(&w->memory, IDS, OUTER);
}

static void put_array(struct world *w, u64 at, u64 words, u64 length)
{
	memory_put_u64(&w->memory, at, RUBY_T_ARRAY);
	memory_put_u64(&w->memory, at + RUBY_ARRAY_LENGTH, length);
	memory_put_u64(&w->memory, at + RUBY_ARRAY_POINTER, words);
}

static void put_data(struct world *w, u64 at, u64 words)
{
	memory_put_u64(&w->memory, at, RUBY_T_DATA);
	memory_put_u64(&w->memory, at + RUBY_DATA_POINTER, words);
}

/* An Array of Arrays of {String, Symbol}. */
static void put_arrays(struct world *w)
{
	put_array(w, OUTER, OUTER_WORDS, 2);
	memory_put_u64(&w->memory, OUTER_WORDS, OPERATORS);
	memory_put_u64(&w->memory, OUTER_WORDS + 8, INNER);
	put_array(w, OPERATORS, OPERATOR_WORDS, 1024);
	put_array(w, INNER, INNER_WORDS, 2 * 31);
	memory_put_u64(&w->memory, OPERATOR_WORDS + '+' * 16, PLUS);
	memory_put_u64(&w->memory, INNER_WORDS + 30 * 16, EACH);
}

/* {capacity, lists} of {size, capacity, {Symbol, String}...}. */
static void put_lists(struct world *w)
{
	put_data(w, OUTER, OUTER_WORDS);
	memory_put_u64(&w->memory, OUTER_WORDS, 2);
	memory_put_u64(&w->memory, OUTER_WORDS + 8, OUTER_WORDS + 0x100);
	memory_put_u64(&w->memory, OUTER_WORDS + 0x100, OPERATORS);
	memory_put_u64(&w->memory, OUTER_WORDS + 0x108, INNER);
	put_data(w, OPERATORS, OPERATOR_WORDS);
	put_data(w, INNER, INNER_WORDS);
	memory_put_u64(&w->memory, OPERATOR_WORDS, 512);
	memory_put_u64(&w->memory, INNER_WORDS, 31);
	memory_put_u64(&w->memory, OPERATOR_WORDS + 16 + '+' * 16 + 8, PLUS);
	memory_put_u64(&w->memory, INNER_WORDS + 16 + 30 * 16 + 8, EACH);
}

static void expect(struct world *w, u64 id, const char *text)
{
	struct str name = { 0 };

	assert_int_equal(ruby_read_id(&w->memory.mem, &w->ruby, id, &name), text != NULL);
	if (text)
		assert_string_equal(name.text, text);
	str_free(&name);
}

static void check(void (*put)(struct world *w))
{
	struct world w;

	begin(&w);
	put(&w);
	assert_true(ruby_ids_hold(&w.memory.mem, &w.ruby, IDS));
	expect(&w, '+', "+");
	expect(&w, EACH_SERIAL << 4 | 1, "each");
	expect(&w, (EACH_SERIAL + 1) << 4, NULL); /* past the end of its list */
	expect(&w, 1024 << 4, NULL);              /* there is no such list */
	expect(&w, 0, NULL);
	w.memory.reads = 0;
	expect(&w, EACH_SERIAL << 4, "each");
	u32 all = w.memory.reads;
	for (w.memory.fail_at = 1; w.memory.fail_at <= all; w.memory.fail_at++) {
		struct str name = { 0 };
		w.memory.reads = 0;
		if (ruby_read_id(&w.memory.mem, &w.ruby, EACH_SERIAL << 4, &name))
			assert_string_equal(name.text, "each");
		str_free(&name);
	}
	w.memory.fail_at = 0;
	put_string(&w, PLUS, "-");
	assert_false(ruby_ids_hold(&w.memory.mem, &w.ruby, IDS));
	free(w.memory.bytes);
}

static void names_in_arrays(void **state)
{
	(void)state;
	check(put_arrays);
}

static void names_in_typed_data(void **state)
{
	(void)state;
	check(put_lists);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_in_arrays),
		cmocka_unit_test(names_in_typed_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
