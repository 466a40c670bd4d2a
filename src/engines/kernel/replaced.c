/* SPDX-License-Identifier: Apache-2.0
 * replaced.c - see replaced.h. */
#include "engines/kernel/replaced.h"

#include "base/clock.h"

/* Records are read in a second at the most: what is older says nothing of those to come. */
static const u64 KEPT_NS = 10 * NS_PER_S;
enum { PLACES_MAX = 64 };

void replaced_free(struct replaced *replaced)
{
	vec_free(&replaced->of_late);
	vec_free(&replaced->places);
}

void replaced_clear(struct replaced *replaced)
{
	vec_clear(&replaced->of_late);
	vec_clear(&replaced->places);
}

bool replaced_copy(struct replaced *to, const struct replaced *from)
{
	for (u32 i = 0; i < from->of_late.count; i++)
		if (!vec_push(&to->of_late, from->of_late.at[i]))
			return false;
	for (u32 i = 0; i < from->places.count; i++)
		if (!vec_push(&to->places, from->places.at[i]))
			return false;
	return true;
}

static void forget_old(struct replaced *replaced, u64 now_ns)
{
	u32 kept = 0;

	for (u32 i = 0; i < replaced->of_late.count; i++)
		if (replaced->of_late.at[i].changed_ns + KEPT_NS > now_ns)
			replaced->of_late.at[kept++] = replaced->of_late.at[i];
	replaced->of_late.count = kept;
}

void replaced_note(struct replaced *replaced, u64 start, u64 end, u64 changed_ns)
{
	forget_old(replaced, changed_ns);
	vec_push(&replaced->of_late, (struct replacing){ start, end, changed_ns, UINT64_MAX });
	if (replaced->places.count < PLACES_MAX && !replaced_ever(replaced, start, end))
		vec_push(&replaced->places, (struct replaced_place){ start, end });
}

static bool is_doubt(const struct replacing *one)
{
	return one->end == UINT64_MAX;
}

void replaced_doubt(struct replaced *replaced, u64 since_ns)
{
	forget_old(replaced, since_ns);
	vec_push(&replaced->of_late, (struct replacing){ 0, UINT64_MAX, since_ns, UINT64_MAX });
}

u64 replaced_end_doubt(struct replaced *replaced)
{
	u64 since_ns = 0;
	u32 kept = 0;

	for (u32 i = 0; i < replaced->of_late.count; i++) {
		struct replacing one = replaced->of_late.at[i];
		if (!is_doubt(&one) || one.told_ns != UINT64_MAX)
			replaced->of_late.at[kept++] = one;
		else if (!since_ns || one.changed_ns < since_ns)
			since_ns = one.changed_ns;
	}
	replaced->of_late.count = kept;
	return since_ns;
}

void replaced_is_told(struct replaced *replaced, u64 now_ns)
{
	for (u32 i = 0; i < replaced->of_late.count; i++)
		if (replaced->of_late.at[i].told_ns == UINT64_MAX)
			replaced->of_late.at[i].told_ns = now_ns;
}

static u32 state_at(const struct replacing *one, u64 time_ns)
{
	if (time_ns > one->told_ns)
		return 0;
	u32 unknown = is_doubt(one) ? 0 : REPLACED_UNKNOWN; /* mostly it was about others */
	if (time_ns < one->changed_ns)
		return unknown;
	return REPLACED_UNHEARD | (one->told_ns == UINT64_MAX ? unknown : 0);
}

u32 replaced_at(const struct replaced *replaced, u64 address, u64 time_ns)
{
	u32 found = 0;

	for (u32 i = 0; i < replaced->of_late.count; i++) {
		const struct replacing *one = &replaced->of_late.at[i];
		if (address >= one->start && address < one->end)
			found |= state_at(one, time_ns);
	}
	return found;
}

bool replaced_ever(const struct replaced *replaced, u64 start, u64 end)
{
	for (u32 i = 0; i < replaced->places.count; i++)
		if (replaced->places.at[i].start < end && start < replaced->places.at[i].end)
			return true;
	return false;
}
