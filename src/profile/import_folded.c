/* SPDX-License-Identifier: Apache-2.0
 * import_folded.c - folded stacks of any profiler: "root;frame;leaf COUNT", a line each.
 *
 * The format is Brendan Gregg's (flamegraph.pl, stackcollapse-*.pl): the last word is the number, all
 * before it are frames, which may hold spaces.  What a frame says besides its name is each writer's own:
 *
 *	name (path:line)  name (path)   sonde, py-spy          name - path:line    rbspy
 *	symbol [native]   [inlined]   [kernel]         sonde   path.py:name:line   austin, tachyon
 *	symbol_[k] _[i] _[j]            stackcollapse-perf.pl  "process NAME (PID)", "thread NAME (TID)"
 *	P42;T0:43;...                   austin                 at the root: sonde -T
 *
 * Nothing is guessed: a frame that fits none of them is a name.  \n and \xNN become the bytes that
 * sonde wrote so (base/text.h).  Lines that are no stack are counted and said. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "profile/import_rows.h"

enum {
	LINE_MOST = 16 << 20,  /* bytes */
	DEPTH_MOST = 1 << 16,  /* frames; those further out are left out, and a mark says so */
	FIRST_LINES_MOST = 64, /* comments and empty lines that may stand in front */
};

struct text {
	const char *at;
	size_t length;
};

struct folded {
	struct import_rows rows;
	struct names *names;
	VEC(struct text) frames; /* of this line */
	struct str bytes;        /* an unescaped name */
	u64 line, bad_lines, first_bad;
	bool truncated; /* some stack was too deep */
};

static struct text trimmed(struct text text)
{
	while (text.length && isspace((u8)text.at[text.length - 1]))
		text.length--;
	while (text.length && isspace((u8)*text.at)) {
		text.at++;
		text.length--;
	}
	return text;
}

/* Splits "frames NUMBER"; false when that is not what it is. */
static bool split_number(struct text line, struct text *stack, u64 *number)
{
	size_t at = line.length;

	while (at && isdigit((u8)line.at[at - 1]))
		at--;
	if (at < 2 || at == line.length || line.length - at > 18 || !isblank((u8)line.at[at - 1]))
		return false;
	*number = 0;
	for (size_t i = at; i < line.length; i++)
		*number = *number * 10 + (u64)(line.at[i] - '0');
	*stack = trimmed((struct text){ line.at, at });
	return stack->length > 0;
}

static bool is_remark(struct text line)
{
	return !line.length || *line.at == '#';
}

static bool ends_with(struct text text, const char *end)
{
	size_t length = strlen(end);

	return text.length > length && !memcmp(text.at + text.length - length, end, length);
}

/* ---- a frame ------------------------------------------------------------------------------ */

static u32 unescaped(struct folded *folded, struct text text)
{
	return import_string(folded->names, &folded->bytes, text.at, text.length);
}

/* Takes ":123" off the end. */
static bool take_line(struct text *text, u32 *line)
{
	size_t at = text->length;
	u64 number = 0;

	while (at && isdigit((u8)text->at[at - 1]))
		at--;
	if (!at || at == text->length || text->length - at > 9 || text->at[at - 1] != ':')
		return false;
	for (size_t i = at; i < text->length; i++)
		number = number * 10 + (u64)(text->at[i] - '0');
	*line = (u32)number;
	text->length = at - 1;
	return true;
}

/* What stands between the last `open` and the end; false: it does not stand there. */
static bool split_at(struct text text, const char *open, struct text *before, struct text *behind)
{
	size_t width = strlen(open);

	for (size_t at = text.length >= width ? text.length - width + 1 : 0; at-- > 1;) {
		if (memcmp(text.at + at, open, width) != 0)
			continue;
		*before = (struct text){ text.at, at };
		*behind = (struct text){ text.at + at + width, text.length - at - width };
		return true;
	}
	return false;
}

static bool is_path(struct text text)
{
	return memchr(text.at, '/', text.length) || *import_language(text.at, text.length);
}

/* "name (path:line)", "name (path)", "name - path:line", "path.py:name:line" */
static bool split_code(struct text frame, struct text *name, struct text *path, u32 *line)
{
	struct text inside;

	*line = 0;
	if (frame.length && frame.at[frame.length - 1] == ')') {
		struct text open = { frame.at, frame.length - 1 };
		if (split_at(open, " (", name, path) && path->length &&
		    (take_line(path, line) || is_path(*path)))
			return path->length > 0;
		*line = 0;
	}
	if (split_at(frame, " - ", name, path) && take_line(path, line) && path->length)
		return true;
	inside = frame;
	*line = 0;
	return take_line(&inside, line) && split_at(inside, ":", path, name) && name->length &&
	       *import_language(path->at, path->length);
}

