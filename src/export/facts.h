/* SPDX-License-Identifier: Apache-2.0
 * facts.h - what is said of a profile beside its stacks, in the same words in every format. */
#pragma once
#include "base/json.h"
#include "base/str.h"
#include "profile/profile.h"

/* What counts are of: "samples", or what another profiler's file says: "bytes", "contentions". */
const char *facts_count_word(const struct profile *profile);
/* What is measured, as pprof's users call it: "cpu", "wall", "lock". */
const char *facts_weight_type(const struct profile *profile);
/* Nanoseconds between two samples; 1 where the rate is not known. */
u64 facts_period_ns(const struct profile *profile);
/* Who it is, told from any other: "ruby (pid 42), main (tid 43)". */
void facts_add_thread(struct str *out, const struct profile *profile, u32 thread);
/* "17 of 20 attempts taken, 3 lost (gone 3)"; with the warning behind it. */
void facts_add_quality(struct str *out, const struct profile *profile);
/* Each number of the quality record with its name: "expected", "lost.late", "samples". */
void facts_each_count(const struct quality *quality,
		      void (*each)(void *arg, const char *name, u64 value), void *arg);
/* The quality record as --quality has it, as an object. */
void facts_json_quality(struct json *json, const char *key, const struct quality *quality);
