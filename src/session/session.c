/* SPDX-License-Identifier: Apache-2.0
 * session.c - see session.h.
 *
 * Here the two wings meet: the reading wing's samples are named (naming.h) and counted in the
 * telling wing's profile. */
#include "session/session.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "events/events.h"
#include "session/mappings.h"
#include "session/naming.h"
#include "session/privilege.h"
#include "session/sources.h"
#include "target/target.h"

#define LOG_DOMAIN LOG_session
#include "base/log.h"

struct session {
	struct target target;
	const struct engine *engine;
	struct run *run;
	struct event_list events;
	struct profile profile;
	struct naming *naming;
	struct recorder *recorder; /* borrowed; NULL: none */
	bool with_source, is_finished;
	struct sources sources;
	struct mappings mappings;
	u64 begin_ns;
	u64 own_cpu_ns; /* before the first sample could come */
	u64 attach_cpu_ns;
	char title[512];
	char engine_note[400];
	/* what the last sample was of: most samples follow one of the same process and thread */
	u64 incarnation;
	u32 process;
	VEC(u32) last_stacks; /* a thread of the profile each */
};

/* ---- facts about processes ---------------------------------------------------------------- */

/* Of a command that is ours until its exec. */
static void title_of_words(struct session *session, char *const *words)
{
	struct str line = { 0 };

	for (u32 i = 0; words[i]; i++)
		str_addf(&line, "%s%s", i ? " " : "", words[i]);
	snprintf(session->title, sizeof session->title, "%.255s (pid %u)",
		 line.bad ? "" : line.text, session->target.pid);
	str_free(&line);
}

