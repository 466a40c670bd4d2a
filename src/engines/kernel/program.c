/* SPDX-License-Identifier: Apache-2.0
 * program.c - see program.h. */
#include "engines/kernel/program.h"

#include "base/clock.h"
#include "engines/engine.h"
#include "engines/kernel/attach.h"
#include "events/events.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOG_DOMAIN LOG_kernel
#include "base/log.h"

extern const unsigned char prof_object[];
extern const unsigned long prof_object_size;

/* What is more stays in the ring: stacks of 64 KiB for some seconds. */
enum { SPOOL_BYTES_MAX = 128 << 20 };

/* ---- loading ------------------------------------------------------------------------------- */

static int to_log(enum libbpf_print_level level, const char *format, va_list args)
{
	char line[256];

	if (level != LIBBPF_DEBUG) {
		vsnprintf(line, sizeof line, format, args);
		line[strcspn(line, "\n")] = 0;
		log_debug(1, "%s", line);
	}
	return 0;
}

/* What is refused, and to whom. */
bool kernel_refused(struct err *err, int why, const char *what)
{
	err_sys(err, why, "%s", what);
	if (why == EINVAL || why == ENOTSUP)
		err_hint(
			err,
			"the kernel engine needs Linux 5.17 or newer with BTF (-e reader does not)");
	if (err->code == ERR_PERMISSION)
		err_hint(
			err,
			"the kernel engine needs root, or CAP_BPF and CAP_PERFMON (-e reader does not)");
	return false;
}

/* They are all that is in the section .rodata. */
static bool set_constants(struct bpf_object *object, const struct kernel_constants *constants)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		size_t size;
		if (strstr(bpf_map__name(map), ".rodata") && bpf_map__initial_value(map, &size))
			return size == sizeof *constants &&
			       bpf_map__set_initial_value(map, constants, size) == 0;
	}
	return false;
}

static int map_fd(const struct bpf_object *object, const char *name)
{
	return bpf_object__find_map_fd_by_name(object, name);
}

static bool set_size(const struct bpf_object *object, const char *name, u32 entries, u32 bytes)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, name);

	return map && (!entries || !bpf_map__set_max_entries(map, entries)) &&
	       (!bytes || !bpf_map__set_value_size(map, bytes));
}

static struct bpf_object *open_object(void)
{
	LIBBPF_OPTS(bpf_object_open_opts, opening, .object_name = "sonde");

	libbpf_set_print(to_log);
	return bpf_object__open_mem(prof_object, (size_t)prof_object_size, &opening);
}

static struct bpf_object *load(const struct kernel_constants *constants,
			       const struct kernel_program_options *options, struct err *err)
{
	u32 cpus = (u32)libbpf_num_possible_cpus();
	struct bpf_object *object = open_object();

	if (!object || !set_constants(object, constants) ||
	    !set_size(object, "rooms", cpus * constants->rooms_each, 0) ||
	    !set_size(object, "sleepers", options->with_switches ? KERNEL_SLEEPERS_MAX : 1, 0) ||
	    !set_size(object, "tables", 0, (constants->table_mask + 1) * 4)) {
		bpf_object__close(object);
		err_set(err, ERR_BAD_DATA, "the BPF programs in this sonde are not its own");
		return NULL;
	}
	kernel_attach_choose(object, options);
	int why = -bpf_object__load(object);
	if (!why)
		return object;
	bpf_object__close(object);
	kernel_refused(err, why, "loading the BPF programs");
	return NULL;
}

static u32 pid_space(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 ? (u32)st.st_ino : 0;
}

/* That program, and no other, runs as us. */
static u32 run_ask_level(struct bpf_object *object)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);
	struct bpf_program *program, *asking = NULL;

	bpf_object__for_each_program(program, object)
	{
		bool is_it = !strcmp(bpf_program__name(program), "ask_level");
		bpf_program__set_autoload(program, is_it);
		asking = is_it ? program : asking;
	}
	if (!asking || !set_size(object, "tables", 0, 4096) || bpf_object__load(object) != 0 ||
	    bpf_prog_test_run_opts(bpf_program__fd(asking), &options) != 0)
		return 0;
	return options.retval;
}

/* The level of our own pid namespace, which decides what processes are called; 0: it is the first. */
static u32 pid_level(void)
{
	static const u32 FIRST = 0xeffffffc; /* include/linux/proc_ns.h, since 3.8 */
	struct bpf_object *object = pid_space() == FIRST ? NULL : open_object();
	u32 level = object ? run_ask_level(object) : 0;

	bpf_object__close(object);
	return level;
}

