/* SPDX-License-Identifier: Apache-2.0
 * top.h - a model that is fed by hand, a second at a time. */
#pragma once
#include "cli/top_model.h"
#include "export/built.h"

struct hand_fed {
	struct profile profile; /* what a session would have */
	struct top_model model;
	struct top_feed feed;
	u64 now_ns;
};

static inline void hand_fed_init(struct hand_fed *fed)
{
	*fed = (struct hand_fed){ .now_ns = 100 * NS_PER_S };
	if (!profile_init(&fed->profile) || !top_model_init(&fed->model))
		abort();
}

static inline void hand_fed_free(struct hand_fed *fed)
{
	gather_source_free(&fed->feed.gathered);
	top_model_free(&fed->model);
	profile_free(&fed->profile);
}

/* So many seconds later these samples have come; the ledger says so. */
static inline void hand_feed(struct hand_fed *fed, u64 seconds, const char *lines)
{
	u64 begin_ns = 100 * NS_PER_S;

	built_lines(&fed->profile, lines);
	fed->now_ns += seconds * NS_PER_S;
	built_facts(&fed->profile);
	fed->profile.quality.begin_ns = begin_ns;
	fed->profile.quality.end_ns = fed->now_ns;
	top_model_take(&fed->model, &fed->feed, &fed->profile, fed->now_ns);
	top_model_refresh(&fed->model);
}
