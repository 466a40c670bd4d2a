/* SPDX-License-Identifier: Apache-2.0
 * ruby-lines.c - the succinct table against counting, on tables built here. */
#include "runtimes/ruby/lines.h"

#include "base/rng.h"
#include "runtimes/ruby/versions.h"
#include "unit/memory.h"

enum {
	BASE = 0x100000,
	BODY = BASE,
	ENCODED = BASE + 0x1000,
	ENTRIES = BASE + 0x20000,
	SUCCINCT = BASE + 0x40000,
	ROOM = 0x60000,
	POSITIONS_MAX = 2200,
	FIRST_LINE = 77,
};

struct table {
	struct memory memory;
	struct ruby_state ruby;
	struct ruby_body body;
	bool begins[POSITIONS_MAX]; /* an entry begins at this position */
	u32 count;
};

/* Entry i stands for line 1000 + 3 * i. */
static u32 line_of(u32 entry)
{
	return 1000 + 3 * entry;
}

static u32 rank(const struct table *t, u32 position)
{
	u32 sum = 0;

	for (u32 i = 0; i <= position; i++)
		sum += t->begins[i];
	return sum;
}

/* As succ_index_table_create() lays it out. */
static void put_succinct(struct table *t)
{
	u64 word = 0;

	for (u32 p = 0; p < 54; p++) {
		word |= (u64)rank(t, p) << p % 9 * 7;
		if (p % 9 == 8) {
			memory_put_u64(&t->memory, SUCCINCT + p / 9 * 8, word);
			word = 0;
		}
	}
	for (u32 block = 0; 54 + block * 512 < t->body.size; block++) {
		u64 at = SUCCINCT + 48 + block * 80, ranks = 0;
		u32 first = 54 + block * 512, before = rank(t, first - 1);
		memory_put_u32(&t->memory, at, before);
		for (u32 part = 0; part < 8; part++) {
			u64 bits = 0;
			for (u32 i = 0; i < 64; i++)
				if (first + part * 64 + i < t->body.size)
					bits |= (u64)t->begins[first + part * 64 + i] << i;
			memory_put_u64(&t->memory, at + 16 + part * 8, bits);
			if (part && first + part * 64 - 1 < t->body.size)
				ranks |= (u64)(rank(t, first + part * 64 - 1) - before)
					 << (part - 1) * 9;
		}
		memory_put_u64(&t->memory, at + 8, ranks);
	}
}

static void build(struct table *t, u16 major, u16 minor, u32 size, const u32 *positions, u32 count)
{
	const struct ruby_layout *at = &t->ruby.at;

	memset(t, 0, sizeof *t);
	memory_init(&t->memory, BASE, ROOM);
	t->ruby.major = major;
	t->ruby.minor = minor;
	assert_int_equal(ruby_versions_find(&t->ruby), RUBY_MATCH_EXACT);
	t->body = (struct ruby_body){ .size = size, .encoded = ENCODED };
	t->count = count;
	for (u32 i = 0; i < count; i++) {
		t->begins[positions[i]] = true;
		memory_put_u32(&t->memory, ENTRIES + i * at->insn_size + at->insn_line, line_of(i));
		if (!at->body_succinct)
			memory_put_u32(&t->memory, ENTRIES + i * at->insn_size, positions[i]);
	}
	bool fixnum = t->ruby.facts & RUBY_LINE_IS_FIXNUM;
	memory_put_u64(&t->memory, BODY + RUBY_BODY_PATHOBJ + 24,
		       fixnum ? FIRST_LINE << 1 | 1 : FIRST_LINE);
	memory_put_u64(&t->memory, BODY + at->body_insns, ENTRIES);
	memory_put_u32(&t->memory, BODY + at->body_insns_size, count);
	if (at->body_succinct) {
		memory_put_u64(&t->memory, BODY + at->body_succinct, SUCCINCT);
		put_succinct(t);
	}
}

