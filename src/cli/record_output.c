/* SPDX-License-Identifier: Apache-2.0
 * record_output.c - see record_output.h. */
#include "cli/record_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/path.h"
#include "cli/say.h"
#include "cli/signals.h"
#include "cli/suggest.h"

enum {
	PROBE_BYTES = 64 * 1024, /* a small profile: less free space than this is a full disk */
	NAME_TRIES = 1000,
};

/* What rbspy and py-spy call their formats, and what that is here; NULL: we have none. */
static const struct {
	const char *name, *ours;
} foreign_formats[] = {
	{ "flamegraph", "html" }, { "collapsed", "folded" }, { "raw", "folded" },
	{ "chrometrace", NULL },  { "summary", NULL },       { "summary_by_line", NULL },
};

static const char recording_format[] = "sonde", recording_extension[] = ".sonde";

/* py-spy's flame graph is an .svg, rbspy's is one or the page. */
static const struct exporter *find_format(const char *name, const char *path)
{
	if (path && !strcmp(name, "flamegraph") && path_ends(path, ".svg"))
		return exporter_named("svg");
	for (u32 i = 0; i < COUNT_OF(foreign_formats); i++)
		if (!strcmp(foreign_formats[i].name, name) && foreign_formats[i].ours)
			name = foreign_formats[i].ours;
	return exporter_named(name);
}

static bool is_format_word(const char *word)
{
	for (u32 i = 0; i < COUNT_OF(foreign_formats); i++)
		if (!strcmp(foreign_formats[i].name, word))
			return true;
	return !strcmp(word, recording_format) || exporter_named(word) != NULL;
}

const char *record_output_formats(u32 index)
{
	if (index == 0)
		return recording_format;
	return index <= exporter_count ? exporters[index - 1]->name : NULL;
}

const char *record_output_format(const struct record_output *output)
{
	return output->exporter ? output->exporter->name : recording_format;
}

static const char *extension_of(const struct record_output *output)
{
	return output->exporter ? output->exporter->extension : recording_extension;
}

static bool unknown_format(const char *format, struct err *err)
{
	struct suggest suggest = suggest_make(format);
	char names[200] = "";

	const char *name;
	for (u32 i = 0; (name = record_output_formats(i)); i++) {
		size_t used = strlen(names);

		suggest_consider(&suggest, name);
		snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", name);
	}
	err_set(err, ERR_USAGE, "-f/--format: \"%.80s\" is not a format; give one of %s", format,
		names);
	return suggest.best ? err_hint(err, "did you mean \"%s\"?", suggest.best) : false;
}

/* rbspy has -f FILE -o FORMAT, py-spy and sonde -o FILE -f FORMAT. */
static bool is_swapped(const char *path, const char *format, struct err *err)
{
	bool path_is_format = path && is_format_word(path);
	bool format_is_path = format && !is_format_word(format) && strpbrk(format, "./");

	if (!path_is_format && !format_is_path)
		return false;
	err_set(err, ERR_USAGE,
		"-o is the file and -f the format, the other way round than in rbspy: "
		"did you mean \"-o %.80s%s%.40s\"?",
		format_is_path ? format : "FILE", path_is_format ? " -f " : "",
		path_is_format ? path : "");
	return true;
}

bool record_output_choose(struct record_output *output, const char *path, const char *format,
			  struct err *err)
{
	*output = (struct record_output){ .chosen = path != NULL };
	if (is_swapped(path, format, err))
		return false;
	if (path && strlen(path) >= sizeof output->path)
		return err_set(err, ERR_USAGE, "-o/--output: the name is too long");
	snprintf(output->path, sizeof output->path, "%s", path ? path : "");
	bool recording = format ? !strcmp(format, recording_format) :
				  !path || path_ends(path, recording_extension);
	if (format)
		output->exporter = find_format(format, path);
	else if (path && !strcmp(path, "-"))
		output->exporter = exporter_named("folded"); /* lines are what pipes are for */
	else if (path)
		output->exporter = exporter_for_path(path);
	if (!output->exporter && format && !recording)
		return unknown_format(format, err);
	if (!output->exporter && !recording)
		return err_set(err, ERR_USAGE,
			       "-o/--output: the end of \"%.200s\" names no format; "
			       "end it in .sonde, .html, .folded or .pb.gz, or give -f",
			       path);
	return !path || strcmp(path, "-") != 0 || say_may_print(record_output_format(output), err);
}

