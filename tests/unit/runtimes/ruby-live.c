/* SPDX-License-Identifier: Apache-2.0
 * ruby-live.c - starting Rubies, those of other Debian suites in their own roots. */
#include "ruby-live.h"

#include "base/clock.h"
#include "elf/image.h"
#include "runtimes/ruby/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/check.h"

extern const struct runtime ruby_runtime;

const struct ruby_kind ruby_kinds[] = {
	{ "2.7", "bullseye", "/usr/bin/ruby2.7", NULL },
	{ "3.1", NULL, "/usr/bin/ruby3.1", NULL },
	{ "3.1 --yjit", NULL, "/usr/bin/ruby3.1", "--yjit" },
	{ "3.3", "trixie", "/usr/bin/ruby3.3", NULL },
	{ "3.4", "experimental", "/usr/bin/ruby3.4", NULL },
};
const u32 ruby_kind_count = COUNT_OF(ruby_kinds);

void ruby_kind_root(const struct ruby_kind *kind, char *path, size_t room)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (!kind->suite)
		snprintf(path, room, "%s", "");
	else if (cache && *cache)
		snprintf(path, room, "%s/sonde/roots/%s", cache, kind->suite);
	else
		snprintf(path, room, "%s/.cache/sonde/roots/%s", home ? home : "", kind->suite);
}

bool ruby_kind_is_here(const struct ruby_kind *kind)
{
	char root[PATH_MAX], program[PATH_MAX + 32];

	ruby_kind_root(kind, root, sizeof root);
	snprintf(program, sizeof program, "%s%s", root, kind->program);
	if (access(program, X_OK) != 0) {
		fprintf(stderr, "SKIPPED Ruby %s: no %s (./dev matrix)\n", kind->name, program);
		return false;
	}
	if (*root && getuid() != 0) {
		fprintf(stderr, "SKIPPED Ruby %s: chroot needs root\n", kind->name);
		return false;
	}
	return true;
}

u32 ruby_kinds_here(void)
{
	u32 here = 0;

	for (u32 i = 0; i < ruby_kind_count; i++)
		here += ruby_kind_is_here(&ruby_kinds[i]);
	return here;
}

/* The program on standard input, so that no file has to be put into a root. */
static int open_program(const char *file, const char *text)
{
	const char *tests = getenv("SONDE_TESTS");
	char path[PATH_MAX];
	int fd;

	if (text) {
		fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
		assert_true(fd >= 0);
		assert_int_equal(write(fd, text, strlen(text)), strlen(text));
		assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		return fd;
	}
	snprintf(path, sizeof path, "%s/unit/runtimes/%s", tests ? tests : "tests", file);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		fail_msg("%s: %s (SONDE_TESTS says where the tests are)", path, strerror(errno));
	return fd;
}

static void run_child(const struct ruby_kind *kind, int program, int out, const char *libraries)
{
	const char *argv[] = { kind->program, kind->option ? kind->option : "-", "-", NULL };
	char search[PATH_MAX + 32], root[PATH_MAX];
	char *environment[] = { "LANG=C.UTF-8", "PATH=/usr/bin:/bin", "HOME=/", search, NULL };

	if (!kind->option)
		argv[2] = NULL;
	snprintf(search, sizeof search, "%s%s",
		 libraries ? "LD_LIBRARY_PATH=" : "NONE=", libraries ? libraries : "");
	ruby_kind_root(kind, root, sizeof root);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(program, 0);
	dup2(out, 1);
	if (*root && (chroot(root) != 0 || chdir("/") != 0))
		_exit(126);
	execve(kind->program, (char **)argv, environment);
	_exit(127);
}

void ruby_live_spawn(struct ruby_live *live, const struct ruby_kind *kind, const char *file,
		     const char *text, const char *libraries)
{
	int program = open_program(file, text), pipes[2];

	memset(live, 0, sizeof *live);
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	live->pid = fork();
	assert_true(live->pid >= 0);
	if (live->pid == 0)
		run_child(kind, program, pipes[1], libraries);
	close(program);
	close(pipes[1]);
	live->out = pipes[0];
}

void ruby_live_wait(struct ruby_live *live, const char *until)
{
	while (!live->printed.length || !strstr(live->printed.text, until)) {
		char bytes[4096];
		ssize_t count = read(live->out, bytes, sizeof bytes);
		if (count <= 0)
			fail_msg("Ruby ended: %s", live->printed.length ? live->printed.text : "");
		str_add(&live->printed, bytes, (size_t)count);
	}
}

