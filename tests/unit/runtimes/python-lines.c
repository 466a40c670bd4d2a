/* SPDX-License-Identifier: Apache-2.0
 * python-lines.c - positions are those that each Python says, for every instruction.
 *
 * python-lines.txt was written by seven Pythons: version, name, first line, the table in hex, and for each
 * offset its line, end line, column and end column (co_positions(), co_lines(), PyCode_Addr2Line()). */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem/self.h"
#include "runtimes/python/lines.h"
#include "runtimes/python/versions.h"

struct bytes_object {
	u64 head[2], length;
	u8 room[4096];
};

static struct python_state state_of(u32 major, u32 minor)
{
	struct python_state state = { .version = major << 24 | minor << 16 | 0xf0 };

	if (!python_versions_find(&state)) {
		python_versions_facts(&state, false);
		state.at.bytes_length = 16;
		state.at.bytes_data = 32;
	}
	return state;
}

static void fill(struct bytes_object *object, const struct python_state *state, const char *hex)
{
	u8 *data = (u8 *)object + state->at.bytes_data;

	memset(object, 0, sizeof *object);
	for (; hex[0] && hex[1]; hex += 2) {
		unsigned byte;
		assert_int_equal(sscanf(hex, "%2x", &byte), 1);
		assert_true(object->length < sizeof object->room);
		data[object->length++] = (u8)byte;
	}
}

static u32 nearest, handlers; /* places without a line, but with one near; behind them */

/* The last one in front of some with a line belongs to these, from 3.11 on; any other to those in front of it. */
static void check_near(const struct python_state *state, const struct python_place *place,
		       u32 offset, u32 before, const char *next)
{
	bool has_locations = !(state->facts & (PYTHON_LINES_LNOTAB | PYTHON_LINES_PAIRS));
	u32 next_offset = 0, next_line = 0;

	if (place->line || !place->near)
		return;
	nearest++;
	if (has_locations && next)
		sscanf(next, "%u:%u", &next_offset, &next_line);
	if (next_line && next_offset == offset + 2) {
		handlers++;
		assert_int_equal(place->near, next_line);
	} else if (before) {
		assert_int_equal(place->near, before);
	}
}

static u32 check_line(char *line)
{
	static struct bytes_object object;
	const struct mem *mem = &mem_self;
	struct python_place place;
	u32 major, minor, first, count = 0, before = 0;
	char *rest = NULL, *name, *hex;

	char *version = strtok_r(line, " ", &rest);
	name = strtok_r(NULL, " ", &rest);
	assert_int_equal(sscanf(version, "%u.%u", &major, &minor), 2);
	first = (u32)atoi(strtok_r(NULL, " ", &rest));
	hex = rest[0] == ' ' ? "" : strtok_r(NULL, " ", &rest); /* an empty table */
	struct python_state state = state_of(major, minor);
	fill(&object, &state, hex);
	for (char *word; (word = strtok_r(NULL, " ,\n", &rest)); count++) {
		u32 offset, want[4];
		assert_int_equal(sscanf(word, "%u:%u:%u:%u:%u", &offset, &want[0], &want[1],
					&want[2], &want[3]),
				 5);
		assert_true(python_find_line(mem, &state, (u64)(uintptr_t)&object, first, offset,
					     &place));
		u32 got[4] = { place.line, place.end_line, place.column, place.end_column };
		if (memcmp(got, want, sizeof got) != 0)
			fail_msg("%s %s at %u: %u-%u:%u-%u, not %u-%u:%u-%u", version, name, offset,
				 got[0], got[1], got[2], got[3], want[0], want[1], want[2],
				 want[3]);
		check_near(&state, &place, offset, before, rest);
		before = want[0] ? want[0] : before;
	}
	return count;
}

static void each_position_is_what_python_says(void **state)
{
	(void)state;
	char path[512], *line = NULL;
	size_t room = 0;
	u32 count = 0;

	snprintf(path, sizeof path, "%s/unit/runtimes/python-lines.txt", getenv("SONDE_TESTS"));
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	while (getline(&line, &room, file) > 0)
		count += check_line(line);
	free(line);
	fclose(file);
	assert_true(count > 1000);
	assert_true(nearest > 20);
	assert_true(handlers > 5);
}

/* Whatever stands there: an answer or a refusal, in bounded time. */
static void any_bytes_end(void **state)
{
	(void)state;
	static struct bytes_object object;
	const struct mem *mem = &mem_self;
	struct python_place place;
	u32 seed = 1;

	for (u32 round = 0; round < 20000; round++) {
		struct python_state one = state_of(3, (u8)(6 + round % 8));
		object.length = round % 300;
		for (u32 i = 0; i < object.length + 40; i++)
			object.room[i] = (u8)((seed = seed * 1103515245 + 12345) >> 16);
		python_find_line(mem, &one, (u64)(uintptr_t)&object, round % 5, seed % 1000,
				 &place);
		assert_true(place.line <= INT32_MAX);
	}
	object.length = UINT64_MAX;
	struct python_state one = state_of(3, 11);
	assert_false(python_find_line(mem, &one, (u64)(uintptr_t)&object, 1, 0, &place));
	assert_false(python_find_line(mem, &one, 8, 1, 0, &place));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_position_is_what_python_says),
		cmocka_unit_test(any_bytes_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
