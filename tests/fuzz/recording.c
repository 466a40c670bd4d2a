/* SPDX-License-Identifier: Apache-2.0
 * recording.c - fuzzing the reader of .sonde files: any bytes.
 *
 * A fuzzer does not find checksums, so those of what looks like a block are set right first.
 * Whatever the bytes were, each sample is of a thread and a stack that there are, and the sums agree; when locations
 * have been taken apart, too. */
#include "profile/load.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "profile/recording.h"
#include "profile/recording_format.h"

const char fuzz_name[] = "recording";

struct counting {
	struct profile *profile;
	u64 samples;
};

static void set_checksums(u8 *bytes, size_t size)
{
	for (size_t at = RECORDING_SIGNATURE_SIZE; at + sizeof(struct recording_block) <= size;) {
		struct recording_block block;

		memcpy(&block, bytes + at, sizeof block);
		if (block.stored > size - at - sizeof block)
			return;
		block.magic = RECORDING_BLOCK_MAGIC;
		block.checksum = recording_checksum(&block, bytes + at + sizeof block);
		memcpy(bytes + at, &block, sizeof block);
		at += sizeof block + block.stored;
	}
}

static void on_sample(void *arg, const struct recording_sample *sample)
{
	struct counting *counting = arg;

	counting->samples++;
	if (sample->thread >= counting->profile->threads.count ||
	    sample->stack >= counting->profile->names.stacks.count)
		abort();
	profile_add(counting->profile, sample->thread, sample->stack, sample->weight, 0);
}

static void take_apart(struct profile *profile)
{
	u64 weight = profile_total_weight(profile);

	profile_take_apart(profile);
	if (profile_total_weight(profile) != weight)
		abort();
	for (u32 i = 0; i < profile->entries.count; i++)
		if (profile->entries.at[i].stack >= profile->names.stacks.count)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct recording_state state;
	struct profile profile;
	struct in in;
	u8 *bytes = malloc(size + 1);

	if (!bytes)
		return 0;
	memcpy(bytes, data, size);
	set_checksums(bytes, size);
	if (profile_init(&profile) && in_open_memory(&in, bytes, size)) {
		struct counting counting = { &profile, 0 };
		if (is_recording(&in)) {
			recording_read(&in, &profile, on_sample, &counting, &state, NULL);
			if (counting.samples != state.samples)
				abort();
			take_apart(&profile);
		}
		in_close(&in);
	}
	profile_free(&profile);
	free(bytes);
	return 0;
}
