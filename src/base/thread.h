/* SPDX-License-Identifier: Apache-2.0
 * thread.h - a thread of our own. */
#pragma once
#include "base/types.h"

#include <pthread.h>

/* Starts a thread with all signals blocked: they are for the thread that starts it. False: there is none. The caller joins it. */
bool thread_start(pthread_t *thread, void *(*run)(void *), void *arg);

/* How long the calling thread may run before others that wait get its CPU, 0.1 to 100 ms; gives what it was. 0: it has none (it is
 * a real-time one, or the kernel is older than 6.12), and nothing is set; nor is it for 0. One with a short slice does not get more of
 * a CPU, but gets it sooner: when it wakes up it need not wait for the end of another's. Whom it starts inherits it. */
u64 thread_set_slice_ns(u64 slice_ns);