static u32 location_of(struct folded *folded, struct text frame)
{
	enum frame_mark mark = import_mark(frame.at, frame.length);
	struct text name = frame, path = { "", 0 };
	struct name_function function = { 0 };
	const char *language = "";
	u32 line = 0;

	if (mark < MARK_COUNT)
		return names_mark(folded->names, mark);
	if (ends_with(frame, " [native]")) {
		name.length -= strlen(" [native]");
		language = "native";
	} else if (ends_with(frame, " [inlined]")) {
		name.length -= strlen(" [inlined]");
		language = "native";
		function.flags = FRAME_INLINED;
	} else if (ends_with(frame, " [kernel]")) {
		name.length -= strlen(" [kernel]");
		language = "kernel";
	} else if (ends_with(frame, " [inlined]")) {
		name.length -= strlen(" [inlined]");
		language = "native";
		function.flags = FRAME_INLINED;
	} else if (ends_with(frame, "_[k]")) {
		name.length -= strlen("_[k]");
		language = "kernel";
	} else if (ends_with(frame, "_[i]") || ends_with(frame, "_[j]")) {
		name.length -= strlen("_[j]");
	} else if (split_code(frame, &name, &path, &line)) {
		language = import_language(path.at, path.length);
	} else {
		name = frame;
		path.length = line = 0;
	}
	function.name = unescaped(folded, name);
	function.path = unescaped(folded, path);
	function.language = names_text(folded->names, language);
	struct name_location location = { .function = names_function(folded->names, &function),
					  .line = line };
	return names_location(folded->names, &location);
}

/* ---- roots -------------------------------------------------------------------------------- */

/* "word NAME (NUMBER)" */
static bool is_root(struct text frame, const char *word, struct text *name, u32 *number)
{
	struct text behind;
	size_t skip = strlen(word);
	u32 value = 0;

	if (frame.length < skip + 4 || memcmp(frame.at, word, skip) != 0 ||
	    frame.at[frame.length - 1] != ')' || !split_at(frame, " (", name, &behind) ||
	    name->length < skip || behind.length < 2 || behind.length > 10)
		return false;
	for (size_t i = 0; i + 1 < behind.length; i++) {
		if (!isdigit((u8)behind.at[i]))
			return false;
		value = value * 10 + (u32)(behind.at[i] - '0');
	}
	*number = value;
	*name = (struct text){ name->at + skip, name->length - skip };
	return true;
}

/* Austin's "P42" and "T0:43" */
static bool is_short_root(struct text frame, char letter, u32 *number)
{
	size_t at = 1;
	u32 value = 0;

	if (frame.length < 2 || frame.length > 24 || *frame.at != letter)
		return false;
	const char *colon = memchr(frame.at, ':', frame.length);
	if (colon && letter == 'T')
		at = (size_t)(colon - frame.at) + 1;
	if (at == frame.length || frame.length - at > 9)
		return false;
	for (; at < frame.length; at++) {
		if (!isdigit((u8)frame.at[at]))
			return false;
		value = value * 10 + (u32)(frame.at[at] - '0');
	}
	*number = value;
	return true;
}

/* The thread that the line's first frames name, and how many they are. */
static u32 thread_of(struct folded *folded, u32 *taken)
{
	struct text process = { "", 0 }, thread = { "", 0 };
	u32 pid = 0, tid = 0, at = 0, count = folded->frames.count;
	const struct text *frames = folded->frames.at;

	if (count > 1 && is_short_root(frames[0], 'P', &pid) &&
	    is_short_root(frames[1], 'T', &tid)) {
		at = 2;
	} else {
		at += is_root(frames[at], "process ", &process, &pid);
		if (at < count)
			at += is_root(frames[at], "thread ", &thread, &tid);
	}
	if (at == count) /* a thread alone is a frame */
		at = pid = tid = process.length = thread.length = 0;
	*taken = at;
	u32 process_name = unescaped(folded, process), name = unescaped(folded, thread);
	return import_thread(&folded->rows, pid, folded->names->strings.at[process_name].text, tid,
			     name);
}

/* ---- lines -------------------------------------------------------------------------------- */

static void split_frames(struct folded *folded, struct text stack)
{
	vec_clear(&folded->frames);
	while (true) {
		const char *end = memchr(stack.at, ';', stack.length);
		size_t length = end ? (size_t)(end - stack.at) : stack.length;
		struct text frame = { stack.at, length };
		if (length && !vec_push(&folded->frames, frame))
			folded->names->bad = true;
		if (!end)
			break;
		stack = (struct text){ end + 1, stack.length - length - 1 };
	}
}

