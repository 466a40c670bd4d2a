/* SPDX-License-Identifier: Apache-2.0
 * files.c - the file behind a mapping, whoever made its name.
 *
 * The path in /proc/PID/maps is the target's word: by now another file may stand
 * there, a FIFO that blocks its reader, a link that leads out of the container. So
 * it is tried last but one, and nothing is believed because of its name:
 *
 *	1. /proc/PID/map_files/START-END   the mapped file itself, deleted or not;
 *	                                   needs CAP_CHECKPOINT_RESTORE
 *	2. /proc/PID/exe                   the same for the program's own file
 *	3. the path below /proc/PID/root   RESOLVE_IN_ROOT: no ".." or link leaves it
 *
 * Each is first opened with O_PATH, which touches neither a FIFO nor a device,
 * then checked to be a regular file, and only then opened for reading.  2 and 3
 * must be the mapped file: the inode must agree, and the device too, unless the
 * file system is one whose stat() gives another device than its mappings do
 * (overlayfs and btrfs: an anonymous one; then a file that is too short for the
 * mapping is refused).  Who can put such a file there can as well map it.
 *
 * A file on a FUSE mount can make a reader wait for ever; this cannot be seen
 * before reading it. */
#include "target/target.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/memory_file.h"
#include "elf/image.h"
#include "target/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LOG_DOMAIN LOG_target

enum { VDSO_BYTES_MAX = 1 << 20 }; /* it has two to four pages */

/* --- is it the mapped file? -------------------------------------------------------------- */

static bool device_may_differ(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 &&
	       (fs.f_type == OVERLAYFS_SUPER_MAGIC || fs.f_type == BTRFS_SUPER_MAGIC);
}

static bool is_mapped_file(int fd, const struct stat *st, const struct mapping *mapping)
{
	if (st->st_ino != mapping->inode)
		return false;
	if ((major(st->st_dev) << 20 | minor(st->st_dev)) == mapping->device)
		return true;
	return device_may_differ(fd) && (u64)st->st_size > mapping->offset;
}

/* From an O_PATH descriptor to one that reads, if it is a regular file; -1 and errno. `mapping`
 * NULL: it is known to be the mapped file. */
static int open_checked(int handle, const struct mapping *mapping)
{
	struct stat st;
	char name[32];

	if (fstat(handle, &st) < 0)
		return -1;
	if (!S_ISREG(st.st_mode)) {
		errno = EMEDIUMTYPE; /* explained below: not a regular file */
		return -1;
	}
	if (mapping && !is_mapped_file(handle, &st, mapping)) {
		errno = ESTALE;
		return -1;
	}
	snprintf(name, sizeof name, "/proc/self/fd/%d", handle);
	return open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* --- three ways to it -------------------------------------------------------------------- */

static void map_file_name(const struct mapping *mapping, char name[static 64])
{
	snprintf(name, 64, "map_files/%llx-%llx", (unsigned long long)mapping->start,
		 (unsigned long long)mapping->end);
}

static int open_map_file(const struct target *target, const struct mapping *mapping)
{
	char name[64];

	map_file_name(mapping, name);
	AUTO_CLOSE int handle = openat(target->proc_fd, name, O_PATH | O_CLOEXEC);
	struct stat st;

	if (handle < 0)
		return -1;
	/* another file may have been mapped there since; some file systems have two numbers for one */
	if (fstat(handle, &st) == 0 && st.st_ino != mapping->inode && !device_may_differ(handle)) {
		errno = ESTALE;
		return -1;
	}
	return open_checked(handle, NULL);
}

bool target_is_exe(const struct target *target, const struct mapping *mapping)
{
	AUTO_CLOSE int handle = openat(target->proc_fd, "exe", O_PATH | O_CLOEXEC);
	struct stat st;

	return handle >= 0 && fstat(handle, &st) == 0 && is_mapped_file(handle, &st, mapping);
}

static int open_exe(const struct target *target, const struct mapping *mapping)
{
	AUTO_CLOSE int handle = openat(target->proc_fd, "exe", O_PATH | O_CLOEXEC);

	return handle < 0 ? -1 : open_checked(handle, mapping);
}

static int open_below(int root, const char *path, const struct mapping *mapping)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	AUTO_CLOSE int handle = (int)syscall(SYS_openat2, root, path, &how, sizeof how);

	return handle < 0 ? -1 : open_checked(handle, mapping);
}

