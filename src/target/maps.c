/* SPDX-License-Identifier: Apache-2.0
 * maps.c - reading /proc/PID/maps.
 *
 *	7f12a000-7f12b000 r-xp 00002000 fe:01 1234   /usr/lib/libruby.so.3.1 (deleted)
 *	start    end      perm offset   device inode path
 *
 * The kernel writes a newline in a path as \012 and nothing else escaped (fs/proc/
 * task_mmu.c), so a file whose name holds a backslash and "012" looks the same; who
 * opens it finds out by the inode.  " (deleted)" is also a legal end of a name: it
 * is taken for the kernel's, and mapping_path() is without it.
 *
 * The file is read in pieces, and the process may map and unmap between them.  A
 * mapping that begins inside the one before it is cut to what is new, so that the
 * list is always sorted and without overlaps. */
#include "target/maps.h"

#include "base/cleanup.h"
#include "base/table.h"
#include "target/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_SIZE = 256 << 10 };

/* --- one line ---------------------------------------------------------------------------- */

static bool skip(const char **at, char expected)
{
	if (**at != expected)
		return false;
	(*at)++;
	return true;
}

/* The fields before the path; false when they are not what the kernel writes. */
static bool parse_fields(const char **at, struct mapping *out)
{
	out->start = proc_hex(at);
	if (!skip(at, '-'))
		return false;
	out->end = proc_hex(at);
	if (!skip(at, ' ') || out->end <= out->start)
		return false;
	const char *mode = *at;
	for (u32 i = 0; i < 4; i++)
		if (*(*at)++ < '-')
			return false;
	out->readable = mode[0] == 'r';
	out->writable = mode[1] == 'w';
	out->executable = mode[2] == 'x';
	if (!skip(at, ' '))
		return false;
	out->offset = proc_hex(at);
	if (!skip(at, ' '))
		return false;
	u64 major = proc_hex(at);
	if (!skip(at, ':'))
		return false;
	u64 minor = proc_hex(at);
	if (!skip(at, ' '))
		return false;
	out->device = (u32)(major << 20 | (minor & 0xfffff));
	out->inode = proc_decimal(at);
	while (**at == ' ')
		(*at)++;
	return true;
}

/* Undoes \012; the text only gets shorter. */
static size_t unescape(char *text, size_t length)
{
	size_t to = 0;

	for (size_t from = 0; from < length; to++) {
		if (length - from >= 4 && memcmp(text + from, "\\012", 4) == 0) {
			text[to] = '\n';
			from += 4;
		} else {
			text[to] = text[from++];
		}
	}
	return to;
}

/* Stores a path, or finds that it is the one stored last. */
static bool add_path(struct maps *maps, const char *text, size_t length, struct mapping *mapping,
		     struct err *err)
{
	static const char deleted[] = " (deleted)";
	const size_t tail = sizeof deleted - 1;

	if (mapping->inode && length > tail && memcmp(text + length - tail, deleted, tail) == 0) {
		mapping->deleted = true;
		length -= tail;
	}
	if (maps->paths.count + length + 1 > MAPS_PATHS_MAX)
		return err_set(err, ERR_UNSUPPORTED, "more than %u MB of path names",
			       MAPS_PATHS_MAX >> 20);
	if (!vec_grow(&maps->paths, maps->paths.count + (u32)length + 1))
		return err_no_memory(err);
	char *path = maps->paths.at + maps->paths.count;
	memcpy(path, text, length);
	length = unescape(path, length);
	path[length] = 0;

	if (maps->all.count) {
		u32 last = maps->all.at[maps->all.count - 1].path;
		if (strcmp(maps->paths.at + last, path) == 0) {
			mapping->path = last;
			return true;
		}
	}
	mapping->path = maps->paths.count;
	maps->paths.count += (u32)length + 1;
	return true;
}

/* Where in the file a later start is. */
static struct mapping cut_to(struct mapping mapping, u64 start, u64 end)
{
	mapping.offset += mapping.inode ? start - mapping.start : 0;
	mapping.start = start;
	mapping.end = end;
	return mapping;
}

static bool add_line(struct maps *maps, const char *line, size_t length, struct err *err)
{
	struct mapping mapping = { 0 };
	const char *at = line;

	/* The line ends in a newline, which no field accepts: parsing cannot run over it. */
	if (!parse_fields(&at, &mapping))
		return err_set(err, ERR_BAD_DATA, "not a line of a maps file: %.*s",
			       (int)(length < 80 ? length : 80), line);
	if (maps->all.count) {
		u64 end = maps->all.at[maps->all.count - 1].end;
		if (mapping.end <= end)
			return true;
		if (mapping.start < end)
			mapping = cut_to(mapping, end, mapping.end);
	}
	if (maps->all.count >= MAPPINGS_MAX)
		return err_set(err, ERR_UNSUPPORTED, "more than %u mappings", MAPPINGS_MAX);
	if (!add_path(maps, at, length - (size_t)(at - line), &mapping, err))
		return false;
	return vec_push(&maps->all, mapping) ? true : err_no_memory(err);
}

