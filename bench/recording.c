/* SPDX-License-Identifier: Apache-2.0
 * recording.c - what a recording weighs and what reading it costs.
 *
 *	recording FILE [SAMPLES [STACKS [THREADS [HZ]]]]
 *
 * Writes a made-up recording, some stacks far more often than others as programs have it, 50 threads at
 * 99 Hz if not said otherwise, with deadlines as the reader has them, and reads it back.  Prints
 *	samples N stacks N bytes N per_sample_milli N write_ms N read_ms N peak_kb N */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/rng.h"
#include "profile/load.h"
#include "profile/recorder.h"

enum { FUNCTIONS = 5000, FANOUT = 6, SHARE_EVERY = 40 };

struct made {
	struct profile profile;
	struct rng rng;
	u32 *stacks;
	u32 stack_count, threads, hz;
};

static u32 random_location(struct made *made)
{
	struct names *names = &made->profile.names;
	char name[64], path[96];
	u32 number = (u32)rng_below(&made->rng, FUNCTIONS);

	snprintf(name, sizeof name, "Module%u#method_%u", number / 40, number);
	snprintf(path, sizeof path, "/usr/lib/ruby/gems/3.1.0/gems/gem-%u/lib/file_%u.rb",
		 number / 200, number / 20);
	struct name_function function = { .name = names_text(names, name),
					  .path = names_text(names, path),
					  .language = names_text(names, "ruby"),
					  .first_line = number % 20 * 30 + 1 };
	struct name_location location = { .function = names_function(names, &function) };
	location.line = function.first_line + (u32)rng_below(&made->rng, 8);
	return names_location(names, &location);
}

/* Each stack goes on from one of those before it, as calls do. */
static void make_stacks(struct made *made)
{
	for (u32 i = 0; i < made->stack_count; i++) {
		u32 outer = i ? made->stacks[rng_below(&made->rng, i)] : 0;
		for (u32 n = 1 + (u32)rng_below(&made->rng, FANOUT * 2); n > 0; n--)
			outer = names_stack(&made->profile.names, outer, random_location(made));
		made->stacks[i] = outer;
	}
}

/* Zipf: the nth stack comes about 1/n as often as the first. */
static u32 random_stack(struct made *made)
{
	double at = (double)(rng_u64(&made->rng) >> 11) / 9007199254740992.0;

	return made->stacks[(u32)(pow((double)made->stack_count, at) - 1)];
}

static bool record(struct made *made, const char *path, u64 samples, struct err *err)
{
	struct recorder *recorder = recorder_open(path, err);
	u64 now = clock_now_ns(), period = NS_PER_S / made->hz, size;

	if (!recorder || !recorder_begin(recorder, &made->profile, err))
		return false;
	for (u64 i = 0; i < samples;) {
		now += period / 2 + rng_below(&made->rng, period);
		for (u32 t = 0; t < made->threads && i < samples; t++, i++) {
			struct sample sample = { .time_ns = now + t * 5000,
						 .flags = SAMPLE_UNPAID };
			recorder_sample(recorder, t, random_stack(made), &sample);
			if (i / made->threads % SHARE_EVERY == 0)
				recorder_share(recorder, t, period * SHARE_EVERY - i % 1000);
		}
		if (recorder_is_due(recorder, now))
			recorder_write(recorder, now);
	}
	return recorder_close(recorder, &size, err);
}

static u64 number(int argc, char **argv, int at, u64 otherwise)
{
	return argc > at ? strtoull(argv[at], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	u64 samples = number(argc, argv, 2, 1000000);
	struct made made = { .rng = { 1 },
			     .stack_count = (u32)number(argc, argv, 3, 30000),
			     .threads = (u32)number(argc, argv, 4, 50),
			     .hz = (u32)number(argc, argv, 5, 99) };
	struct err err = { 0 };

	if (argc < 2 || !profile_init(&made.profile))
		return 2;
	made.profile.hz = made.hz;
	made.stacks = calloc(made.stack_count, sizeof *made.stacks);
	make_stacks(&made);
	u32 process = profile_process(&made.profile, 42, 1, "made");
	for (u32 i = 0; i < made.threads; i++)
		profile_thread(&made.profile, process, 100 + i, i, "worker");
	u64 begin = clock_now_ns();
	if (!record(&made, argv[1], samples, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	u64 wrote = clock_now_ns();
	u32 nodes = made.profile.names.stacks.count;
	profile_free(&made.profile);

	struct load_options options = { .timeline_cells = 4 << 20 };
	struct load_result result;
	struct profile read;
	struct stat file;
	struct rusage usage;
	u64 reading = clock_now_ns();
	if (!profile_load(argv[1], &options, &read, &result, &err) || stat(argv[1], &file) != 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	u64 done = clock_now_ns();
	getrusage(RUSAGE_SELF, &usage);
	printf("samples %llu nodes %u bytes %llu per_sample_milli %llu write_ms %llu read_ms %llu "
	       "peak_kb %ld\n",
	       (unsigned long long)profile_total_count(&read), nodes,
	       (unsigned long long)file.st_size, (unsigned long long)file.st_size * 1000 / samples,
	       (unsigned long long)(wrote - begin) / 1000000,
	       (unsigned long long)(done - reading) / 1000000, usage.ru_maxrss);
	profile_free(&read);
	free(made.stacks);
	return 0;
}