static void read_line(struct folded *folded, struct text line)
{
	struct text stack;
	u64 count;
	u32 at, innermost = 0;

	folded->line++;
	line = trimmed(line);
	if (is_remark(line))
		return;
	bool is_stack = split_number(line, &stack, &count);
	if (is_stack)
		split_frames(folded, stack);
	if (!is_stack || !folded->frames.count) {
		if (!folded->bad_lines++)
			folded->first_bad = folded->line;
		return;
	}
	u32 thread = thread_of(folded, &at);
	if (folded->frames.count - at > DEPTH_MOST) {
		at = folded->frames.count - DEPTH_MOST;
		innermost = names_stack(folded->names, 0,
					names_mark(folded->names, MARK_TRUNCATED));
		folded->truncated = true;
	}
	for (; at < folded->frames.count; at++)
		innermost = names_stack(folded->names, innermost,
					location_of(folded, folded->frames.at[at]));
	import_add(&folded->rows, thread, innermost, count, 0);
}

/* The bytes of the next line, its end among them; 0: there is none, or it is too long. */
static size_t next_line(struct in *in)
{
	size_t want = 4096;

	while (true) {
		size_t have = in_fill(in, want);
		const u8 *end = have ? memchr(in_bytes(in), '\n', have) : NULL;
		if (end)
			return (size_t)(end - in_bytes(in)) + 1;
		if (have < want)
			return have;
		if (want >= LINE_MOST)
			return 0;
		want *= 2;
	}
}

/* Is the first line that says something a stack with its number? */
static bool is_folded(struct in *in)
{
	size_t have = in_fill(in, 4096), at = 0;
	struct text stack;
	u64 number;

	for (u32 i = 0; i < FIRST_LINES_MOST; i++) {
		const u8 *end = at < have ? memchr(in_bytes(in) + at, '\n', have - at) : NULL;
		while (!end && have < LINE_MOST) {
			size_t more = in_fill(in, have * 2);
			if (more == have)
				break;
			size_t from = have;
			have = more;
			end = memchr(in_bytes(in) + from, '\n', have - from);
		}
		const char *text = (const char *)in_bytes(in) + at;
		size_t length = end ? (size_t)((const char *)end - text) : have - at;
		struct text line = trimmed((struct text){ text, length });
		if (!is_remark(line))
			return !memchr(line.at, 0, line.length) &&
			       split_number(line, &stack, &number);
		if (!end)
			return false;
		at += length + 1;
	}
	return false;
}

static void describe(const struct folded *folded, struct load_result *result)
{
	size_t used = 0;

	if (folded->bad_lines)
		used = (size_t)snprintf(
			result->missing, sizeof result->missing,
			"%llu lines are no stack with a number behind it and do not "
			"count, the first is line %llu",
			(unsigned long long)folded->bad_lines,
			(unsigned long long)folded->first_bad);
	if (folded->truncated)
		snprintf(result->missing + used, sizeof result->missing - used,
			 "%sstacks of more than %d frames have their innermost ones only",
			 used ? "; " : "", DEPTH_MOST);
}

static bool read_folded(struct in *in, struct profile *profile, const struct load_options *options,
			struct load_result *result, struct err *err)
{
	struct folded folded = { .names = &profile->names };
	bool good = true;

	profile->title = "folded stacks";
	profile->mode = ""; /* the numbers are of anything */
	import_rows_init(&folded.rows, profile, options, result);
	while (good && in_fill(in, 1)) {
		size_t length = next_line(in);
		if (!length) {
			good = err_set(err, ERR_BAD_DATA,
				       "line %llu is longer than %d MiB: no folded stack is",
				       (unsigned long long)folded.line + 1, LINE_MOST >> 20);
			break;
		}
		read_line(&folded, (struct text){ (const char *)in_bytes(in), length });
		in_skip(in, length);
		if (folded.rows.too_much)
			good = err_set(err, ERR_BAD_DATA,
				       "up to line %llu the counts add up to more than 2^62",
				       (unsigned long long)folded.line);
	}
	if (good && in->errnum)
		good = err_sys(err, in->errnum, "reading");
	describe(&folded, result);
	import_rows_free(&folded.rows);
	vec_free(&folded.frames);
	str_free(&folded.bytes);
	return good;
}

const struct importer folded_importer = { "folded", is_folded, read_folded };
