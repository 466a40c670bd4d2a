/* SPDX-License-Identifier: Apache-2.0
 * cache.c - see cache.h.
 *
 *	file = head | words of the table */
#include "unwind/cache.h"

#include "base/cleanup.h"
#include "base/vec.h"
#include "elf/cfi.h"
#include "elf/go_table.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
	FILE_BYTES_MAX = 64 << 20,
	/* Of all files: those that were used last are kept. */
	ALL_BYTES_MAX = 256 << 20,
	NAME_SIZE = 33,     /* 128 bits in hex */
	MAGIC = 0x31435753, /* "SWC1" */
};

struct head {
	u32 magic;
	u32 words;
	u64 checksum; /* XXH3-64 of the words */
	u64 key[2];
};

_Static_assert(sizeof(struct head) == 32, "kept in files");

/* ---- the folder ---------------------------------------------------------------------------- */

/* The folder `name` in another; takes that one. */
static int enter(int parent, const char *name)
{
	int fd = -1;

	if (parent >= 0 && (mkdirat(parent, name, 0700) == 0 || errno == EEXIST))
		fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (parent >= 0)
		close(parent);
	return fd;
}

/* What is ours alone, -1 else; takes it. */
static int check_own(int fd)
{
	struct stat st;

	if (fd < 0 || (fstat(fd, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & 022)))
		return fd;
	close(fd);
	return -1;
}

static int open_folder(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	const char *base = cache && cache[0] == '/' ? cache : geteuid() == 0 ? "/var/cache" : home;

	if (!base || base[0] != '/')
		return -1;
	mkdir(base, 0700);
	int fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (base == home)
		fd = enter(fd, ".cache");
	return check_own(enter(enter(fd, "sonde"), "unwind"));
}

/* False: it has no build-id. */
static bool find_writer(u8 out[BUILD_ID_MAX])
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct image *image = fd >= 0 ? image_open(fd, "/proc/self/exe", NULL) : NULL;
	u32 length = image ? image_build_id(image, out) : 0;

	if (image)
		image_close(image);
	return length > 0;
}

void unwind_cache_open(struct unwind_cache *cache)
{
	*cache = (struct unwind_cache){ .dir_fd = open_folder() };
	if (!find_writer(cache->writer))
		unwind_cache_close(cache);
}

void unwind_cache_close(struct unwind_cache *cache)
{
	if (cache->dir_fd > 0)
		close(cache->dir_fd);
	*cache = (struct unwind_cache){ .dir_fd = -1 };
}

/* ---- files --------------------------------------------------------------------------------- */

struct key {
	u64 words[2];
	char name[NAME_SIZE];
};

/* Some rules come from the code itself, and of an image without a build-id nothing else says which it is. */
static u64 digest_code(const struct image *image)
{
	enum { CHUNK = 64 << 10 };
	AUTO_FREE u8 *bytes = malloc(CHUNK);
	struct image_segment segment;
	u64 digest = 0;

	for (u32 i = 0; bytes && i < image_segment_count(image); i++) {
		if (!image_segment(image, i, &segment) || segment.type != PT_LOAD ||
		    !(segment.flags & PF_X))
			continue;
		for (u64 done = 0; done < segment.file_size; done += CHUNK) {
			u64 left = segment.file_size - done;
			u32 length = left < CHUNK ? (u32)left : CHUNK;
			if (!image_bytes(image, segment.address + done, bytes, length))
				return 0;
			digest = XXH3_64bits_withSeed(bytes, length, digest);
		}
	}
	return digest;
}

static bool find_key(const struct unwind_cache *cache, const struct image *image, struct key *out)
{
	struct {
		struct cfi_digest content;
		u64 entry;
		u64 go[2];
		u64 code;
		u8 build_id[BUILD_ID_MAX];
		u8 writer[BUILD_ID_MAX];
	} all = { .entry = image_entry(image) };

	memcpy(all.writer, cache->writer, sizeof all.writer);
	if (!cfi_digest(image, &all.content, NULL))
		return false;
	go_table_digest(image, all.go);
	if (!image_build_id(image, all.build_id))
		all.code = digest_code(image);
	XXH128_hash_t hash = XXH3_128bits(&all, sizeof all);
	out->words[0] = hash.low64;
	out->words[1] = hash.high64;
	snprintf(out->name, sizeof out->name, "%016llx%016llx", (unsigned long long)hash.high64,
		 (unsigned long long)hash.low64);
	return true;
}

