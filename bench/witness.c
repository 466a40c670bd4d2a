/* SPDX-License-Identifier: Apache-2.0
 * witness.c - records a process as `sonde record` does, and counts what it took where SIGKILL does not reach.
 *
 *	witness PID FILE COUNTER [HZ]
 *
 * COUNTER is a file of 8 bytes that it maps: the samples that were handed to the recorder so far.
 * It runs until it is killed, the target ends or the file takes no more. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "session/session.h"

enum { SLICE_MS = 200 }; /* as cmd_record.c */

static volatile u64 *taken;

/* The linker puts this in front of the recorder (--wrap). */
void __real_recorder_sample(struct recorder *recorder, u32 thread, u32 stack,
			    const struct sample *sample);
void __wrap_recorder_sample(struct recorder *recorder, u32 thread, u32 stack,
			    const struct sample *sample);

void __wrap_recorder_sample(struct recorder *recorder, u32 thread, u32 stack,
			    const struct sample *sample)
{
	*taken += 1;
	__real_recorder_sample(recorder, thread, stack, sample);
}

static bool map_counter(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, sizeof *taken) != 0)
		return false;
	void *at = mmap(NULL, sizeof *taken, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	taken = at == MAP_FAILED ? NULL : at;
	return taken != NULL;
}

static bool record(struct session *session, struct recorder *recorder, struct err *err)
{
	while (recorder_check(recorder, err))
		if (!session_run(session, clock_now_ns() + SLICE_MS * NS_PER_MS, err))
			return err->code == ERR_NO_PROCESS;
	return false;
}

int main(int argc, char **argv)
{
	struct err err = { 0 };

	if (argc < 4) {
		fputs("usage: witness PID FILE COUNTER [HZ]\n", stderr);
		return 2;
	}
	struct session_options options = { .pid = (u32)atoi(argv[1]),
					   .run = { .hz = argc > 4 ? (u32)atoi(argv[4]) : 99,
						    .pause = PAUSE_AUTO } };
	struct recorder *recorder = recorder_open(argv[2], &err);
	struct session *session = recorder ? session_start(&options, &err) : NULL;
	if (!session || !map_counter(argv[3]) ||
	    !recorder_begin(recorder, session_profile(session), &err)) {
		fprintf(stderr, "witness: %s\n", err.text);
		return 1;
	}
	session_record(session, recorder);
	bool good = record(session, recorder, &err);
	u64 size;
	good &= recorder_close(recorder, &size, &err);
	session_free(session);
	if (!good)
		fprintf(stderr, "witness: %s\n", err.text);
	return good ? 0 : 1;
}