/* The line when the pc stands at word `position`. */
static u32 line_at(const struct table *t, u32 position)
{
	return ruby_read_line(&t->memory.mem, &t->ruby, BODY, &t->body, ENCODED + position * 8);
}

static void check_all(const struct table *t)
{
	assert_int_equal(line_at(t, 0), line_of(0));
	/* The pc is behind what runs. */
	for (u32 pc = 1; pc <= t->body.size; pc++)
		assert_int_equal(line_at(t, pc), line_of(rank(t, pc - 1) - 1));
	assert_int_equal(line_at(t, t->body.size + 1), 0);
}

static void every_position_of_random_tables(void **state)
{
	static const u16 versions[][2] = { { 2, 5 }, { 2, 6 }, { 3, 0 }, { 3, 1 },
					   { 3, 2 }, { 3, 4 }, { 4, 0 } };
	static const u32 sizes[] = { 2, 53, 54, 55, 118, 565, 566, 567, 1079, 2100 };
	struct rng rng = { 7 };

	(void)state;
	for (u32 v = 0; v < COUNT_OF(versions); v++)
		for (u32 s = 0; s < COUNT_OF(sizes); s++) {
			u32 positions[POSITIONS_MAX], count = 0;
			struct table t;
			for (u32 p = 0; p < sizes[s]; p++)
				if (p == 0 || rng_below(&rng, 4) == 0)
					positions[count++] = p;
			build(&t, versions[v][0], versions[v][1], sizes[s], positions, count);
			check_all(&t);
			free(t.memory.bytes);
		}
}

static void short_tables(void **state)
{
	struct table t;

	(void)state;
	build(&t, 3, 3, 40, (u32[]){ 0 }, 1);
	/* One entry: there is no bit vector to ask. */
	memory_put_u64(&t.memory, BODY + t.ruby.at.body_succinct, 0);
	assert_int_equal(line_at(&t, 0), line_of(0));
	assert_int_equal(line_at(&t, 40), line_of(0));
	memory_put_u32(&t.memory, BODY + t.ruby.at.body_insns_size, 0);
	assert_int_equal(line_at(&t, 10), 0);
	free(t.memory.bytes);
}

static void a_pc_that_is_none_has_no_line(void **state)
{
	struct table t;

	(void)state;
	build(&t, 3, 1, 40, (u32[]){ 0, 5 }, 2);
	/* NULL: not begun. */
	assert_int_equal(ruby_read_line(&t.memory.mem, &t.ruby, BODY, &t.body, 0), FIRST_LINE);
	assert_int_equal(ruby_read_line(&t.memory.mem, &t.ruby, BODY, &t.body, ENCODED + 3), 0);
	assert_int_equal(ruby_read_line(&t.memory.mem, &t.ruby, BODY, &t.body, ENCODED - 8), 0);
	assert_int_equal(ruby_read_line(&t.memory.mem, &t.ruby, BODY, &t.body, 0xfffffff8), 0);
	free(t.memory.bytes);
}

/* Ranks, sizes and pointers that a hostile process made up. */
static void nonsense_is_bounded(void **state)
{
	struct rng rng = { 11 };
	struct table t;

	(void)state;
	build(&t, 3, 4, 900, (u32[]){ 0, 5, 60, 700 }, 4);
	for (u32 i = 0; i < 5000; i++) {
		u64 at = rng_below(&rng, 2) ? (u64)BODY + rng_below(&rng, 300) :
					      SUCCINCT + rng_below(&rng, 300);
		memory_put_u64(&t.memory, at, rng_u64(&rng) >> rng_below(&rng, 64));
		assert_true(line_at(&t, (u32)rng_below(&rng, 901)) <= INT32_MAX);
	}
	free(t.memory.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_position_of_random_tables),
		cmocka_unit_test(short_tables),
		cmocka_unit_test(a_pc_that_is_none_has_no_line),
		cmocka_unit_test(nonsense_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