static bool read_all(int fd, void *out, size_t length)
{
	for (size_t done = 0; done < length;) {
		ssize_t got = read(fd, (char *)out + done, length - done);
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

static bool write_all(int fd, const void *from, size_t length)
{
	for (size_t done = 0; done < length;) {
		ssize_t put = write(fd, (const char *)from + done, length - done);
		if (put <= 0)
			return false;
		done += (size_t)put;
	}
	return true;
}

/* An image without tables has a file without words. */
static bool load(const struct unwind_cache *cache, const struct key *key,
		 struct unwind_table *table)
{
	AUTO_CLOSE int fd = openat(cache->dir_fd, key->name,
				   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct head head;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    !read_all(fd, &head, sizeof head) || head.magic != MAGIC ||
	    memcmp(head.key, key->words, sizeof head.key) != 0 || head.words > FILE_BYTES_MAX / 4 ||
	    (u64)st.st_size != sizeof head + 4 * (u64)head.words)
		return false;
	u32 *words = head.words ? malloc(4 * (size_t)head.words) : NULL;
	bool good = !head.words || (words && read_all(fd, words, 4 * (size_t)head.words) &&
				    unwind_table_is_good(words, head.words));
	if (!good || XXH3_64bits(words, 4 * (size_t)head.words) != head.checksum) {
		free(words);
		return false;
	}
	*table = (struct unwind_table){ words, head.words };
	futimens(fd, NULL); /* it was of use */
	return true;
}

/* Under a name of its own until it is whole: several may write one. */
static bool store(const struct unwind_cache *cache, const struct key *key,
		  const struct unwind_table *table)
{
	size_t bytes = 4 * (size_t)table->count;
	struct head head = { .magic = MAGIC,
			     .words = table->count,
			     .checksum = XXH3_64bits(table->words, bytes),
			     .key = { key->words[0], key->words[1] } };
	char name[NAME_SIZE + 16];

	snprintf(name, sizeof name, "%s.%d", key->name, (int)getpid());
	AUTO_CLOSE int fd = openat(cache->dir_fd, name,
				   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	if (write_all(fd, &head, sizeof head) && write_all(fd, table->words, bytes) &&
	    renameat(cache->dir_fd, name, cache->dir_fd, key->name) == 0)
		return true;
	unlinkat(cache->dir_fd, name, 0);
	return false;
}

/* ---- room ---------------------------------------------------------------------------------- */

struct kept {
	char name[NAME_SIZE + 16];
	u64 bytes;
	struct timespec used;
};

static int by_use(const void *left_, const void *right_)
{
	const struct kept *left = left_, *right = right_;

	if (left->used.tv_sec != right->used.tv_sec)
		return left->used.tv_sec > right->used.tv_sec ? -1 : 1;
	return (left->used.tv_nsec < right->used.tv_nsec) -
	       (left->used.tv_nsec > right->used.tv_nsec);
}

/* Those that were not used for longest go, once a run, when one is added. */
static void prune(const struct unwind_cache *cache)
{
	int fd = openat(cache->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	VEC(struct kept) all = { 0 };
	struct dirent *entry;
	struct stat st;
	u64 bytes = 0;

	while (dir && (entry = readdir(dir))) {
		struct kept kept = { 0 };
		if (fstatat(cache->dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISREG(st.st_mode) || strlen(entry->d_name) >= sizeof kept.name)
			continue;
		memcpy(kept.name, entry->d_name, strlen(entry->d_name));
		kept.bytes = (u64)st.st_size;
		kept.used = st.st_mtim;
		if (!vec_push(&all, kept))
			break;
	}
	if (all.count)
		qsort(all.at, all.count, sizeof all.at[0], by_use);
	for (u32 i = 0; i < all.count; i++) {
		bytes += all.at[i].bytes;
		if (bytes > ALL_BYTES_MAX)
			unlinkat(cache->dir_fd, all.at[i].name, 0);
	}
	vec_free(&all);
	if (dir)
		closedir(dir);
}

bool unwind_cache_compile(struct unwind_cache *cache, const struct image *image,
			  struct unwind_table *table, struct err *err)
{
	struct unwind_report report;
	struct key key;
	bool has_key = cache->dir_fd > 0 && find_key(cache, image, &key);

	if (has_key && load(cache, &key, table))
		return true;
	bool good = unwind_compile(image, table, &report, err);
	if (!good || !has_key || !store(cache, &key, table))
		return good;
	if (!cache->is_pruned)
		prune(cache);
	cache->is_pruned = true;
	return true;
}
