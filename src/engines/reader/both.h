/* SPDX-License-Identifier: Apache-2.0
 * both.h - a thread on which two VMs have a stack: Ruby that calls Python, or Python that calls Ruby.
 *
 * The stack is that of the one that was called, and then that of the one that called it.  They are read one after
 * the other, and the outer one once more: they are one stack if it is the same, frame by frame.  Where the inner one
 * calls back into the outer one, what that does then is shown with its first frames: only native frames tell where
 * one ends. */
#pragma once
#include "engines/reader/attempt.h"

/* The stack of both into look.stack; false: there is none to give out. */
bool both_look(struct attempt *attempt, struct reader_process *process,
	       struct reader_thread *thread, bool still, struct look_result *result);
