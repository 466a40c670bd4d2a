/* SPDX-License-Identifier: Apache-2.0
 * files.c - the file behind a mapping: by map_files, and without the right to it. */
#include "target/target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "child.h"
#include "elf/image.h"

static char folder[] = "/tmp/sonde test XXXXXX";

/* Takes CAP_CHECKPOINT_RESTORE and CAP_SYS_ADMIN, which open map_files, or gives them back. */
static void set_map_files_right(bool have)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	static const u32 rights[] = { CAP_CHECKPOINT_RESTORE, CAP_SYS_ADMIN };

	assert_int_equal(syscall(SYS_capget, &header, data), 0);
	for (u32 i = 0; i < COUNT_OF(rights); i++) {
		struct __user_cap_data_struct *word = &data[CAP_TO_INDEX(rights[i])];
		word->effective = have ? word->effective |
						  (word->permitted & CAP_TO_MASK(rights[i])) :
					 word->effective & ~CAP_TO_MASK(rights[i]);
	}
	assert_int_equal(syscall(SYS_capset, &header, data), 0);
}

/* Copies our own executable: an ELF file under a name of ours. */
static void copy_self(const char *path)
{
	char bytes[65536];
	int from = open("/proc/self/exe", O_RDONLY),
	    to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);

	assert_true(from >= 0 && to >= 0);
	for (ssize_t got; (got = read(from, bytes, sizeof bytes)) > 0;)
		assert_int_equal(write(to, bytes, (size_t)got), got);
	close(from);
	close(to);
}

static const char *mapped_path;

/* Maps the first page of a file and says where. */
static void map_and_idle(struct child *child)
{
	int fd = open(mapped_path, O_RDONLY);
	void *at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);

	close(fd);
	child_say_number(child, at == MAP_FAILED ? 0 : (long)at);
	child_wait(child);
}

struct fixture {
	struct child child;
	struct target target;
	const struct mapping *mapping;
};

static void start_fixture(struct fixture *fixture, child_fn *fn)
{
	struct err err = { 0 };

	child_start(&fixture->child, fn);
	long at = child_hear_number(&fixture->child);
	assert_int_not_equal(at, 0);
	if (!target_open(&fixture->target, (u32)fixture->child.pid, &err))
		fail_msg("%s", err.text);
	fixture->mapping = target_mapping_at(&fixture->target, (u64)at);
	assert_non_null(fixture->mapping);
}

static void end_fixture(struct fixture *fixture)
{
	target_close(&fixture->target);
	child_end(&fixture->child);
}

/* Opens the mapping's image and closes it; the words of the refusal are left in err. */
static bool opens(const struct fixture *fixture, struct err *err)
{
	struct image *image = target_open_image(&fixture->target, fixture->mapping, err);
	bool opened = image;

	if (image)
		assert_string_equal(image_name(image),
				    mapping_path(&fixture->target, fixture->mapping));
	image_close(image);
	return opened;
}

static void refused(const struct fixture *fixture, enum err_code code, const char *words)
{
	struct err err = { 0 };

	assert_false(opens(fixture, &err));
	if (err.code != code || !strstr(err.text, words))
		fail_msg("%d \"%s\" is not %d \"%s\"", err.code, err.text, code, words);
}

static char path[4096];

