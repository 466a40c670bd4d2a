/* SPDX-License-Identifier: Apache-2.0
 * diff.c - what is called a change, judged on programs whose shares are known.
 *
 * Streams of samples are drawn with fixed seeds: independent ones, ones that stay where they are for a
 * while, programs with phases, runs of unequal length. Two of the same program must show no change in 95 of 100 pairs;
 * five points must be found in 99 of 100 at 10,000 samples. SONDE_PERCENT=1000 draws ten
 * times as many. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "export/built.h"
#include "profile/diff.h"
#include "profile/diff_noise.h"

enum { FUNCTIONS = 60, GROUPS = 8, PERIOD_NS = 10 * 1000 * 1000, CELLS = 1 << 18 };

/* A program: how likely each function is, in each of its two phases. */
struct program {
	double share[2][FUNCTIONS];
	double stay;     /* the chance that the next sample is the same */
	double phase_ns; /* the mean length of a phase; 0: there is one */
	bool regular;    /* phases are all of that length */
	double weights;  /* spread of the samples' weights */
	bool starved; /* every other second nineteen looks of twenty are lost, and one weighs as much as all */
	bool no_times;
};

static double uniform(struct rng *rng)
{
	return (double)(rng_u64(rng) >> 11) * 0x1p-53;
}

/* Zipf's law, scaled; function 0 has `first`. */
static void set_shares(double *share, double first, u32 turn)
{
	double sum = 0;

	for (u32 i = 1; i < FUNCTIONS; i++)
		sum += 1.0 / i;
	for (u32 i = 1; i < FUNCTIONS; i++)
		share[1 + (i - 1 + turn) % (FUNCTIONS - 1)] = (1 - first) / i / sum;
	share[0] = first;
}

static struct program program_with(double first)
{
	struct program program = { 0 };

	set_shares(program.share[0], first, 0);
	set_shares(program.share[1], first, 0);
	return program;
}

static u32 draw(struct rng *rng, const double *share)
{
	double at = uniform(rng);
	u32 i = 0;

	while (i + 1 < FUNCTIONS && (at -= share[i]) >= 0)
		i++;
	return i;
}

static u32 add_location(struct names *names, const char *kind, u32 number)
{
	char text[32];

	snprintf(text, sizeof text, "%s%u", kind, number);
	struct name_function function = { .name = names_text(names, text),
					  .path = names_text(names, "/app/x.rb"),
					  .language = names_text(names, "ruby") };
	struct name_location location = { .function = names_function(names, &function) };
	return names_location(names, &location);
}

static void add_stacks(struct names *names, u32 *stacks)
{
	u32 root = names_stack(names, 0, add_location(names, "root", 0));

	for (u32 i = 0; i < FUNCTIONS; i++) {
		u32 group = names_stack(names, root, add_location(names, "group", i % GROUPS));
		stacks[i] = names_stack(names, group, add_location(names, "f", i));
	}
}

static double phase_length(const struct program *program, struct rng *rng)
{
	double part = program->regular ? 1 : -log(1 - uniform(rng));

	return program->phase_ns > 0 ? program->phase_ns * part : INFINITY;
}

static void record(struct profile *p, const struct program *program, struct rng *rng, u32 samples)
{
	u32 stacks[FUNCTIONS], at = 0, phase = (u32)rng_below(rng, 2);
	double end = phase_length(program, rng);
	u64 now = 0;

	/* one attaches at any moment of a phase */
	if (program->regular)
		end *= uniform(rng);
	assert_true(profile_init(p));
	if (!program->no_times)
		p->timeline.cells_most = CELLS;
	add_stacks(&p->names, stacks);
	u32 thread = profile_thread(p, profile_process(p, 1, 1, "ruby"), 1, 0, "main");
	for (u32 i = 0; i < samples; i++) {
		u32 looks = program->starved && now / NS_PER_S % 2 ? 20 : 1;
		now += looks * (PERIOD_NS / 2 + rng_below(rng, PERIOD_NS));
		for (; (double)now > end; end += phase_length(program, rng))
			phase = !phase;
		if (i == 0 || uniform(rng) >= program->stay)
			at = draw(rng, program->share[program->phase_ns > 0 ? phase : 0]);
		u64 weight = (u64)(looks * PERIOD_NS *
				   (1 + program->weights * (uniform(rng) - 0.5)));
		timeline_add(&p->timeline, now, profile_add(p, thread, stacks[at], weight, 0));
	}
	p->duration_ns = now;
}

