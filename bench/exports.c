/* SPDX-License-Identifier: Apache-2.0
 * exports.c - what it costs to write a large profile in every format.
 *
 *	build/bench/exports [SAMPLES [FORMAT]]
 *
 * The profile is made up and the same each time: 1,000,000 samples of 8 threads at 1 kHz, 30,000
 * distinct stacks of about 42 frames, 180,000 nodes, 7,000 lines, every sample with its time.
 * Each format is written in a process of its own, which prints
 *
 *	wall and CPU seconds, bytes, and the most memory: of the process, and above the profile's */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/rng.h"
#include "export/exporter.h"

enum { THREADS = 8, STACKS = 30000, LOCATIONS = 7347, FUNCTIONS = 2500, SHARED = 36, OWN = 6 };

static u32 at_most(struct rng *rng, u32 limit)
{
	return (u32)rng_below(rng, limit);
}

static void make_code(struct names *names, u32 *locations, struct rng *rng)
{
	for (u32 i = 0; i < LOCATIONS; i++) {
		char name[64], path[128];
		u32 function = i < FUNCTIONS ? i : at_most(rng, FUNCTIONS);
		snprintf(name, sizeof name, "Some::Module%u#method_%u", function % 97, function);
		snprintf(path, sizeof path,
			 "/usr/lib/ruby/gems/3.4.0/gems/some_gem-%u.2.1/lib/some_gem/file_%u.rb",
			 function % 31, function % 400);
		struct name_function f = { .name = names_text(names, name),
					   .path = names_text(names, path),
					   .language = names_text(names, "ruby"),
					   .first_line = function % 500 + 1 };
		struct name_location l = { .function = names_function(names, &f),
					   .line = f.first_line + i / FUNCTIONS };
		locations[i] = names_location(names, &l);
	}
}

/* Each stack leaves an earlier one near its end, as those of a real program do. */
static void make_stacks(struct names *names, const u32 *locations, u32 *stacks, struct rng *rng)
{
	for (u32 i = 0; i < STACKS; i++) {
		u32 stack = i ? stacks[at_most(rng, i)] : 0;
		while (names->stacks.at[stack].depth > SHARED + at_most(rng, 4))
			stack = names->stacks.at[stack].outer;
		u32 more = i ? OWN : SHARED + OWN;
		for (u32 k = 0; k < more; k++)
			stack = names_stack(names, stack, locations[at_most(rng, LOCATIONS)]);
		stacks[i] = stack;
	}
}

static void fill(struct profile *profile, u32 samples)
{
	static u32 locations[LOCATIONS], stacks[STACKS], threads[THREADS];
	struct rng rng = { .state = 1 };

	if (!profile_init(profile))
		exit(2);
	profile->timeline.cells_most = 4 << 20;
	make_code(&profile->names, locations, &rng);
	make_stacks(&profile->names, locations, stacks, &rng);
	u32 process = profile_process(profile, 4242, 1, "ruby");
	for (u32 i = 0; i < THREADS; i++) {
		char name[16];
		snprintf(name, sizeof name, "worker-%u", i);
		threads[i] = profile_thread(profile, process, 4242 + i, i, name);
	}
	for (u32 i = 0; i < samples; i++) {
		/* Some stacks are much more frequent than others. */
		u32 stack = at_most(&rng, at_most(&rng, STACKS) + 1);
		u32 entry = profile_add(profile, threads[stack % THREADS], stacks[stack], NS_PER_MS,
					0);
		timeline_add(&profile->timeline, (u64)i * NS_PER_MS / THREADS, entry);
	}
	timeline_settle(&profile->timeline);
	profile->hz = 1000;
	profile->start_unix_ns = UINT64_C(1790000000) * NS_PER_S;
	profile->duration_ns = (u64)samples * NS_PER_MS / THREADS;
	profile->title = "ruby app.rb (pid 4242)";
	profile->command = "sonde record -p 4242";
	profile->quality = (struct quality){
		.expected = samples, .taken = samples, .samples = samples, .engine = "made up"
	};
}

static long peak_kb(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return usage.ru_maxrss;
}

static int write_one(const struct profile *profile, const struct exporter *exporter)
{
	const char *directory = getenv("TMPDIR");
	char path[256];
	struct out out;
	struct err err = { 0 };
	long before = peak_kb(RUSAGE_SELF);
	u64 wall = clock_now_ns(), cpu = clock_own_cpu_ns();

	snprintf(path, sizeof path, "%s/sonde-bench-%d%s", directory ? directory : "/tmp",
		 (int)getpid(), exporter->extension);
	if (!out_open_file(&out, path, &err))
		return 1;
	exporter->write(profile, &(struct export_options){ 0 }, &out);
	u64 size = out.written;
	if (!out_close(&out, &err))
		return 1;
	wall = clock_now_ns() - wall;
	cpu = clock_own_cpu_ns() - cpu;
	printf("%-12s %8.2f %8.2f %12llu %10ld %10ld\n", exporter->name, (double)wall / 1e9,
	       (double)cpu / 1e9, (unsigned long long)size, peak_kb(RUSAGE_SELF) / 1024,
	       (peak_kb(RUSAGE_SELF) - before) / 1024);
	if (!getenv("KEEP"))
		unlink(path);
	return 0;
}

int main(int argc, char **argv)
{
	u32 samples = argc > 1 ? (u32)atoi(argv[1]) : 1000000;
	static struct profile profile;
	int failed = 0;

	fill(&profile, samples);
	printf("%u samples, %u entries, %u nodes, %u lines, %u cells of %.1f ms\n", samples,
	       profile.entries.count, profile.names.stacks.count - 1,
	       profile.names.locations.count - 1, profile.timeline.cells.count,
	       (double)profile.timeline.slot_ns / 1e6);
	printf("%-12s %8s %8s %12s %10s %10s\n", "format", "wall s", "CPU s", "bytes", "peak MB",
	       "above MB");
	for (u32 i = 0; i < exporter_count; i++) {
		int status = 0;
		if (argc > 2 && strcmp(argv[2], exporters[i]->name) != 0)
			continue;
		fflush(stdout);
		pid_t child = fork();
		if (!child) {
			int code = write_one(&profile, exporters[i]);
			fflush(stdout);
			_exit(code);
		}
		waitpid(child, &status, 0);
		failed |= status;
	}
	profile_free(&profile);
	return failed != 0;
}
