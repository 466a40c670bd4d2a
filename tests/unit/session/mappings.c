/* SPDX-License-Identifier: Apache-2.0
 * mappings.c - what is mapped is in the profile: from the start, loaded later, and put in another's place. */
#include "check.h"

#include "session/mappings.h"

#include "elf/elf_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static char path[64];

static void write_library(u8 first_of_id)
{
	struct elf_file file = elf_make();
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);

	file.note.id[0] = first_of_id;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, &file, sizeof file), sizeof file);
	close(fd);
}

/* This process with the library mapped, as a new one in the profile. Its row. */
static const struct profile_mapping *add(struct mappings *mappings, struct profile *profile,
					 u32 process)
{
	struct target target;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	assert_true(at != MAP_FAILED);
	target_init(&target, 0);
	assert_true(target_open(&target, (u32)getpid(), NULL));
	mappings_add_process(mappings, profile, &target, process);
	target_close(&target);
	munmap(at, 4096);
	close(fd);
	for (u32 i = profile->mappings.count; i-- > 0;)
		if (profile->mappings.at[i].start == (u64)(uintptr_t)at)
			return &profile->mappings.at[i];
	return NULL;
}

static const char *text(const struct profile *profile, u32 string)
{
	return profile->names.strings.at[string].text;
}

static void a_replaced_file_has_its_own_build_id(void **state)
{
	struct profile profile;
	struct mappings mappings = { 0 };
	(void)state;

	assert_true(profile_init(&profile));
	snprintf(path, sizeof path, "/tmp/sonde-mappings-%d", (int)getpid());
	write_library(0x11);
	const struct profile_mapping *row = add(&mappings, &profile, 0);
	assert_non_null(row);
	assert_memory_equal(text(&profile, row->build_id), "11a1a2", 6);
	unlink(path);
	write_library(0x22);
	row = add(&mappings, &profile, 1);
	assert_non_null(row);
	assert_memory_equal(text(&profile, row->build_id), "22a1a2", 6);
	assert_string_equal(text(&profile, row->path), path);
	write_library(0x33); /* the same inode */
	row = add(&mappings, &profile, 2);
	assert_non_null(row);
	assert_memory_equal(text(&profile, row->build_id), "33a1a2", 6);
	unlink(path);
	mappings_free(&mappings);
	profile_free(&profile);
}

static struct image *library;

static const struct image *image_of(const struct sample_source *source, u64 owner)
{
	(void)source;
	return owner == 7 ? library : NULL;
}

static bool mapped_at(const struct sample_source *source, u64 owner, u32 index,
		      struct engine_mapping *out)
{
	(void)source;
	*out = (struct engine_mapping){ 0x7f0000 + index * 0x1000, 0x7f1000 + index * 0x1000,
					index * 0x1000 };
	return owner == 7 && index < 2;
}

static void a_library_is_there_when_a_frame_is_in_it(void **state)
{
	struct profile profile;
	struct mappings mappings = { 0 };
	struct sample_source source = { .image_of = image_of, .mapped_at = mapped_at };
	struct sample *sample = calloc(1, sizeof *sample + 3 * sizeof sample->frames[0]);
	struct elf_file file = elf_make();
	(void)state;

	assert_true(profile_init(&profile));
	assert_non_null(sample);
	library = elf_open(&file, NULL);
	assert_non_null(library);
	sample->depth = 3;
	sample->frames[0] = (struct frame){ .kind = FRAME_NATIVE, .owner = 7 };
	sample->frames[1] = (struct frame){ .kind = FRAME_NATIVE, .owner = 8 }; /* not readable */
	sample->frames[2] = (struct frame){ .kind = FRAME_NATIVE };
	mappings_add_sample(&mappings, &profile, sample, &source, 0);
	mappings_add_sample(&mappings, &profile, sample, &source, 0);
	assert_int_equal(profile.mappings.count, 2);
	assert_int_equal(profile.mappings.at[1].start, 0x7f1000);
	assert_int_equal(profile.mappings.at[1].offset, 0x1000);
	assert_string_equal(text(&profile, profile.mappings.at[0].path), image_name(library));
	assert_memory_equal(text(&profile, profile.mappings.at[0].build_id), "a0a1a2", 6);
	mappings_add_sample(&mappings, &profile, sample, &source, 1);
	assert_int_equal(profile.mappings.count, 4);
	image_close(library);
	mappings_free(&mappings);
	profile_free(&profile);
	free(sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_replaced_file_has_its_own_build_id),
		cmocka_unit_test(a_library_is_there_when_a_frame_is_in_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
