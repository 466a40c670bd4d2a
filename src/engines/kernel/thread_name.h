/* SPDX-License-Identifier: Apache-2.0
 * thread_name.h - what a thread is called: by its VM (threading.Thread's name, Thread#name), else by the kernel. */
#pragma once
#include "engines/kernel/watched.h"

/* From what its last record says. True: it has another name than before. */
bool thread_name_update(const struct watched *process, struct watched_thread *thread,
			const struct kernel_head *head);
/* Without one, for who sleeps since before its VM knew its name: for about a second. */
bool thread_name_ask(const struct watched *process, struct watched_thread *thread, u64 now_ns);
