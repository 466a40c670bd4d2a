/* SPDX-License-Identifier: Apache-2.0
 * nothing_taken.c - see nothing_taken.h. */
#include "cli/nothing_taken.h"

#include <string.h>

#include "cli/say.h"

enum {
	LISTED_MAX = 12,
	LIST_BYTES = 500, /* names of escapes alone are long, and a line holds 1,024 */
	SEEN_MAX = 64,    /* more than are listed: one that is wanted is looked for among them */
};

static void add_quoted(struct out *out, const char *text)
{
	out_text(out, "\"");
	say_foreign(out, text, strlen(text));
	out_text(out, "\"");
}

static bool any_is_wanted(const struct engine_thread *threads, u32 count)
{
	for (u32 i = 0; i < count; i++)
		if (threads[i].wanted)
			return true;
	return false;
}

static void list_threads(struct out *out, const struct engine_thread *threads, u32 count, u32 all)
{
	u32 listed = 0;

	for (; listed < count && listed < LISTED_MAX && out->used < LIST_BYTES; listed++) {
		const struct engine_thread *thread = &threads[listed];

		out_text(out, listed ? ", " : "");
		add_quoted(out, thread->name);
		if (thread->tid)
			outf(out, " (%u)", thread->tid);
	}
	if (all > listed)
		outf(out, " and %u more", all - listed);
}

static void explain_thread(struct out *out, const struct session *session, const char *wanted)
{
	struct engine_thread threads[SEEN_MAX];
	u32 all = session_seen(session, threads, SEEN_MAX);
	u32 count = all < SEEN_MAX ? all : SEEN_MAX;

	if (any_is_wanted(threads, count)) {
		out_text(out, ": thread ");
		add_quoted(out, wanted);
		out_text(out, " was there but never ran; --mode=wall samples it asleep, too");
	} else if (count) {
		out_text(out, ": no thread with the name or number ");
		add_quoted(out, wanted);
		out_text(out, " was seen; there were ");
		list_threads(out, threads, count, all);
		out_text(out, ": give -t one of these");
	}
}

void say_nothing_taken(const char *what, const struct session *session,
		       const struct quality *quality, enum engine_mode mode, const char *thread)
{
	struct out why;

	out_open_memory(&why);
	if (session_is_stopped(session))
		out_text(&why, ": the process is stopped; kill -CONT (SIGCONT) lets it go on");
	else if (!quality->processes)
		out_text(&why, ": none of its processes ran a language that sonde supports");
	else if (mode == MODE_LOCK && !thread)
		out_text(&why, ": no thread was seen with the VM's lock; a Python built without a "
			       "GIL has none: use --mode cpu");
	else if (thread)
		explain_thread(&why, session, thread);
	else if (mode == MODE_CPU)
		out_text(&why,
			 ": nothing has used the CPU; --mode=wall samples threads that wait, too");
	say_warning("%s%.*s", what, (int)why.used, why.used ? (const char *)why.buffer : "");
	out_abandon(&why);
}
