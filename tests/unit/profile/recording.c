/* SPDX-License-Identifier: Apache-2.0
 * recording.c - what a recorder writes is what a reader reads, however the file ends. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "profile/load.h"
#include "profile/recorder.h"
#include "profile/recording.h"
#include "profile/recording_format.h"

enum { THREADS = 3, LOCATIONS = 40, SAMPLES = 5000 };

/* A profile that grows while it is recorded, and the file of it. */
struct world {
	struct profile profile;
	struct recorder *recorder;
	struct rng rng;
	char path[64];
	u64 weight, count; /* handed in */
	u32 unpaid[THREADS];
	u64 now_ns;
};

static void world_begin(struct world *w, u64 seed)
{
	*w = (struct world){ .rng = { seed }, .path = "/tmp/sonde-recording-XXXXXX" };
	int fd = mkstemp(w->path);
	assert_true(fd >= 0);
	close(fd);
	unlink(w->path);
	assert_true(profile_init(&w->profile));
	w->profile.hz = 99;
	w->profile.mode = "cpu";
	w->profile.title = "ruby \"a;b\" (pid 42)";
	w->profile.command = "sonde record -p 42";
	snprintf(w->profile.quality.engine, sizeof w->profile.quality.engine, "reader");
	w->recorder = recorder_open(w->path, NULL);
	assert_non_null(w->recorder);
	assert_true(recorder_begin(w->recorder, &w->profile, NULL));
	w->now_ns = clock_now_ns();
}

static u32 random_stack(struct world *w)
{
	struct names *names = &w->profile.names;
	u32 stack = 0, depth = 1 + rng_below(&w->rng, 8);

	for (u32 i = 0; i < depth; i++) {
		char name[32];
		snprintf(name, sizeof name, "m%u;\n\xff", (u32)rng_below(&w->rng, LOCATIONS));
		struct name_function function = { .name = names_text(names, name),
						  .path = names_text(names, "/app/x.rb"),
						  .language = names_text(names, "ruby"),
						  .first_line = 7 };
		struct name_location location = { .function = names_function(names, &function),
						  .line = rng_below(&w->rng, 3) };
		stack = names_stack(names, stack, names_location(names, &location));
	}
	return stack;
}

static u32 some_thread(struct world *w)
{
	u32 number = rng_below(&w->rng, THREADS);
	char name[16];

	snprintf(name, sizeof name, "t%u", number);
	u32 process = profile_process(&w->profile, 42, 99, "ruby");
	return profile_thread(&w->profile, process, 100 + number, number, name);
}

/* One sample more, and now and then what a thread used since its last share. */
static void sample_once(struct world *w)
{
	u32 thread = some_thread(w), stack = random_stack(w);
	bool unpaid = rng_below(&w->rng, 4) > 0;
	struct sample sample = { .time_ns = w->now_ns += 8000000 + rng_below(&w->rng, 4000000),
				 .weight = unpaid ? 0 : rng_below(&w->rng, 1000000),
				 .flags = unpaid ? SAMPLE_UNPAID : 0,
				 .more = rng_below(&w->rng, 10) ? 0 :
								  (u32)rng_below(&w->rng, 500) };

	profile_add_more(&w->profile,
			 profile_add(&w->profile, thread, stack, sample.weight, sample.flags),
			 sample.more);
	recorder_sample(w->recorder, thread, stack, &sample);
	w->weight += sample.weight;
	w->count += 1 + sample.more;
	w->profile.quality.samples++;
	if (rng_below(&w->rng, 10) == 0) {
		u64 share = rng_below(&w->rng, 100000000);
		if (profile_share(&w->profile, thread, share))
			w->weight += share;
		recorder_share(w->recorder, thread, share);
	}
	if (recorder_is_due(w->recorder, w->now_ns))
		recorder_write(w->recorder, w->now_ns);
}

static void share_all(struct world *w)
{
	for (u32 i = 0; i < w->profile.threads.count; i++) {
		if (profile_share(&w->profile, i, 12345))
			w->weight += 12345;
		recorder_share(w->recorder, i, 12345);
	}
}

static void world_end(struct world *w)
{
	profile_free(&w->profile);
	unlink(w->path);
}

static u64 file_size(const char *path)
{
	FILE *file = fopen(path, "rb");

	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	u64 size = (u64)ftell(file);
	fclose(file);
	return size;
}

static u8 *file_bytes(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");

	*size = file_size(path);
	u8 *bytes = malloc(*size + 1);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *size, file), *size);
	fclose(file);
	return bytes;
}

