/* SPDX-License-Identifier: Apache-2.0
 * top_model.c - see top_model.h. */
#include "cli/top_model.h"

#include <string.h>

#include "sample/label.h"

static const double TREE_LEAST = 0.005;

enum { TIMELINE_CELLS = 256 * 1024 }; /* 3 MiB: for the page that is written of it */

bool top_model_init(struct top_model *model)
{
	*model = (struct top_model){ 0 };
	if (!gather_init(&model->gather))
		return false;
	model->gather.profile.timeline.cells_most = TIMELINE_CELLS;
	top_sums_init(&model->sums, &model->gather.profile);
	return true;
}

void top_model_free(struct top_model *model)
{
	top_sums_free(&model->sums);
	top_tree_free(&model->tree);
	gather_free(&model->gather);
	vec_free(&model->rows);
	vec_free(&model->busiest);
	str_free(&model->filter);
}

struct taking {
	struct top_model *model;
	u64 from_ns, to_ns; /* when it grew, since the start */
	bool late;
};

/* When in that time each sample was taken is not known: they are put evenly. */
static void on_growth(void *arg, u32 entry, u64 count, u64 weight)
{
	const struct taking *taking = arg;
	struct timeline *timeline = &taking->model->gather.profile.timeline;
	u64 step_ns = count ? (taking->to_ns - taking->from_ns) / count : 0;

	top_sums_add(&taking->model->sums, entry, count, weight, taking->late);
	for (u64 i = 0; i < count; i++)
		timeline_add(timeline, taking->from_ns + i * step_ns + step_ns / 2, entry);
}

static struct taking take_since(struct top_model *model, struct top_feed *feed,
				const struct profile *profile, u64 now_ns)
{
	u64 begin_ns = model->gather.profile.quality.begin_ns;

	if (!begin_ns) /* the first of all */
		begin_ns = profile->quality.begin_ns;
	u64 from_ns = feed->taken_ns ? feed->taken_ns : profile->quality.begin_ns;
	feed->taken_ns = now_ns;
	return (struct taking){ .model = model,
				.from_ns = from_ns > begin_ns ? from_ns - begin_ns : 0,
				.to_ns = now_ns > begin_ns ? now_ns - begin_ns : 0,
				.late = feed->late };
}

void top_model_take(struct top_model *model, struct top_feed *feed, const struct profile *profile,
		    u64 now_ns)
{
	if (model->paused)
		return;
	struct taking taking = take_since(model, feed, profile, now_ns);
	u32 replaced = model->gather.profile.names.replaced.count;
	if (!feed->late)
		top_sums_advance(&model->sums, now_ns);
	gather_take(&model->gather, &feed->gathered, profile, on_growth, &taking);
	if (model->gather.profile.names.replaced.count != replaced)
		top_sums_again(&model->sums);
	if (feed->late) /* a second that begins now begins with this ledger */
		top_sums_advance(&model->sums, now_ns);
	feed->late = false;
}

/* ---- amounts ------------------------------------------------------------------------------ */

bool top_model_by_samples(const struct top_model *model)
{
	return model->sums.everything.self == 0;
}

u64 top_model_self(const struct top_model *model, const struct top_amount *amount)
{
	return top_model_by_samples(model) ? amount->self_samples : amount->self;
}

u64 top_model_total(const struct top_model *model, const struct top_amount *amount)
{
	return top_model_by_samples(model) ? amount->total_samples : amount->total;
}

u64 top_model_whole(const struct top_model *model)
{
	return top_model_total(model, &model->sums.whole[model->span]);
}

double top_model_percent(const struct top_model *model, u64 part)
{
	u64 whole = top_model_whole(model);

	return whole ? 100.0 * (double)part / (double)whole : 0;
}

struct quality top_model_ledger(const struct top_model *model)
{
	struct quality now = model->gather.profile.quality;
	struct quality before = top_sums_before(&model->sums, model->span);

	if (!before.end_ns)
		return now;
	now.expected -= before.expected;
	now.taken -= before.taken;
#define X(name, text) now.lost.name -= before.lost.name;
	QUALITY_LOSSES(X)
#undef X
	now.samples -= before.samples;
	now.moving -= before.moving;
	now.truncated -= before.truncated;
	now.own_cpu_ns -= before.own_cpu_ns;
	now.begin_ns = before.end_ns;
	return now;
}

/* ---- names -------------------------------------------------------------------------------- */

static u32 thread_label(const struct profile *profile, u32 key, struct str *out)
{
	const struct profile_thread *thread = &profile->threads.at[key];

	label_string(out, &profile->names, thread->name, 0);
	u32 name = out->length;
	str_addf(out, "%s(%u)", thread->name ? " " : "", thread->tid);
	if (profile->processes.count > 1)
		str_addf(out, " of process %u", profile->processes.at[thread->process].pid);
	return name;
}

static u32 process_label(const struct profile *profile, u32 key, struct str *out)
{
	label_string(out, &profile->names, profile->processes.at[key].name, 0);
	u32 name = out->length;
	str_addf(out, " (%u)", profile->processes.at[key].pid);
	return name;
}

