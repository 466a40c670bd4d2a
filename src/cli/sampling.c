/* SPDX-License-Identifier: Apache-2.0
 * sampling.c - see sampling.h. */
#include "cli/sampling.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/out.h"
#include "cli/say.h"
#include "session/privilege.h"

const char *sampling_engines(u32 index)
{
	return index < engine_count ? engines[index]->name : NULL;
}

static bool is_number(const char *text)
{
	return text[0] && strspn(text, "0123456789") == strlen(text);
}

bool sampling_check(const struct sampling *sampling, struct err *err)
{
	if (sampling->pid && sampling->pid == (u32)getpid())
		return err_set(err, ERR_USAGE, "-p/--pid: %u is sonde itself", sampling->pid);
	if (sampling->engine && !engine_named(sampling->engine))
		return err_set(err, ERR_USAGE,
			       "-e/--engine: there is no engine \"%.80s\"; sonde --version "
			       "lists them",
			       sampling->engine);
	if (sampling->async == ASYNC_ALL && sampling->mode != MODE_WALL)
		return err_set(
			err, ERR_USAGE,
			"--async=all shows tasks that wait, which weigh nothing in this mode: "
			"add --mode=wall, or say --async=running");
	return true;
}

struct session_options sampling_session(const struct sampling *sampling)
{
	struct session_options session = {
		.engine = sampling->engine,
		.run = {
			.hz = sampling->hz,
			.mode = (enum engine_mode)sampling->mode,
			.pause = (enum engine_pause)sampling->pause,
			.async = (enum engine_async)sampling->async,
			.children = !sampling->no_children,
			.no_native = sampling->no_native,
			.no_kernel = sampling->no_kernel,
			.all = sampling->all || sampling->cgroup,
		},
	};
	const char *thread = sampling->thread;
	u32 tid;

	if (thread && is_number(thread) &&
	    value_parse_number(thread, 1, VALUE_PID_HIGHEST, &tid, NULL))
		session.run.tid = tid;
	else
		session.run.thread_name = thread;
	return session;
}

bool sampling_find_cgroup(struct session_options *session, const char *path, struct err *err)
{
	static const char pure[] = "/sys/fs/cgroup", hybrid[] = "/sys/fs/cgroup/unified";
	struct statfs fs;
	bool is_pure = statfs(pure, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
	const char *root = is_pure ? pure : hybrid;
	bool is_whole = !strncmp(path, root, strlen(root));
	char whole[512];
	struct stat st;

	snprintf(whole, sizeof whole, "%s%s%s", is_whole ? "" : root,
		 is_whole || path[0] == '/' ? "" : "/", path);
	/* of another hierarchy, or of one that is mounted elsewhere */
	bool is_apart = path[0] == '/' && access(whole, F_OK) != 0 && access(path, F_OK) == 0;
	const char *at = is_apart ? path : whole;
	if (statfs(at, &fs) != 0 || stat(at, &st) != 0)
		return err_sys(err, errno, "--cgroup: %s", at);
	if (fs.f_type != CGROUP2_SUPER_MAGIC)
		return err_set(err, ERR_USAGE,
			       "--cgroup: %s is no cgroup of version 2; those are below %s", at,
			       root);
	session->run.cgroup = st.st_ino;
	return true;
}

struct spawn_identity sampling_user(void)
{
	struct spawn_identity identity;

	if (privilege_read_sudo(&identity))
		out_set_owner(identity.uid, identity.gid);
	return identity;
}

void sampling_add_line(struct str *line, const struct sampling *sampling, char **words)
{
	if (sampling->hz)
		str_addf(line, " -r %u", sampling->hz);
	if (sampling->pid)
		str_addf(line, " -p %u", sampling->pid);
	if (sampling->cgroup)
		str_addf(line, " --cgroup %s", sampling->cgroup);
	else if (sampling->all)
		str_add_text(line, " -a");
	for (char **word = words; word && *word; word++)
		str_addf(line, "%s %s", word == words ? " --" : "", *word);
}

int sampling_exec_failed(const char *name, char **words, struct err *err)
{
	int code = err->code != ERR_SYSTEM ? EXIT_PROFILER :
		   err->errnum == ENOENT   ? EXIT_NOT_FOUND :
					     EXIT_NOT_RUNNABLE;

	err_wrap(err, "%.200s", words[0]);
	if (code == EXIT_NOT_FOUND && is_number(words[0]))
		err_hint(err, "to attach to process %.20s, give -p %.20s", words[0], words[0]);
	say_failure(name, err);
	return code;
}
