/* SPDX-License-Identifier: Apache-2.0
 * load.c - see load.h. */
#include "profile/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/import_unpack.h"
#include "profile/recording.h"

struct loading {
	struct profile *profile;
	const struct load_options *options;
	struct load_result *result;
};

bool load_wants(const struct load_options *options, const struct profile *profile, u32 thread)
{
	const struct profile_thread *row = &profile->threads.at[thread];
	const struct name_string *name = &profile->names.strings.at[row->name];
	const char *wanted = options->thread;
	char tid[16];

	if (!wanted)
		return true;
	snprintf(tid, sizeof tid, "%u", row->tid);
	return !strcmp(wanted, tid) ||
	       (strlen(wanted) == name->length && !memcmp(wanted, name->text, name->length));
}

static void add_sample(void *arg, const struct recording_sample *sample)
{
	struct loading *loading = arg;
	const struct load_options *options = loading->options;
	struct profile *profile = loading->profile;

	if (sample->time_ns < options->from_ns ||
	    (options->to_ns && sample->time_ns >= options->to_ns) ||
	    (options->thread && !load_wants(options, profile, sample->thread))) {
		loading->result->left_out++;
		return;
	}
	u32 entry = profile_add(profile, sample->thread, sample->stack, sample->weight,
				sample->flags);
	profile_add_more(profile, entry, sample->more);
	timeline_add_counted(&profile->timeline, sample->time_ns, entry, 1 + sample->more);
}

static bool read_recording(struct in *in, struct profile *profile,
			   const struct load_options *options, struct load_result *result,
			   struct err *err)
{
	struct loading loading = { profile, options, result };
	struct recording_state state;

	result->has_times = true;
	bool read = recording_read(in, profile, add_sample, &loading, &state, err);
	profile_take_apart(profile);
	recording_describe(&state, result->missing, sizeof result->missing);
	return read;
}

static const struct importer recording_importer = { "sonde", is_recording, read_recording };

static const struct importer *const importers[] = {
	&recording_importer,
	&pprof_importer,
	&folded_importer,
};

static bool read_with(struct in *in, const char *path, struct profile *profile,
		      const struct load_options *options, struct load_result *result,
		      struct err *err)
{
	if (!import_unpack(in, err))
		return err_wrap(err, "%s", path);
	for (u32 i = 0; i < COUNT_OF(importers); i++) {
		if (!importers[i]->is_mine(in))
			continue;
		result->format = importers[i]->format;
		return importers[i]->read(in, profile, options, result, err) ||
		       err_wrap(err, "%s", path);
	}
	if (in->errnum)
		return err_sys(err, in->errnum, "cannot read %s", path);
	if (!in_fill(in, 1))
		return err_set(err, ERR_BAD_DATA, "%s is empty", path);
	return err_set(
		err, ERR_BAD_DATA,
		"%s is no profile that sonde reads: a .sonde recording begins with \"sonde\", a pprof file is "
		"profile.proto, folded stacks are lines that end in a number; each may be gzip",
		path);
}

bool profile_load(const char *path, const struct load_options *options, struct profile *profile,
		  struct load_result *result, struct err *err)
{
	struct in in;

	*result = (struct load_result){ .format = "" };
	if (!profile_init(profile))
		return err_no_memory(err);
	profile->timeline.cells_most = options->timeline_cells;
	if (!in_open_file(&in, path, err))
		return false;
	bool read = read_with(&in, path, profile, options, result, err);
	in_close(&in);
	if (result->left_out)
		profile_compact(profile);
	if (read && (profile->bad || profile->names.bad))
		return err_no_memory(err);
	return read;
}
