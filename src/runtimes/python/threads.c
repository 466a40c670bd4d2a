/* SPDX-License-Identifier: Apache-2.0
 * threads.c - see threads.h.
 *
 *	threading._active: {ident: Thread}       Thread._name, in Python 2 Thread.__name
 *
 * The ident is the pthread_t, which the thread of the VM has, too.  The dict is made when threading is imported and stays
 * for the life of its interpreter, also in a forked child.
 *
 * Each interpreter has a module of its own, which calls the thread that imports it MainThread: the one that the
 * process began with is asked first, then that of the thread. */
#include "runtimes/python/threads.h"

#include "runtimes/python/attributes.h"
#include "runtimes/python/containers.h"
#include "runtimes/python/interpreters.h"
#include "runtimes/python/layout.h"
#include "runtimes/python/modules.h"
#include "runtimes/python/step.h"
#include "runtimes/python/strings.h"
#include "runtimes/python/types.h"

enum { NAME_MOST = 300 };

static bool find_active(const struct mem *mem, const struct python_state *state, u64 interp,
			u64 *active)
{
	u64 module;

	return python_find_module(mem, state, interp, "threading", &module) &&
	       python_find_item(mem, state, module, "_active", active);
}

bool python_find_threads(const struct mem *mem, void *state_)
{
	struct python_state *state = state_;
	u64 interp, active;

	if (!state->active && python_first_interp(mem, state, &interp) &&
	    find_active(mem, state, interp, &active))
		state->active = active;
	return state->active;
}

/* The object that stands for the thread. */
static bool find_thread(const struct mem *mem, const struct python_state *state, u64 thread,
			u64 *object)
{
	u64 ident, interp, first, active;

	if (!mem_read(mem, thread + state->at.thread_native, &ident, 8))
		return false;
	if (state->active && python_find_number(mem, state, state->active, ident, object))
		return true;
	return python_interp_of(mem, state, thread, &interp) &&
	       python_first_interp(mem, state, &first) && interp != first &&
	       find_active(mem, state, interp, &active) &&
	       python_find_number(mem, state, active, ident, object);
}

void python_name_thread(const struct mem *mem, const struct python_state *state, u64 thread,
			struct frame_name *out)
{
	const char *attribute = python_major(state) == 2 ? "_Thread__name" : "_name";
	u64 object, name, length;

	if (!find_thread(mem, state, thread, &object) ||
	    !python_find_attribute(mem, state, object, attribute, &name))
		return;
	if (!python_is_of_type(mem, state, name, "str") ||
	    !python_read_string_to(mem, state, name, NAME_MOST, &out->label, &length))
		str_clear(&out->label);
}
