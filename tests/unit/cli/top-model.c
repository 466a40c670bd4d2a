/* SPDX-License-Identifier: Apache-2.0
 * top-model.c - rows of `sonde top`: shares of one whole, of a window that moves. */
#include "check.h"

#include <string.h>

#include "base/rng.h"
#include "cli/top.h"
#include "profile/fold.h"

/* "label self total", in samples. */
static void assert_row(const struct top_model *model, u32 index, const char *wanted)
{
	struct str label = { 0 }, found = { 0 };

	assert_true(index < model->rows.count);
	const struct top_row *row = &model->rows.at[index];
	top_model_label(model, model->view, row->key, &label);
	str_addf(&found, "%s %llu %llu", label.text, (unsigned long long)row->had.self_samples,
		 (unsigned long long)row->had.total_samples);
	assert_string_equal(found.text, wanted);
	str_free(&label);
	str_free(&found);
}

static void functions_have_self_and_total_and_recursion_counts_once(void **state)
{
	struct hand_fed fed;
	struct top_model *model = &fed.model;

	(void)state;
	hand_fed_init(&fed);
	hand_feed(&fed, 1, "main;fib (/f.rb:1);fib (/f.rb:2);fib (/f.rb:2) 6\nmain 2\n");
	assert_int_equal(model->rows.count, 2);
	assert_row(model, 0, "fib (/f.rb) 6 6");
	assert_row(model, 1, "main 2 8");
	assert_int_equal(top_model_whole(model), 8 * (u64)BUILT_WEIGHT_NS);
	model->sort = TOP_BY_TOTAL;
	top_model_refresh(model);
	assert_row(model, 0, "main 2 8");
	model->view = TOP_LINES;
	top_model_refresh(model);
	assert_int_equal(model->rows.count, 3);
	assert_row(model, 1, "fib (/f.rb:2) 6 6");
	assert_row(model, 2, "fib (/f.rb:1) 0 6");
	hand_feed(&fed, 1, "main;fib (/f.rb:1);puts 3\nmain;fib (/f.rb:2);puts 4\n");
	assert_row(model, 1, "fib (/f.rb:2) 6 10");
	assert_row(model, 3, "puts at /f.rb:2 4 4");
	assert_row(model, 4, "puts at /f.rb:1 3 3");
	hand_fed_free(&fed);
}

static void what_is_older_than_the_window_leaves_it(void **state)
{
	struct hand_fed fed;
	struct top_model *model = &fed.model;

	(void)state;
	hand_fed_init(&fed);
	hand_feed(&fed, 1, "old 5\n");
	for (u32 i = 0; i < TOP_WINDOW_S - 1; i++)
		hand_feed(&fed, 1, "new 1\n");
	assert_int_equal(model->rows.count, 2);
	hand_feed(&fed, 1, "new 1\n");
	assert_int_equal(model->rows.count, 1);
	assert_row(model, 0, "new 10 10");
	struct quality ledger = top_model_ledger(model);
	assert_int_equal(ledger.samples, 10);
	assert_int_equal(ledger.end_ns - ledger.begin_ns, 10 * NS_PER_S);
	model->span = TOP_ALL;
	top_model_refresh(model);
	assert_row(model, 0, "new 10 10");
	assert_row(model, 1, "old 5 5");
	hand_feed(&fed, 1000, ""); /* nothing comes for long */
	model->span = TOP_RECENT;
	top_model_refresh(model);
	assert_int_equal(model->rows.count, 0);
	assert_int_equal(top_model_percent(model, 5), 0);
	hand_fed_free(&fed);
}

