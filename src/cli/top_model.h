/* SPDX-License-Identifier: Apache-2.0
 * top_model.h - what `sonde top` shows, without a terminal: rows by view, order, filter and window.
 *
 * One denominator: what the samples of the span and scope weigh, or how many they are where they
 * weigh nothing. Everything shown is a part of it. */
#pragma once
#include "base/str.h"
#include "cli/top_tree.h"
#include "profile/gather.h"

enum top_sort { TOP_BY_SELF, TOP_BY_TOTAL, TOP_BY_NAME };

struct top_row {
	u32 key;
	struct top_amount had;
};

/* What a thread had in one function itself. */
struct top_busy {
	u32 thread, function;
	u64 self;
};

struct top_model {
	struct gather gather;
	struct top_sums sums;
	enum top_view view;
	enum top_sort sort;
	enum top_span span;
	bool paused; /* nothing is taken */
	struct str filter;
	/* of the last refresh */
	VEC(struct top_row) rows;
	u32 rows_unfiltered;
	VEC(struct top_busy) busiest; /* threads only: one each, by thread */
	u64 matched;                  /* what the rows have themselves, together */
	bool in_tree;
	enum top_view tree_view;
	u32 tree_key;
	struct top_tree tree;
};

/* A source of samples, as the model knows it. */
struct top_feed {
	struct gather_source gathered;
	bool late;    /* what comes next is from before the window */
	u64 taken_ns; /* the last time; 0: not yet */
};

bool top_model_init(struct top_model *model);
void top_model_free(struct top_model *model);
void top_model_take(struct top_model *model, struct top_feed *feed, const struct profile *profile,
		    u64 now_ns);
/* The rows, or the tree, as everything is now. */
void top_model_refresh(struct top_model *model);

bool top_model_by_samples(const struct top_model *model);
/* Of 100: a part of what is shown. */
double top_model_percent(const struct top_model *model, u64 part);
u64 top_model_self(const struct top_model *model, const struct top_amount *amount);
u64 top_model_total(const struct top_model *model, const struct top_amount *amount);
u64 top_model_whole(const struct top_model *model);
/* A row's name, and how many bytes of it are the name proper: a path comes behind. */
u32 top_model_label(const struct top_model *model, enum top_view view, u32 key, struct str *out);
/* The function in which the thread of a row was most; 0: none. In the view of threads. */
u32 top_model_busiest(const struct top_model *model, u32 thread);
/* The ledger of the span: what happened since it began. */
struct quality top_model_ledger(const struct top_model *model);
