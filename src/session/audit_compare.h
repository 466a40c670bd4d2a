/* SPDX-License-Identifier: Apache-2.0
 * audit_compare.h - two sets of stacks of one program, compared: pure arithmetic. */
#pragma once
#include "session/audit.h"

/* Samples by stack number of one struct names. */
typedef VEC(u64) audit_stacks;

/* One more sample with this stack; false when out of memory. */
bool audit_count(audit_stacks *stacks, u32 stack);
/* How many samples of each side are impossible, as struct audit_side has it. Time and memory are
 * those of the trie, however deep the stacks are. */
bool audit_find_impossible(const struct names *names, const audit_stacks stacks[AUDIT_SIDES],
			   u64 out[AUDIT_SIDES]);
/* Distance and noise, as audit.h has them; both 1 while a side has no sample. */
bool audit_find_distance(const struct names *names, const audit_stacks stacks[AUDIT_SIDES],
			 u64 seed, double *distance, double *noise);
