/* SPDX-License-Identifier: Apache-2.0
 * quality_file.h - the ledger of a run as JSON, for scripts: `record --quality FILE`. */
#pragma once
#include "base/err.h"
#include "sample/quality.h"

/* Can it be written there? Asked before the run, because it is written after it. */
bool quality_file_check(const char *path, struct err *err);
/* One object: expected, taken, lost {cause: n}, every count, begin_ns, end_ns, own_cpu_ns,
 * attach_cpu_ns, engine, warning. */
bool quality_file_write(const char *path, const struct quality *quality, struct err *err);