struct tried {
	u32 pairs, any, found,
		rows; /* pairs with any change; with the right one; rows called changed */
	u32 nodes;    /* pairs with a node called changed */
};

static struct tried try_pairs(const struct program *before, u32 before_samples,
			      const struct program *after, u32 after_samples, u32 pairs, u64 seed,
			      const struct diff_options *options)
{
	struct tried tried = { .pairs = pairs };
	struct rng rng = { seed };

	for (u32 i = 0; i < pairs; i++) {
		struct profile a, b;
		struct diff diff;
		bool node = false;
		record(&a, before, &rng, before_samples);
		record(&b, after, &rng, after_samples);
		assert_true(diff_make(&diff, &a, &b, options));
		tried.any += diff.changed > 0;
		tried.rows += diff.changed;
		for (u32 n = 0; n < diff.names.stacks.count; n++)
			node |= diff.node[n].total.verdict != DIFF_NONE;
		tried.nodes += node;
		for (u32 n = 0; n < diff.names.locations.count; n++) {
			u32 name =
				diff.names.functions.at[diff.names.locations.at[n].function].name;
			if (!strcmp(diff.names.strings.at[name].text, "f0"))
				tried.found += diff.row[n].self.verdict == DIFF_MORE ||
					       diff.row[n].self.verdict == DIFF_NEW;
		}
		diff_free(&diff);
		profile_free(&a);
		profile_free(&b);
	}
	return tried;
}

/* In at most one of `most` pairs. */
static void same_program_in(u32 most, const char *what, const struct program *program, u32 before,
			    u32 after)
{
	struct diff_options options = { 0 };
	u32 pairs = check_many(100);
	struct tried tried = try_pairs(program, before, program, after, pairs, 11, &options);

	printf("# same program, %s, %u and %u samples: a change in %u of %u pairs, in the tree %u\n",
	       what, before, after, tried.any, pairs, tried.nodes);
	assert_true(tried.any * most <= pairs);
	assert_true(tried.nodes * most <= pairs);
}

static void same_program(const char *what, const struct program *program, u32 before, u32 after)
{
	same_program_in(20, what, program, before, after);
}

static void two_of_the_same_show_no_change(void **state)
{
	(void)state;
	struct program p = program_with(0.2);

	same_program("independent", &p, 10000, 10000);
	same_program("independent", &p, 1000, 1000);
	same_program("independent", &p, 200, 10000);
	p.weights = 1.5;
	same_program("unequal weights", &p, 3000, 9000);
	p.weights = 0;
	p.starved = true;
	same_program("starved half of the time", &p, 3000, 6000);
	p.starved = false;
	p.stay = 0.5;
	same_program("staying 2", &p, 10000, 4000);
	p.stay = 0.9;
	same_program("staying 10", &p, 10000, 10000);
	same_program("staying 10", &p, 3000, 10000);
	p.stay = 0.98;
	same_program("staying 50", &p, 10000, 10000);
}

static void phases_are_no_change(void **state)
{
	(void)state;
	static const double seconds[] = { 0.3, 1, 3, 8, 20 };
	struct program p = program_with(0.2);

	set_shares(p.share[1], 0.5, 20);
	for (u32 i = 0; i < COUNT_OF(seconds); i++) {
		char what[48];
		for (u32 regular = 0; regular < 2; regular++) {
			p.phase_ns = seconds[i] * NS_PER_S;
			p.regular = regular;
			snprintf(what, sizeof what, "%s phases of %g s",
				 regular ? "regular" : "random", seconds[i]);
			/* When half of a run is one phase, no run knows what the other half may be. */
			same_program_in(seconds[i] < 10 || regular ? 20 : 7, what, &p, 10000, 4000);
		}
	}
}

