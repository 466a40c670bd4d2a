/* SPDX-License-Identifier: Apache-2.0
 * engines.c - the engines, and the one flag by which a signal handler ends a pump. */
#include "engines/engine.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>

extern const struct engine reader_engine, kernel_engine;

const struct engine *const engines[] = {
#ifdef WITH_BPF
	&kernel_engine,
#endif
	&reader_engine,
};
const u32 engine_count = COUNT_OF(engines);

static atomic_bool interrupted; /* set in a signal handler, read by every thread that samples */

const struct engine *engine_named(const char *name)
{
	for (u32 i = 0; i < engine_count; i++)
		if (!strcmp(engines[i]->name, name))
			return engines[i];
	return NULL;
}

bool engine_suits(const struct engine *engine, const struct engine_options *options)
{
	return (engine->modes & 1u << options->mode) && (engine->has_all || !options->all) &&
	       (engine->has_events || !options->events) &&
	       (engine->has_tasks || options->async == ASYNC_OFF) &&
	       (engine->can_pause || options->pause != PAUSE_ALWAYS) &&
	       (engine->has_tapes || !options->tape_dir);
}

bool engine_check_rate(const struct engine_options *options, struct err *err)
{
	return (options->hz >= 1 && options->hz <= ENGINE_HZ_MAX) ||
	       err_set(err, ERR_USAGE, "rate %u is not within 1 and %u Hz", options->hz,
		       ENGINE_HZ_MAX);
}

void engine_raise_file_limit(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

void engine_interrupt(void)
{
	interrupted = true;
}

bool engine_interrupted(void)
{
	return interrupted;
}

void engine_clear_interrupt(void)
{
	interrupted = false;
}
