/* SPDX-License-Identifier: Apache-2.0
 * walkers.c - loads walkers.bpf.o, and compares what the kernel saw of the toy VM with what
 * the toy VM says of itself.
 *
 *	walkers walkers.bpf.o toy-1 toy-2
 *
 * For each toy: threads that hold still on a known stack have to give that stack, frame by
 * frame the same as the walker gives from outside; threads that run have to give legal
 * stacks only.  Prints TAP; exit code 77 when this user may not load BPF. */
#include "base/clock.h"
#include "elf/image.h"
#include "runtimes/runtime.h"
#include "target/target.h"
#include "toy/toy.h"
#include "walkers.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	THREADS = 4,           /* of a toy */
	SAMPLES_EACH = 20,     /* of a thread */
	GIVE_UP_S = 60,        /* when a thread gets no CPU for so long, the machine is at fault */
	VERIFIED_MAX = 100000, /* a tenth of what the verifier takes */
};

extern const struct runtime toy_runtime;

static u32 tests_run, tests_failed;

static bool check(bool ok, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool check(bool ok, const char *format, ...)
{
	va_list args;

	tests_run++;
	tests_failed += !ok;
	printf("%sok %u - ", ok ? "" : "not ", tests_run);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	return ok;
}

/* --- the kernel's side --- */

struct kernel {
	struct bpf_object *object;
	struct bpf_program *walk, *threads;
	struct ring_buffer *ring;
	/* The samples of the thread that is being looked at. */
	u32 count;
	_Alignas(8) u8 samples[SAMPLES_EACH][SAMPLE_BYTES];
};

static int on_sample(void *context, void *bytes, size_t size)
{
	struct kernel *kernel = context;

	if (kernel->count < SAMPLES_EACH && size <= SAMPLE_BYTES)
		memcpy(kernel->samples[kernel->count++], bytes, size);
	return 0;
}

static int print_warnings(enum libbpf_print_level level, const char *format, va_list args)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, args) : 0;
}

/* Every program of the object through the verifier. Exit code 77: not allowed (the verifier's own "no" is EACCES). */
static int kernel_load(struct kernel *kernel, const char *path)
{
	struct bpf_program *program;

	libbpf_set_print(print_warnings);
	kernel->object = bpf_object__open_file(path, NULL);
	if (!kernel->object) {
		check(false, "%s can be opened", path);
		return 1;
	}
	int result = bpf_object__load(kernel->object);
	if (result == -EPERM) {
		printf("1..0 # SKIP BPF: not permitted here (CAP_BPF and CAP_PERFMON)\n");
		return 77;
	}
	if (!check(result == 0, "the verifier takes every walker"))
		return 1;
	bpf_object__for_each_program(program, kernel->object)
	{
		struct bpf_prog_info info = { 0 };
		u32 size = sizeof info;

		bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size);
		check(info.verified_insns <= VERIFIED_MAX,
		      "%s: the verifier processed %u instructions, %u in the kernel, at most %d frames",
		      bpf_program__name(program), info.verified_insns, info.xlated_prog_len / 8,
		      FRAMES_MAX);
	}
	kernel->walk = bpf_object__find_program_by_name(kernel->object, "walk_toy");
	kernel->threads = bpf_object__find_program_by_name(kernel->object, "threads_toy");
	kernel->ring = ring_buffer__new(bpf_object__find_map_fd_by_name(kernel->object, "samples"),
					on_sample, kernel, NULL);
	return kernel->walk && kernel->threads && kernel->ring ? 0 : 1;
}

/* `program` runs whenever the thread has used a millisecond of CPU. */
static struct bpf_link *attach(struct bpf_program *program, u32 tid, u64 cookie)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = NS_PER_MS,
	};
	LIBBPF_OPTS(bpf_perf_event_opts, options, .bpf_cookie = cookie);
	int fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	/* The link owns the descriptor. */
	return fd < 0 ? NULL : bpf_program__attach_perf_event_opts(program, fd, &options);
}

/* Fills kernel->samples with those of one thread; false when there was not one in time. */
static bool sample_thread(struct kernel *kernel, u32 tid, u64 thread)
{
	u64 give_up = clock_now_ns() + GIVE_UP_S * NS_PER_S;
	struct bpf_link *link = attach(kernel->walk, tid, thread);

	kernel->count = 0;
	while (link && kernel->count < SAMPLES_EACH && clock_now_ns() < give_up)
		ring_buffer__poll(kernel->ring, 100);
	bpf_link__destroy(link);
	/* What is still in the buffer must not be taken for the next thread's. */
	u32 count = kernel->count;
	kernel->count = SAMPLES_EACH;
	ring_buffer__consume(kernel->ring);
	kernel->count = count;
	return count > 0;
}

/* --- comparing --- */

static void stack_text(const struct sample *sample, const struct mem *mem, const void *state,
		       struct str *out)
{
	struct frame_name name = { 0 };

	str_clear(out);
	for (u32 i = 0; i < sample->depth; i++) {
		str_clear(&name.label);
		str_clear(&name.path);
		if (!toy_runtime.name_frame(mem, state, &sample->frames[i], &name))
			str_add_text(&name.label, "(unnamed)");
		str_addf(out, "%s%s:%u", i ? ";" : "", name.label.text, name.line);
	}
	str_free(&name.label);
	str_free(&name.path);
}

/* The same walker from outside, on a thread that holds still. */
static u32 walk_outside(const struct mem *mem, const void *state, u64 thread,
			struct frame frames[FRAMES_MAX])
{
	struct walk walk;
	u32 depth = 0;
	enum step step = toy_runtime.begin(mem, state, thread, &walk);

