/* SPDX-License-Identifier: Apache-2.0
 * tapes.c - see tapes.h. */
#include "engines/reader/tapes.h"

#include <stdio.h>

#define LOG_DOMAIN LOG_reader
#include "base/log.h"

enum { PLAIN_MAX = 32, STRANGE_MAX = 128 };

const struct mem *tapes_begin(struct tapes *tapes, const struct mem *from)
{
	if (!tapes->dir || (tapes->plain >= PLAIN_MAX && tapes->strange >= STRANGE_MAX))
		return NULL;
	tape_clear(&tapes->tape);
	mem_record_init(&tapes->record, from, &tapes->tape);
	return &tapes->record.mem;
}

static void write_frame(struct out *out, const struct frame *frame)
{
	outf(out, "frame %llx %llx %llx %x %x\n", (unsigned long long)frame->id,
	     (unsigned long long)frame->owner, (unsigned long long)frame->at, frame->pos,
	     frame->flags);
}

static void write_tape(struct out *out, const struct tapes *tapes,
		       const struct look_subject *subject, const look_frames *stack)
{
	const u8 *state = subject->state;

	out_text(out, "sonde-tape 1\n");
	outf(out, "state %s ", subject->runtime->name);
	for (u32 i = 0; i < subject->runtime->state_size; i++)
		outf(out, "%02x", state[i]);
	outf(out, "\nthread %llx\n", (unsigned long long)subject->thread);
	if (subject->still)
		out_text(out, "stands\n");
	tape_write(&tapes->tape, out);
	for (u32 i = 0; i < stack->count; i++)
		if (stack->at[i].kind != FRAME_MARK)
			write_frame(out, &stack->at[i]);
	out_text(out, "end\n");
}

void tapes_end(struct tapes *tapes, const struct look_subject *subject,
	       const struct look_result *result, const look_frames *stack)
{
	bool strange = result->flags & (SAMPLE_FAULT | SAMPLE_TRUNCATED);
	u32 *count = strange ? &tapes->strange : &tapes->plain;
	char path[4096];
	struct out out;
	struct err err;

	/* a conflicting walk was recorded through several views: not one walk's reads */
	if (*count >= (strange ? STRANGE_MAX : PLAIN_MAX) || tapes->tape.bad ||
	    (result->flags & SAMPLE_MOVING))
		return;
	snprintf(path, sizeof path, "%s/%s-%s-%03u.tape", tapes->dir, subject->runtime->name,
		 strange ? "strange" : "walk", *count);
	if (!out_open_file(&out, path, &err)) {
		log_debug(1, "%s", err.text);
		tapes->dir = NULL;
		return;
	}
	write_tape(&out, tapes, subject, stack);
	if (out_close(&out, &err))
		++*count;
	else
		tapes->dir = NULL;
}

void tapes_fini(struct tapes *tapes)
{
	tape_free(&tapes->tape);
}