static void read_title(struct session *session)
{
	char line[256];
	AUTO_CLOSE int fd = openat(session->target.proc_fd, "cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, line, sizeof line - 1);

	if (got > 0 && line[got - 1] == 0)
		got--;
	for (ssize_t i = 0; i < got; i++)
		if (line[i] == 0)
			line[i] = ' ';
	if (session->target.proc_fd < 0) {
		snprintf(session->title, sizeof session->title, "every process");
		return;
	}
	if (got <= 0 && session->title[0])
		return; /* it has ended */
	if (got <= 0)
		got = snprintf(line, sizeof line, "%s", session->target.comm);
	line[got] = 0;
	snprintf(session->title, sizeof session->title, "%s (pid %u)", line, session->target.pid);
}

static u32 process_of(struct session *session, const struct sample_source *source)
{
	const struct target *target = source->target;

	if (session->incarnation == source->incarnation)
		return session->process;
	u32 before = session->profile.processes.count;
	session->process = profile_process(&session->profile, target->pid, target->start_time,
					   target->comm);
	session->incarnation = source->incarnation;
	if (target == &session->target) /* an exec has given it another command line */
		read_title(session);
	if (session->profile.processes.count > before)
		mappings_add_process(&session->mappings, &session->profile, target,
				     session->process);
	return session->process;
}

/* ---- samples ------------------------------------------------------------------------------ */

static u64 since_begin(const struct session *session, const struct sample *sample)
{
	return sample->time_ns > session->begin_ns ? sample->time_ns - session->begin_ns : 0;
}

static void on_sample(void *arg, const struct sample *sample, const struct sample_source *source)
{
	struct session *session = arg;
	u32 process = process_of(session, source);
	u32 thread = profile_thread(&session->profile, process, sample->tid, source->thread_life,
				    source->thread_name);

	if (sample->kind == SAMPLE_SHARE) {
		profile_share(&session->profile, thread, sample->weight);
		if (session->recorder)
			recorder_share(session->recorder, thread, sample->weight);
		return;
	}
	if (!vec_reach(&session->last_stacks, thread)) {
		session->profile.bad = true;
		return;
	}
	u32 *last = &session->last_stacks.at[thread], stack = *last;
	if (!(sample->flags & SAMPLE_REPEATED)) {
		mappings_add_sample(&session->mappings, &session->profile, sample, source, process);
		stack = naming_stack(session->naming, sample, source);
	}
	if (!(sample->flags & SAMPLE_TASK)) /* the thread itself was elsewhere */
		*last = stack;
	u32 entry = profile_add(&session->profile, thread, stack, sample->weight, sample->flags);
	profile_add_more(&session->profile, entry, sample->more);
	timeline_add_counted(&session->profile.timeline, since_begin(session, sample), entry,
			     1 + sample->more);
	if (!session->recorder)
		return;
	recorder_sample(session->recorder, thread, stack, sample);
	if (recorder_is_due(session->recorder, sample->time_ns)) {
		session_profile(session); /* the ledger of these samples */
		recorder_write(session->recorder, sample->time_ns);
	}
}

/* ---- life --------------------------------------------------------------------------------- */

static const char *mode_text(enum engine_mode mode)
{
	static const char *const texts[] = {
		[MODE_CPU] = "cpu",       [MODE_WALL] = "wall",
		[MODE_LOCK] = "gvl",      [MODE_EXCEPTION] = "exception",
		[MODE_OFFCPU] = "offcpu",
	};
	return texts[mode];
}

static struct session *session_new(const struct session_options *options, struct err *err)
{
	struct session *session = calloc(1, sizeof *session);

	if (!session || !profile_init(&session->profile) ||
	    !(session->naming = naming_new(&session->profile.names, options->by_function ?
									    NAMING_FUNCTIONS :
									    NAMING_LINES))) {
		if (session)
			profile_free(&session->profile);
		free(session);
		err_no_memory(err);
		return NULL;
	}
	session->begin_ns = clock_now_ns();
	session->with_source = options->with_source;
	session->profile.timeline.cells_most = options->timeline_cells;
	session->profile.mode = options->events ? "event" : mode_text(options->run.mode);
	session->profile.hz = options->run.hz;
	session->profile.start_unix_ns = clock_read_ns(CLOCK_REALTIME);
	session->profile.title = session->title;
	session->profile.command = options->command;
	target_init(&session->target, 0);
	return session;
}

/* By the words for them. */
static bool find_events(struct session *session, const struct session_events *wanted,
			struct engine_options *run, struct err *err)
{
	for (u32 i = 0; i < wanted->count; i++)
		if (!events_add(&session->events, wanted->words[i],
				run->all ? NULL : &session->target, err))
			return false;
	run->events = &session->events;
	run->every = wanted->every;
	run->latency_min_ns = wanted->latency_min_ns;
	run->event_weighs_time = wanted->weigh_time;
	run->event_at_root = wanted->at_root;
	return true;
}

static bool open_engine(struct session *session, const struct engine *engine,
			const struct engine_options *run, struct err *err)
{
	session->engine = engine;
	if (engine->has_natives && !run->no_kernel)
		naming_prepare_natives(session->naming);
	session->run = engine->open(run->all ? NULL : &session->target, run, err);
	return session->run;
}

static bool open_named_engine(struct session *session, const char *name,
			      const struct engine_options *run, struct err *err)
{
	const struct engine *engine = engine_named(name);

	if (!engine)
		return err_set(err, ERR_USAGE, "there is no engine \"%s\"", name);
	if (run->all && !engine->has_all)
		return err_set(err, ERR_USAGE,
			       "the engine \"%s\" looks at one process and its children", name);
	if (run->events && !engine->has_events)
		return err_set(err, ERR_USAGE, "the engine \"%s\" knows no events", name);
	return open_engine(session, engine, run, err);
}

/* The first that has what is asked for and can run here. */
static bool open_best_engine(struct session *session, const struct engine_options *run,
			     struct err *err)
{
	bool has_tried = false;

	for (u32 i = 0; i < engine_count; i++) {
		struct err why = { 0 };
		if (!engine_suits(engines[i], run))
			continue;
		if (open_engine(session, engines[i], run, &why))
			return true;
		*err = why;
		if (has_tried)
			err_hint(err, "%s", session->engine_note);
		else
			snprintf(session->engine_note, sizeof session->engine_note,
				 "the engine \"%s\" cannot run: %.300s", engines[i]->name,
				 why.text);
		has_tried = true;
	}
	return has_tried ? false :
			   err_set(err, ERR_UNSUPPORTED, "no engine has all that is asked for");
}

struct session *session_start(const struct session_options *options, struct err *err)
{
	struct engine_options run = options->run;
	u64 began_ns = clock_own_cpu_ns();
	struct session *session = session_new(options, err);

	if (!session)
		return NULL;
	run.may_start |= options->spawned != NULL;
	bool good = (run.all || target_open(&session->target, options->pid, err)) &&
		    (!options->events || find_events(session, options->events, &run, err));
	if (good) {
		if (options->spawned)
			title_of_words(session, options->spawned);
		else
			read_title(session);
		good = options->engine ? open_named_engine(session, options->engine, &run, err) :
					 open_best_engine(session, &run, err);
	}
	session->own_cpu_ns = clock_own_cpu_ns();
	session->attach_cpu_ns = session->own_cpu_ns - began_ns;
	if (good)
		return session;
	session_free(session);
	return NULL;
}

const char *session_engine_note(const struct session *session)
{
	return session->engine_note;
}

bool session_run(struct session *session, u64 until_ns, struct err *err)
{
	bool going = session->engine->pump(session->run, until_ns, on_sample, session, err);
	u64 now_ns = clock_now_ns();

	session_profile(session); /* the ledger of this moment */
	if (session->with_source && session->target.proc_fd >= 0)
		sources_read(&session->sources, &session->profile, &session->target);
	if (session->recorder && recorder_is_due(session->recorder, now_ns))
		recorder_write(session->recorder, now_ns);
	return going;
}

void session_end(struct session *session)
{
	if (session->is_finished)
		return;
	if (session->engine->finish)
		session->engine->finish(session->run, on_sample, session);
	session_profile(session);
	session->is_finished = true; /* what comes now is no sampling */
}

void session_finish(struct session *session)
{
	session_end(session);
	naming_settle(session->naming);
	session_profile(session); /* how many have no name */
	privilege_drop_sampling();
	naming_find_parts(session->naming, &session->profile);
	if (!session->recorder)
		profile_take_apart(&session->profile);
}

void session_record(struct session *session, struct recorder *recorder)
{
	session->recorder = recorder;
}

const struct profile *session_profile(struct session *session)
{
	struct profile *profile = &session->profile;

	if (!session->is_finished) {
		session->engine->quality(session->run, &profile->quality);
		profile->quality.own_cpu_ns = clock_own_cpu_ns() - session->own_cpu_ns;
		profile->quality.attach_cpu_ns = session->attach_cpu_ns;
		profile->duration_ns = profile->quality.end_ns - profile->quality.begin_ns;
	}
	profile->quality.unnamed = naming_unnamed(session->naming);
	profile->bad |= profile->names.bad;
	return profile;
}

double session_seconds(const struct session *session)
{
	const struct quality *quality = &session->profile.quality;

	return (double)(quality->end_ns - quality->begin_ns) / NS_PER_S;
}

u32 session_seen(const struct session *session, struct engine_thread *out, u32 room)
{
	return session->engine->seen ? session->engine->seen(session->run, out, room) : 0;
}

bool session_is_stopped(const struct session *session)
{
	return session->target.proc_fd >= 0 &&
	       target_thread_state(&session->target, session->target.pid) == THREAD_STOPPED;
}

const struct event_list *session_events(const struct session *session)
{
	return &session->events;
}

void session_event_counts(const struct session *session, struct engine_event *out)
{
	session->engine->event_counts(session->run, out);
}

void session_free(struct session *session)
{
	if (!session)
		return;
	if (session->run)
		session->engine->close(session->run);
	target_close(&session->target);
	naming_free(session->naming);
	profile_free(&session->profile);
	sources_free(&session->sources);
	mappings_free(&session->mappings);
	events_free(&session->events);
	vec_free(&session->last_stacks);
	free(session);
}