/* Its samples before count for the function that it turned out to be, and leave the window as that. */
static void what_is_named_late_is_added_up_again(void **state)
{
	struct hand_fed fed;
	struct top_model *model = &fed.model;

	(void)state;
	hand_fed_init(&fed);
	hand_feed(&fed, 1, "main;(unnamed) 5\nmain;work (/a.rb:2) 1\n");
	assert_row(model, 0, "(unnamed) 5 5");
	struct names *names = &fed.profile.names;
	u32 leaf[2];
	for (u32 i = 0; i < COUNT_OF(leaf); i++)
		leaf[i] = names->stacks.at[fed.profile.entries.at[i].stack].location;
	names_replace(names, leaf[0], leaf[1]);
	hand_feed(&fed, 1, "main;work (/a.rb:2) 1\n");
	assert_int_equal(model->rows.count, 2);
	assert_row(model, 0, "work (/a.rb) 7 7");
	assert_row(model, 1, "main 0 7");
	model->view = TOP_LINES;
	top_model_refresh(model);
	assert_row(model, 0, "work (/a.rb:2) 7 7");
	assert_int_equal(model->rows.count, 2);
	hand_feed(&fed, TOP_WINDOW_S - 1, "main;work (/a.rb:2) 2\n");
	assert_row(model, 0, "work (/a.rb:2) 3 3");
	hand_fed_free(&fed);
}

/* What happened during a pause counts since the start, not in the seconds behind it. */
static void a_pause_leaves_no_lump_in_the_window(void **state)
{
	struct hand_fed fed;
	struct top_model *model = &fed.model;

	(void)state;
	hand_fed_init(&fed);
	hand_feed(&fed, 1, "before 5\n");
	model->paused = true;
	hand_feed(&fed, 60, "meanwhile 50\n");
	assert_row(model, 0, "before 5 5");
	model->paused = false;
	fed.feed.late = true;
	top_sums_restart(&model->sums);
	hand_feed(&fed, 1, "");
	hand_feed(&fed, 1, "after 1\n");
	assert_int_equal(model->rows.count, 1);
	assert_row(model, 0, "after 1 1");
	assert_int_equal(top_model_ledger(model).samples, 1);
	model->span = TOP_ALL;
	top_model_refresh(model);
	assert_row(model, 0, "meanwhile 50 50");
	hand_fed_free(&fed);
}

static const char *busiest_of(const struct top_model *model, u32 index)
{
	const struct names *names = &model->gather.profile.names;
	u32 function = top_model_busiest(model, model->rows.at[index].key);

	return names->strings.at[names->functions.at[function].name].text;
}

/* In which of ten seconds the samples were, for the page that is written. */
static void samples_are_put_where_they_came(void **state)
{
	(void)state;
	struct hand_fed fed;
	u64 seconds[10] = { 0 };
	hand_fed_init(&fed);
	hand_feed(&fed, 2, "f (a.rb:1) 20\n");
	hand_feed(&fed, 1, "g (a.rb:2) 10\n");
	fed.model.paused = true;
	hand_feed(&fed, 5, "f (a.rb:1) 50\n");
	fed.model.paused = false;
	hand_feed(&fed, 1, "f (a.rb:1) 10\n"); /* with what came in the pause: 60 in 6 s */
	struct timeline *timeline = &fed.model.gather.profile.timeline;
	timeline_settle(timeline);
	for (u32 i = 0; i < timeline->cells.count; i++) {
		const struct timeline_cell *cell = &timeline->cells.at[i];
		seconds[cell->slot * timeline->slot_ns / NS_PER_S] += cell->count;
	}
	for (u32 second = 0; second < 9; second++)
		assert_in_range(seconds[second], 9, 11); /* a slot is not a part of a second */
	assert_int_equal(seconds[9], 0);
	hand_fed_free(&fed);
}

