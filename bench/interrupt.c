/* SPDX-License-Identifier: Apache-2.0
 * interrupt.c PID NAME MS - how often the BPF programs of this name that process PID holds ran meanwhile, and how long,
 * by the kernel's own statistics. */
#include <dirent.h>
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

static void add(unsigned id, const char *name, struct run *run)
{
	union bpf_attr attr = { .prog_id = id };
	struct bpf_prog_info info = { 0 };
	int fd = (int)bpf(BPF_PROG_GET_FD_BY_ID, &attr);

	if (fd < 0)
		return;
	memset(&attr, 0, sizeof attr);
	attr.info.bpf_fd = (unsigned)fd;
	attr.info.info_len = sizeof info;
	attr.info.info = (unsigned long long)&info;
	if (bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) == 0 && !strcmp(info.name, name)) {
		run->count += info.run_cnt;
		run->ns += info.run_time_ns;
	}
	close(fd);
}

/* The program that a descriptor stands for, be it the program's or its link's; 0: none. */
static unsigned program_of(const char *pid, const char *fd)
{
	char path[300], line[256];
	unsigned id = 0;

	snprintf(path, sizeof path, "/proc/%s/fdinfo/%s", pid, fd);
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file) && sscanf(line, "prog_id: %u", &id) != 1)
		;
	if (file)
		fclose(file);
	return id;
}

/* Each of the programs once, however many descriptors it has. */
static struct run all(const char *pid, const char *name)
{
	enum { MOST = 256 };
	unsigned seen[MOST], count = 0;
	char path[64];
	struct run run = { 0, 0 };

	snprintf(path, sizeof path, "/proc/%s/fdinfo", pid);
	DIR *dir = opendir(path);
	for (struct dirent *entry; dir && (entry = readdir(dir)) && count < MOST;) {
		unsigned id = program_of(pid, entry->d_name), i = 0;

		while (i < count && seen[i] != id)
			i++;
		if (!id || i < count)
			continue;
		seen[count++] = id;
		add(id, name, &run);
	}
	if (dir)
		closedir(dir);
	return run;
}

int main(int argc, char **argv)
{
	union bpf_attr attr = { .enable_stats.type = BPF_STATS_RUN_TIME };

	if (argc != 4 || bpf(BPF_ENABLE_STATS, &attr) < 0) {
		perror("interrupt PID NAME MS");
		return 1;
	}
	long ms = atol(argv[3]);
	struct timespec wait = { ms / 1000, ms % 1000 * 1000000 };
	struct run before = all(argv[1], argv[2]);
	nanosleep(&wait, NULL);
	struct run after = all(argv[1], argv[2]);
	if (after.count < before.count) {
		fprintf(stderr, "interrupt: process %s ended\n", argv[1]);
		return 1;
	}
	printf("runs %llu ns %llu\n", after.count - before.count, after.ns - before.ns);
	return 0;
}
