/* SPDX-License-Identifier: Apache-2.0
 * recorder.h - writes a recording while it is made.
 *
 * A sample is kept for a moment and then goes out in a block with all names that it needs, so
 * that whatever ends the recorder - SIGKILL too - leaves a file that reads up to the last
 * block.  The moment is 1/200 of the recording's age, at most a second: at any instant 99.5 % of
 * the samples are in the file.  Space for the next blocks is reserved ahead, so that a full disk is known
 * while there is still room for what was taken. */
#pragma once
#include "base/err.h"
#include "profile/recording_format.h"

struct recorder; /* opaque */

/* Makes the file, or takes standard output ("-"); nothing is at `path` until there are samples. */
struct recorder *recorder_open(const char *path, struct err *err);
/* The name of what stands in for the file until then; NULL when nothing does. Lives as long. */
const char *recorder_temporary(const struct recorder *recorder);
/* What the profile says of itself is written. It is borrowed: its names, threads and mappings are
 * written as they come to be used. */
bool recorder_begin(struct recorder *recorder, const struct profile *profile, struct err *err);
/* Thread and stack are numbers of the profile. */
void recorder_sample(struct recorder *recorder, u32 thread, u32 stack, const struct sample *sample);
/* The thread's samples that had no weight share this (SAMPLE_SHARE). */
void recorder_share(struct recorder *recorder, u32 thread, u64 weight);
/* Is it time to write? */
bool recorder_is_due(const struct recorder *recorder, u64 now_ns);
/* Writes all that is there. */
void recorder_write(struct recorder *recorder, u64 now_ns);
/* False when the file can take no more, and err says why: it is time to recorder_close(). */
bool recorder_check(const struct recorder *recorder, struct err *err);
/* Samples that are in the file. */
u64 recorder_samples(const struct recorder *recorder);
/* Writes the rest and the last block; `size` is the file's, in bytes. False when the file took no
 * more: then it holds what came before that. */
bool recorder_close(struct recorder *recorder, u64 *size, struct err *err);
/* Leaves what was written, when there are samples in it, else nothing. */
void recorder_abandon(struct recorder *recorder);