static const char *thread_name(const struct profile *p, u32 thread)
{
	return p->names.strings.at[p->threads.at[thread].name].text;
}

/* Entries by what they say: thread name, then the frames' names and lines. */
static u64 entry_hash(const struct profile *p, const struct profile_entry *entry)
{
	const char *thread = thread_name(p, entry->thread);
	u64 hash = table_hash(thread, strlen(thread));

	for (u32 s = entry->stack; s; s = p->names.stacks.at[s].outer) {
		const struct name_location *location =
			&p->names.locations.at[p->names.stacks.at[s].location];
		const struct name_function *function = &p->names.functions.at[location->function];
		const struct name_string *name = &p->names.strings.at[function->name];
		hash = hash * 31 + table_hash(name->text, name->length) + location->line;
	}
	return hash;
}

struct profile_sum {
	u64 count, stacks;
};

static struct profile_sum sum_of(const struct profile *p)
{
	struct profile_sum sum = { 0 };

	for (u32 i = 0; i < p->entries.count; i++) {
		sum.count += p->entries.at[i].count;
		sum.stacks += entry_hash(p, &p->entries.at[i]) * p->entries.at[i].count;
	}
	return sum;
}

/* Its size, and what is read back of it. */
static u64 close_and_load(struct world *w, struct profile *read)
{
	struct load_options options = { 0 };
	struct load_result result;
	u64 size;

	assert_true(recorder_close(w->recorder, &size, NULL));
	assert_true(profile_load(w->path, &options, read, &result, NULL));
	assert_string_equal(result.missing, "");
	return size;
}

static void a_recording_reads_back_as_the_profile(void **state)
{
	(void)state;
	struct profile read;
	struct world w;

	world_begin(&w, 1);
	for (u32 i = 0; i < SAMPLES; i++)
		sample_once(&w);
	share_all(&w);
	u64 size = close_and_load(&w, &read);
	assert_int_equal(size, file_size(w.path)); /* what was reserved was given back */
	struct profile_sum wrote = sum_of(&w.profile), got = sum_of(&read);
	assert_int_equal(got.count, w.count);
	assert_int_equal(got.stacks, wrote.stacks);
	assert_int_equal(profile_total_weight(&read), w.weight);
	assert_string_equal(read.title, w.profile.title);
	assert_string_equal(read.mode, "cpu");
	assert_int_equal(read.hz, 99);
	assert_int_equal(read.quality.samples, SAMPLES);
	assert_string_equal(read.quality.engine, "reader");
	profile_free(&read);
	world_end(&w);
}

/* A frame that was named later than its sample was written. */
static void a_location_can_be_replaced(void **state)
{
	(void)state;
	struct profile read;
	struct world w;

	world_begin(&w, 2);
	struct names *names = &w.profile.names;
	struct name_function unknown = { .name = names_text(names, "(unnamed)") };
	struct name_function known = { .name = names_text(names, "named_later") };
	struct name_location at = { .function = names_function(names, &unknown), .address = 1 };
	u32 promise = names_location(names, &at);
	u32 stack = names_stack(names, 0, promise), thread = some_thread(&w);
	struct sample sample = { .time_ns = w.now_ns + 1, .weight = 5 };
	profile_add(&w.profile, thread, stack, sample.weight, 0);
	recorder_sample(w.recorder, thread, stack, &sample);
	recorder_write(w.recorder, w.now_ns + 2);
	struct name_location then = { .function = names_function(names, &known), .line = 7 };
	names_replace(names, promise, names_location(names, &then));
	(void)close_and_load(&w, &read);
	assert_int_equal(read.entries.count, 1);
	const struct name_stack *found = &read.names.stacks.at[read.entries.at[0].stack];
	const struct name_location *location = &read.names.locations.at[found->location];
	u32 name = read.names.functions.at[location->function].name;
	assert_string_equal(read.names.strings.at[name].text, "named_later");
	assert_int_equal(location->line, 7);
	profile_free(&read);
	world_end(&w);
}

static void add_sample(void *arg, const struct recording_sample *sample)
{
	struct profile *profile = arg;

	profile_add(profile, sample->thread, sample->stack, sample->weight, sample->flags);
}

static void load_bytes(const u8 *bytes, size_t size, struct profile *profile,
		       struct recording_state *state)
{
	struct in in;

	assert_true(profile_init(profile));
	assert_true(in_open_memory(&in, bytes, size));
	assert_true(is_recording(&in));
	assert_true(recording_read(&in, profile, add_sample, profile, state, NULL));
	in_close(&in);
}