	while (step == STEP_MORE && depth < FRAMES_MAX) {
		step = toy_runtime.step(mem, state, &walk, &frames[depth]);
		depth += step == STEP_MORE;
	}
	return step == STEP_DONE ? depth : 0;
}

static bool same_frames(const struct sample *sample, const struct mem *mem, const void *state,
			u64 thread)
{
	static struct frame frames[FRAMES_MAX];
	u32 depth = walk_outside(mem, state, thread, frames);

	return depth && depth == sample->depth &&
	       !memcmp(frames, sample->frames, depth * sizeof *frames);
}

/* One thread's samples against what the toy printed. `held`: its one stack, NULL when it runs. */
static void check_thread(struct kernel *kernel, const struct toy *toy, const struct target *target,
			 const void *state, const struct vm_thread *thread, const char *held)
{
	struct str text = { 0 };
	u32 wrong = 0;

	bool sampled = sample_thread(kernel, thread->tid, thread->thread);
	for (u32 i = 0; i < kernel->count; i++) {
		const struct sample *sample = (const void *)kernel->samples[i];

		stack_text(sample, &target->mem.mem, state, &text);
		bool ok = sample->flags == 0 &&
			  (held ? !strcmp(text.text, held) && same_frames(sample, &target->mem.mem,
									  state, thread->thread) :
				  toy_is_legal(toy, text.text));
		if (!ok)
			printf("# flags %#x, depth %u: %s\n", sample->flags, sample->depth,
			       text.text);
		wrong += !ok;
	}
	check(sampled && !wrong, "%s thread: %u samples, %u not as the toy says%s%s",
	      held ? "holding" : "running", kernel->count, wrong, held ? ": " : "",
	      held ? held : "");
	str_free(&text);
}

/* The kernel's list of threads has to be the one from outside. */
static void check_threads(struct kernel *kernel, const struct vm_thread *threads, u32 count)
{
	int map = bpf_object__find_map_fd_by_name(kernel->object, "threads");
	u64 give_up = clock_now_ns() + GIVE_UP_S * NS_PER_S;
	struct bpf_link *link = attach(kernel->threads, threads[0].tid, 0);
	u32 same = 0;

	while (link && same < count && clock_now_ns() < give_up) {
		ring_buffer__poll(kernel->ring, 1);
		same = 0;
		for (u32 i = 0; i < count; i++) {
			u64 address = 0;
			bpf_map_lookup_elem(map, &threads[i].tid, &address);
			same += address == threads[i].thread;
		}
	}
	bpf_link__destroy(link);
	for (u32 i = 0; i < count; i++)
		bpf_map_delete_elem(map, &threads[i].tid);
	check(same == count, "the kernel lists %u threads of %u", same, count);
}

static bool attach_runtime(const struct target *target, void *state, struct err *err)
{
	for (u32 i = 0; i < target->maps.all.count; i++) {
		const struct mapping *mapping = &target->maps.all.at[i];
		struct image *image;

		if (!mapping->executable || !(image = target_open_image(target, mapping, err)))
			continue;
		bool attached = toy_runtime.attach(target, image, state, err);
		image_close(image);
		if (attached)
			return true;
	}
	return false;
}

static void check_target(struct kernel *kernel, struct toy *toy, const struct target *target,
			 bool hold)
{
	_Alignas(8) u8 state[RUNTIME_STATE_MAX] = { 0 };
	struct vm_thread threads[THREADS];
	struct err err = { 0 };
	u32 count = 0, zero = 0;
	u64 where = 0;

	if (!check(attach_runtime(target, state, &err), "the runtime attaches %s", err.text))
		return;
	while (count < THREADS && toy_runtime.next_thread(&target->mem.mem, state, &where,
							  &threads[count]) == STEP_MORE)
		count++;
	if (!check(count == THREADS, "%u threads of %d from outside", count, THREADS))
		return;
	bpf_map_update_elem(bpf_object__find_map_fd_by_name(kernel->object, "toy_states"), &zero,
			    state, BPF_ANY);
	check_threads(kernel, threads, count);
	for (u32 i = 0; i < count; i++) {
		if (hold && !check(threads[i].tid == toy->tids[i], "thread %u has its tid", i))
			continue;
		check_thread(kernel, toy, target, state, &threads[i], hold ? toy->stacks[i] : NULL);
	}
}

static void check_toy(struct kernel *kernel, const char *program, const char *mode)
{
	struct target target;
	struct toy toy;
	struct err err;

	printf("# %s %s\n", program, mode);
	if (!check(toy_start(&toy, program, mode, THREADS) && toy_read(&toy), "the toy says ready"))
		return;
	if (check(target_open(&target, (u32)toy.pid, &err), "the toy can be opened")) {
		check_target(kernel, &toy, &target, !strcmp(mode, "hold"));
		target_close(&target);
	}
	toy_end(&toy);
}

int main(int argc, char **argv)
{
	static struct kernel kernel;

	if (argc < 3) {
		fprintf(stderr, "usage: %s walkers.bpf.o TOY...\n", argv[0]);
		return 2;
	}
	int status = kernel_load(&kernel, argv[1]);
	for (int i = 2; i < argc && status == 0; i++) {
		check_toy(&kernel, argv[i], "hold");
		check_toy(&kernel, argv[i], "spin");
	}
	ring_buffer__free(kernel.ring);
	bpf_object__close(kernel.object);
	return status ? status : tests_failed != 0;
}