static struct bpf_object *load_here(const struct kernel_program_options *options, struct err *err)
{
	u32 level = pid_level();
	struct kernel_constants constants = { .table_mask = options->table_words - 1,
					      .pid_level = level,
					      .pid_space = level ? pid_space() : 0,
					      .rooms_each = options->events ? KERNEL_ROOMS_MOST : 1,
					      .every = options->every,
					      .latency_min_ns = options->latency_min_ns,
					      .follow_children = options->children,
					      .with_native = !options->no_native,
					      .with_kernel = !options->no_kernel,
					      .send_latency = options->send_latency,
					      .with_preempted = options->with_preempted,
					      .watch_all = options->watch_all,
					      .cgroup = options->cgroup,
					      .own_pid = (u32)getpid() };

	return load(&constants, options, err);
}

/* ---- clocks -------------------------------------------------------------------------------- */

static int open_clock(int cpu, u64 period_ns)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof attr,
		.disabled = 1,
		.exclude_idle = 1,
		.sample_period = period_ns,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

bool kernel_keep_link(struct kernel_program *program, struct bpf_link *link, const char *what,
		      struct err *err)
{
	if (!link)
		return kernel_refused(err, errno, what);
	if (vec_push(&program->links, link))
		return true;
	bpf_link__destroy(link);
	return err_no_memory(err);
}

/* On the average. A period that is as long would never end: there are some between two drawings. */
static u64 redraw_every_ns(const struct kernel_program *program)
{
	static const u64 LEAST_NS = 40 * NS_PER_MS, PERIODS = 4;
	u64 some_ns = program->hz ? PERIODS * NS_PER_S / program->hz : 0;

	return some_ns > LEAST_NS ? some_ns : LEAST_NS;
}

/* The rate is uniform, and not the period: so is the mean of it what was asked for. */
static u64 draw(struct kernel_program *program)
{
	u64 half = (u64)program->hz * NS_PER_S / 2; /* in nanohertz, as all here */
	u64 lost = NS_PER_S / 2 * NS_PER_S / redraw_every_ns(program);

	return NS_PER_S * NS_PER_S / (half + rng_below(&program->rng, 2 * half) + lost);
}

static bool start_clock(struct kernel_program *program, int cpu, struct err *err)
{
	const struct bpf_program *on_clock = bpf_object__find_program_by_name(program->object,
									      "on_clock");
	int fd = open_clock(cpu, draw(program));

	if (fd < 0 && errno == ENODEV)
		return true; /* the CPU is offline */
	if (fd < 0)
		return kernel_refused(err, errno, "a clock for each CPU (perf_event_open)");
	struct bpf_link *link = bpf_program__attach_perf_event(on_clock, fd);
	if (!link)
		close(fd);
	/* the link closes it */
	return kernel_keep_link(program, link, "attaching to a CPU's clock", err) &&
	       (vec_push(&program->clocks, fd) || err_no_memory(err)) &&
	       (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0 ||
		kernel_refused(err, errno, "starting a CPU's clock"));
}

u64 kernel_program_redraw(struct kernel_program *program, u64 now_ns)
{
	for (u32 i = 0; i < program->clocks.count; i++) {
		u64 period_ns = draw(program);
		ioctl(program->clocks.at[i], PERF_EVENT_IOC_PERIOD, &period_ns);
	}
	u64 every_ns = redraw_every_ns(program);
	return now_ns + every_ns / 2 + rng_below(&program->rng, every_ns);
}

/* ---- life ---------------------------------------------------------------------------------- */

static int keep_record(void *arg, void *bytes, size_t size)
{
	struct kernel_program *program = arg;
	const struct kernel_head *head = bytes;

	if (size < sizeof *head)
		return 0;
	if (!spool_put(&program->spool, bytes, size))
		program->dropped += head->hits;
	return head->time_ns > program->until_ns ? -1 : 0;
}

bool kernel_program_open(struct kernel_program *program,
			 const struct kernel_program_options *options, kernel_record_fn *fn,
			 void *arg, struct err *err)
{
	*program = (struct kernel_program){
		.hz = options->hz,
		.rng = { options->seed },
		.fn = fn,
		.arg = arg,
		.events = options->events,
		.with_clock = options->with_clock,
		.with_switches = options->with_switches,
		.probed_pid = options->children || !options->pid ? -1 : (s32)options->pid,
	};
	program->object = load_here(options, err);
	if (!program->object)
		return false;
	program->processes_fd = map_fd(program->object, "processes");
	program->spaces_fd = map_fd(program->object, "spaces");
	program->machines_fd = map_fd(program->object, "machines");
	program->riders_fd = map_fd(program->object, "riders");
	program->tables_fd = map_fd(program->object, "tables");
	program->counts_fd = map_fd(program->object, "counts");
	program->event_counts_fd = map_fd(program->object, "event_counts");
	program->ring = ring_buffer__new(map_fd(program->object, "records"), keep_record, program,
					 NULL);
	if (!program->ring)
		return kernel_refused(err, errno, "the ring of records");
	program->ring_fd = ring_buffer__epoll_fd(program->ring);
	return true;
}

