/* SPDX-License-Identifier: Apache-2.0
 * library.c - see library.h. */
#include "events/library.h"

#include "base/path.h"
#include "elf/image.h"
#include "target/target.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const folders[] = {
	"/lib/x86_64-linux-gnu",
	"/usr/lib/x86_64-linux-gnu",
	"/lib64",
	"/usr/lib64",
	"/lib",
	"/usr/lib",
	"/usr/local/lib",
	"/usr/bin",
	"/bin",
	"/usr/local/bin",
	"/usr/sbin",
};

/* Our own root where there is no target: what we may read. What is no ELF file (libc.so may be a linker's script) is not
 * there. */
static int open_path(const struct target *target, const char *path)
{
	int file = target ? target_open_named(target, path) :
			    open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char magic[4];

	if (file < 0 || (pread(file, magic, sizeof magic, 0) == sizeof magic &&
			 !memcmp(magic, "\177ELF", sizeof magic)))
		return file;
	close(file);
	return -1;
}

/* "libc.so.6", "libc-2.31.so" and "libc" of "c" and "libc". */
static bool means(const char *name, const char *file)
{
	static const char *const ends[] = { "", ".so", "-" };
	size_t length = strlen(name);

	for (u32 prefixed = 0; prefixed < 2; prefixed++) {
		const char *at = file;
		if (prefixed && strncmp(at, "lib", 3) != 0)
			return false;
		at += prefixed ? 3 : 0;
		if (strncmp(at, name, length) != 0)
			continue;
		at += length;
		for (u32 i = 0; i < COUNT_OF(ends); i++)
			if (ends[i][0] ? !strncmp(at, ends[i], strlen(ends[i])) : !*at)
				return ends[i][0] != '-' || strstr(at, ".so");
	}
	return false;
}

/* What is mapped, and not what its path leads to by now: a library that was updated has no process yet. */
static int open_mapped(const struct target *target, const char *name)
{
	for (u32 i = 0; target && i < target->maps.all.count; i++) {
		const struct mapping *mapping = &target->maps.all.at[i];
		if (!mapping->executable || !mapping->inode ||
		    !means(name, path_base(mapping_path(target, mapping))))
			continue;
		struct image *image = target_open_image(target, mapping, NULL);
		if (!image)
			continue;
		int file = fcntl(image_fd(image), F_DUPFD_CLOEXEC, 0);
		image_close(image);
		if (file >= 0)
			return file;
	}
	return -1;
}