/* A prefix of the file has a prefix of the samples, and says so. */
static void cut_anywhere_it_reads_up_to_the_last_whole_block(void **state)
{
	(void)state;
	struct world w;
	u64 whole;
	size_t size;

	u32 samples = check_many(300);
	world_begin(&w, 2);
	for (u32 i = 0; i < samples; i++)
		sample_once(&w);
	assert_true(recorder_close(w.recorder, &whole, NULL));
	u8 *bytes = file_bytes(w.path, &size);
	u64 before = 0;
	for (size_t cut = 8; cut <= size; cut++) {
		struct recording_state ended;
		struct profile read;
		load_bytes(bytes, cut, &read, &ended);
		assert_true(ended.samples >= before);
		assert_int_equal(ended.ended, cut == size);
		assert_int_equal(ended.bad_samples, 0);
		assert_int_equal(profile_total_count(&read), ended.samples);
		before = ended.samples;
		profile_free(&read);
	}
	assert_int_equal(before, samples);
	free(bytes);
	world_end(&w);
}

/* A wrong byte costs its block, never the rest, and no sample gets a wrong name. */
static void damage_costs_what_it_hit(void **state)
{
	(void)state;
	struct world w;
	u64 whole;
	size_t size;

	world_begin(&w, 3);
	for (u32 i = 0; i < 300; i++)
		sample_once(&w);
	assert_true(recorder_close(w.recorder, &whole, NULL));
	u8 *bytes = file_bytes(w.path, &size);
	for (u32 i = 0; i < 2000; i++) {
		struct recording_state ended;
		struct profile read;
		size_t at = 8 + rng_below(&w.rng, (u32)size - 8);
		u8 flip = (u8)(1u << rng_below(&w.rng, 8));
		bytes[at] ^= flip;
		load_bytes(bytes, size, &read, &ended);
		assert_true(ended.damaged > 0 || ended.cut > 0);
		assert_true(ended.samples + ended.bad_samples <= 300);
		for (u32 n = 1; n < read.names.functions.count; n++) {
			u32 name = read.names.functions.at[n].name;
			assert_true(!name || read.names.strings.at[name].text[0] == 'm');
		}
		bytes[at] ^= flip;
		profile_free(&read);
	}
	free(bytes);
	world_end(&w);
}

/* At any instant, all but the last moment is in the file. */
static void the_file_is_never_far_behind(void **state)
{
	(void)state;
	struct world w;

	world_begin(&w, 4);
	for (u32 i = 1; i <= 2000; i++) {
		sample_once(&w);
		assert_true(recorder_samples(w.recorder) + 2 + i / 150 >= i);
	}
	recorder_abandon(w.recorder); /* as if it was killed: nothing more is written */
	struct load_options options = { 0 };
	struct load_result result;
	struct profile read;
	assert_true(profile_load(w.path, &options, &read, &result, NULL));
	assert_true(profile_total_count(&read) >= 1980);
	assert_non_null(strstr(result.missing, "killed"));
	profile_free(&read);
	world_end(&w);
}

/* An engine samples from the moment when it is opened; the recorder may begin a little later. */
static void samples_from_before_it_began_are_written_at_once(void **state)
{
	(void)state;
	struct world w;

	world_begin(&w, 6);
	w.now_ns -= 60000000; /* some samples old */
	for (u32 i = 1; i <= 20; i++) {
		sample_once(&w);
		assert_true(recorder_samples(w.recorder) + 1 >= i);
		assert_int_equal(access(w.path, F_OK), 0);
	}
	recorder_abandon(w.recorder);
	world_end(&w);
}

/* A filter leaves the names of what it kept: no exporter has those of the rest. */
static void a_part_has_no_names_of_the_rest(void **state)
{
	(void)state;
	struct load_options options = { .from_ns = 2000000000, .to_ns = 2500000000 };
	struct load_result result;
	struct profile all, part;
	struct world w;

	world_begin(&w, 6);
	for (u32 i = 0; i < SAMPLES; i++)
		sample_once(&w);
	share_all(&w);
	close_and_load(&w, &all);
	assert_true(profile_load(w.path, &options, &part, &result, NULL));
	assert_true(result.left_out > 0 && part.entries.count > 0);
	u64 frames = 1; /* the stacks that entries can reach */
	for (u32 i = 0; i < part.entries.count; i++)
		frames += part.names.stacks.at[part.entries.at[i].stack].depth;
	assert_true(part.names.stacks.count <= frames);
	assert_true(part.names.stacks.count < all.names.stacks.count / 10);
	assert_string_equal(part.title, all.title);
	assert_string_equal(part.mode, all.mode);
	profile_free(&all);
	profile_free(&part);
	world_end(&w);
}

