/* SPDX-License-Identifier: Apache-2.0
 * interrupt.c NAME MS - how often BPF programs of this name ran meanwhile, and how long, by the kernel's own statistics. */
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct run {
	unsigned long long count, ns;
};

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof *attr);
}

static int add(unsigned id, const char *name, struct run *run)
{
	union bpf_attr attr = { .prog_id = id };
	struct bpf_prog_info info = { 0 };
	int fd = (int)bpf(BPF_PROG_GET_FD_BY_ID, &attr);

	if (fd < 0)
		return 0;
	memset(&attr, 0, sizeof attr);
	attr.info.bpf_fd = (unsigned)fd;
	attr.info.info_len = sizeof info;
	attr.info.info = (unsigned long long)&info;
	int matches = bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) == 0 && !strcmp(info.name, name);
	close(fd);
	if (matches) {
		run->count += info.run_cnt;
		run->ns += info.run_time_ns;
	}
	return matches;
}

static struct run all(const char *name)
{
	struct run run = { 0, 0 };
	union bpf_attr attr = { .start_id = 0 };

	while (bpf(BPF_PROG_GET_NEXT_ID, &attr) == 0) {
		add(attr.next_id, name, &run);
		attr.start_id = attr.next_id;
	}
	return run;
}

int main(int argc, char **argv)
{
	union bpf_attr attr = { .enable_stats.type = BPF_STATS_RUN_TIME };

	if (argc != 3 || bpf(BPF_ENABLE_STATS, &attr) < 0) {
		perror("interrupt NAME MS");
		return 1;
	}
	long ms = atol(argv[2]);
	struct timespec wait = { ms / 1000, ms % 1000 * 1000000 };
	struct run before = all(argv[1]);
	nanosleep(&wait, NULL);
	struct run after = all(argv[1]);
	printf("runs %llu ns %llu\n", after.count - before.count, after.ns - before.ns);
	return 0;
}