/* Where the target's root is, as we see it: a prefix of the paths that /proc gives; "" when it is
 * not known. */
static void read_root(const struct target *target, char prefix[static PROC_TEXT_MAX])
{
	ssize_t length = readlinkat(target->proc_fd, "root", prefix, PROC_TEXT_MAX - 1);

	prefix[length > 0 ? length : 0] = 0;
}

/* Of one that has ended, its kin's, or else our own: what is opened there is checked to be what was mapped. */
static int open_root(const struct target *target)
{
	char name[32];
	int fd = openat(target->proc_fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 || !target->kin)
		return fd;
	snprintf(name, sizeof name, "/proc/%u/root", target->kin);
	fd = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 ? fd : open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int open_named(const struct target *target, const struct mapping *mapping, const char *path)
{
	char prefix[PROC_TEXT_MAX], marked[PROC_TEXT_MAX + 16];
	AUTO_CLOSE int root = open_root(target);

	if (root < 0)
		return -1;
	read_root(target, prefix);
	path = proc_path_below(path, prefix);
	int fd = open_below(root, path, mapping);
	if (fd < 0 && mapping->deleted && strlen(path) < PROC_TEXT_MAX) {
		/* Not deleted, but a file of that name. */
		snprintf(marked, sizeof marked, "%s (deleted)", path);
		fd = open_below(root, marked, mapping);
	}
	return fd;
}

static int open_path(const struct target *target, const struct mapping *mapping)
{
	return open_named(target, mapping, mapping_path(target, mapping));
}

/* --- the vDSO ---------------------------------------------------------------------------- */

/* The kernel's own shared library: an ELF file as a whole in memory, and in no file system. */
static int copy_vdso(const struct target *target, const struct mapping *mapping, struct err *err)
{
	u64 size = mapping->end - mapping->start;

	if (size > VDSO_BYTES_MAX)
		return err_set(err, ERR_BAD_DATA, "[vdso]: %llu bytes long",
			       (unsigned long long)size),
		       -1;
	AUTO_FREE u8 *bytes = malloc(size);
	struct mem_span span = { mapping->start, bytes, (u32)size };
	if (!bytes)
		return err_no_memory(err), -1;
	if (mem_live_readv(&target->mem, &span, 1) != 1)
		return err_sys(err, errno, "[vdso]"), -1;
	int fd = memory_file("vdso", bytes, size);
	if (fd < 0)
		err_sys(err, errno, "[vdso]: copying it");
	return fd;
}

/* --- opening ----------------------------------------------------------------------------- */

/* Of the first and the last way that failed: whether the mapping is there, and what stands at its
 * path. */
static void explain(const struct mapping *mapping, const char *path, int first, int last,
		    struct err *err)
{
	if (first == ENOENT)
		err_set(err, ERR_BAD_DATA, "%s: no longer mapped at 0x%llx", path,
			(unsigned long long)mapping->start);
	else if (last == EMEDIUMTYPE)
		err_set(err, ERR_BAD_DATA, "%s: not a regular file", path);
	else if (last == ESTALE || last == ENOENT)
		err_set(err, ERR_PERMISSION,
			"%s: %s; CAP_CHECKPOINT_RESTORE opens the file that is: run as root", path,
			mapping->deleted ? "deleted or replaced since it was mapped" :
					   "not the file that is mapped");
	else
		err_sys(err, last, "%s", path);
}

static int open_file(const struct target *target, const struct mapping *mapping, struct err *err)
{
	static const struct {
		const char *name;
		int (*open)(const struct target *target, const struct mapping *mapping);
	} ways[] = {
		{ "map_files", open_map_file },
		{ "exe", open_exe },
		{ "root", open_path },
	};
	const char *path = mapping_path(target, mapping);
	int why[COUNT_OF(ways)];

	for (u32 i = 0; i < COUNT_OF(ways); i++) {
		int fd = ways[i].open(target, mapping);
		if (fd >= 0)
			return fd;
		why[i] = errno;
		log_debug(2, "%s: by %s: %s", path, ways[i].name, strerror(why[i]));
	}
	explain(mapping, path, why[0], why[COUNT_OF(ways) - 1], err);
	return -1;
}

struct image *target_open_image(const struct target *target, const struct mapping *mapping,
				struct err *err)
{
	const char *path = mapping_path(target, mapping);
	int fd;

	if (mapping->inode) {
		fd = open_file(target, mapping, err);
	} else if (strcmp(path, "[vdso]") == 0) {
		fd = copy_vdso(target, mapping, err);
	} else {
		err_set(err, ERR_BAD_DATA, "the memory at 0x%llx is of no file",
			(unsigned long long)mapping->start);
		return NULL;
	}
	struct image *image = fd < 0 ? NULL : image_open(fd, path, err);
	if (image)
		image_set_mapped(image, mapping->device, mapping->inode);
	return image;
}

struct image *target_open_former(const struct target *target, const struct mapping *mapping,
				 const char *path)
{
	int fd = mapping->inode ? open_named(target, mapping, path) : -1;
	struct image *image = fd < 0 ? NULL : image_open(fd, path, NULL);

	if (image)
		image_set_mapped(image, mapping->device, mapping->inode);
	return image;
}

/* --- is it still what it was? ------------------------------------------------------------ */

static s64 to_ns(struct timespec time)
{
	return (s64)time.tv_sec * 1000000000 + time.tv_nsec;
}

static struct file_state state_of(const struct stat *st)
{
	return (struct file_state){ .size = (u64)st->st_size,
				    .modified_ns = to_ns(st->st_mtim),
				    .changed_ns = to_ns(st->st_ctim) };
}

bool file_state_of(int fd, struct file_state *out)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return false;
	*out = state_of(&st);
	return true;
}

