/* SPDX-License-Identifier: Apache-2.0
 * notes.c - USDT notes: those of another kind are passed by, those that are cut end it. */
#include "events/notes.h"

#include <string.h>

#include "check.h"

struct note {
	u32 name_size, size, type;
	char name[8];
	u64 pc, base, semaphore;
	char text[20];
} __attribute__((packed));

static struct note make(u32 type, const char *provider, const char *name)
{
	struct note note = { 8, 24 + 20, type, "stapsdt", 0x1234, 0x2000, 0x3000, "" };
	size_t length = strlen(provider) + 1;

	memcpy(note.text, provider, length);
	if (length < sizeof note.text)
		memcpy(note.text + length, name, strlen(name) + 1);
	return note;
}

static void probes_have_their_names(void **state)
{
	struct note notes[2] = { make(3, "ruby", "gc"), make(3, "python", "line") };
	u8 bytes[2 * sizeof(struct note)];
	struct note_probe probe;
	size_t at = 0, size = 0;
	(void)state;

	for (u32 i = 0; i < 2; i++) {
		memcpy(bytes + size, &notes[i], sizeof notes[i]);
		size += sizeof notes[i];
	}
	assert_true(notes_next(bytes, size, &at, &probe));
	assert_string_equal(probe.provider, "ruby");
	assert_string_equal(probe.name, "gc");
	assert_true(probe.pc == 0x1234 && probe.base == 0x2000 && probe.semaphore == 0x3000);
	assert_true(notes_next(bytes, size, &at, &probe));
	assert_string_equal(probe.name, "line");
	assert_false(notes_next(bytes, size, &at, &probe));
}

static void what_is_no_probe_is_passed_by(void **state)
{
	struct note note = make(1, "ruby", "gc");
	struct note_probe probe;
	size_t at = 0;
	(void)state;

	assert_true(notes_next((const u8 *)&note, sizeof note, &at, &probe));
	assert_null(probe.name);
	note = make(3, "ruby", "gc");
	note.text[19] = 'x'; /* the last text does not end */
	at = 0;
	assert_true(notes_next((const u8 *)&note, sizeof note, &at, &probe));
	assert_null(probe.name);
	note = make(3, "nineteen_characters", ""); /* a provider, and no more */
	at = 0;
	assert_true(notes_next((const u8 *)&note, sizeof note, &at, &probe));
	assert_null(probe.provider);
	assert_null(probe.name);
}

static void cut_notes_end_it(void **state)
{
	struct note note = make(3, "ruby", "gc");
	struct note_probe probe;
	(void)state;

	for (size_t size = 0; size < sizeof note; size++) {
		size_t at = 0;
		assert_false(notes_next((const u8 *)&note, size, &at, &probe));
	}
	note.size = UINT32_MAX;
	size_t at = 0;
	assert_false(notes_next((const u8 *)&note, sizeof note, &at, &probe));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probes_have_their_names),
		cmocka_unit_test(what_is_no_probe_is_passed_by),
		cmocka_unit_test(cut_notes_end_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