static void a_scope_is_a_thread_a_process_or_a_language(void **state)
{
	struct hand_fed fed;
	struct top_model *model = &fed.model;

	(void)state;
	hand_fed_init(&fed);
	hand_feed(&fed, 1,
		  "process a (1);thread t (1);work 3\nprocess a (1);thread u (2);work;sort [c] 4\n"
		  "process b (9);thread v (9);work;[moving] 5\n");
	model->view = TOP_THREADS;
	top_model_refresh(model);
	assert_row(model, 0, "v (9) of process 9 5 5");
	assert_row(model, 2, "t (1) of process 1 3 3");
	assert_string_equal(busiest_of(model, 1), "sort");
	assert_string_equal(busiest_of(model, 2), "work");
	model->view = TOP_LANGUAGES;
	top_model_refresh(model);
	assert_row(model, 0, "ruby 7 12");
	top_sums_set_scope(&model->sums, (struct top_scope){ true, TOP_PROCESSES, 0 });
	model->view = TOP_FUNCTIONS;
	top_model_refresh(model);
	assert_int_equal(top_model_whole(model), 7 * (u64)BUILT_WEIGHT_NS);
	assert_row(model, 0, "sort 4 4");
	assert_row(model, 1, "work 3 7");
	hand_feed(&fed, 1, "process b (9);thread v (9);work 5\n"); /* not of the scope */
	assert_row(model, 1, "work 3 7");
	top_sums_set_scope(&model->sums, (struct top_scope){ 0 });
	top_model_refresh(model);
	assert_row(model, 0, "work 8 17");
	hand_fed_free(&fed);
}

static void a_filter_hides_rows_and_changes_no_share(void **state)
{
	struct hand_fed fed;
	struct top_model *model = &fed.model;

	(void)state;
	hand_fed_init(&fed);
	hand_feed(&fed, 1, "main (/app/a.rb:1);Work 3\nmain (/app/a.rb:1);other 1\n");
	str_add_text(&model->filter, "wORK");
	top_model_refresh(model);
	assert_int_equal(model->rows.count, 1);
	assert_int_equal(model->rows_unfiltered, 3);
	assert_row(model, 0, "Work 3 3");
	assert_int_equal(top_model_percent(model, model->matched), 75);
	str_clear(&model->filter);
	str_add_text(&model->filter, "app/a"); /* the path counts, too */
	top_model_refresh(model);
	assert_int_equal(model->rows.count, 1);
	hand_fed_free(&fed);
}

static void a_tree_has_callers_and_what_is_called(void **state)
{
	struct hand_fed fed;
	struct top_model *model = &fed.model;

	(void)state;
	hand_fed_init(&fed);
	hand_feed(&fed, 1, "main;a;work;sort 3\nmain;b;work 2\nmain;work;work;sort 1\nmain 4\n");
	model->sort = TOP_BY_TOTAL;
	top_model_refresh(model);
	assert_row(model, 0, "main 4 10");
	assert_row(model, 1, "work 2 6");
	model->in_tree = true;
	model->tree_view = TOP_FUNCTIONS;
	model->tree_key = model->rows.at[1].key;
	top_model_refresh(model);
	const struct top_tree *tree = &model->tree;
	assert_int_equal(tree->had.total_samples, 6);
	assert_int_equal(tree->had.self_samples, 2);
	assert_int_equal(tree->callers.count, 5); /* a, main, b, main, main */
	assert_int_equal(tree->callers.at[0].had.total_samples, 3);
	assert_int_equal(tree->callees.count, 3); /* sort, work, sort */
	assert_int_equal(tree->callees.at[0].had.total_samples, 3);
	assert_int_equal(tree->callees.at[1].key, model->tree_key);
	hand_fed_free(&fed);
}

/* Of several ways to a function each has its first frames listed, whatever is above them. */
static void what_is_straight_up_to_the_root_is_cut_short(void **state)
{
	struct hand_fed fed;
	struct top_model *model = &fed.model;
	const struct top_tree *tree = &model->tree;

	(void)state;
	hand_fed_init(&fed);
	hand_feed(&fed, 1, "a;b;c;d;e;half;work 5\na;b;c;third;work 3\n");
	model->tree_view = TOP_FUNCTIONS;
	model->tree_key = model->rows.at[0].key;
	model->in_tree = true;
	top_model_refresh(model);
	assert_int_equal(tree->callers.count,
			 8); /* half e d (3), third c b a: one is no shorter cut */
	assert_int_equal(tree->callers.at[2].cut, 0);
	assert_int_equal(tree->callers.at[3].cut, 3);
	assert_int_equal(tree->callers.at[4].had.total_samples, 3);
	assert_int_equal(tree->callers.at[7].cut, 0);
	model->tree_key = tree->callers.at[0].key; /* half: there is one way to it */
	top_model_refresh(model);
	assert_int_equal(tree->callers.count, 5);
	assert_int_equal(tree->callers.at[4].cut, 0);
	hand_fed_free(&fed);
}

