/* SPDX-License-Identifier: Apache-2.0
 * load_file.c - see load_file.h. */
#include "cli/load_file.h"

#include <sys/stat.h>

#include "cli/say.h"

static bool check(const struct load_options *options, struct err *err)
{
	if (options->to_ns && options->to_ns <= options->from_ns)
		return err_set(err, ERR_USAGE, "--to comes before --from");
	return true;
}

int load_file(const char *command, const char *path, const struct load_options *options,
	      struct profile *profile)
{
	struct err err = { 0 };
	struct load_result result;

	*profile = (struct profile){ 0 };
	if (!check(options, &err) || !profile_load(path, options, profile, &result, &err))
		return say_failure(command, &err);
	if (result.missing[0])
		say_warning("%s: %s", path, result.missing);
	if ((options->from_ns || options->to_ns) && !result.has_times) {
		err_set(&err, ERR_USAGE,
			"%s: a %s file does not say when its samples were taken: "
			"--from and --to have nothing to go by",
			path, result.format);
		return say_failure(command, &err);
	}
	if (!profile->entries.count) {
		err_set(&err, ERR_BAD_DATA,
			result.left_out ?
				"%s: none of its %llu samples match --thread, --from and --to" :
				"%s: there are no samples in it",
			path, (unsigned long long)result.left_out);
		return say_failure(command, &err);
	}
	return EXIT_OK;
}

static bool is_same_file(const char *one, const char *other)
{
	struct stat a, b;

	return stat(one, &a) == 0 && stat(other, &b) == 0 && S_ISREG(a.st_mode) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool load_would_be_lost(const char *command, char **paths, u32 count, const char *output)
{
	for (u32 i = 0; i < count; i++)
		if (is_same_file(paths[i], output)) {
			say_usage(command, "%.200s would be overwritten: give another name with -o",
				  output);
			return true;
		}
	return false;
}
