/* SPDX-License-Identifier: Apache-2.0
 * import_rows.c - see import_rows.h. */
#include "profile/import_rows.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define SUM_MOST (UINT64_C(1) << 62)

void import_rows_init(struct import_rows *rows, struct profile *profile,
		      const struct load_options *options, struct load_result *result)
{
	*rows = (struct import_rows){ .profile = profile, .options = options, .result = result };
}

void import_rows_free(struct import_rows *rows)
{
	table_free(&rows->thread_table);
	vec_free(&rows->threads);
}

static bool same_thread_row(const void *owner, u32 item, const void *key)
{
	const struct import_thread_row *row =
		&((const struct import_rows *)owner)->threads.at[item];

	return !memcmp(row, key, offsetof(struct import_thread_row, thread));
}

u32 import_thread(struct import_rows *rows, u32 pid, const char *process_name, u32 tid, u32 name)
{
	struct profile *profile = rows->profile;
	struct import_thread_row row = { pid, tid, name, 0 };
	u64 hash = table_hash(&row, offsetof(struct import_thread_row, thread));
	u32 found = table_find(&rows->thread_table, hash, same_thread_row, rows, &row);

	if (found != TABLE_NONE)
		return rows->threads.at[found].thread;
	u32 process = profile_process(profile, pid, 0, process_name);
	if (!tid && row.name)
		tid = ++rows->numbered;
	/* the name is the life: the same number under another name is another thread */
	row.thread = process == PROFILE_NONE ?
			     PROFILE_NONE :
			     profile_thread(profile, process, tid, row.name,
					    profile->names.strings.at[row.name].text);
	if (row.thread == PROFILE_NONE)
		return PROFILE_NONE;
	if (!vec_push(&rows->threads, row) ||
	    !table_add(&rows->thread_table, hash, rows->threads.count - 1))
		profile->bad = true;
	return row.thread;
}

void import_add(struct import_rows *rows, u32 thread, u32 stack, u64 count, u64 weight)
{
	struct profile *profile = rows->profile;

	if (thread == PROFILE_NONE || (!count && !weight))
		return;
	if (rows->options->thread && !load_wants(rows->options, profile, thread)) {
		rows->result->left_out += count;
		return;
	}
	if (count > SUM_MOST - rows->count || weight > SUM_MOST - rows->weight) {
		rows->too_much = true;
		return;
	}
	rows->count += count;
	rows->weight += weight;
	profile_add_counted(profile, thread, stack, count, weight);
}

/* The byte that a text says, and how many characters that takes. */
static char byte_at(const char *text, size_t left, size_t *taken)
{
	char hex[3] = "";
	unsigned value;

	*taken = 1;
	if (left >= 2 && text[0] == '\\' && text[1] == 'n') {
		*taken = 2;
		return '\n';
	}
	if (left < 4 || text[0] != '\\' || text[1] != 'x' || !isxdigit((u8)text[2]) ||
	    !isxdigit((u8)text[3]))
		return *text;
	memcpy(hex, text + 2, 2);
	sscanf(hex, "%x", &value);
	*taken = 4;
	return (char)value;
}

u32 import_string(struct names *names, struct str *buffer, const char *text, size_t length)
{
	size_t taken;

	if (!length || !memchr(text, '\\', length))
		return names_string(names, text, length);
	str_clear(buffer);
	for (size_t at = 0; at < length; at += taken) {
		char byte = byte_at(text + at, length - at, &taken);
		str_add(buffer, &byte, 1);
	}
	names->bad |= buffer->bad;
	return names_string(names, buffer->text, buffer->length);
}

const char *import_language(const char *path, size_t length)
{
	static const char *const ends[][2] = { { ".rb", "ruby" },
					       { ".py", "python" },
					       { ".go", "go" } };

	for (u32 i = 0; i < COUNT_OF(ends); i++) {
		size_t end = strlen(ends[i][0]);
		if (length > end && !memcmp(path + length - end, ends[i][0], end))
			return ends[i][1];
	}
	return "";
}

enum frame_mark import_mark(const char *text, size_t length)
{
	enum frame_mark mark = 0;

	for (; mark < MARK_COUNT; mark++) {
		const char *known = frame_mark_text(mark);
		if (strlen(known) == length && !memcmp(known, text, length))
			break;
	}
	return mark;
}
