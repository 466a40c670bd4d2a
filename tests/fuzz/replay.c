/* SPDX-License-Identifier: Apache-2.0
 * replay.c - a harness without a fuzzer: every file of its corpus once.
 *
 * This is how a crash that was found once stays found: the input goes into the
 * corpus, and the unit tests run it under every compiler and sanitizer. */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { INPUT_MAX = 4 << 20 };

static int replay(const char *path)
{
	FILE *file = fopen(path, "rbe");
	uint8_t *data = malloc(INPUT_MAX);
	size_t size = 0;

	if (file && data)
		size = fread(data, 1, INPUT_MAX, file);
	uint8_t *exact = data ? realloc(data, size ? size : 1) : NULL;
	if (file)
		fclose(file);
	if (!file || !exact) {
		fprintf(stderr, "%s: cannot be read\n", path);
		free(exact ? exact : data);
		return -1;
	}
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
	return 1;
}

int main(void)
{
	const char *tests = getenv("SONDE_TESTS");
	char folder[2048], path[4096];
	int replayed = 0;

	snprintf(folder, sizeof folder, "%s/fuzz/corpus/%s", tests ? tests : "tests", fuzz_name);
	DIR *list = opendir(folder);
	if (!list) {
		perror(folder);
		return 1;
	}
	for (struct dirent *entry; (entry = readdir(list));) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		int done = replay(path);
		if (done < 0)
			return 1;
		replayed += done;
	}
	closedir(list);
	printf("%d inputs of %s\n", replayed, folder);
	return replayed ? 0 : 1; /* an empty corpus proves nothing */
}
