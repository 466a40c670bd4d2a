/* SPDX-License-Identifier: Apache-2.0
 * backoff.h - what is asked less and less often while the answer stays no: each wait is twice the last one.
 *
 *	if (backoff_is_due(&thing->again, now_ns) && !ask(thing))
 *		backoff_miss(&thing->again, now_ns, least_ns, most_ns);
 *
 * All zero: it is due at once, and the first miss waits `least_ns`. */
#pragma once
#include "base/types.h"

struct backoff {
	u64 next_ns; /* not before; of the clock that the caller goes by */
	u64 wait_ns; /* the last wait; 0: none yet */
};

static inline bool backoff_is_due(const struct backoff *backoff, u64 now_ns)
{
	return now_ns >= backoff->next_ns;
}

static inline void backoff_miss(struct backoff *backoff, u64 now_ns, u64 least_ns, u64 most_ns)
{
	u64 wait_ns = backoff->wait_ns * 2;

	wait_ns = wait_ns < least_ns ? least_ns : wait_ns;
	backoff->wait_ns = wait_ns > most_ns ? most_ns : wait_ns;
	backoff->next_ns = now_ns + backoff->wait_ns;
}

/* The other way: how long to wait when each wait is one `part`th of the time since it was asked first. */
static inline u64 backoff_part_ns(u64 since_ns, u64 now_ns, u32 part, u64 least_ns, u64 most_ns)
{
	u64 wait_ns = (now_ns - since_ns) / part;

	return wait_ns < least_ns ? least_ns : wait_ns > most_ns ? most_ns : wait_ns;
}

static inline void backoff_reset(struct backoff *backoff)
{
	*backoff = (struct backoff){ 0 };
}
