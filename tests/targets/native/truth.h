/* SPDX-License-Identifier: Apache-2.0
 * truth.h - the protocol of tests/targets/ruby/truth.rb for programs in C: a line of JSON when ready, one when done. */
#pragma once
#include <signal.h>
#include <stdio.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t truth_stop;

static void truth_on_end(int number)
{
	(void)number;
	truth_stop = 1;
}

static inline uint64_t truth_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* `facts`: members of a JSON object, each with a comma in front; "" for none. */
static inline void truth_ready(const char *facts)
{
	signal(SIGTERM, truth_on_end);
	printf("{\"pid\": %d%s}\n", getpid(), facts);
	fflush(stdout);
}