void ruby_live_start(struct ruby_live *live, const struct ruby_kind *kind, const char *file,
		     const char *text, const char *libraries)
{
	ruby_live_spawn(live, kind, file, text, libraries);
	ruby_live_wait(live, "END\n");
}

static bool attach_image(struct ruby_live *live, u32 ways, const struct mapping *mapping,
			 struct err *err)
{
	struct image *image = target_open_image(&live->target, mapping, NULL);

	if (!image)
		return false;
	bool attached = ruby_attach_by(&live->target, image, ways, &live->state, err);
	if (attached)
		snprintf(live->warning, sizeof live->warning, "%s", err->text);
	image_close(image);
	return attached;
}

bool ruby_live_attach(struct ruby_live *live, u32 ways, struct err *err)
{
	if (live->opened)
		target_close(&live->target);
	memset(&live->target, 0, sizeof live->target);
	/* In the middle of an exec there is nothing to open, and no Ruby. */
	*err = (struct err){ .code = ERR_NOT_MINE };
	live->opened = target_open(&live->target, (u32)live->pid, NULL);
	if (!live->opened)
		return false;
	for (u32 i = 0; i < live->target.maps.all.count; i++) {
		const struct mapping *mapping = &live->target.maps.all.at[i];
		if (!mapping->executable || !mapping->inode)
			continue;
		if (attach_image(live, ways, mapping, err))
			return true;
		if (err->code == ERR_NOT_READY || err->code == ERR_UNSUPPORTED)
			return false;
	}
	return false;
}

void ruby_live_stop(struct ruby_live *live)
{
	kill(live->pid, SIGKILL);
	while (waitpid(live->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(live->out);
	if (live->opened)
		target_close(&live->target);
	str_free(&live->printed);
}

void ruby_live_freeze(struct ruby_live *live)
{
	int status;

	assert_int_equal(kill(live->pid, SIGSTOP), 0);
	assert_int_equal(waitpid(live->pid, &status, WUNTRACED), live->pid);
	assert_true(WIFSTOPPED(status));
}

void ruby_live_thaw(struct ruby_live *live)
{
	int status;

	assert_int_equal(kill(live->pid, SIGCONT), 0);
	assert_int_equal(waitpid(live->pid, &status, WCONTINUED), live->pid);
}

enum step ruby_live_step(const struct ruby_live *live, struct walk *walk, struct frame *out)
{
	enum step step;

	do
		step = ruby_runtime.step(&live->target.mem.mem, &live->state, walk, out);
	while (step == STEP_HIDDEN);
	return step;
}

bool ruby_live_labels(struct ruby_live *live, u64 thread, struct str *out, u64 *generation)
{
	const struct mem *mem = &live->target.mem.mem;
	struct frame_name name = { 0 };
	struct frame frame;
	struct walk walk;

	str_clear(out);
	enum step step = ruby_runtime.begin(mem, &live->state, thread, &walk);
	*generation = walk.generation;
	if (step == STEP_EMPTY)
		return false;
	assert_int_equal(step, STEP_MORE);
	while ((step = ruby_live_step(live, &walk, &frame)) == STEP_MORE) {
		str_clear(&name.label);
		str_clear(&name.path);
		if (!ruby_runtime.name_frame(mem, &live->state, &frame, &name))
			fail_msg("no name for frame %u, id %llx, under:\n%s", walk.depth,
				 (unsigned long long)frame.id, out->text);
		str_add(out, name.label.text, name.label.length);
		str_add_text(out, "\n");
	}
	assert_int_equal(step, STEP_DONE);
	str_free(&name.label);
	str_free(&name.path);
	return true;
}

u64 ruby_live_thread(struct ruby_live *live, const char *wanted, struct vm_thread *out)
{
	const struct mem *mem = &live->target.mem.mem;
	struct frame_name name = { 0 };
	u64 where = 0, found = 0;

	while (!found && ruby_runtime.next_thread(mem, &live->state, &where, out) == STEP_MORE) {
		struct frame frame = { .id = out->thread, .pos = FRAME_POS_THREAD };
		str_clear(&name.label);
		if (ruby_runtime.name_frame(mem, &live->state, &frame, &name) &&
		    !strcmp(name.label.length ? name.label.text : "", wanted))
			found = out->thread;
	}
	str_free(&name.label);
	if (!found)
		fail_msg("no thread %s", wanted);
	return found;
}
