/* SPDX-License-Identifier: Apache-2.0
 * told.c - see told.h. */
#include "target/told.h"

#include "target/maps.h"

#include <string.h>

/* A program may map without end, and is asked when there is a reason. */
enum { TOLD_MOST = 1024, TOLD_PATHS_MOST = 256 << 10 };

bool told_mapping(struct told *told, const struct mapping *mapping, const char *path, u64 time_ns)
{
	told->is_too_much |= told->maps.all.count >= TOLD_MOST ||
			     told->maps.paths.count >= TOLD_PATHS_MOST;
	if (told->is_too_much || !maps_put(&told->maps, mapping, path))
		return false;
	told->time_ns = time_ns;
	return true;
}

void told_exec(struct told *told, const char *comm, u64 time_ns)
{
	told_forget(told);
	told->is_anew = true;
	told->time_ns = time_ns;
	strncpy(told->comm, comm, sizeof told->comm - 1);
}

/* The loader, the vDSO and the program itself stay where they are for as long as the image lives. */
bool told_is_of(const struct told *told, const struct maps *maps)
{
	for (u32 i = 0; i < told->maps.all.count; i++) {
		const struct mapping *said = &told->maps.all.at[i];
		u32 at = vec_first_not(&maps->all, one, one->start < said->start);
		if (at < maps->all.count && maps->all.at[at].start == said->start &&
		    maps->all.at[at].inode == said->inode)
			return true;
	}
	return !told->is_anew || !told->maps.all.count;
}

void told_forget(struct told *told)
{
	maps_free(&told->maps);
	*told = (struct told){ 0 };
}

static bool put_all(struct maps *maps, const struct maps *more)
{
	for (u32 i = 0; i < more->all.count; i++)
		if (!maps_put(maps, &more->all.at[i], more->paths.at + more->all.at[i].path))
			return false;
	return true;
}

bool target_believe(struct target *target, struct told *told, u32 kin)
{
	if (!told->maps.all.count || told->is_too_much)
		return false;
	if (told->is_anew) {
		maps_free(&target->maps);
		target->maps = told->maps;
		told->maps = (struct maps){ 0 };
		memcpy(target->comm, told->comm, sizeof target->comm);
	} else if (!put_all(&target->maps, &told->maps)) {
		return false;
	}
	target->kin = kin;
	told_forget(told);
	return true;
}