static int open_in_folder(const struct target *target, const char *folder, const char *name)
{
	char path[512];
	int file = -1;

	snprintf(path, sizeof path, "%s%s", target ? "root" : "", folder);
	int fd = openat(target ? target->proc_fd : AT_FDCWD, path,
			O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	for (const struct dirent *entry; file < 0 && dir && (entry = readdir(dir));) {
		if (!means(name, entry->d_name))
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		file = open_path(target, path);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	return file;
}

static int open_library(const struct target *target, const char *name)
{
	if (strchr(name, '/'))
		return open_path(target, name);
	int file = open_mapped(target, name);
	for (u32 i = 0; file < 0 && i < COUNT_OF(folders); i++)
		file = open_in_folder(target, folders[i], name);
	return file;
}

/* The image is read by way of another descriptor: the list's is for who attaches. */
static bool open_image(struct library *library, struct event_list *list, int file, struct err *err)
{
	int second = fcntl(file, F_DUPFD_CLOEXEC, 0);

	if (second < 0 || !vec_push(&list->files, file)) {
		close(file);
		if (second >= 0)
			close(second);
		return err_no_memory(err);
	}
	library->file = file;
	library->image = image_open(second, library->name, err);
	return library->image != NULL;
}

bool library_open(struct library *library, struct event_list *list, const char *pattern,
		  const struct target *target, struct err *err)
{
	size_t length = strcspn(pattern, ":");

	*library = (struct library){ .file = -1 };
	if (!length || !pattern[length] || length >= sizeof library->name)
		return err_set(err, ERR_USAGE,
			       "\"%.100s\": expected LIBRARY:NAME, for example libc:malloc",
			       pattern);
	memcpy(library->name, pattern, length);
	library->rest = pattern + length + 1;
	int file = open_library(target, library->name);
	if (file >= 0)
		return open_image(library, list, file, err);
	err_set(err, ERR_USAGE, "there is no library or program \"%s\"", library->name);
	err_hint(err,
		 "give its path, or the name of a file that the process maps (libc, libruby-3.1, "
		 "python3.11)");
	return false;
}

void library_close(struct library *library)
{
	if (library->image)
		image_close(library->image);
	library->image = NULL;
}

struct first_bytes {
	u8 mask[2], bytes[2];
	enum event_cost cost;
};

/* As arch/x86/kernel/uprobes.c has it in 6.18; before, no-operations of several bytes were stepped. The first that fits. */
static const struct first_bytes instructions[] = {
	{ { 0xf8 }, { 0x50 }, EVENT_CHEAP },             /* push */
	{ { 0xf0, 0xf8 }, { 0x40, 0x50 }, EVENT_CHEAP }, /* push %r8 to %r15 */
	{ { 0xff }, { 0x90 }, EVENT_CHEAP },             /* nop */
	{ { 0xff, 0xff }, { 0x66, 0x90 }, EVENT_CHEAP }, /* nop of two bytes */
	{ { 0xff, 0xff }, { 0x0f, 0x1f }, EVENT_CHEAP }, /* nop of three and more */
	{ { 0xfe }, { 0xe8 }, EVENT_CHEAP },             /* call, jmp */
	{ { 0xff }, { 0xeb }, EVENT_CHEAP },             /* jmp */
	{ { 0xf0 }, { 0x70 }, EVENT_CHEAP },             /* jcc */
	{ { 0xff, 0xf0 }, { 0x0f, 0x80 }, EVENT_CHEAP }, /* jcc */
	{ { 0xe7 }, { 0x26 }, EVENT_REFUSED },           /* %es, %cs, %ss, %ds */
	{ { 0xff, 0xe7 },
	  { 0x66, 0x26 },
	  EVENT_REFUSED },                     /* the same behind another prefix: a long nop */
	{ { 0xff }, { 0xf0 }, EVENT_REFUSED }, /* lock */
	{ { 0xff }, { 0xcc }, EVENT_REFUSED }, /* int3 */
	{ { 0 }, { 0 }, EVENT_STEPPED },
};

static enum event_cost cost_at(const struct library *library, u64 address)
{
	u8 code[2] = { 0 };
	u32 i = 0;

	if (!image_bytes(library->image, address, code, sizeof code))
		return EVENT_CHEAP;
	while ((code[0] & instructions[i].mask[0]) != instructions[i].bytes[0] ||
	       (code[1] & instructions[i].mask[1]) != instructions[i].bytes[1])
		i++;
	return instructions[i].cost;
}

struct site_key {
	u64 event, offset;
};

static bool same_site(const void *owner, u32 item, const void *key)
{
	const struct event_site *site = &((const struct event_list *)owner)->sites.at[item];
	const struct site_key *wanted = key;

	return site->event == wanted->event && site->offset == wanted->offset;
}

bool library_add_site(struct event_list *list, const struct library *library, u32 event,
		      u64 address, u64 semaphore)
{
	struct event_site site = { .event = event,
				   .file = library->file,
				   .cost = cost_at(library, address) };
	u64 left;

	if (!image_offset_of_address(library->image, address, &site.offset, &left))
		return true; /* nothing that is loaded */
	if (semaphore &&
	    !image_offset_of_address(library->image, semaphore, &site.semaphore, &left))
		site.semaphore = 0;
	struct site_key key = { event, site.offset };
	u64 hash = table_hash(&key, sizeof key);
	if (table_find(&list->by_site, hash, same_site, list, &key) != TABLE_NONE)
		return true;
	return vec_push(&list->sites, site) &&
	       table_add(&list->by_site, hash, list->sites.count - 1);
}
