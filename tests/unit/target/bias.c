/* SPDX-License-Identifier: Apache-2.0
 * bias.c - load biases, against what the dynamic linker says of the same images.
 *
 * A forked child has its parent's mappings, so dl_iterate_phdr() here knows the
 * truth about the target there. */
#include "target/target.h"

#include <link.h>
#include <string.h>

#include "child.h"
#include "elf/image.h"

struct check {
	struct target target;
	u32 images, mappings;
};

/* The mapping that holds a linked address of the image under the linker's bias. */
static int check_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct check *check = arg;
	const struct target *target = &check->target;
	const struct mapping *first = target_mapping_at(target, info->dlpi_addr +
									info->dlpi_phdr[0].p_vaddr);
	struct err err = { 0 };

	(void)size;
	if (!first)
		return 0;
	struct image *image = target_open_image(target, first, &err);
	if (!image)
		fail_msg("%s: %s", info->dlpi_name, err.text);
	check->images++;
	for (u32 i = 0; i < target->maps.all.count; i++) {
		const struct mapping *mapping = &target->maps.all.at[i];
		u64 bias = 1;
		if (mapping->inode != first->inode || mapping->device != first->device ||
		    strcmp(mapping_path(target, mapping), mapping_path(target, first)) != 0)
			continue;
		assert_true(target_load_bias(target, mapping, image, &bias));
		assert_true(bias == info->dlpi_addr);
		check->mappings++;
		bias = 1;
		if (!mapping->executable)
			continue;
		assert_true(target_former_bias(mapping, image, &bias));
		assert_true(bias == info->dlpi_addr);
	}
	image_close(image);
	return 0;
}

static void every_mapping_gives_the_linkers_bias(void **state)
{
	struct child child;
	struct check check = { 0 };
	(void)state;

	child_start(&child, child_idle);
	child_hear(&child);
	assert_true(target_open(&check.target, (u32)child.pid, NULL));
	dl_iterate_phdr(check_object, &check);
	assert_true(check.images >= 4); /* this program, libc, ld.so, the vDSO */
	assert_true(check.mappings > 2 * check.images);
	target_close(&check.target);
	child_end(&child);
}

static void another_files_mapping_has_no_bias(void **state)
{
	struct child child;
	struct target target;
	u64 bias;
	(void)state;

	child_start(&child, child_idle);
	child_hear(&child);
	assert_true(target_open(&target, (u32)child.pid, NULL));
	const struct mapping *ours = target_mapping_at(&target, (u64)(uintptr_t)&check_object);
	struct image *image = target_open_image(&target, ours, NULL);
	assert_non_null(image);
	for (u32 i = 0; i < target.maps.all.count; i++) {
		const struct mapping *other = &target.maps.all.at[i];
		if (other->inode != ours->inode || other->device != ours->device)
			assert_false(target_load_bias(&target, other, image, &bias) ||
				     target_former_bias(other, image, &bias));
	}
	struct mapping beyond = *ours;
	beyond.offset = UINT64_C(1) << 40;
	assert_false(target_load_bias(&target, &beyond, image, &bias));
	assert_false(target_former_bias(&beyond, image, &bias));
	image_close(image);
	target_close(&target);
	child_end(&child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_mapping_gives_the_linkers_bias),
		cmocka_unit_test(another_files_mapping_has_no_bias),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