static const char *in_folder(const char *name)
{
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

/* --- ordinary and odd names -------------------------------------------------------------- */

static void odd_names_are_found_both_ways(void **state)
{
	static const char *const names[] = { "plain", "with blank", "new\nline", "gone (deleted)",
					     "\xff\xfe" };
	(void)state;

	for (u32 i = 0; i < COUNT_OF(names); i++) {
		struct fixture fixture;
		struct err err = { 0 };
		mapped_path = in_folder(names[i]);
		copy_self(mapped_path);
		start_fixture(&fixture, map_and_idle);
		if (!opens(&fixture, &err))
			fail_msg("%s", err.text);
		set_map_files_right(false);
		bool by_path = opens(&fixture, &err);
		set_map_files_right(true);
		if (!by_path)
			fail_msg("%s", err.text);
		end_fixture(&fixture);
		unlink(mapped_path);
	}
}

static void a_deleted_file_is_read_by_who_may(void **state)
{
	struct fixture fixture;
	(void)state;

	if (geteuid() != 0)
		skip();
	mapped_path = in_folder("deleted");
	copy_self(mapped_path);
	start_fixture(&fixture, map_and_idle);
	unlink(mapped_path);
	u64 at = fixture.mapping->start;
	assert_true(target_read_maps(&fixture.target, NULL));
	fixture.mapping = target_mapping_at(&fixture.target, at);
	assert_true(fixture.mapping->deleted);
	assert_string_equal(mapping_path(&fixture.target, fixture.mapping), mapped_path);
	assert_true(opens(&fixture, NULL));

	set_map_files_right(false);
	refused(&fixture, ERR_PERMISSION, "CAP_CHECKPOINT_RESTORE");
	/* Nor does what stands there now pass for it: another file, a FIFO that would block us. */
	copy_self(mapped_path);
	refused(&fixture, ERR_PERMISSION, "deleted or replaced");
	unlink(mapped_path);
	assert_int_equal(mkfifo(mapped_path, 0600), 0);
	refused(&fixture, ERR_PERMISSION, "deleted or replaced");
	unlink(mapped_path);
	set_map_files_right(true);
	end_fixture(&fixture);
}

static void a_mapping_that_has_gone_is_said_to_be_gone(void **state)
{
	struct fixture fixture;
	(void)state;

	mapped_path = in_folder("unmapped");
	copy_self(mapped_path);
	start_fixture(&fixture, map_and_idle);
	unlink(mapped_path);
	struct mapping wrong = *fixture.mapping;
	wrong.end += 4096;
	fixture.mapping = &wrong;
	refused(&fixture, ERR_BAD_DATA, "no longer mapped at 0x");
	end_fixture(&fixture);
}

/* --- files that the program names -------------------------------------------------------- */

static void be_nobody_in_folder(struct child *child)
{
	if (chdir(folder) != 0 || setgid(65534) != 0 || setuid(65534) != 0)
		_exit(103);
	child_say(child, 'r');
	child_wait(child);
}

static void write_file(const char *name, mode_t mode)
{
	int fd = open(in_folder(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "puts 1\n", 7), 7);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static bool is_opened(const struct target *target, const char *name)
{
	int fd = target_open_named(target, name);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* A program may claim that its code is in any file. */
static void a_named_file_is_opened_with_the_targets_rights(void **state)
{
	struct child child;
	struct target target;
	(void)state;

	if (geteuid() != 0)
		skip();
	assert_int_equal(chmod(folder, 0755), 0);
	write_file("open.rb", 0644);
	write_file("secret.rb", 0600);
	assert_int_equal(mkfifo(in_folder("fifo.rb"), 0666), 0);
	child_start(&child, be_nobody_in_folder);
	child_hear(&child);
	assert_true(target_open(&target, (u32)child.pid, NULL));
	assert_true(is_opened(&target, in_folder("open.rb")));
	assert_true(is_opened(&target, "open.rb")); /* from where the program is */
	assert_true(is_opened(&target, "./../../../../../../tmp") == false);
	assert_false(is_opened(&target, in_folder("secret.rb")));
	assert_false(is_opened(&target, "secret.rb"));
	assert_false(is_opened(&target, "fifo.rb"));
	assert_false(is_opened(&target, "/etc/shadow"));
	assert_false(is_opened(&target, "none.rb"));
	assert_true(access("/etc/shadow", R_OK) == 0); /* we are who we were */
	target_close(&target);
	child_end(&child);
	unlink(in_folder("open.rb"));
	unlink(in_folder("secret.rb"));
	unlink(in_folder("fifo.rb"));
}

/* --- the program's own file -------------------------------------------------------------- */

#define IDLE_WORD "be-idle"

static void exec_copy(struct child *child)
{
	char from[16], to[16];

	snprintf(from, sizeof from, "%d", child->from);
	snprintf(to, sizeof to, "%d", child->to);
	execl(mapped_path, mapped_path, IDLE_WORD, from, to, (char *)NULL);
	_exit(105);
}

static void a_deleted_program_is_read_through_exe(void **state)
{
	struct fixture fixture;
	(void)state;

	mapped_path = in_folder("program");
	copy_self(mapped_path);
	start_fixture(&fixture, exec_copy);
	unlink(mapped_path);
	set_map_files_right(false);
	bool opened = opens(&fixture, NULL);
	set_map_files_right(true);
	assert_true(opened);
	end_fixture(&fixture);
}

/* The image that main() becomes: says where a word of its own stands. */
static int be_idle(char *const argv[])
{
	struct child child = { getpid(), atoi(argv[2]), atoi(argv[3]) };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	child_say_number(&child, (long)(uintptr_t)&be_idle);
	child_wait(&child);
	return 0;
}

/* --- roots ------------------------------------------------------------------------------- */

static void map_in_root(struct child *child)
{
	if (chroot(folder) || chdir("/"))
		_exit(106);
	mapped_path = "/lib/inner";
	map_and_idle(child);
}

static void the_path_is_looked_up_below_the_targets_root(void **state)
{
	struct fixture fixture;
	char lib[4096];
	(void)state;

	if (geteuid() != 0)
		skip();
	/* A link that means the inside only if it is followed there. */
	assert_int_equal(mkdir(in_folder("real"), 0755), 0);
	copy_self(in_folder("real/inner"));
	snprintf(lib, sizeof lib, "%s/lib", folder);
	assert_int_equal(symlink("/real", lib), 0);
	start_fixture(&fixture, map_in_root);
	set_map_files_right(false);
	struct err err = { 0 };
	bool opened = opens(&fixture, &err);
	set_map_files_right(true);
	if (!opened)
		fail_msg("%s", err.text);
	end_fixture(&fixture);
	unlink(lib);
	unlink(in_folder("real/inner"));
	rmdir(in_folder("real"));
}

/* --- no file ----------------------------------------------------------------------------- */

static void map_device(struct child *child)
{
	int fd = open("/dev/zero", O_RDONLY);

	child_say_number(child, (long)mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0));
	child_wait(child);
}

static void a_device_is_not_opened(void **state)
{
	struct fixture fixture;
	(void)state;

	start_fixture(&fixture, map_device);
	refused(&fixture, ERR_BAD_DATA, "not a regular file");
	end_fixture(&fixture);
}

static void say_stack(struct child *child)
{
	child_say_number(child, (long)(uintptr_t)&child);
	child_wait(child);
}

static void the_vdso_is_read_from_memory_and_anonymous_memory_is_no_file(void **state)
{
	struct fixture fixture;
	struct image_symbol symbol;
	(void)state;

	start_fixture(&fixture, say_stack);
	refused(&fixture, ERR_BAD_DATA, "is of no file");
	for (u32 i = 0; i < fixture.target.maps.all.count; i++)
		if (strcmp(mapping_path(&fixture.target, &fixture.target.maps.all.at[i]),
			   "[vdso]") == 0)
			fixture.mapping = &fixture.target.maps.all.at[i];
	struct image *image = target_open_image(&fixture.target, fixture.mapping, NULL);
	assert_non_null(image);
	assert_true(image_symbol_named(image, "__vdso_clock_gettime", &symbol));
	u64 bias;
	assert_true(target_load_bias(&fixture.target, fixture.mapping, image, &bias));
	assert_true(bias + symbol.value >= fixture.mapping->start &&
		    bias + symbol.value < fixture.mapping->end);
	image_close(image);
	end_fixture(&fixture);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(odd_names_are_found_both_ways),
		cmocka_unit_test(a_deleted_file_is_read_by_who_may),
		cmocka_unit_test(a_mapping_that_has_gone_is_said_to_be_gone),
		cmocka_unit_test(a_named_file_is_opened_with_the_targets_rights),
		cmocka_unit_test(a_deleted_program_is_read_through_exe),
		cmocka_unit_test(the_path_is_looked_up_below_the_targets_root),
		cmocka_unit_test(a_device_is_not_opened),
		cmocka_unit_test(the_vdso_is_read_from_memory_and_anonymous_memory_is_no_file),
	};

	if (argc == 4 && strcmp(argv[1], IDLE_WORD) == 0)
		return be_idle(argv);
	if (!mkdtemp(folder))
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(folder);
	return failed;
}
