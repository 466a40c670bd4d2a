/* SPDX-License-Identifier: Apache-2.0
 * top_screen.c - drawing: see top_screen.h.
 *
 *	what is sampled                                   how long
 *	how much came, and how much of it failed
 *	views
 *	what 100 % is, of whom, in which order
 *	 self%  total%      self  rows
 *	keys, or a message */
#include "cli/top_screen.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/columns.h"
#include "cli/progress.h"
#include "cli/value.h"
#include "profile/fold.h"

enum {
	NAME_COLUMN = 26,
	SAMPLES_COLUMN = 10,      /* more, where there is room */
	SAMPLES_FROM_WIDTH = 100, /* columns of the terminal */
	TABS_FROM_HEIGHT = 12,
	TABS_WITH_GAPS_FROM_WIDTH = 64,
	FAILED_PERCENT = 5, /* worth a warning */
	STRONG_PERCENT = 10,
	THREAD_COLUMNS_MOST = 44,
};

static const char *const views[TOP_VIEWS] = { "functions", "lines", "threads", "processes",
					      "languages" };
static const char *const nouns[TOP_VIEWS] = { "function", "line", "thread", "process", "language" };

static double percent(u64 part, u64 whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void put_str(struct top_grid *grid, u32 x, u32 y, u32 room, enum top_style style,
		    const struct str *text)
{
	if (text->length)
		top_grid_put(grid, x, y, room, style, text->text, text->length);
}

/* At the right edge; gives the column in front of it. */
static u32 put_right(struct top_grid *grid, u32 y, enum top_style style, const char *text)
{
	u32 columns = columns_of(text, strlen(text));

	if (columns + 2 > grid->width)
		return grid->width;
	top_grid_text(grid, grid->width - columns, y, style, text);
	return grid->width - columns - 2;
}

/* ---- the head ----------------------------------------------------------------------------- */

/* "ruby app.rb --all (pid 42)": the pid stays when the words do not fit. */
static void put_title(const struct top_screen *screen, struct top_grid *grid, u32 y)
{
	const struct profile *profile = &screen->model->gather.profile;
	const char *title = profile->title, *pid = strstr(title, " (pid ");
	u64 ns = profile->quality.end_ns - profile->quality.begin_ns;
	struct str text = { 0 };
	char right[80], duration[32];

	for (const char *next = pid; next; next = strstr(next + 1, " (pid "))
		pid = next;
	size_t words = pid ? (size_t)(pid - title) : strlen(title);
	snprintf(right, sizeof right, "%s, %s", profile->mode, value_duration_text(ns, duration));
	u32 room = put_right(grid, y, TOP_PLAIN, right);
	u32 pid_columns = pid ? (u32)strlen(pid) : 0;
	text_add_safe(&text, title, words, 0);
	u32 used = top_grid_put(grid, 0, y, room > pid_columns ? room - pid_columns : 0, TOP_STRONG,
				text.text, text.length);
	if (pid)
		top_grid_put(grid, used, y, pid_columns, TOP_PLAIN, pid, pid_columns);
	str_free(&text);
}

static void add_count(struct str *out, u64 count, const char *one, const char *many)
{
	char number[32];

	str_addf(out, "%s %s", value_grouped(count, number), count == 1 ? one : many);
}

static void put_counts(const struct top_screen *screen, struct top_grid *grid, u32 y)
{
	const struct profile *profile = &screen->model->gather.profile;
	struct quality ledger = top_model_ledger(screen->model);
	struct str text = { 0 };

	str_addf(&text, "%.1f of %u Hz, ", progress_rate(&ledger, profile->hz), profile->hz);
	add_count(&text, profile->quality.samples, "sample, ", "samples, ");
	add_count(&text, profile->quality.threads, "thread", "threads");
	if (profile->quality.processes > 1)
		str_addf(&text, " of %llu processes",
			 (unsigned long long)profile->quality.processes);
	put_str(grid, 0, y, grid->width, TOP_PLAIN, &text);
	str_free(&text);
}

/* What of the span failed, what sonde cost, and what the program did. */
static void put_health(const struct top_screen *screen, struct top_grid *grid, u32 y)
{
	const struct top_model *model = screen->model;
	const struct profile *profile = &model->gather.profile;
	struct quality ledger = top_model_ledger(model);
	u64 ns = ledger.end_ns > ledger.begin_ns ? ledger.end_ns - ledger.begin_ns : 0;
	double lost = percent(quality_lost(&ledger), ledger.expected);
	double moving = percent(ledger.moving, ledger.samples);
	struct str text = { 0 };

	str_addf(&text, "lost %.1f %%, moving %.1f %%", lost, moving);
	u32 failures = text.length;
	str_addf(&text, "; own CPU %.1f %%", percent(ledger.own_cpu_ns, ns));
	u64 all = top_model_whole(model);
	if (!model->sums.scope.set && !top_model_by_samples(model) && ns) {
		if (!strcmp(profile->mode, "cpu"))
			str_addf(&text, ", the %s %.2f cores",
				 profile->processes.count > 1 ? "programs" : "program",
				 (double)all / (double)ns);
		else if (!strcmp(profile->mode, "gvl") && profile->processes.count == 1)
			str_addf(&text, ", VM's lock held %.1f %% of the time", percent(all, ns));
	}
	put_str(grid, 0, y, grid->width, TOP_PLAIN, &text);
	if (lost + moving >= FAILED_PERCENT)
		top_grid_style(grid, 0, y, failures, TOP_WARNING);
	str_free(&text);
}

static void put_tabs(const struct top_screen *screen, struct top_grid *grid, u32 y)
{
	u32 x = 0, gap = grid->width >= TABS_WITH_GAPS_FROM_WIDTH;

	for (u32 i = 0; i < TOP_VIEWS; i++) {
		char tab[32];
		bool on = screen->model->view == i && !screen->model->in_tree;
		snprintf(tab, sizeof tab, on ? "[%u %s]" : " %u %s ", i + 1, views[i]);
		x += top_grid_text(grid, x, y, on ? TOP_STRONG : TOP_FAINT, tab) + gap;
	}
	if (screen->model->paused && x + 8 < grid->width)
		put_right(grid, y, TOP_WARNING, "PAUSED");
}

/* Three digits that say something. */
static void add_amount(const struct top_model *model, u64 part, struct str *out)
{
	double ms = (double)part / NS_PER_MS;
	char text[32];

	if (top_model_by_samples(model))
		str_add_text(out, value_grouped(part, text));
	else if (ms < 1000)
		str_addf(out, "%.*f ms", !part ? 0 : ms < 10 ? 2 : ms < 100 ? 1 : 0, ms);
	else if (ms < 100000)
		str_addf(out, "%.*f s", ms < 10000 ? 2 : 1, ms / 1000);
	else
		str_add_text(out, value_duration_text(part, text));
}

/* The one denominator, in words. */
static void add_whole(const struct top_model *model, struct str *out)
{
	struct quality ledger = top_model_ledger(model);
	u64 ns = ledger.end_ns > ledger.begin_ns ? ledger.end_ns - ledger.begin_ns : 0;

	str_add_text(out, "100 % is ");
	add_amount(model, top_model_whole(model), out);
	str_addf(out, " of %s",
		 top_model_by_samples(model) ? "samples" : fold_unit(&model->gather.profile));
	if (model->span == TOP_ALL)
		str_add_text(out, " since the start");
	else
		str_addf(out, " in the last %.0f s", (double)ns / NS_PER_S);
}

static void put_caption(const struct top_screen *screen, struct top_grid *grid, u32 y)
{
	static const char *const sorts[] = { "by self", "by total", "by name" };
	const struct top_model *model = screen->model;
	struct str text = { 0 }, name = { 0 };

	str_addf(&text, "%s; ", sorts[model->sort]);
	add_whole(model, &text);
	if (model->sums.scope.set) {
		top_model_label(model, model->sums.scope.of, model->sums.scope.key, &name);
		str_addf(&text, " of %s %s", nouns[model->sums.scope.of], name.text);
	}
	put_str(grid, 0, y, grid->width, TOP_PLAIN, &text);
	str_free(&text);
	str_free(&name);
}

/* ---- rows --------------------------------------------------------------------------------- */

static u32 name_column(const struct top_grid *grid)
{
	return NAME_COLUMN + (grid->width >= SAMPLES_FROM_WIDTH ? SAMPLES_COLUMN : 0);
}

/* Of a thread's name, in front of the function where it is most. */
static u32 thread_columns(const struct top_grid *grid)
{
	u32 room = grid->width > name_column(grid) ? grid->width - name_column(grid) : 0;

	return room * 2 / 5 < THREAD_COLUMNS_MOST ? room * 2 / 5 : THREAD_COLUMNS_MOST;
}

/* Does a row have more in all than itself? */
static bool is_parted(const struct top_model *model)
{
	return model->in_tree || (model->view != TOP_THREADS && model->view != TOP_PROCESSES);
}

static void put_heads(const struct top_screen *screen, struct top_grid *grid, u32 y)
{
	const struct top_model *model = screen->model;
	bool by_self = model->sort == TOP_BY_SELF, by_total = model->sort == TOP_BY_TOTAL;
	struct str text = { 0 };
	char place[64];

	str_addf(&text, "%6s %7s %9s  ", by_self ? "SELF%" : "self%",
		 !is_parted(model) ? "" :
		 by_total          ? "TOTAL%" :
				     "total%",
		 by_self ? "SELF" : "self");
	if (grid->width >= SAMPLES_FROM_WIDTH)
		str_addf(&text, "%8s  ", "samples");
	str_addf(&text, model->sort == TOP_BY_NAME && !model->in_tree ? "%s, A-Z" : "%s",
		 model->in_tree ? nouns[model->tree_view] : nouns[model->view]);
	if (model->view == TOP_THREADS && !model->in_tree && !model->filter.length)
		str_addf(&text, "%*smost of it in",
			 (int)thread_columns(grid) + 2 - (int)strlen(nouns[TOP_THREADS]), "");
	if (model->filter.length && !model->in_tree) {
		str_add_text(&text, " with \"");
		text_add_safe(&text, model->filter.text, model->filter.length, 0);
		str_addf(&text, "\": %u of %u, self %.1f %%", model->rows.count,
			 model->rows_unfiltered, top_model_percent(model, model->matched));
	}
	top_grid_style(grid, 0, y, grid->width, TOP_HEAD);
	u32 room = grid->width;
	if (!screen->plain && !model->in_tree && model->rows.count > screen->page) {
		snprintf(place, sizeof place, "%u-%u of %u", screen->scroll + 1,
			 screen->scroll + screen->page < model->rows.count ?
				 screen->scroll + screen->page :
				 model->rows.count,
			 model->rows.count);
		room = put_right(grid, y, TOP_HEAD, place);
	}
	put_str(grid, 0, y, room, TOP_HEAD, &text);
	str_free(&text);
}

/* The numbers of a row, then its name; the part behind the name proper is faint. */
static void put_amounts(const struct top_screen *screen, struct top_grid *grid, u32 y,
			const struct top_amount *had, bool has_self)
{
	const struct top_model *model = screen->model;
	u64 self = top_model_self(model, had), total = top_model_total(model, had);
	struct str text = { 0 }, amount = { 0 };
	char samples[32];

	add_amount(model, has_self ? self : total, &amount);
	if (has_self)
		str_addf(&text, "%6.1f ", top_model_percent(model, self));
	else
		str_addf(&text, "%6s ", "");
	if (is_parted(model))
		str_addf(&text, "%7.1f ", top_model_percent(model, total));
	else
		str_addf(&text, "%7s ", "");
	str_addf(&text, "%9s  ", has_self ? amount.text : "");
	if (grid->width >= SAMPLES_FROM_WIDTH)
		str_addf(&text, "%8s  ",
			 value_grouped(has_self ? had->self_samples : had->total_samples, samples));
	double share = top_model_percent(model, has_self ? self : total);
	put_str(grid, 0, y, grid->width, share >= STRONG_PERCENT ? TOP_STRONG : TOP_PLAIN, &text);
	str_free(&text);
	str_free(&amount);
}

static void put_name(const struct top_screen *screen, struct top_grid *grid, u32 x, u32 y, u32 room,
		     enum top_view view, u32 key)
{
	struct str label = { 0 };
	u32 name = top_model_label(screen->model, view, key, &label);

	put_str(grid, x, y, room, TOP_PLAIN, &label);
	u32 columns = columns_of(label.text, name);
	top_grid_style(grid, x + columns, y, grid->width, TOP_FAINT);
	str_free(&label);
}

static void put_row(const struct top_screen *screen, struct top_grid *grid, u32 y, u32 index)
{
	const struct top_model *model = screen->model;
	const struct top_row *row = &model->rows.at[index];

	u32 x = name_column(grid), busiest = top_model_busiest(model, row->key);

	put_amounts(screen, grid, y, &row->had, true);
	if (model->view != TOP_THREADS || !busiest) {
		put_name(screen, grid, x, y, grid->width, model->view, row->key);
		return;
	}
	u32 room = thread_columns(grid);
	put_name(screen, grid, x, y, room, model->view, row->key);
	put_name(screen, grid, x + room + 2, y, grid->width, TOP_FUNCTIONS, busiest);
}

static void put_cut(struct top_grid *grid, u32 x, u32 y, u32 frames)
{
	struct str text = { 0 };

	str_addf(&text, "(%u more up to the root)", frames);
	top_grid_text(grid, x, y, TOP_FAINT, text.text ? text.text : "");
	str_free(&text);
}

/* The function itself, its callers under a heading, what it calls under another. */
static void put_branch(const struct top_screen *screen, struct top_grid *grid, u32 y, u32 index)
{
	const struct top_model *model = screen->model;
	const struct top_tree *tree = &model->tree;
	u32 x = name_column(grid), callers = tree->callers.count;
	enum top_view view = model->tree_view;

	if (index == 0) {
		put_amounts(screen, grid, y, &tree->had, true);
		put_name(screen, grid, x, y, grid->width, view, model->tree_key);
	} else if (index == 1) {
		top_grid_text(grid, x, y, TOP_STRONG, callers ? "called by" : "called by nobody");
	} else if (index == 2 + callers) {
		top_grid_text(grid, x, y, TOP_STRONG,
			      tree->callees.count ? "calls" : "calls nothing");
	} else {
		bool caller = index < 2 + callers;
		const struct top_branch *branch = caller ? &tree->callers.at[index - 2] :
							   &tree->callees.at[index - 3 - callers];
		put_amounts(screen, grid, y, &branch->had, !caller);
		if (branch->cut)
			put_cut(grid, x + 2 + branch->indent, y, branch->cut);
		else
			put_name(screen, grid, x + 2 + branch->indent, y, grid->width, view,
				 branch->key);
	}
}

/* Where nothing is shown: why. */
static const char *emptiness(const struct top_screen *screen)
{
	const struct top_model *model = screen->model;

	if (model->rows_unfiltered)
		return "nothing has this in its name (Esc: all again)";
	struct quality ledger = top_model_ledger(model);
	if (strcmp(model->gather.profile.mode, "cpu") != 0 ||
	    ledger.end_ns < ledger.begin_ns + NS_PER_S)
		return "no sample yet";
	return "nothing has used the CPU; --mode=wall samples threads that wait, too";
}

/* The row that the cursor follows may be elsewhere now. */
static void find_cursor(struct top_screen *screen)
{
	const struct top_model *model = screen->model;
	u32 lines = top_screen_lines(screen);

	for (u32 i = 0; screen->follows && !model->in_tree && i < model->rows.count; i++)
		if (model->rows.at[i].key == screen->followed)
			screen->cursor = i;
	if (screen->cursor >= lines)
		screen->cursor = lines ? lines - 1 : 0;
	if (screen->cursor < screen->scroll)
		screen->scroll = screen->cursor;
	if (screen->page && screen->cursor >= screen->scroll + screen->page)
		screen->scroll = screen->cursor - screen->page + 1;
	if (screen->scroll + screen->page > lines)
		screen->scroll = lines > screen->page ? lines - screen->page : 0;
}

static void put_rows(struct top_screen *screen, struct top_grid *grid, u32 y)
{
	u32 lines = top_screen_lines(screen);

	for (u32 i = 0; i < screen->page && screen->scroll + i < lines; i++) {
		u32 index = screen->scroll + i;
		if (screen->model->in_tree)
			put_branch(screen, grid, y + i, index);
		else
			put_row(screen, grid, y + i, index);
		if (index == screen->cursor && !screen->plain)
			top_grid_style(grid, 0, y + i, grid->width, TOP_CHOSEN);
	}
	if (!lines && screen->page > 1)
		top_grid_text(grid, 2, y + 1, TOP_PLAIN, emptiness(screen));
}

/* ---- the foot and the help ---------------------------------------------------------------- */

static void put_foot(const struct top_screen *screen, struct top_grid *grid)
{
	const struct top_model *model = screen->model;
	u32 y = grid->height - 1;
	struct str text = { 0 };

	if (screen->typing) {
		str_add_text(&text, "only names with: ");
		text_add_safe(&text, model->filter.text, model->filter.length, 0);
		str_add_text(&text, "_   (Enter: keep, Esc: all)");
	} else if (screen->message[0]) {
		str_add_text(&text, screen->message);
	} else {
		bool frames = model->view == TOP_FUNCTIONS || model->view == TOP_LINES;
		/* the first ones are the last that a narrow screen loses */
		str_addf(&text, "q quit  ? help  %s  Enter %s  a %s  space %s  w write",
			 model->in_tree ? "Esc back" : "s,t sort  / find",
			 model->in_tree ? "go there" :
			 frames         ? "calls" :
					  "only it",
			 model->span == TOP_ALL ? "recent" : "all",
			 model->paused ? "go on" : "pause");
	}
	put_str(grid, 0, y, grid->width - 1, screen->message[0] ? TOP_STRONG : TOP_FAINT, &text);
	str_free(&text);
}

static void put_help(struct top_grid *grid)
{
	static const char *const lines[] = {
		"self   what the code of a row took itself",
		"total  self, plus everything it called; recursion counts once",
		"moving samples whose innermost frames changed while they were read",
		"lost   attempts that failed; the other samples carry their time",
		"",
		"1-5, Tab     functions, lines, threads, processes, languages",
		"s t n        sort by self, by total, by name",
		"a            the last 10 seconds, or all since the start",
		"/            only rows with this in their name or path; Esc: all again",
		"Enter        of a function or line: who calls it and what it calls",
		"             of a thread, process or language: only what it does",
		"Esc          back",
		"arrows, j k, PgUp, PgDn, Home, End   move",
		"space        hold the picture; sampling goes on",
		"w W          write all since the start: an HTML page, folded stacks",
		"q, Ctrl-C    quit",
	};

	for (u32 i = 0; i < COUNT_OF(lines) && i + 2 < grid->height; i++)
		top_grid_text(grid, 1, i + 1, TOP_PLAIN, lines[i]);
	if (grid->height)
		top_grid_text(grid, 1, grid->height - 1, TOP_FAINT, "any key: back");
}

void top_screen_draw(struct top_screen *screen, struct top_grid *grid)
{
	u32 y = 0, foot = screen->plain ? 0 : 1;
	bool roomy = grid->height >= TABS_FROM_HEIGHT;

	if (!grid->width || !grid->height)
		return;
	if (screen->help) {
		put_help(grid);
		return;
	}
	put_title(screen, grid, y++);
	if (roomy || screen->plain)
		put_counts(screen, grid, y++);
	put_health(screen, grid, y++);
	if (roomy && !screen->plain)
		put_tabs(screen, grid, y++);
	put_caption(screen, grid, y++);
	screen->page = grid->height > y + 1 + foot ? grid->height - y - 1 - foot : 0;
	find_cursor(screen);
	put_heads(screen, grid, y++);
	put_rows(screen, grid, y);
	if (!screen->plain)
		put_foot(screen, grid);
}
