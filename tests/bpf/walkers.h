/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
 * walkers.h - what both sides of the test agree on. */
#pragma once
#include "sample/sample.h"

enum {
	FRAMES_MAX = 512,
	STEPS_MAX = 2 * FRAMES_MAX, /* with those that are hidden */
	THREADS_MAX = 1024,
	SAMPLE_BYTES = sizeof(struct sample) + FRAMES_MAX * sizeof(struct frame),
};
