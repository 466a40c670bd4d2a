/* SPDX-License-Identifier: Apache-2.0
 * make_big_page.c - a profile as large as they come, made up, as an exported file:
 *
 *	make-big-page FILE.html [time] [source]
 *
 * 1,000,000 samples of 8 threads in 125 s, 30,000 stacks, about 180,000 nodes; the same bytes
 * each time.  How often a stack is seen falls as 1/rank.  When it is seen is drawn anew for each
 * sample: nothing repeats, which is the worst that can be compressed. */
#include "base/rng.h"
#include "export/built.h"
#include "export/exporter.h"

enum {
	SAMPLES = 1000 * 1000,
	STACKS = 30000,
	THREADS = 8,
	PACKAGES = 60,
	FUNCTIONS = 3600,
	DEEPEST = 160,
	PERIOD_NS = 1000 * 1000,
};

struct making {
	struct rng rng;
	struct profile profile;
	u32 functions[FUNCTIONS], first_line[FUNCTIONS];
	u32 stacks[STACKS];
	double until[STACKS]; /* sums of 1/rank */
};

static const char *const words[] = { "user",   "order",  "render", "query", "cache", "index",
				     "parse",  "route",  "token",  "batch", "event", "queue",
				     "schema", "record", "filter", "merge", "fetch", "encode" };

static const char *word(struct rng *rng)
{
	return words[rng_below(rng, COUNT_OF(words))];
}

/* The file of a function in a package: gems, then site-packages, then images. */
static void fill_function(struct making *m, u32 package, struct name_function *function)
{
	struct names *names = &m->profile.names;
	struct rng one = { package }; /* the package's own name */
	const char *kind = word(&one), *thing = word(&one);
	char name[128], path[256];
	u32 file = (u32)rng_below(&m->rng, 9);

	if (package < 30) {
		snprintf(name, sizeof name, "%s::%s#%s_%s", kind, thing, word(&m->rng),
			 word(&m->rng));
		snprintf(path, sizeof path,
			 "/usr/local/bundle/ruby/3.4.0/gems/%s_%s-%u.%u.1/lib/%s/%s_%u.rb", kind,
			 thing, package % 7, package % 5, kind, thing, file);
		function->language = names_text(names, "ruby");
	} else if (package < 45) {
		snprintf(name, sizeof name, "%s_%s.%s", kind, thing, word(&m->rng));
		snprintf(path, sizeof path,
			 "/srv/app/venv/lib/python3.13/site-packages/%s%s/core/%s_%u.py", kind,
			 thing, thing, file);
		function->language = names_text(names, "python");
	} else {
		snprintf(name, sizeof name, "%s_%s_%s_%u", kind, word(&m->rng), word(&m->rng),
			 file);
		snprintf(path, sizeof path, "/usr/lib/x86_64-linux-gnu/lib%s%s.so.%u", kind, thing,
			 package % 4);
		function->language = names_text(names, "native");
	}
	function->name = names_text(names, name);
	if (package < 45)
		function->path = names_text(names, path);
	else
		function->image = names_text(names, path);
}

static void make_functions(struct making *m)
{
	for (u32 i = 0; i < FUNCTIONS; i++) {
		struct name_function function = { 0 };
		u32 package = i % PACKAGES;
		m->first_line[i] = 10 + 20 * (u32)rng_below(&m->rng, 40);
		if (package < 45)
			function.first_line = m->first_line[i];
		fill_function(m, package, &function);
		m->functions[i] = names_function(&m->profile.names, &function);
	}
}

static u32 some_location(struct making *m)
{
	u32 i = (u32)(rng_below(&m->rng, FUNCTIONS) * rng_below(&m->rng, FUNCTIONS) / FUNCTIONS);
	struct name_location location = { .function = m->functions[i] };

	if (i % PACKAGES < 45)
		location.line = m->first_line[i] + 1 + 3 * (u32)rng_below(&m->rng, 3);
	return names_location(&m->profile.names, &location);
}

/* A stack leaves an earlier one somewhere and goes on by itself, as in a program. */
static void make_stacks(struct making *m)
{
	const struct name_stack *stack;
	double sum = 0;

	for (u32 i = 0; i < STACKS; i++) {
		u32 at = i ? m->stacks[rng_below(&m->rng, i)] : 0;
		u32 more = 1 + (u32)rng_below(&m->rng, i ? 11 : 60);
		stack = &m->profile.names.stacks.at[at];
		/* Most near their end, some near the root. */
		u32 part = rng_below(&m->rng, 12) ? stack->depth / 3 : stack->depth;
		for (u32 up = part ? (u32)rng_below(&m->rng, part) : 0;
		     up || stack->depth + more > DEEPEST; up -= up > 0)
			stack = &m->profile.names.stacks.at[at = stack->outer];
		while (more--)
			at = names_stack(&m->profile.names, at, some_location(m));
		m->stacks[i] = at;
		m->until[i] = sum += 1.0 / (1 + i);
	}
}

