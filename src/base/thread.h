/* SPDX-License-Identifier: Apache-2.0
 * thread.h - a thread of our own. */
#pragma once
#include <pthread.h>
#include <stdbool.h>

/* It takes no signal: those are for the thread that started it.  What has been started is joined by its owner. */
bool thread_start(pthread_t *thread, void *(*run)(void *), void *arg);
