/* SPDX-License-Identifier: Apache-2.0
 * kernel-mapped.c - code that takes the place of other code, in this process. */
#include "check.h"

#include "base/clock.h"
#include "engines/kernel/watched.h"

#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 2 };

static u64 size(void)
{
	return PAGES * (u64)sysconf(_SC_PAGESIZE);
}

static u64 map(int file, u64 at, u64 offset)
{
	void *mapped = mmap((void *)(uintptr_t)at, size(), PROT_READ | PROT_EXEC,
			    MAP_PRIVATE | (at ? MAP_FIXED : 0), file, (off_t)offset);

	assert_ptr_not_equal(mapped, MAP_FAILED);
	return (u64)(uintptr_t)mapped;
}

static int new_file(void)
{
	int file = memfd_create("code", MFD_CLOEXEC);

	assert_true(file >= 0);
	assert_int_equal(ftruncate(file, (off_t)size() * 2), 0);
	return file;
}

/* The next news of this process for that address; false: there are none. */
static bool next(struct kernel_mappings *mappings, u64 at, struct kernel_mapped *out)
{
	const char *text;

	while (kernel_mappings_next(mappings, clock_now_ns(), out, &text))
		if (out->pid == (u32)getpid() && out->start == at)
			return true;
	return false;
}

static void open_both(struct kernel_mappings *mappings, struct target *target,
		      struct watched **process, struct unwind_files *files)
{
	struct err err = { 0 };

	if (!kernel_mappings_open(mappings, &err))
		skip();
	assert_true(target_open(target, (u32)getpid(), &err));
	*process = watched_new(target->pid, target, 1, files);
	assert_non_null(*process);
}

static void what_takes_the_place_of_other_code_is_told(void **unused)
{
	struct kernel_mappings mappings;
	struct unwind_files files = { 0 };
	struct target target;
	struct watched *process;
	struct kernel_mapped news;
	struct err err = { 0 };
	int first = new_file(), second = new_file();
	u64 before = clock_now_ns();

	(void)unused;
	open_both(&mappings, &target, &process, &files);
	u64 at = map(first, 0, 0);
	assert_true(next(&mappings, at, &news));
	assert_true(news.time_ns >= before && news.time_ns <= clock_now_ns());
	assert_true(news.end == at + size() && news.offset == 0 && news.inode);
	/* nothing that is known lay there */
	assert_true(watched_read_maps(process, &mappings, &err));
	assert_false(watched_replaces(process, &news));
	/* the same again */
	map(first, at, 0);
	assert_true(next(&mappings, at, &news));
	assert_false(watched_replaces(process, &news));
	/* another piece of it */
	map(first, at, size());
	assert_true(next(&mappings, at, &news));
	assert_true(watched_replaces(process, &news));
	assert_true(watched_read_maps(process, &mappings, &err));
	assert_false(watched_replaces(process, &news));
	/* another file */
	map(second, at, 0);
	assert_true(next(&mappings, at, &news));
	assert_true(watched_replaces(process, &news));
	assert_false(next(&mappings, at, &news));
	kernel_mappings_close(&mappings);
	watched_free(process);
	unwind_files_free(&files);
	target_close(&target);
	munmap((void *)(uintptr_t)at, size());
	close(first);
	close(second);
}

/* Mappings are read ahead of the samples: what has come in place of other code meanwhile is known. */
static void what_was_read_is_ahead_of_the_news(void **unused)
{
	struct kernel_mappings mappings;
	struct unwind_files files = { 0 };
	struct target target;
	struct watched *process;
	struct kernel_mapped news;
	struct err err = { 0 };
	int first = new_file(), second = new_file();

	(void)unused;
	open_both(&mappings, &target, &process, &files);
	u64 at = map(first, 0, 0);
	assert_true(next(&mappings, at, &news));
	assert_true(watched_read_maps(process, &mappings, &err));
	u64 before = clock_now_ns();
	map(second, at, 0);
	u64 after = clock_now_ns();
	assert_true(watched_read_maps(process, &mappings, &err));
	assert_int_equal(replaced_at(&process->replaced, at, before), REPLACED_UNKNOWN);
	assert_true(replaced_at(&process->replaced, at, after) & REPLACED_UNHEARD);
	assert_int_equal(replaced_at(&process->replaced, at + size(), after), 0);
	/* when its turn comes it is nothing new */
	assert_true(next(&mappings, at, &news));
	assert_false(watched_replaces(process, &news));
	kernel_mappings_close(&mappings);
	watched_free(process);
	unwind_files_free(&files);
	target_close(&target);
	munmap((void *)(uintptr_t)at, size());
	close(first);
	close(second);
}