static void without_times_it_is_assumed(void **state)
{
	(void)state;
	struct diff_options options = { 0 };
	struct program p = program_with(0.2), more = program_with(0.28);

	p.no_times = more.no_times = true;
	same_program("no times", &p, 10000, 2000);
	p.stay = 0.3; /* (1 + 0.3) / (1 - 0.3) is the variance, of 2 that are assumed */
	same_program("no times, staying 1.4", &p, 10000, 10000);
	struct tried tried = try_pairs(&p, 10000, &more, 10000, 50, 13, &options);
	assert_true(tried.found >= 49);
}

/* The first tenth of a run is another program, of which the second run has more. */
static void record_start(struct profile *p, struct rng *rng, u32 start, u32 samples)
{
	struct program first = program_with(0.9);
	u32 stacks[FUNCTIONS];
	u64 now = 0;

	struct program rest = program_with(0.001);
	assert_true(profile_init(p));
	p->timeline.cells_most = CELLS;
	add_stacks(&p->names, stacks);
	u32 thread = profile_thread(p, profile_process(p, 1, 1, "ruby"), 1, 0, "main");
	for (u32 i = 0; i < start + samples; i++) {
		u32 at = draw(rng, i < start ? first.share[0] : rest.share[0]);
		now += PERIOD_NS;
		timeline_add(&p->timeline, now, profile_add(p, thread, stacks[at], 1, 0));
	}
}

static u32 row_named(const struct diff *diff, const char *name)
{
	for (u32 n = 0; n < diff->names.locations.count; n++) {
		u32 function = diff->names.locations.at[n].function;
		u32 string = diff->names.functions.at[function].name;
		if (!strcmp(diff->names.strings.at[string].text, name))
			return n;
	}
	fail_msg("no row %s", name);
	return 0;
}

/* A phase at the start may be chance; that both runs are whole has to be said. */
static void a_longer_start_is_found_when_the_work_is_the_same(void **state)
{
	(void)state;
	struct diff_options options = { 0 };
	struct rng rng = { 14 };

	for (u32 i = 0; i < 20; i++) {
		struct profile a, b;
		struct diff diff;
		record_start(&a, &rng, 1000, 9000);
		record_start(&b, &rng, 1500, 9000);
		options.same_work = false;
		assert_true(diff_make(&diff, &a, &b, &options));
		u32 row = row_named(&diff, "f0");
		assert_int_equal(diff.row[row].self.verdict, DIFF_NONE);
		assert_true(diff.row[row].self.phases);
		assert_true(diff.in_phases > 0);
		diff_free(&diff);
		options.same_work = true;
		assert_true(diff_make(&diff, &a, &b, &options));
		assert_int_equal(diff.row[row].self.verdict, DIFF_MORE);
		diff_free(&diff);
		profile_free(&b);
		record_start(&b, &rng, 1000, 9000);
		assert_true(diff_make(&diff, &a, &b, &options));
		assert_int_equal(diff.changed, 0);
		diff_free(&diff);
		profile_free(&a);
		profile_free(&b);
	}
}

/* ---- what is the same, and what it had ---------------------------------------------------- */

static const struct diff_value *value_of(const struct diff *diff, const char *name)
{
	return &diff->row[row_named(diff, name)].self;
}

