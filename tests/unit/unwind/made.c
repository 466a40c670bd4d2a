/* SPDX-License-Identifier: Apache-2.0
 * made.c - steps out of code that was made at run time, by what its maker keeps: words, frames. */
#include "check.h"

#include "unwind/arch.h"
#include "unwind/made.h"

#include <string.h>

/* A library whose function calls by a pointer, code that was made at run time and does, too, and a stack. */
enum {
	LIBRARY = 0x10000,
	MADE = 0x20000,
	STACK = 0x30000,
	BYTES = 0x1000,
	BEHIND_CALL = 0x10, /* in both */
	FAR = 24,           /* words: more than are searched */
};

struct world {
	struct mem mem;
	struct target target;
	struct unwind_file file;
	struct unwind_range ranges[2];
	struct unwind_space space;
	u64 words[BYTES / 8];
};

static bool world_read(const struct mem *mem, u64 addr, void *dst, u32 len, enum mem_hold hold)
{
	const struct world *world = (const struct world *)mem;
	u8 code[BYTES] = { 0 };

	(void)hold;
	code[BEHIND_CALL - 2] = 0xff; /* call *%rax */
	code[BEHIND_CALL - 1] = 0xd0;
	if (addr >= STACK && addr + len <= STACK + BYTES) {
		memcpy(dst, (const u8 *)world->words + (addr - STACK), len);
		return true;
	}
	if (addr < LIBRARY || addr + len > MADE + BYTES || (addr & 0xffff) + len > BYTES)
		return false;
	memcpy(dst, code + (addr & 0xffff), len);
	return true;
}

static struct world *set_up(enum made_way way)
{
	static struct world world;

	world = (struct world){ .mem.read = world_read, .file.table.words = (void *)1 };
	world.target.mem.mem.read = world_read;
	world.ranges[0] = (struct unwind_range){ .start = LIBRARY,
						 .end = LIBRARY + BYTES,
						 .file = &world.file };
	world.ranges[1] = (struct unwind_range){ .start = MADE, .end = MADE + BYTES };
	world.space.target = &world.target;
	world.space.is_filled = true;
	world.space.made_way = way;
	world.space.ranges.at = world.ranges;
	world.space.ranges.count = COUNT_OF(world.ranges);
	return &world;
}

/* What a C function that the code has called returns to, its own frame given back. */
static struct unwind_walk in_made_code(u64 fp)
{
	struct unwind_walk walk = { .pc = MADE + BEHIND_CALL, .sp = STACK, .is_return = true };

	walk.known = 1u << UNWIND_FP;
	walk.value[UNWIND_FP] = fp;
	return walk;
}

static void words_are_found_near_the_top(void **state)
{
	struct world *world = set_up(MADE_BY_WORDS);
	struct unwind_walk walk = in_made_code(0);

	(void)state;
	world->words[3] = MADE + BEHIND_CALL; /* the code's own calls are left with it */
	world->words[5] = LIBRARY + 1;        /* behind no call */
	world->words[7] = LIBRARY + BEHIND_CALL;
	assert_int_equal(unwind_made_step(&world->space, &world->mem, &walk), UNWIND_MORE);
	assert_int_equal(walk.pc, LIBRARY + BEHIND_CALL);
	assert_int_equal(walk.sp, STACK + 8 * 8);
}

static void behind_them_a_frame_leads_on(void **state)
{
	struct world *world = set_up(MADE_BY_WORDS);
	struct unwind_walk walk = in_made_code(STACK + 8 * FAR);
	u64 fp;

	(void)state;
	world->words[FAR] = STACK + 8 * (FAR + 10);
	world->words[FAR + 1] = MADE + BEHIND_CALL;
	assert_int_equal(unwind_made_step(&world->space, &world->mem, &walk), UNWIND_MORE);
	assert_int_equal(walk.pc, MADE + BEHIND_CALL);
	assert_int_equal(walk.sp, STACK + 8 * (FAR + 2));
	assert_true(unwind_register(&world->mem, &walk, UNWIND_FP, &fp));
	assert_int_equal(fp, STACK + 8 * (FAR + 10));
}

static void what_is_no_frame_is_none(void **state)
{
	static const struct {
		const char *what;
		u64 fp, way_back;
	} rows[] = {
		{ "below the stack pointer", STACK - 8, LIBRARY + BEHIND_CALL },
		{ "not of whole words", STACK + 8 * FAR + 4, LIBRARY + BEHIND_CALL },
		{ "behind no call", STACK + 8 * FAR, LIBRARY + 1 },
		{ "no code", STACK + 8 * FAR, STACK + BEHIND_CALL },
		{ "off the stack", STACK + BYTES, LIBRARY + BEHIND_CALL },
	};

	(void)state;
	for (u32 i = 0; i < COUNT_OF(rows); i++) {
		struct world *world = set_up(MADE_BY_WORDS);
		struct unwind_walk walk = in_made_code(rows[i].fp);
		world->words[FAR + 1] = rows[i].way_back;
		if (unwind_made_step(&world->space, &world->mem, &walk) != UNWIND_NO_RULE)
			fail_msg("%s", rows[i].what);
	}
}

static void where_frames_are_kept_words_are_passed_over(void **state)
{
	struct world *world = set_up(MADE_BY_FRAMES);
	struct unwind_walk walk = in_made_code(STACK + 8 * 9);

	(void)state;
	world->words[7] = LIBRARY + BEHIND_CALL;
	world->words[10] = MADE + BEHIND_CALL;
	assert_int_equal(unwind_made_step(&world->space, &world->mem, &walk), UNWIND_MORE);
	assert_int_equal(walk.pc, MADE + BEHIND_CALL);
	assert_int_equal(walk.sp, STACK + 8 * 11);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_found_near_the_top),
		cmocka_unit_test(behind_them_a_frame_leads_on),
		cmocka_unit_test(what_is_no_frame_is_none),
		cmocka_unit_test(where_frames_are_kept_words_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
