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

bool target_believe(struct target *target, const struct told *told, u32 kin)
{
	struct maps maps = { 0 };
	bool good = told->maps.all.count > 0 && !told->is_too_much &&
		    (told->is_anew || maps_put_all(&maps, &target->maps)) &&
		    maps_put_all(&maps, &told->maps);

	if (!good) {
		maps_free(&maps);
		return false;
	}
	maps_free(&target->maps);
	target->maps = maps;
	target->kin = kin;
	if (told->is_anew)
		memcpy(target->comm, told->comm, sizeof target->comm);
	return true;
}
