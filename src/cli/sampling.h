/* SPDX-License-Identifier: Apache-2.0
 * sampling.h - what commands that sample have in common: their options, and the command they start.
 *
 * To write another: a field `sampling` of struct sampling in its options struct, SAMPLING_DEFAULTS in its
 * defaults, and the groups of rows (SAMPLING_PID, _RATE, _HOW, _SYNONYMS) where they belong in its help. */
#pragma once
#include "base/str.h"
#include "cli/command.h"
#include "cli/value.h"
#include "session/session.h"
#include "session/spawn.h"

struct sampling {
	u32 pid; /* 0: not given */
	u32 hz;
	u32 pause, mode, async;      /* enum engine_pause, engine_mode, engine_async */
	const char *thread, *engine; /* NULL: not given */
	bool no_children, keep_root, no_native, no_kernel;
	bool all;
	const char *cgroup; /* NULL: not given */
};

/* 99, not 100: out of step with what programs do every 10 ms. */
#define SAMPLING_DEFAULTS                                       \
	{                                                       \
		.hz = 99, .pause = PAUSE_AUTO, .mode = MODE_CPU \
	}

/* clang-format off */
#define SAMPLING_AT(type, field) offsetof(struct type, sampling.field)

#define SAMPLING_PID(type)                                                                          \
	{ 'p', "pid", "PID", OPTION_NUMBER, SAMPLING_AT(type, pid), 1, VALUE_PID_HIGHEST,           \
	  .text = "attach to this process" }

#define SAMPLING_RATE(type)                                                                         \
	{ 'r', "rate", "HZ", OPTION_NUMBER, SAMPLING_AT(type, hz), 1, ENGINE_HZ_MAX,          \
	  .text = "samples a second" }

#define SAMPLING_HOW(type)                                                                          \
	{ 0, "pause", "WHEN", OPTION_CHOICE, SAMPLING_AT(type, pause),                              \
	  .choices = "never,auto,always",                                                           \
	  .text = "(reader) stop the sampled thread for a few microseconds: never; always; or auto: when too " \
		  "many of its samples are [moving]. The kernel engine never stops a thread. While sonde is stopped by SIGSTOP, " \
		  "one may stay stopped; Ctrl-Z waits until none is" },          \
	{ 0, "mode", "MODE", OPTION_CHOICE, SAMPLING_AT(type, mode),                             \
	  .choices = "cpu,wall,gvl|gil,exception,offcpu",                                           \
	  .text = "what to measure: cpu time, wall time, time holding the VM's lock (gvl or gil), (Python) time " \
		  "raising or handling an exception, or (kernel) time off the CPU (offcpu)" },            \
	{ 0, "async", "WHICH", OPTION_CHOICE, SAMPLING_AT(type, async), .choices = "off,running,all",   \
	  .text = "asyncio (Python): one stack for each task, with the tasks that await it as its callers; " \
		  "running: only tasks that run; all (with --mode wall): waiting tasks too" },                 \
	SAMPLING_WHOM(type),                                                                        \
	{ 'e', "engine", "ENGINE", OPTION_TEXT, SAMPLING_AT(type, engine), .list = sampling_engines, \
	  .text = "kernel: in the kernel, with native and kernel frames (of Ruby and Python the innermost 4,096); " \
		  "needs root, or CAP_BPF and CAP_PERFMON. reader: from outside. Default: kernel if it can run and supports the options, " \
		  "else reader" },                         \
	SAMPLING_FRAMES(type)

/* Of which threads, and who the command runs as. */
#define SAMPLING_WHOM(type)                                                                         \
	{ 't', "thread", "TID|NAME", OPTION_TEXT, SAMPLING_AT(type, thread), OPTION_NO_DASH,                        \
	  .text = "only this thread" },                                                             \
	{ 0, "no-children", NULL, OPTION_FLAG, SAMPLING_AT(type, no_children),                      \
	  .text = "only this process, none of its children" },                      \
	{ 0, "no-drop-root", NULL, OPTION_FLAG, SAMPLING_AT(type, keep_root),                       \
	  .text = "under sudo, run the command as root and not as the user who called sudo" }

#define SAMPLING_FRAMES(type)                                                                       \
	{ 0, "no-native", NULL, OPTION_FLAG, SAMPLING_AT(type, no_native),                          \
	  .text = "without native frames" },                                             \
	{ 0, "no-kernel", NULL, OPTION_FLAG, SAMPLING_AT(type, no_kernel),                          \
	  .text = "without the kernel's own frames" }

/* What rbspy and py-spy call these. */
#define SAMPLING_SYNONYMS(type)                                                                     \
	{ 0, "nonblocking", NULL, OPTION_PRESET, SAMPLING_AT(type, pause), PAUSE_NEVER,             \
	  .text = "as --pause=never", .synonym = true },                                            \
	{ 'i', "idle", NULL, OPTION_PRESET, SAMPLING_AT(type, mode), MODE_WALL,                     \
	  .text = "as --mode=wall", .synonym = true },                                              \
	{ 0, "async-aware", NULL, OPTION_PRESET, SAMPLING_AT(type, async), ASYNC_RUNNING,           \
	  .text = "as --async=running", .synonym = true },                                          \
	{ 'g', "gil", NULL, OPTION_PRESET, SAMPLING_AT(type, mode), MODE_LOCK,                      \
	  .text = "as --mode=gvl", .synonym = true }
/* clang-format on */

/* The names of the engines, then NULL. */
const char *sampling_engines(u32 index);
/* What is wrong with the words: ERR_USAGE. */
bool sampling_check(const struct sampling *sampling, struct err *err);
/* The part of the session's options that the words say; the process is the caller's. */
struct session_options sampling_session(const struct sampling *sampling);
/* The cgroup (of version 2) of a path, which may be one below where these are mounted. */
bool sampling_find_cgroup(struct session_options *session, const char *path, struct err *err);
/* Who a command runs as, and who files belong to: under sudo, the user who called it. */
struct spawn_identity sampling_user(void);
/* How sonde was called, behind the name of the command, for the details of a profile. `words` of the command, or NULL. */
void sampling_add_line(struct str *line, const struct sampling *sampling, char **words);
/* The command's exec failed: said with its name in front. Gives the codes that shells give. */
int sampling_exec_failed(const char *name, char **words, struct err *err);
