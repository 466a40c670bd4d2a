/* SPDX-License-Identifier: Apache-2.0
 * proc.h - reading the small text files of /proc.
 *
 * Private to this folder.  Everything is opened below a descriptor of /proc/PID:
 * the kernel ties that to one process, so a pid that is used again yields ESRCH
 * and not somebody else's numbers. */
#pragma once
#include "base/types.h"

#include <sys/types.h>

enum {
	PROC_TEXT_MAX = 4096,
	/* status names every supplementary group in front of the pids: room for 2,000 of them. */
	PROC_STATUS_MAX = 16384,
	COMM_SIZE = 16,
};

/* Opens /proc/PID for openat(); -1 and errno. */
int proc_open(u32 pid);
int proc_open_root(void);
/* Up to size - 1 bytes of a file, NUL-terminated: the length, or -1 and errno. One read(2). */
ssize_t proc_read(int dir, const char *name, char *out, size_t size);
/* The same until its end, for files of which the kernel hands out no more than a page at a time. */
ssize_t proc_read_whole(int dir, const char *name, char *out, size_t size);
/* The same as proc_read() of a file that is kept open, from its start. */
ssize_t proc_reread(int fd, char *out, size_t size);
/* After a failure: was it for want of descriptors or memory? That says nothing about the process. */
bool proc_cannot_open(void);

/* What /proc/PID/stat says, as far as anybody here asks. */
struct proc_stat {
	char comm[COMM_SIZE];
	char state; /* R S D T t Z X I ... */
	u32 parent;
	u32 threads; /* of the process, dead leader included */
	u32 flags;   /* PF_* */
	u64 user_ticks, system_ticks;
	u64 start_time;
	u64 image; /* a digest of the words that change with an exec; 0 where we may not see them */
};
bool proc_parse_stat(const char *text, size_t length, struct proc_stat *out);
bool proc_read_stat(int dir, struct proc_stat *out); /* false and errno */
/* Has the process ended? A zombie without living threads has. */
bool proc_stat_ended(const struct proc_stat *stat);

/* The value of a "Name:\tvalue" line of a status file, or NULL. */
const char *proc_status_field(const char *status, const char *name);
/* The last of the numbers on the NSpid line, 0 without one; *levels says how many there are. */
u32 proc_inner_pid(const char *status, u32 *levels);

/* The part of a path that a process below `root` uses.  /proc gives paths as our root has them,
 * which differs for a target that was chrooted; one in a mount namespace of its own has a root
 * that we do not see, and /proc then gives the path as the target has it. */
const char *proc_path_below(const char *path, const char *root);

/* Decimal and hexadecimal numbers, advancing *at; 0 when there is none. */
u64 proc_decimal(const char **at);
u64 proc_hex(const char **at);

/* Calls `each` with the numbers of the names in a directory that are numbers, until it returns
 * false. False and errno when the directory cannot be read or `each` stopped it (errno 0). */
typedef bool proc_number_fn(void *arg, u32 number);
bool proc_list_numbers(int dir, const char *name, proc_number_fn *each, void *arg);