/* "sonde-42-20261121T120000.html" in `directory`, with "-2" and so on if that is taken. */
static bool fresh_name(const char *directory, u32 pid, const char *extension, char *out,
		       size_t room)
{
	char stamp[32];
	time_t now = time(NULL);
	struct tm local;

	localtime_r(&now, &local);
	strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%S", &local);
	for (u32 n = 1; n <= NAME_TRIES; n++) {
		char again[16] = "";

		if (n > 1)
			snprintf(again, sizeof again, "-%u", n);
		char who[16] = "all";
		if (pid)
			snprintf(who, sizeof who, "%u", pid);
		int length = snprintf(out, room, "%s%ssonde-%s-%s%s%s", directory,
				      directory[0] ? "/" : "", who, stamp, again, extension);
		if (length >= (int)room)
			return false;
		if (faccessat(AT_FDCWD, out, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
			return true;
	}
	return false;
}

/* Is there room for a small profile? Asked now, because nothing is written for an hour. */
static bool check_space(struct record_output *output, struct err *err)
{
	int fd = output->out.fd;

	if (!output->out.atomic)
		return true;
	if (fallocate(fd, 0, 0, PROBE_BYTES) != 0 && (errno == ENOSPC || errno == EDQUOT))
		return err_sys(err, errno, "cannot write %s", output->path);
	if (ftruncate(fd, 0) != 0)
		return err_sys(err, errno, "cannot write %s", output->path);
	return true;
}

static bool has_directory(const char *path)
{
	char directory[RECORD_PATH_MAX];
	const char *slash = strrchr(path, '/');

	snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - path) : 0, path);
	return !directory[0] || access(directory, F_OK) == 0;
}

/* An output that cannot be opened is no matter of access to the target, whose exit code it must
 * not take. */
bool record_output_explain(const char *path, struct err *err)
{
	if (err->code == ERR_PERMISSION)
		err->code = ERR_SYSTEM;
	if (err->errnum == ENOENT && !has_directory(path))
		err_hint(err, "make the directory first");
	return false;
}

static bool output_failed(const struct record_output *output, struct err *err)
{
	record_output_explain(output->path, err);
	if (err->errnum == ENOSPC || err->errnum == EDQUOT)
		err_hint(err, "make room, or name another place with -o");
	if (!output->chosen && (err->errnum == EACCES || err->errnum == EROFS))
		err_hint(err, "name another place with -o");
	return false;
}

static bool open_recording(struct record_output *output, struct err *err)
{
	output->recorder = recorder_open(output->path, err);
	if (!output->recorder)
		return output_failed(output, err);
	signals_set_temporary(recorder_temporary(output->recorder));
	return true;
}

bool record_output_open(struct record_output *output, u32 pid, struct err *err)
{
	if (!output->chosen &&
	    !fresh_name("", pid, extension_of(output), output->path, sizeof output->path))
		return err_set(err, ERR_SYSTEM, "cannot find a free name here; give one with -o");
	if (!output->exporter)
		return open_recording(output, err);
	if (!out_open_file(&output->out, output->path, err))
		return output_failed(output, err);
	output->open = true;
	signals_set_temporary(output->out.temporary);
	if (!check_space(output, err)) {
		record_output_abandon(output);
		return output_failed(output, err);
	}
	return true;
}

void record_output_abandon(struct record_output *output)
{
	signals_set_temporary(NULL);
	if (output->open)
		out_abandon(&output->out);
	recorder_abandon(output->recorder);
	output->recorder = NULL;
	output->open = false;
}

/* Somewhere else, in the first place that takes it. */
static bool save_elsewhere(struct record_output *output, const struct profile *profile,
			   const struct export_options *options)
{
	const char *const places[] = { "", getenv("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm" };
	u32 pid = profile->processes.count ? profile->processes.at[0].pid : 0;

	for (u32 i = 0; i < COUNT_OF(places); i++) {
		struct out out;

		if (!places[i] || !fresh_name(places[i], pid, output->exporter->extension,
					      output->path, sizeof output->path))
			continue;
		if (!out_open_file(&out, output->path, NULL))
			continue;
		output->exporter->write(profile, options, &out);
		if (out_close(&out, NULL))
			return true;
	}
	output->path[0] = 0;
	return false;
}

static bool write_export(struct record_output *output, const struct profile *profile,
			 const struct export_options *options, u64 *size, struct err *err)
{
	struct export_options compressed = *options;

	compressed.gzip = exporter_is_gzipped(output->exporter, output->path);
	exporter_write(output->exporter, profile, &compressed, &output->out);
	*size = output->out.written;
	output->open = false;
	bool written = out_close(&output->out, err);
	signals_set_temporary(NULL);
	if (!written) {
		output_failed(output, err);
		save_elsewhere(output, profile, options);
	}
	return written;
}

static bool close_recording(struct record_output *output, u64 *size, struct err *err)
{
	signals_set_temporary(NULL);
	bool written = recorder_close(output->recorder, size, err);
	output->recorder = NULL;
	return written || output_failed(output, err);
}

bool record_output_write(struct record_output *output, const struct profile *profile,
			 const struct export_options *options, u64 *size, struct err *err)
{
	return output->exporter ? write_export(output, profile, options, size, err) :
				  close_recording(output, size, err);
}
