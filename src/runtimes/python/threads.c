/* SPDX-License-Identifier: Apache-2.0
 * threads.c - see threads.h.
 *
 *	threading._active: {ident: Thread}       Thread._name, in Python 2 Thread.__name
 *
 * The ident is the pthread_t, which the thread of the VM has, too.  The dict is made when threading is imported and stays
 * for the life of the process, also in a forked child. */
#include "runtimes/python/threads.h"

#include "runtimes/python/attributes.h"
#include "runtimes/python/containers.h"
#include "runtimes/python/layout.h"
#include "runtimes/python/modules.h"
#include "runtimes/python/strings.h"
#include "runtimes/python/types.h"

enum { NAME_MOST = 300 };

bool python_find_threads(const struct mem *mem, void *state_)
{
	struct python_state *state = state_;
	u64 module;

	if (!state->active && python_find_module(mem, state, "threading", &module))
		python_find_item(mem, state, module, "_active", &state->active);
	return state->active;
}

void python_name_thread(const struct mem *mem, const struct python_state *state, u64 thread,
			struct frame_name *out)
{
	const char *attribute = python_major(state) == 2 ? "_Thread__name" : "_name";
	u64 ident, object, name, length;

	if (!state->active || !mem_read(mem, thread + state->at.thread_native, &ident, 8) ||
	    !python_find_number(mem, state, state->active, ident, &object) ||
	    !python_find_attribute(mem, state, object, attribute, &name))
		return;
	if (!python_is_of_type(mem, state, name, "str") ||
	    !python_read_string_to(mem, state, name, NAME_MOST, &out->label, &length))
		str_clear(&out->label);
}
