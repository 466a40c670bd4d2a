/* SPDX-License-Identifier: Apache-2.0
 * heads.h - what one read of many threads' head words says of each: is it where it was? */
#pragma once
#include "engines/reader/process.h"

enum heads_answer {
	HEADS_SAME,
	HEADS_OTHER,
	HEADS_UNREAD, /* the read ended before this one, or it had no head to be read: nothing is known of it */
};

/* `bytes`: where bulk_used bytes of the thread lie, if they were read; *spans_left: how many spans of this read are the thread's
 * and those' behind it.  Remembers what was read. */
enum heads_answer heads_compare(struct reader_thread *thread, const u8 *bytes, u32 *spans_left);
