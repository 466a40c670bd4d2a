/* SPDX-License-Identifier: Apache-2.0
 * import_rows.h - what every importer does with what it has read: rows of a profile from foreign words.
 *
 * A foreign file gives sums, not samples, and may give any number: what is added up stays below 2^62,
 * so that no sum of a part can overflow. */
#pragma once
#include "base/str.h"
#include "profile/load.h"

/* A thread as the file has it; tid 0: it has no number, the name tells it from others. */
struct import_thread_row {
	u32 pid, tid, name;
	u32 thread; /* of the profile */
};

struct import_rows {
	struct profile *profile;
	const struct load_options *options;
	struct load_result *result;
	u64 count, weight; /* added up so far */
	struct table thread_table;
	VEC(struct import_thread_row) threads;
	u32 numbered;  /* threads without a number that were given one */
	bool too_much; /* the numbers add up to more than a profile holds */
};

void import_rows_init(struct import_rows *rows, struct profile *profile,
		      const struct load_options *options, struct load_result *result);
void import_rows_free(struct import_rows *rows);
/* The row of a thread in the profile; `name` is a string. */
u32 import_thread(struct import_rows *rows, u32 pid, const char *process, u32 tid, u32 name);
/* `count` samples of a stack that weigh `weight` together; of a thread that was not asked for: none. */
void import_add(struct import_rows *rows, u32 thread, u32 stack, u64 count, u64 weight);
/* The bytes that text_add_safe() made this text of; `buffer` is for them. */
u32 import_string(struct names *names, struct str *buffer, const char *text, size_t length);
/* "ruby", "python", "go" by the end of a path, else "". */
const char *import_language(const char *path, size_t length);
/* The mark that these words are, or MARK_COUNT. */
enum frame_mark import_mark(const char *text, size_t length);