/* More than the rings hold, and nothing after it that would say so. */
static void that_news_were_lost_is_told(void **unused)
{
	struct kernel_mappings mappings;
	struct kernel_mapped news;
	struct err err = { 0 };
	int file = new_file();
	u32 told = 0;
	const u32 many = 8192 * (u32)sysconf(_SC_NPROCESSORS_CONF);

	(void)unused;
	if (!kernel_mappings_open(&mappings, &err))
		skip();
	u64 at = map(file, 0, 0);
	assert_true(next(&mappings, at, &news));
	assert_int_equal(mappings.lost_ns, 0);
	u64 before = clock_now_ns();
	for (u32 i = 0; i < many; i++)
		map(file, at, (i & 1) * size());
	while (next(&mappings, at, &news))
		told++;
	assert_true(told > 0 && told < many);
	assert_true(mappings.lost_ns && mappings.lost_ns <= before);
	mappings.lost_ns = 0;
	map(file, at, 0);
	assert_true(next(&mappings, at, &news));
	kernel_mappings_close(&mappings);
	munmap((void *)(uintptr_t)at, size());
	close(file);
}

/* Some are always left, where somebody maps all the time: what the others were called is given back. */
static void what_is_left_keeps_its_text(void **unused)
{
	enum { MANY = 1200, EACH = 100 }; /* few: the rings hold 1,000 */
	struct kernel_mappings mappings;
	struct kernel_mapped news;
	struct err err = { 0 };
	int file = new_file();
	const char *text;
	u64 at = 0, before_last = 0;

	(void)unused;
	if (!kernel_mappings_open(&mappings, &err))
		skip();
	for (u32 rounds = 0; rounds < MANY;) {
		for (u32 k = 0; k < EACH; k++) {
			before_last = clock_now_ns();
			at = map(file, at, (k & 1) * size());
		}
		while (kernel_mappings_next(&mappings, before_last, &news, &text))
			assert_true(news.time_ns <= before_last);
		u32 left;
		assert_non_null(kernel_mappings_waiting(&mappings, &left));
		/* others mapped more than the rings hold, while we did not run: ours may be among what was lost */
		bool counts = !mappings.lost_ns;
		mappings.lost_ns = 0;
		assert_true(left > 0 || !counts);
		rounds += counts;
	}
	assert_true(mappings.texts.count < 2 << 20); /* all of them are 2.6 MB */
	bool is_there = false;
	while (kernel_mappings_next(&mappings, clock_now_ns(), &news, &text))
		if (news.pid == (u32)getpid()) {
			assert_string_equal(text, "/memfd:code (deleted)");
			is_there = true;
		}
	assert_true(is_there);
	kernel_mappings_close(&mappings);
	munmap((void *)(uintptr_t)at, size());
	close(file);
}

static void all_is_doubted_until_it_is_read_again(void **unused)
{
	struct kernel_mappings mappings = { 0 };
	struct unwind_files files = { 0 };
	struct target target;
	struct err err = { 0 };
	int file = new_file();

	(void)unused;
	u64 at = map(file, 0, 0), code = (u64)(uintptr_t)all_is_doubted_until_it_is_read_again;
	assert_true(target_open(&target, (u32)getpid(), &err));
	struct watched *process = watched_new(target.pid, &target, 1, &files);
	assert_non_null(process);
	assert_true(watched_read_maps(process, &mappings, &err));
	watched_doubt(process, 1000);
	assert_true(process->is_doubted);
	assert_true(replaced_at(&process->replaced, 0x1234, 1000) & REPLACED_UNHEARD);
	assert_false(replaced_at(&process->replaced, 0x1234, 999) & REPLACED_UNHEARD);
	struct watched *child = watched_fork(process, target.pid, 1500, 2);
	assert_non_null(child);
	assert_true(child->is_doubted);
	assert_true(replaced_at(&child->replaced, 0x1234, 1500) & REPLACED_UNHEARD);
	watched_free(child);
	/* what is there as it was is believed then; what is not was not, since the doubt began */
	map(file, at, size());
	assert_true(watched_read_maps(process, &mappings, &err));
	replaced_is_told(&process->replaced, 2000);
	assert_false(process->is_doubted);
	assert_false(replaced_at(&process->replaced, 0x1234, 1500) & REPLACED_UNHEARD);
	assert_false(replaced_at(&process->replaced, code, 1500) & REPLACED_UNHEARD);
	assert_false(replaced_at(&process->replaced, at, 999) & REPLACED_UNHEARD);
	assert_true(replaced_at(&process->replaced, at, 1000) & REPLACED_UNHEARD);
	assert_true(replaced_at(&process->replaced, at, 2000) & REPLACED_UNHEARD);
	assert_false(replaced_at(&process->replaced, at, 2001) & REPLACED_UNHEARD);
	watched_free(process);
	unwind_files_free(&files);
	target_close(&target);
	munmap((void *)(uintptr_t)at, size());
	close(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_takes_the_place_of_other_code_is_told),
		cmocka_unit_test(what_was_read_is_ahead_of_the_news),
		cmocka_unit_test(that_news_were_lost_is_told),
		cmocka_unit_test(what_is_left_keeps_its_text),
		cmocka_unit_test(all_is_doubted_until_it_is_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
