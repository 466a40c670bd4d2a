/* SPDX-License-Identifier: Apache-2.0
 * top_sources.c - see top_sources.h. */
#include "cli/top_sources.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "session/privilege.h"

enum { SLICE_MS = 200 };

struct top_source {
	struct top_sources *owner;
	u32 pid;
	struct session *session;
	struct top_feed feed;
	pthread_t thread;
	atomic_bool stop, ended;
	struct err err; /* why it ended */
};

void top_sources_init(struct top_sources *sources, struct top_model *model,
		      const struct session_options *options)
{
	*sources = (struct top_sources){ .model = model, .options = *options };
	pthread_mutex_init(&sources->lock, NULL);
}

static void hand_over(struct top_source *source)
{
	top_model_take(source->owner->model, &source->feed, session_profile(source->session),
		       clock_now_ns());
}

static void *sample(void *arg)
{
	struct top_source *source = arg;
	pthread_mutex_t *lock = &source->owner->lock;
	bool going = true;

	privilege_drop(); /* capabilities are each thread's own */
	while (going && !source->stop) {
		going = session_run(source->session, clock_now_ns() + SLICE_MS * NS_PER_MS,
				    &source->err);
		if (going && pthread_mutex_trylock(lock) != 0)
			continue;
		if (!going)
			pthread_mutex_lock(lock);
		hand_over(source);
		pthread_mutex_unlock(lock);
	}
	session_end(source->session);
	source->ended = !going;
	return NULL;
}

static bool add(struct top_sources *sources, const struct session_options *options, struct err *err)
{
	struct top_source *source = calloc(1, sizeof *source);

	if (!source || !vec_grow(&sources->all, sources->all.count + 1)) {
		free(source);
		return err_no_memory(err);
	}
	source->owner = sources;
	source->pid = options->pid;
	source->session = session_start(options, err);
	if (!source->session || !thread_start(&source->thread, sample, source)) {
		if (source->session)
			err_no_memory(err);
		session_free(source->session);
		free(source);
		return false;
	}
	sources->all.at[sources->all.count++] = source;
	return true;
}

bool top_sources_add(struct top_sources *sources, u32 pid, char *const *spawned, struct err *err)
{
	struct session_options options = sources->options;

	options.pid = pid;
	options.spawned = spawned;
	return add(sources, &options, err);
}

bool top_sources_add_all(struct top_sources *sources, struct err *err)
{
	struct session_options options = sources->options;

	options.run.all = true;
	sources->has_all = add(sources, &options, err);
	return sources->has_all;
}

const char *top_sources_note(const struct top_sources *sources)
{
	return sources->all.count ? session_engine_note(sources->all.at[0]->session) : "";
}

/* ---- everything that runs ----------------------------------------------------------------- */

/* Parent and start time of a process, and a number of its program; false: gone, or the kernel's. */
static bool look_at(u32 pid, u32 *parent, struct top_refused *out)
{
	char path[64], text[1024];
	struct stat program;

	snprintf(path, sizeof path, "/proc/%u/exe", pid);
	bool seen = stat(path, &program) == 0; /* not of the kernel, and not somebody else's */
	snprintf(path, sizeof path, "/proc/%u/stat", pid);
	AUTO_FCLOSE FILE *file = fopen(path, "re");
	size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
	text[length] = 0;
	const char *behind = strrchr(text, ')'); /* the name in front may hold anything */
	unsigned long long start = 0;
	if (!behind ||
	    sscanf(behind,
		   ") %*c %u %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
		   parent, &start) != 2)
		return false;
	*out = (struct top_refused){ pid, start, seen ? program.st_ino : 0 };
	return true;
}

static bool is_refused(const struct top_sources *sources, const struct top_refused *one)
{
	for (u32 i = 0; i < sources->refused.count; i++) {
		const struct top_refused *before = &sources->refused.at[i];
		if (before->pid == one->pid && before->start_time == one->start_time &&
		    before->program == one->program)
			return true;
	}
	return false;
}