u32 top_model_label(const struct top_model *model, enum top_view view, u32 key, struct str *out)
{
	const struct profile *profile = &model->gather.profile;
	const struct names *names = &profile->names;

	str_clear(out);
	if (view == TOP_THREADS)
		return thread_label(profile, key, out);
	if (view == TOP_PROCESSES)
		return process_label(profile, key, out);
	if (view == TOP_LANGUAGES) {
		u32 language = model->sums.languages.at[key];
		if (language)
			label_string(out, names, language, 0);
		else
			str_add_text(out, "(not code: [moving], garbage collection and the like)");
		return out->length;
	}
	const struct line *line = view == TOP_LINES ? &model->sums.lines.at.at[key] : NULL;
	u32 function = top_sums_function(&model->sums, view, key);
	label_string(out, names, names->functions.at[function].name, 0);
	u32 name = out->length;
	str_clear(out);
	if (line)
		label_line(out, names, line->location, line->site, 0);
	else
		label_function(out, names, function, 0);
	return name && name < out->length ? name : out->length;
}

/* ---- rows --------------------------------------------------------------------------------- */

static int by_amount(const void *a, const void *b, void *arg)
{
	const struct top_model *model = arg;
	const struct top_row *x = a, *y = b;
	bool total = model->sort == TOP_BY_TOTAL;
	u64 left = total ? top_model_total(model, &x->had) : top_model_self(model, &x->had);
	u64 right = total ? top_model_total(model, &y->had) : top_model_self(model, &y->had);

	if (left == right) {
		left = total ? top_model_self(model, &x->had) : top_model_total(model, &x->had);
		right = total ? top_model_self(model, &y->had) : top_model_total(model, &y->had);
	}
	if (left != right)
		return left > right ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static const struct name_string *name_of(const struct top_model *model, u32 key)
{
	const struct profile *profile = &model->gather.profile;
	const struct names *names = &profile->names;
	u32 name =
		model->view == TOP_THREADS ?
			profile->threads.at[key].name :
		model->view == TOP_PROCESSES ?
			profile->processes.at[key].name :
		model->view == TOP_LANGUAGES ?
			model->sums.languages.at[key] :
			names->functions.at[top_sums_function(&model->sums, model->view, key)].name;

	return &names->strings.at[name];
}

static int by_name(const void *a, const void *b, void *arg)
{
	const struct top_row *x = a, *y = b;
	int order = strcasecmp(name_of(arg, x->key)->text, name_of(arg, y->key)->text);

	return order ? order : by_amount(a, b, arg);
}

/* Does the label hold the filter's words? Upper and lower case of ASCII are one. */
static bool matches(const struct top_model *model, u32 key, struct str *label)
{
	if (!model->filter.length)
		return true;
	top_model_label(model, model->view, key, label);
	return label->text && strcasestr(label->text, model->filter.text);
}

static void refresh_rows(struct top_model *model)
{
	const struct top_sums *sums = &model->sums;
	struct str label = { 0 };

	vec_clear(&model->rows);
	model->rows_unfiltered = 0;
	model->matched = 0;
	for (u32 i = 0; i < sums->keys[model->view].count; i++) {
		struct top_row row = { i, sums->keys[model->view].at[i].had[model->span] };
		if (!row.had.total_samples && !row.had.total)
			continue;
		model->rows_unfiltered++;
		if (!matches(model, i, &label))
			continue;
		model->matched += top_model_self(model, &row.had);
		if (!vec_push(&model->rows, row))
			model->sums.bad = true;
	}
	str_free(&label);
	if (model->rows.count)
		qsort_r(model->rows.at, model->rows.count, sizeof *model->rows.at,
			model->sort == TOP_BY_NAME ? by_name : by_amount, model);
}

/* ---- where threads are most --------------------------------------------------------------- */

static void add_busy(void *arg, const struct top_growth *grown)
{
	struct top_model *model = arg;
	const struct profile *profile = &model->gather.profile;
	const struct profile_entry *entry = &profile->entries.at[grown->entry];
	struct top_busy busy = { entry->thread,
				 top_sums_key(&model->sums, TOP_FUNCTIONS, entry->stack),
				 top_model_by_samples(model) ? grown->count : grown->weight };

	model->sums.bad |= !vec_push(&model->busiest, busy);
}

static int by_thread_and_function(const void *a, const void *b)
{
	const struct top_busy *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

/* One line a function, then one a thread: the heaviest. */
static void refresh_busiest(struct top_model *model)
{
	struct top_busy *busy;
	u32 used = 0, kept = 0;

	vec_clear(&model->busiest);
	top_sums_each(&model->sums, model->span, add_busy, model);
	busy = model->busiest.at;
	if (!model->busiest.count)
		return;
	qsort(busy, model->busiest.count, sizeof *busy, by_thread_and_function);
	for (u32 i = 1; i < model->busiest.count; i++) {
		if (by_thread_and_function(&busy[i], &busy[used]) == 0)
			busy[used].self += busy[i].self;
		else
			busy[++used] = busy[i];
	}
	for (u32 i = 1; i <= used; i++) {
		if (busy[i].thread != busy[kept].thread)
			busy[++kept] = busy[i];
		else if (busy[i].self > busy[kept].self)
			busy[kept] = busy[i];
	}
	model->busiest.count = kept + 1;
}

u32 top_model_busiest(const struct top_model *model, u32 thread)
{
	u32 at = vec_first_not(&model->busiest, one, one->thread < thread);
	bool found = at < model->busiest.count && model->busiest.at[at].thread == thread;

	return found ? model->busiest.at[at].function : 0;
}

void top_model_refresh(struct top_model *model)
{
	refresh_rows(model);
	if (model->view == TOP_THREADS)
		refresh_busiest(model);
	if (model->in_tree)
		top_tree_make(&model->tree, &model->sums, model->tree_view, model->span,
			      model->tree_key, top_model_by_samples(model), TREE_LEAST);
}
