/* SPDX-License-Identifier: Apache-2.0
 * thread.h - a thread of our own. */
#pragma once
#include <pthread.h>
#include <stdbool.h>

/* Starts a thread with all signals blocked: they are for the thread that starts it. False: there is none. The caller joins it. */
bool thread_start(pthread_t *thread, void *(*run)(void *), void *arg);