static u32 some_stack(struct making *m)
{
	double wanted = m->until[STACKS - 1] * (double)rng_below(&m->rng, 1u << 30) / (1u << 30);
	u32 from = 0, to = STACKS - 1;

	while (from < to) {
		u32 middle = (from + to) / 2;
		if (m->until[middle] < wanted)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* A stack belongs to one thread, a popular one to several. Threads rest for parts of the time. */
static void make_samples(struct making *m, bool has_time)
{
	struct profile *p = &m->profile;
	u32 process = profile_process(p, 4242, 1, "puma");
	u32 threads[THREADS];

	for (u32 i = 0; i < THREADS; i++) {
		char name[16];
		snprintf(name, sizeof name, i ? "worker-%u" : "puma", i);
		threads[i] = profile_thread(p, process, 4242 + i, 0, name);
	}
	p->timeline.cells_most = has_time ? 4 * SAMPLES : 0;
	for (u32 i = 0; i < SAMPLES; i++) {
		/* Each stack once, so that there are as many as were made. */
		u32 rank = i < STACKS ? i : some_stack(m);
		u32 spread = rank < 300 ? THREADS : 1, slice = i / (SAMPLES / 50);
		u32 thread = (rank + (u32)rng_below(&m->rng, spread)) % THREADS;
		if (spread > 1 && (slice + thread) % 5 == 0)
			thread = (thread + 3) % THREADS;
		u64 weight = PERIOD_NS - 20000 + rng_below(&m->rng, 40000);
		u32 entry = profile_add(p, threads[thread], m->stacks[rank], weight, 0);
		timeline_add(&p->timeline, (u64)i * PERIOD_NS / THREADS, entry);
	}
}

/* Three files of the first functions, as long as files are. */
static void make_sources(struct making *m)
{
	struct names *names = &m->profile.names;

	for (u32 i = 0; i < 3; i++) {
		struct str text = { 0 };
		for (u32 line = 1; line <= 900; line++)
			str_addf(&text, "\t%s_%s(%s, %u)\n", word(&m->rng), word(&m->rng),
				 word(&m->rng), line);
		struct profile_source source = {
			.path = names->functions.at[m->functions[i]].path,
			.text = names_string(names, text.text, text.length),
		};
		if (!vec_push(&m->profile.sources, source))
			m->profile.bad = true;
		str_free(&text);
	}
}

int main(int argc, char **argv)
{
	AUTO_FREE struct making *m = calloc(1, sizeof *m);
	bool has_time = false, has_source = false;
	struct out out;
	struct err err;

	for (int i = 2; i < argc; i++) {
		has_time |= !strcmp(argv[i], "time");
		has_source |= !strcmp(argv[i], "source");
	}
	const struct exporter *exporter = argc >= 2 ? exporter_for_path(argv[1]) : NULL;
	if (!m || !exporter || !profile_init(&m->profile)) {
		fprintf(stderr, "usage: make-big-page FILE.html [time] [source]\n");
		return 2;
	}
	m->rng.state = 7;
	make_functions(m);
	make_stacks(m);
	make_samples(m, has_time);
	if (has_source)
		make_sources(m);
	built_facts(&m->profile);
	m->profile.hz = 1000;
	m->profile.duration_ns = 125 * NS_PER_S;
	m->profile.title = "puma 6.4.2 (pid 4242)";
	u64 before = clock_own_cpu_ns();
	if (!out_open_file(&out, argv[1], &err)) {
		fprintf(stderr, "make-big-page: %s\n", err.text);
		return 1;
	}
	exporter->write(&m->profile, &(struct export_options){ 0 }, &out);
	u64 bytes = out.written;
	if (!out_close(&out, &err)) {
		fprintf(stderr, "make-big-page: %s\n", err.text);
		return 1;
	}
	printf("{\"samples\":%llu,\"stacks\":%u,\"entries\":%u,\"nodes\":%u,\"locations\":%u,"
	       "\"cells\":%u,\"bytes\":%llu,\"write_s\":%.3f}\n",
	       (unsigned long long)profile_total_count(&m->profile), STACKS,
	       m->profile.entries.count, m->profile.names.stacks.count - 1,
	       m->profile.names.locations.count, m->profile.timeline.cells.count,
	       (unsigned long long)bytes, (double)(clock_own_cpu_ns() - before) / 1e9);
	profile_free(&m->profile);
	return 0;
}
