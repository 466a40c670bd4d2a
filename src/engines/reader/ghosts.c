/* SPDX-License-Identifier: Apache-2.0
 * ghosts.c - see ghosts.h. */
#include "engines/reader/ghosts.h"

#include "base/clock.h"
#include "target/kin.h"

/* Events come with the next poll; this is for a starved one. */
static const u64 STAYS_NS = NS_PER_S;

static u32 place_of(const struct ghosts *ghosts, u32 pid)
{
	u32 i = 0;

	while (i < ghosts->all.count && ghosts->all.at[i].process->pid != pid)
		i++;
	return i;
}

void ghosts_keep(struct ghosts *ghosts, struct reader_process *process, u64 now_ns)
{
	struct ghost ghost = { process, now_ns + STAYS_NS };

	ghosts_drop(ghosts, process->pid);
	if (vec_push(&ghosts->all, ghost))
		ghosts->kept++;
	else
		process_free(process);
}

struct reader_process *ghosts_find(const struct ghosts *ghosts, u32 pid)
{
	u32 place = place_of(ghosts, pid);

	return place < ghosts->all.count ? ghosts->all.at[place].process : NULL;
}

struct reader_process *ghosts_take(struct ghosts *ghosts, u32 pid)
{
	u32 place = place_of(ghosts, pid);

	if (place == ghosts->all.count)
		return NULL;
	struct reader_process *process = ghosts->all.at[place].process;
	ghosts->all.at[place] = ghosts->all.at[--ghosts->all.count];
	return process;
}

void ghosts_drop(struct ghosts *ghosts, u32 pid)
{
	struct reader_process *process = ghosts_take(ghosts, pid);

	if (process)
		process_free(process);
}

void ghosts_expire(struct ghosts *ghosts, u64 now_ns)
{
	for (u32 i = ghosts->all.count; i-- > 0;) {
		struct ghost *ghost = &ghosts->all.at[i];
		if (now_ns < ghost->until_ns)
			continue;
		if (target_is_alive(ghost->process->pid))
			ghost->until_ns = now_ns + STAYS_NS;
		else
			ghosts_drop(ghosts, ghost->process->pid);
	}
}

void ghosts_free(struct ghosts *ghosts)
{
	for (u32 i = 0; i < ghosts->all.count; i++)
		process_free(ghosts->all.at[i].process);
	vec_free(&ghosts->all);
}
