/* SPDX-License-Identifier: Apache-2.0
 * emptyprobe.c - what an interrupt costs that does nothing.
 *
 *	emptyprobe HZ SECONDS
 *
 * On every CPU a cpu-clock event of this rate with a BPF program of two instructions, as the kernel engine has one that walks.
 * What a program loses to it is the machine's; what it loses beyond that is the walk's. Prints
 *	cpus N */
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int load_nothing(void)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_PERF_EVENT,
				.insn_cnt = sizeof nothing / sizeof nothing[0],
				.insns = (unsigned long long)nothing,
				.license = (unsigned long long)"GPL" };

	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof attr);
}

static int open_on(int cpu, unsigned long long period_ns, int program)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.size = sizeof attr,
					.exclude_idle = 1,
					.sample_period = period_ns };
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) == 0;
}

int main(int argc, char **argv)
{
	double hz = argc == 3 ? atof(argv[1]) : 0, seconds = argc == 3 ? atof(argv[2]) : 0;
	int program = load_nothing(), opened = 0;

	if (hz <= 0 || program < 0) {
		perror("emptyprobe HZ SECONDS");
		return 1;
	}
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++)
		opened += open_on(cpu, (unsigned long long)(1e9 / hz), program);
	struct timespec wait = { (time_t)seconds,
				 (long)((seconds - (double)(time_t)seconds) * 1e9) };
	nanosleep(&wait, NULL);
	printf("cpus %d\n", opened);
	return !opened;
}