static bool is_sampled(struct top_sources *sources, const struct top_refused *one)
{
	const struct profile *profile = &sources->model->gather.profile;
	bool found = false;

	for (u32 i = 0; i < sources->all.count; i++)
		found |= sources->all.at[i]->pid == one->pid && !sources->all.at[i]->ended;
	pthread_mutex_lock(&sources->lock);
	for (u32 i = 0; i < profile->processes.count; i++)
		found |= profile->processes.at[i].pid == one->pid &&
			 profile->processes.at[i].start_time == one->start_time;
	pthread_mutex_unlock(&sources->lock);
	return found;
}

/* A session follows the children of its process. */
static bool is_child_of_one(const struct top_sources *sources, u32 parent)
{
	struct top_refused unused;

	for (u32 depth = 0; parent > 1 && depth < 64; depth++) {
		for (u32 i = 0; i < sources->all.count; i++)
			if (sources->all.at[i]->pid == parent && !sources->all.at[i]->ended)
				return true;
		if (!look_at(parent, &parent, &unused))
			break;
	}
	return false;
}

static bool try(struct top_sources *sources, u32 pid)
{
	struct top_refused one;
	struct err err = { 0 };
	u32 parent;

	if (pid == (u32)getpid() || !look_at(pid, &parent, &one) || is_refused(sources, &one) ||
	    is_sampled(sources, &one) ||
	    (sources->options.run.children && is_child_of_one(sources, parent)))
		return false;
	if (top_sources_add(sources, pid, NULL, &err))
		return true;
	sources->not_allowed += err.code == ERR_PERMISSION;
	/* Not ready: asked again. What cannot be remembered is, too. */
	if (err.code != ERR_NOT_READY && !vec_push(&sources->refused, one)) {
		pthread_mutex_lock(&sources->lock);
		sources->model->sums.bad = true;
		pthread_mutex_unlock(&sources->lock);
	}
	return false;
}

static int by_number(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* Parents mostly have lower numbers: they are tried first. */
u32 top_sources_find(struct top_sources *sources)
{
	VEC(u32) pids = { 0 };
	u32 found = 0;

	if (sources->has_all)
		return 0;
	DIR *proc = opendir("/proc");
	for (struct dirent *entry; proc && (entry = readdir(proc));) {
		char *end;
		unsigned long pid = strtoul(entry->d_name, &end, 10);
		if (pid && !*end && !vec_push(&pids, (u32)pid))
			break;
	}
	if (proc)
		closedir(proc);
	if (pids.count)
		qsort(pids.at, pids.count, sizeof *pids.at, by_number);
	for (u32 i = 0; i < pids.count; i++)
		found += try(sources, pids.at[i]);
	vec_free(&pids);
	return found;
}

/* ---- the end ------------------------------------------------------------------------------ */

u32 top_sources_running(struct top_sources *sources, struct err *err)
{
	u32 running = 0;

	for (u32 i = 0; i < sources->all.count; i++) {
		if (!sources->all.at[i]->ended)
			running++;
		else
			*err = sources->all.at[i]->err;
	}
	return running;
}

void top_sources_resume(struct top_sources *sources)
{
	top_sums_restart(&sources->model->sums);
	for (u32 i = 0; i < sources->all.count; i++)
		sources->all.at[i]->feed.late = true;
}

const struct session *top_sources_first(const struct top_sources *sources)
{
	return sources->all.count ? sources->all.at[0]->session : NULL;
}

void top_sources_stop(struct top_sources *sources)
{
	for (u32 i = 0; i < sources->all.count; i++)
		sources->all.at[i]->stop = true;
	if (sources->stopped)
		return;
	/* the model is ours alone when the last of them has gone */
	for (u32 i = 0; i < sources->all.count; i++)
		pthread_join(sources->all.at[i]->thread, NULL);
	for (u32 i = 0; i < sources->all.count; i++)
		hand_over(sources->all.at[i]);
	sources->stopped = true;
}

void top_sources_free(struct top_sources *sources)
{
	top_sources_stop(sources);
	for (u32 i = 0; i < sources->all.count; i++) {
		gather_source_free(&sources->all.at[i]->feed.gathered);
		session_free(sources->all.at[i]->session);
		free(sources->all.at[i]);
	}
	vec_free(&sources->all);
	vec_free(&sources->refused);
	pthread_mutex_destroy(&sources->lock);
}