bool kernel_program_start_lives(struct kernel_program *program, struct err *err)
{
	static const char *const lives[] = { "on_fork", "on_exec", "on_exit", "on_dead" };

	for (u32 i = 0; i < COUNT_OF(lives); i++) {
		const struct bpf_program *life = bpf_object__find_program_by_name(program->object,
										  lives[i]);
		if (!kernel_keep_link(program, bpf_program__attach(life),
				      "attaching to fork, exec and exit", err))
			return false;
	}
	return true;
}

bool kernel_program_start(struct kernel_program *program, struct err *err)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	if (program->events)
		return kernel_attach_events(program, err);
	if (program->with_switches && !kernel_attach_switches(program, err))
		return false;
	for (int cpu = 0; program->with_clock && cpu < cpus; cpu++)
		if (!start_clock(program, cpu, err))
			return false;
	return true;
}

void kernel_program_close(struct kernel_program *program)
{
	for (u32 i = 0; i < program->links.count; i++)
		bpf_link__destroy(program->links.at[i]);
	vec_free(&program->links);
	vec_free(&program->clocks);
	ring_buffer__free(program->ring);
	spool_free(&program->spool);
	bpf_object__close(program->object);
	program->ring = NULL;
	program->object = NULL;
}

void kernel_program_collect(struct kernel_program *program)
{
	program->until_ns = clock_now_ns();
	if (program->ring && program->spool.bytes < SPOOL_BYTES_MAX)
		ring_buffer__consume(program->ring);
}

void kernel_program_consume(struct kernel_program *program)
{
	u64 until_ns = clock_now_ns();
	struct spooled *spooled;
	bool is_newer = false;

	kernel_program_collect(program);
	while (!is_newer && (spooled = spool_take(&program->spool))) {
		const struct kernel_record *record = (const void *)spooled->bytes;
		is_newer = record->head.time_ns > until_ns;
		program->fn(program->arg, record, spooled->size);
		free(spooled);
	}
}

void kernel_program_wait(const struct kernel_program *program, int other_fd, u64 until_ns)
{
	u64 now = clock_now_ns();
	struct pollfd fds[] = { { .fd = program->ring_fd, .events = POLLIN },
				{ .fd = other_fd, .events = POLLIN } };
	struct timespec wait = { 0 };

	if (now >= until_ns || program->spool.first)
		return;
	wait.tv_sec = (time_t)((until_ns - now) / NS_PER_S);
	wait.tv_nsec = (long)((until_ns - now) % NS_PER_S);
	ppoll(fds, COUNT_OF(fds), &wait, NULL);
}

/* The values of all CPUs, `size` bytes each; NULL: there are none. */
static void *each_cpu(int map_fd, u32 key, size_t size)
{
	void *each = calloc((size_t)libbpf_num_possible_cpus(), size);

	if (each && bpf_map_lookup_elem(map_fd, &key, each) == 0)
		return each;
	free(each);
	return NULL;
}

void kernel_program_counts(const struct kernel_program *program, u64 out[KERNEL_COUNTS])
{
	int cpus = libbpf_num_possible_cpus();

	memset(out, 0, KERNEL_COUNTS * sizeof *out);
	for (u32 what = 0; what < KERNEL_COUNTS; what++) {
		u64 *each = each_cpu(program->counts_fd, what, sizeof *each);
		for (int i = 0; each && i < cpus; i++)
			out[what] += each[i];
		free(each);
	}
	out[KERNEL_COUNT_DROPPED] += program->dropped;
}

void kernel_program_event_counts(const struct kernel_program *program, struct engine_event *out)
{
	int cpus = libbpf_num_possible_cpus();

	for (u32 i = 0; i < program->events->all.count; i++) {
		struct kernel_event_count *each = each_cpu(program->event_counts_fd,
							   kernel_event_number(i), sizeof *each);
		out[i] = (struct engine_event){ 0 };
		for (int cpu = 0; each && cpu < cpus; cpu++) {
			out[i].hits += each[cpu].hits;
			out[i].waiting += each[cpu].waiting;
			out[i].returned += each[cpu].returned;
			out[i].latency_ns += each[cpu].latency_ns;
			if (each[cpu].latency_max_ns > out[i].latency_max_ns)
				out[i].latency_max_ns = each[cpu].latency_max_ns;
		}
		free(each);
	}
}
