/* SPDX-License-Identifier: Apache-2.0
 * heads.c - see heads.h. */
#include "engines/reader/heads.h"

#include <string.h>

enum heads_answer heads_compare(struct reader_thread *thread, const u8 *bytes, u32 *spans_left)
{
	u32 used = thread->bulk_used;

	if (!used || thread->bulk_spans > *spans_left) {
		*spans_left = 0;
		thread->head_used = 0;
		return HEADS_UNREAD;
	}
	*spans_left -= thread->bulk_spans;
	/* what is remembered may be of a head that has grown since */
	if (used == thread->head_used && !memcmp(thread->head, bytes, used))
		return HEADS_SAME;
	memcpy(thread->head, bytes, used);
	thread->head_used = used;
	return HEADS_OTHER;
}