static void functions_are_matched_by_what_they_are_called(void **state)
{
	(void)state;
	struct diff_options options = { 0 };
	struct profile a, b;
	struct diff diff;

	assert_true(profile_init(&a) && profile_init(&b));
	built_lines(&a, "<main> (/a.rb:1);f (/a.rb:7) 60\n<main> (/a.rb:2);f (/a.rb:8) 20\n"
			"<main> (/a.rb:2);#<Class:0x00007f12ab>#g (/a.rb:3) 20\n");
	built_lines(
		&b,
		"process ruby (9);thread x (9);<main> (/a.rb:9);f (/a.rb:17) 700\n"
		"process ruby (9);thread x (9);<main> (/a.rb:9);#<Class:0x00007fffff>#g (/a.rb:3) 100\n"
		"process ruby (9);thread x (9);<main> (/a.rb:9);f (/b.rb:17) 200\n");
	assert_true(diff_make(&diff, &a, &b, &options));
	assert_false(diff.by_samples);
	assert_int_equal(diff.before.samples, 100);
	assert_int_equal(diff.after.samples, 1000);
	assert_int_equal(diff.compared, 4);
	const struct diff_value *f = value_of(&diff, "f"), *g = value_of(&diff, "#<Class:0x_>#g");
	assert_float_equal(f->before, 0.8, 1e-9);
	assert_float_equal(f->after, 0.7, 1e-9);
	assert_float_equal(g->before, 0.2, 1e-9);
	assert_float_equal(g->after, 0.1, 1e-9);
	const struct diff_row *main_row = &diff.row[row_named(&diff, "<main>")];
	assert_float_equal(main_row->total.before, 1, 1e-9);
	assert_float_equal(main_row->total.after, 1, 1e-9);
	assert_int_equal(main_row->total.verdict, DIFF_NONE);
	assert_float_equal(diff.node[0].total.after, 1, 1e-9);
	double selfs = 0;
	for (u32 i = 0; i < diff.names.stacks.count; i++)
		selfs += diff.node[i].self.before;
	assert_float_equal(selfs, 1, 1e-9);
	diff_free(&diff);
	options.lines = true;
	assert_true(diff_make(&diff, &a, &b, &options));
	assert_int_equal(diff.compared, 8); /* of nine: g's line did not move */
	diff_free(&diff);
	profile_free(&a);
	profile_free(&b);
}

/* By lines, what has none of its own is one row for each line that calls it. */
static void lines_tell_who_calls(void **state)
{
	(void)state;
	struct diff_options options = { .lines = true };
	struct profile a, b;
	struct diff diff;
	u32 found = 0;

	assert_true(profile_init(&a) && profile_init(&b));
	built_lines(&a, "f (/a.rb:1);read 600\nf (/a.rb:2);read 200\nf (/a.rb:3) 200\n");
	built_lines(&b, "f (/a.rb:1);read 200\nf (/a.rb:2);read 600\nf (/a.rb:3) 200\n");
	assert_true(diff_make(&diff, &a, &b, &options));
	assert_int_equal(diff.compared, 5);
	for (u32 i = 0; i < diff.names.locations.count; i++) {
		u32 site = diff_site(&diff, i), line = diff.names.locations.at[site].line;
		if (!site)
			continue;
		found++;
		assert_int_equal(diff.row[i].self.verdict, line == 1 ? DIFF_LESS : DIFF_MORE);
		assert_float_equal(diff.row[i].self.before, line == 1 ? 0.6 : 0.2, 1e-9);
	}
	assert_int_equal(found, 2);
	diff_free(&diff);
	profile_free(&a);
	profile_free(&b);
}

static void new_and_gone_have_names(void **state)
{
	(void)state;
	struct diff_options options = { 0 };
	struct profile a, b;
	struct diff diff;

	assert_true(profile_init(&a) && profile_init(&b));
	built_lines(&a, "m;old 300\nm;same 700\nm;rare 3\nm;rec;rec;rec 100\n");
	built_lines(&b, "m;fresh 300\nm;same 700\nm;seldom 3\nm;rec;rec;rec 100\n");
	assert_true(diff_make(&diff, &a, &b, &options));
	assert_int_equal(value_of(&diff, "old")->verdict, DIFF_GONE);
	assert_int_equal(value_of(&diff, "fresh")->verdict, DIFF_NEW);
	assert_int_equal(value_of(&diff, "same")->verdict, DIFF_NONE);
	assert_int_equal(value_of(&diff, "rare")->verdict, DIFF_NONE);
	assert_int_equal(value_of(&diff, "seldom")->verdict, DIFF_NONE);
	assert_int_equal(diff.changed, 2);
	const struct diff_row *rec = &diff.row[row_named(&diff, "rec")];
	assert_float_equal(rec->total.before, 100 / 1103.0, 1e-9); /* recursion counts once */
	assert_float_equal(rec->self.before, 100 / 1103.0, 1e-9);
	diff_free(&diff);
	profile_free(&b);
	assert_true(profile_init(&b)); /* against nothing */
	assert_true(diff_make(&diff, &a, &b, &options));
	assert_int_equal(diff.changed, 0);
	diff_free(&diff);
	profile_free(&a);
	profile_free(&b);
}

