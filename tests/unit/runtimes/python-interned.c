/* SPDX-License-Identifier: Apache-2.0
 * python-interned.c - the dict of interned strings, among other dicts that variables of a program lead to: this program's own,
 * seen from outside. */
#include "check.h"

#include "elf/image.h"
#include "runtimes/python/identity.h"
#include "runtimes/python/interned.h"
#include "runtimes/python/versions.h"
#include "target/loaded.h"
#include "target/target.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STRINGS = 300, SLOTS = 512, PYTHON_3_9 = 0x030902f0 };

/* As 3.9 has them. */
struct string {
	u64 references, type, length, hash;
	u32 state, behind;
	u64 text[3];
};

struct entry {
	u64 hash, key, value;
};

struct keys {
	u64 references, size, lookup, usable, used;
	u16 indices[SLOTS];
	struct entry entries[STRINGS];
};

struct dict {
	u64 references, type, used, version, keys, values;
};

struct heap {
	struct string strings[STRINGS], other;
	struct keys keys;
	struct dict dict, small;
	u64 type[16];
	char name[8];
};

/* Variables of this program. */
static struct heap *heap;
static u64 nothing, at_the_end, is_small, is_dict;

static u64 address(const volatile void *of)
{
	return (u64)(uintptr_t)of;
}

static void make_heap(const struct python_state *state)
{
	heap = mmap(NULL, sizeof *heap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(heap != MAP_FAILED);
	strcpy(heap->name, "dict");
	heap->type[(state->at.bytes_length + 8) / 8] = address(heap->name);
	heap->keys = (struct keys){ .references = 1, .size = SLOTS, .used = STRINGS };
	for (u32 i = 0; i < STRINGS; i++) {
		heap->strings[i] = (struct string){ .references = 2, .state = 1 };
		heap->keys.entries[i] = (struct entry){ i, address(&heap->strings[i]),
							address(&heap->strings[i]) };
	}
	heap->dict = (struct dict){ .references = 1,
				    .type = address(heap->type),
				    .used = STRINGS,
				    .version = 7,
				    .keys = address(&heap->keys) };
	heap->small = heap->dict;
	heap->small.used = 5;
	nothing = 0;
	at_the_end = (address(heap) + sizeof *heap + 4095) / 4096 * 4096 - 8;
	is_small = address(&heap->small);
	is_dict = address(&heap->dict);
}

/* Of the mapping that has this program's code. */
static u64 find(const struct python_state *state)
{
	struct target target;
	struct loaded place = { .target = &target, .mem = &target.mem.mem };
	struct err err = { 0 };

	assert_true(target_open(&target, (u32)getpid(), &err));
	const struct mapping *code = target_mapping_at(&target, address((void *)(uintptr_t)find));
	assert_non_null(code);
	struct image *image = target_open_image(&target, code, &err);
	assert_non_null(image);
	assert_true(target_load_bias(&target, code, image, &place.bias));
	place.image = image;
	u64 found = python_find_interned(&place, state);
	image_close(image);
	target_close(&target);
	return found;
}

static void state_of(struct python_state *state, u32 version)
{
	*state = (struct python_state){ .version = version };
	assert_true(python_versions_find(state));
}

static void the_one_of_interned_strings_is_found(void **unused)
{
	struct python_state state;

	(void)unused;
	state_of(&state, PYTHON_3_9);
	make_heap(&state);
	assert_true(find(&state) == is_dict);
	heap->strings[3].state = 0;
	assert_true(find(&state) == 0);
	heap->strings[3].state = 1;
	heap->keys.entries[4].value = address(&heap->other);
	assert_true(find(&state) == 0);
	heap->keys.entries[4].value = heap->keys.entries[4].key;
	strcpy(heap->name, "list");
	assert_true(find(&state) == 0);
	strcpy(heap->name, "dict");
	assert_true(find(&state) == is_dict);
	munmap(heap, sizeof *heap);
	assert_true(find(&state) == 0);
}

static void others_have_none(void **unused)
{
	struct python_state state;

	(void)unused;
	state_of(&state, PYTHON_3_9);
	make_heap(&state);
	state_of(&state, 0x020712f0);
	assert_true(find(&state) == 0);
	state_of(&state, 0x030c01f0);
	assert_true(find(&state) == 0);
	munmap(heap, sizeof *heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_one_of_interned_strings_is_found),
		cmocka_unit_test(others_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