static size_t put_uleb(u8 *bytes, size_t at, u64 value)
{
	for (; value > 127; value >>= 7)
		bytes[at++] = (u8)value | 128;
	bytes[at++] = (u8)value;
	return at;
}

/* A chunk of one section, whose one row has this number. */
static size_t a_row_of_number(u8 *bytes, u8 section, u64 number)
{
	struct recording_block block = { .magic = RECORDING_BLOCK_MAGIC,
					 .type = BLOCK_CHUNK,
					 .version = 1 };
	bool is_told = section == SECTION_PROCESSES; /* by its first column */
	u8 *payload = bytes + RECORDING_SIGNATURE_SIZE + sizeof block;
	size_t size = put_uleb(payload, 2, is_told ? 0 : number);

	payload[size++] = 1;
	payload[size++] = 0; /* the form of a column or the length of a string */
	if (section != SECTION_STRINGS)
		size = put_uleb(payload, size, is_told ? 2 * number : 0);
	payload[0] = section;
	payload[1] = (u8)(size - 2);
	block.stored = block.raw = (u32)size;
	block.checksum = recording_checksum(&block, payload);
	memcpy(bytes, RECORDING_SIGNATURE, RECORDING_SIGNATURE_SIZE);
	memcpy(bytes + RECORDING_SIGNATURE_SIZE, &block, sizeof block);
	return RECORDING_SIGNATURE_SIZE + sizeof block + size;
}

/* The numbers of a few bytes are no reason to make room for millions. */
static void a_row_far_above_those_seen_is_refused(void **state)
{
	static const u8 sections[] = { SECTION_STRINGS, SECTION_FUNCTIONS, SECTION_LOCATIONS,
				       SECTION_STACKS,  SECTION_LEAVES,    SECTION_PROCESSES };
	u8 bytes[64];

	(void)state;
	for (u32 i = 0; i < COUNT_OF(sections); i++) {
		for (u32 above = 0; above < 2; above++) {
			struct recording_state found;
			struct profile read;
			size_t size = a_row_of_number(bytes, sections[i],
						      RECORDING_GAP_MAX + above);
			load_bytes(bytes, size, &read, &found);
			assert_int_equal(found.chunks, 1);
			assert_int_equal(found.damaged > 0, above);
			profile_free(&read);
		}
	}
}

static void nothing_stands_there_before_the_first_sample(void **state)
{
	(void)state;
	struct world w;

	world_begin(&w, 5);
	assert_int_not_equal(access(w.path, F_OK), 0);
	recorder_write(w.recorder, clock_now_ns());
	assert_int_not_equal(access(w.path, F_OK), 0);
	recorder_abandon(w.recorder);
	assert_int_not_equal(access(w.path, F_OK), 0);
	world_end(&w);
}

static void other_files_are_refused_in_words(void **state)
{
	(void)state;
	static const struct {
		const char *bytes, *says;
	} cases[] = {
		{ "", "is empty" },
		{ "\x7f"
		  "ELF",
		  "is no profile" },
		{ "\x89sonde", "is no profile" },
	};
	char path[] = "/tmp/sonde-other-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	for (u32 i = 0; i < COUNT_OF(cases); i++) {
		struct load_options options = { 0 };
		struct load_result result;
		struct profile read;
		struct err err = { 0 };
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, cases[i].bytes, strlen(cases[i].bytes), 0),
				 strlen(cases[i].bytes));
		assert_false(profile_load(path, &options, &read, &result, &err));
		assert_non_null(strstr(err.text, cases[i].says));
		profile_free(&read);
	}
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recording_reads_back_as_the_profile),
		cmocka_unit_test(a_location_can_be_replaced),
		cmocka_unit_test(cut_anywhere_it_reads_up_to_the_last_whole_block),
		cmocka_unit_test(damage_costs_what_it_hit),
		cmocka_unit_test(the_file_is_never_far_behind),
		cmocka_unit_test(samples_from_before_it_began_are_written_at_once),
		cmocka_unit_test(a_part_has_no_names_of_the_rest),
		cmocka_unit_test(a_row_far_above_those_seen_is_refused),
		cmocka_unit_test(nothing_stands_there_before_the_first_sample),
		cmocka_unit_test(other_files_are_refused_in_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
