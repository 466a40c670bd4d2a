/* SPDX-License-Identifier: Apache-2.0
 * tape.c - recording, replaying and failing reads. */
#include "check.h"

#include "mem/self.h"
#include "mem/tape.h"

#include <string.h>

static const u64 words[4] = { 0x1111, 0x2222, 0x3333, 0x4444 };

static u64 at(u32 index)
{
	return (u64)(uintptr_t)&words[index];
}

static void record_words(struct tape *tape, u32 count)
{
	struct mem_record record;
	u64 word;

	mem_record_init(&record, &mem_self, tape);
	for (u32 i = 0; i < count; i++)
		assert_true(mem_read(&record.mem, at(i), &word, 8));
}

static void a_replay_answers_what_was_read_and_nothing_else(void **state)
{
	struct tape tape = { 0 };
	struct mem_replay replay;
	u64 word;
	u32 half;

	(void)state;
	record_words(&tape, 3);
	mem_replay_init(&replay, &tape);
	assert_true(mem_read(&replay.mem, at(1), &word, 8));
	assert_int_equal(word, 0x2222);
	assert_true(mem_peek(&replay.mem, at(2) + 4, &half, 4));
	assert_int_equal(half, 0);
	assert_false(mem_read(&replay.mem, at(3), &word, 8));
	assert_false(mem_read(&replay.mem, at(2) + 4, &word, 8));
	assert_int_equal(replay.missed, 2);
	tape_free(&tape);
}

static void the_nth_read_fails(void **state)
{
	struct tape tape = { 0 };
	struct mem_replay replay;

	(void)state;
	record_words(&tape, 4);
	mem_replay_init(&replay, &tape);
	for (u64 n = 0; n < 5; n++) {
		struct mem_faulty faulty;
		mem_faulty_init(&faulty, &replay.mem, n);
		for (u32 i = 0; i < 4; i++) {
			u64 word;
			assert_int_equal(mem_read(&faulty.mem, at(i), &word, 8), i != n);
		}
	}
	tape_free(&tape);
}

static void a_tape_survives_its_text(void **state)
{
	struct tape tape = { 0 }, again = { 0 };
	struct out out;

	(void)state;
	record_words(&tape, 4);
	out_open_memory(&out);
	tape_write(&tape, &out);
	for (size_t from = 0; from < out.used;) {
		const u8 *end = memchr(out.buffer + from, '\n', out.used - from);
		size_t length = (size_t)(end - (out.buffer + from));
		assert_true(tape_parse_line(&again, (const char *)out.buffer + from, length));
		from += length + 1;
	}
	assert_int_equal(again.reads.count, 4);
	assert_int_equal(again.reads.at[2].addr, at(2));
	assert_memory_equal(again.bytes.at, words, sizeof words);
	out_abandon(&out);
	tape_free(&tape);
	tape_free(&again);
}

static void bad_lines_are_refused(void **state)
{
	static const char *const lines[] = {
		"",
		"read",
		"read ",
		"read 12",
		"read 12 ",
		"read 12 0",
		"read 12 0g",
		"read g 00",
		"read 11112222333344445 00",
		"write 12 00",
		"READ 12 00",
	};
	struct tape tape = { 0 };

	(void)state;
	for (u32 i = 0; i < COUNT_OF(lines); i++)
		assert_false(tape_parse_line(&tape, lines[i], strlen(lines[i])));
	assert_int_equal(tape.reads.count, 0);
	tape_free(&tape);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_replay_answers_what_was_read_and_nothing_else),
		cmocka_unit_test(the_nth_read_fails),
		cmocka_unit_test(a_tape_survives_its_text),
		cmocka_unit_test(bad_lines_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