bool file_state_equal(const struct file_state *left, const struct file_state *right)
{
	return left->size == right->size && left->modified_ns == right->modified_ns &&
	       left->changed_ns == right->changed_ns;
}

bool file_is_unchanged(int fd, const struct file_state *before)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return false;
	struct file_state now = state_of(&st);
	if (st.st_nlink == 0)
		now.changed_ns = before->changed_ns;
	return file_state_equal(&now, before);
}

bool target_file_state(const struct target *target, const struct mapping *mapping,
		       struct file_state *out)
{
	char name[64];
	struct stat st;

	if (target->proc_fd < 0 || !mapping->inode)
		return false;
	map_file_name(mapping, name);
	if (fstatat(target->proc_fd, name, &st, 0) == 0 && st.st_ino == mapping->inode) {
		*out = state_of(&st);
		return true;
	}
	AUTO_CLOSE int fd = open_file(target, mapping, NULL);
	return fd >= 0 && file_state_of(fd, out);
}

/* --- files that the program names -------------------------------------------------------- */

/* A path as the target means it: from its working directory when it is not absolute. */
static bool make_absolute(const struct target *target, const char *path,
			  char out[static 2 * PROC_TEXT_MAX])
{
	char prefix[PROC_TEXT_MAX], directory[PROC_TEXT_MAX];

	if (path[0] == '/')
		return snprintf(out, 2 * PROC_TEXT_MAX, "%s", path) < 2 * PROC_TEXT_MAX;
	ssize_t length = readlinkat(target->proc_fd, "cwd", directory, sizeof directory - 1);
	if (length <= 0)
		return false;
	directory[length] = 0;
	read_root(target, prefix);
	return snprintf(out, 2 * PROC_TEXT_MAX, "%s/%s", proc_path_below(directory, prefix), path) <
	       2 * PROC_TEXT_MAX;
}

/* The last of the four on a Uid or Gid line: what files are opened with. (The owner of /proc/PID is
 * root for a program that changed its user.) */
static bool read_id(const char *status, const char *line, u32 *out)
{
	const char *at = proc_status_field(status, line);

	for (u32 i = 0; at && i < 4; i++)
		*out = (u32)proc_decimal(&at), at += strspn(at, " \t");
	return at != NULL;
}

int target_open_named(const struct target *target, const char *path)
{
	char absolute[2 * PROC_TEXT_MAX], status[PROC_STATUS_MAX];
	u32 uid, gid;
	AUTO_CLOSE int root = open_root(target);

	if (root < 0 || proc_read(target->proc_fd, "status", status, sizeof status) < 0 ||
	    !read_id(status, "Uid", &uid) || !read_id(status, "Gid", &gid) ||
	    !make_absolute(target, path, absolute))
		return -1;
	/* setfsuid(2) takes CAP_DAC_* away for as long as it stands */
	bool as_other = geteuid() == 0 && uid != 0;
	if (as_other) {
		setfsgid(gid);
		setfsuid(uid);
	}
	int fd = open_below(root, absolute, NULL);
	if (as_other) {
		setfsuid(geteuid());
		setfsgid(getegid());
	}
	return fd;
}