/* What was read is the machine's doing; what the program did is its own. */
static void marks_of_the_reading_are_no_change(void **state)
{
	(void)state;
	struct diff_options options = { 0 };
	struct profile a, b;
	struct diff diff;

	assert_true(profile_init(&a) && profile_init(&b));
	built_lines(&a, "m;f;[moving] 100\nm;f 300\nm;(garbage collection) 400\n");
	built_lines(&b, "m;f;[moving] 300\nm;f 100\nm;(garbage collection) 4000\n");
	assert_true(diff_make(&diff, &a, &b, &options));
	assert_int_equal(value_of(&diff, "[moving]")->verdict, DIFF_NONE);
	assert_int_equal(value_of(&diff, "(garbage collection)")->verdict, DIFF_MORE);
	for (u32 i = 1; i < diff.names.stacks.count; i++)
		if (diff.names.stacks.at[i].location == row_named(&diff, "[moving]"))
			assert_int_equal(diff.node[i].total.verdict, DIFF_NONE);
	diff_free(&diff);
	profile_free(&a);
	profile_free(&b);
}

/* ---- the numbers of the tables ------------------------------------------------------------ */

static void tests_have_the_values_of_the_tables(void **state)
{
	(void)state;
	assert_float_equal(noise_quantile(0.05, 10), 2.228139, 1e-5);
	assert_float_equal(noise_quantile(0.01, 63), 2.656145, 1e-5);
	assert_float_equal(noise_quantile(0.001, 3), 12.923979, 1e-5);
	assert_float_equal(noise_quantile(0.05, 1e9), 1.959964, 1e-5);
	assert_float_equal(noise_student(-2.228139, 10), 0.05, 1e-6);
	assert_float_equal(noise_student(0, 5), 1, 1e-9);
	assert_float_equal(noise_uneven(0, 10, 0.5), 2.0 / 1024, 1e-9);
	assert_float_equal(noise_uneven(10, 10, 0.5), 2.0 / 1024, 1e-9);
	assert_float_equal(noise_uneven(2, 2, 1.0 / 11), 2.0 / 121, 1e-9);
	assert_float_equal(noise_uneven(5, 10, 0.5), 1, 1e-9);
	double chances[] = { 0.9, 0.001, 0.3, 0.02, 0.011 };
	assert_float_equal(noise_cutoff(chances, 5, 0.05), 0.03, 1e-9); /* three of five */
	assert_float_equal(noise_cutoff(chances, 0, 0.05), 0.05, 1e-9);
	double none[] = { 0.5, 0.6 };
	assert_float_equal(noise_cutoff(none, 2, 0.05), 0.025, 1e-9);
}

static void five_points_are_found(void **state)
{
	(void)state;
	static const double firsts[] = { 0, 0.02, 0.10, 0.20, 0.45 };
	struct diff_options options = { 0 };
	u32 pairs = check_many(100);

	for (u32 i = 0; i < COUNT_OF(firsts); i++) {
		struct program before = program_with(firsts[i]);
		struct program after = program_with(firsts[i] + 0.05);
		struct tried tried = try_pairs(&before, 10000, &after, 10000, pairs, 12, &options);
		printf("# from %.0f to %.0f %%: found in %u of %u pairs, %.1f rows\n",
		       100 * firsts[i], 100 * firsts[i] + 5, tried.found, pairs,
		       (double)tried.rows / pairs);
		assert_true(tried.found * 100 >= pairs * 99);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tests_have_the_values_of_the_tables),
		cmocka_unit_test(functions_are_matched_by_what_they_are_called),
		cmocka_unit_test(lines_tell_who_calls),
		cmocka_unit_test(new_and_gone_have_names),
		cmocka_unit_test(marks_of_the_reading_are_no_change),
		cmocka_unit_test(a_longer_start_is_found_when_the_work_is_the_same),
		cmocka_unit_test(without_times_it_is_assumed),
		cmocka_unit_test(two_of_the_same_show_no_change),
		cmocka_unit_test(phases_are_no_change),
		cmocka_unit_test(five_points_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