/* Samples without a weight are counted. */
static void without_weights_samples_are_the_whole(void **state)
{
	struct hand_fed fed;

	(void)state;
	hand_fed_init(&fed);
	u32 process = profile_process(&fed.profile, 1, 1, "ruby");
	u32 thread = profile_thread(&fed.profile, process, 1, 0, "t");
	struct name_location location = { .line = 1 };
	u32 stack = names_stack(&fed.profile.names, 0,
				names_location(&fed.profile.names, &location));
	profile_add(&fed.profile, thread, stack, 0, 0);
	profile_add(&fed.profile, thread, stack, 0, 0);
	hand_feed(&fed, 1, "");
	assert_int_equal(top_model_whole(&fed.model), 2);
	assert_true(top_model_by_samples(&fed.model));
	hand_fed_free(&fed);
}

static void random_line(struct rng *rng, struct str *line)
{
	u32 depth = 1 + (u32)(rng_below(rng, 6));

	str_clear(line);
	str_addf(line, "thread t (%u)", 1 + (u32)(rng_below(rng, 3)));
	for (u32 i = 0; i < depth; i++)
		str_addf(line, ";f%u (/x.rb:%u)", (u32)(rng_below(rng, 5)),
			 1 + (u32)(rng_below(rng, 3)));
	str_addf(line, " %u\n", 1 + (u32)(rng_below(rng, 4)));
}

/* What was added up in steps is what a whole profile folds to, and no part is above the whole. */
static void sums_are_those_of_the_profile(void **state)
{
	struct rng rng = { 7 };
	struct hand_fed fed;
	struct str line = { 0 };
	struct fold fold;

	(void)state;
	hand_fed_init(&fed);
	for (u32 i = 0; i < 300; i++) {
		random_line(&rng, &line);
		hand_feed(&fed, i % 3 == 0, line.text);
		for (u32 k = 0; k < fed.model.rows.count; k++)
			assert_true(fed.model.rows.at[k].had.total <= top_model_whole(&fed.model));
	}
	assert_true(fold_make(&fold, &fed.model.gather.profile, FOLD_FUNCTIONS, false));
	for (u32 i = 0; i < fold.keys.count; i++) {
		const struct top_amount *had =
			&fed.model.sums.keys[TOP_FUNCTIONS].at[i].had[TOP_ALL];
		assert_int_equal(had->self, fold.row[i].self);
		assert_int_equal(had->total, fold.row[i].total);
	}
	top_sums_restart(&fed.model.sums);
	for (u32 v = 0; v < TOP_VIEWS; v++)
		for (u32 i = 0; i < fed.model.sums.keys[v].count; i++)
			assert_int_equal(fed.model.sums.keys[v].at[i].had[TOP_RECENT].total, 0);
	fold_free(&fold);
	str_free(&line);
	hand_fed_free(&fed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_have_self_and_total_and_recursion_counts_once),
		cmocka_unit_test(what_is_older_than_the_window_leaves_it),
		cmocka_unit_test(what_is_named_late_is_added_up_again),
		cmocka_unit_test(a_pause_leaves_no_lump_in_the_window),
		cmocka_unit_test(samples_are_put_where_they_came),
		cmocka_unit_test(a_scope_is_a_thread_a_process_or_a_language),
		cmocka_unit_test(a_filter_hides_rows_and_changes_no_share),
		cmocka_unit_test(a_tree_has_callers_and_what_is_called),
		cmocka_unit_test(what_is_straight_up_to_the_root_is_cut_short),
		cmocka_unit_test(without_weights_samples_are_the_whole),
		cmocka_unit_test(sums_are_those_of_the_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