/* --- one by one -------------------------------------------------------------------------- */

bool maps_put(struct maps *maps, const struct mapping *mapping, const char *path)
{
	struct mapping pieces[3],
		placed = *mapping; /* what is left in front, the new one, what is left behind */
	u32 length = (u32)strlen(path) + 1, kept = 0;
	u32 first = vec_first_not(&maps->all, one, one->end <= mapping->start);
	u32 behind = vec_first_not(&maps->all, one, one->start < mapping->end);

	if (maps->all.count + 2 > MAPPINGS_MAX || maps->paths.count + length > MAPS_PATHS_MAX ||
	    !vec_grow(&maps->all, maps->all.count + 2) ||
	    !vec_grow(&maps->paths, maps->paths.count + length))
		return false;
	placed.path = maps->paths.count;
	memcpy(maps->paths.at + placed.path, path, length);
	maps->paths.count += length;

	struct mapping *at = maps->all.at;
	if (first < behind && at[first].start < mapping->start)
		pieces[kept++] = cut_to(at[first], at[first].start, mapping->start);
	pieces[kept++] = placed;
	if (first < behind && at[behind - 1].end > mapping->end)
		pieces[kept++] = cut_to(at[behind - 1], mapping->end, at[behind - 1].end);
	memmove(at + first + kept, at + behind, (maps->all.count - behind) * sizeof *at);
	memcpy(at + first, pieces, kept * sizeof *at);
	maps->all.count += kept - (behind - first);
	return true;
}

/* --- the file ---------------------------------------------------------------------------- */

bool maps_add_text(struct maps *maps, const char *text, size_t length, size_t *taken,
		   struct err *err)
{
	*taken = 0;
	for (;;) {
		const char *line = text + *taken;
		const char *end = memchr(line, '\n', length - *taken);
		if (!end)
			return true;
		if (!add_line(maps, line, (size_t)(end - line), err))
			return false;
		*taken += (size_t)(end - line) + 1;
	}
}

void maps_free(struct maps *maps)
{
	vec_free(&maps->all);
	vec_free(&maps->paths);
}

static bool read_into(struct maps *maps, int fd, struct err *err)
{
	AUTO_FREE char *text = malloc(READ_SIZE);
	size_t have = 0;

	if (!text)
		return err_no_memory(err);
	for (;;) {
		ssize_t got = read(fd, text + have, READ_SIZE - have);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_sys(err, errno, "reading");
		if (got == 0)
			return have == 0 ? true :
					   err_set(err, ERR_BAD_DATA, "it ends inside a line");
		size_t taken;
		have += (size_t)got;
		if (!maps_add_text(maps, text, have, &taken, err))
			return false;
		have -= taken;
		memmove(text, text + taken, have);
		if (have > MAPS_LINE_MAX)
			return err_set(err, ERR_BAD_DATA, "a line of more than %u bytes",
				       MAPS_LINE_MAX);
	}
}

bool target_read_maps(struct target *target, struct err *err)
{
	AUTO_CLOSE int fd = openat(target->proc_fd, "maps", O_RDONLY | O_CLOEXEC);
	struct maps maps = { 0 };

	if (fd < 0)
		return err_sys(err, errno == ENOENT ? ESRCH : errno, "process %u: maps",
			       target->pid);
	if (!read_into(&maps, fd, err)) {
		maps_free(&maps);
		return err_wrap(err, "process %u: maps", target->pid);
	}
	if (!maps.all.count) {
		maps_free(&maps);
		return err_set(err, ERR_NO_PROCESS,
			       "process %u has no memory any more: it is ending", target->pid);
	}
	maps_free(&target->maps);
	target->maps = maps;
	return true;
}

const struct mapping *target_mapping_at(const struct target *target, u64 addr)
{
	const struct maps *maps = &target->maps;
	u32 at = vec_first_not(&maps->all, one, one->end <= addr);

	if (at < maps->all.count && maps->all.at[at].start <= addr)
		return &maps->all.at[at];
	return NULL;
}

const char *mapping_path(const struct target *target, const struct mapping *mapping)
{
	return target->maps.paths.at + mapping->path;
}

u64 target_images(const struct target *target)
{
	u64 hash = 1;

	for (u32 i = 0; i < target->maps.all.count; i++) {
		const struct mapping *mapping = &target->maps.all.at[i];
		u64 words[] = { hash, mapping->start, mapping->inode, mapping->device };
		if (mapping->executable && mapping->inode)
			hash = table_hash(words, sizeof words);
	}
	return hash;
}

u64 target_mapped_pages(const struct target *target)
{
	char text[PROC_TEXT_MAX];
	const char *at = text;

	return proc_read(target->proc_fd, "statm", text, sizeof text) > 0 ? proc_decimal(&at) : 0;
}
