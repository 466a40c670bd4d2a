/* SPDX-License-Identifier: Apache-2.0
 * names.c - labels as Python has them: co_qualname from 3.11 on ("Foo.bar.<locals>.<lambda>"), co_name before.
 *
 * The words that lead to everything are read again at the end: the process runs on.  Then the code object has to be
 * alive: what it leads to dies with it, and is used for others while its own bytes are still there.  It has to be at
 * the beginning, too: what lies where a name was may say that it is as long as names can be, and who samples a
 * program that makes functions all the time would fall behind.  Names are bytes: nothing is escaped. */
#include "runtimes/python/names.h"

#include "mem/window.h"
#include "runtimes/python/lines.h"
#include "runtimes/python/step.h"
#include "runtimes/python/strings.h"
#include "runtimes/python/tasks.h"
#include "runtimes/python/threads.h"
#include "runtimes/python/types.h"

#include <string.h>

struct code_words {
	u64 name, filename, lines, bytecode;
	u32 first_line;
};

enum { WORDS_BYTES = 96 }; /* of a code object, that name it */

static u32 least(u32 a, u32 b)
{
	return a < b ? a : b;
}

static bool read_code(const struct mem *mem, const struct python_state *state, u64 code,
		      struct code_words *out)
{
	const struct python_layout *at = &state->at;
	u32 name = at->code_qualname ? at->code_qualname : at->code_name;
	struct window window;

	memset(out, 0, sizeof *out); /* compared as bytes */
	out->bytecode = code + at->code_bytecode;
	/* first_line is in front of the others in all versions but 2.7, where it is between them */
	u32 begin = least(at->code_first_line, at->code_filename);
	window_open(&window, mem, code + begin, WORDS_BYTES);
	return window_read(&window, code + name, &out->name, 8) &&
	       window_read(&window, code + at->code_filename, &out->filename, 8) &&
	       window_read(&window, code + at->code_lines, &out->lines, 8) &&
	       window_read(&window, code + at->code_first_line, &out->first_line, 4);
}

/* The instruction's offset in bytes. */
static u32 offset_of(const struct python_state *state, const struct code_words *code, u32 pos)
{
	/* One more than the last one that ran: 0 before the first, which stands where the function does. */
	if (state->facts & PYTHON_FRAME_IS_OBJECT)
		pos -= pos > 0;
	if (state->facts & PYTHON_PC_IS_BYTES)
		return pos;
	if (state->facts & PYTHON_PC_IS_WORDS)
		return 2 * pos;
	return pos - (u32)code->bytecode;
}

/* Is it the code object that was sampled? */
static bool is_still(const struct mem *mem, const struct python_state *state,
		     const struct frame *frame)
{
	u64 owner = 0;

	return python_identity(mem, state, frame->id, &owner) && owner == frame->owner &&
	       python_is_alive(mem, state, frame->id) &&
	       python_is_of_type(mem, state, frame->id, "code");
}

bool python_name_frame(const struct mem *mem, const void *state_, const struct frame *frame,
		       struct frame_name *out)
{
	const struct python_state *state = state_;
	struct code_words code, again;
	struct python_place place;

	if (frame->pos == FRAME_POS_THREAD) {
		python_name_thread(mem, state, frame->id, out);
		return true;
	}
	if (frame->pos == FRAME_POS_TASK)
		return python_name_task(mem, state, frame, out);
	if (!is_still(mem, state, frame) || !read_code(mem, state, frame->id, &code) ||
	    !python_read_string(mem, state, code.name, &out->label) ||
	    !python_read_path(mem, state, code.filename, &out->path) ||
	    !python_find_line(mem, state, code.lines, code.first_line,
			      offset_of(state, &code, frame->pos), &place))
		return false;
	out->first_line = code.first_line <= INT32_MAX ? code.first_line : 0;
	u32 near = place.near ? place.near : out->first_line;
	out->line = place.line ? place.line : near;
	out->end_line = place.end_line;
	out->column = place.column;
	out->end_column = place.end_column;
	return read_code(mem, state, frame->id, &again) && !memcmp(&code, &again, sizeof code) &&
	       is_still(mem, state, frame) && !out->label.bad && !out->path.bad;
}
