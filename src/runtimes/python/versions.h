/* SPDX-License-Identifier: Apache-2.0
 * versions.h - which numbers belong to a Python that has no table of its own: 2.7 and 3.6 to 3.12. */
#pragma once
#include "runtimes/python/layout.h"

/* "3.9.2", "2.7.15rc1" or "3.6.1+" as PY_VERSION_HEX; 0: it is none of Python 2 or 3. */
u32 python_versions_number(const char *text);
/* Fills layout, facts and sources for state->version. False: there is no row for it, or it
 * was made before the first release candidate. */
bool python_versions_find(struct python_state *state);
/* The facts of 3.13 and later. */
void python_versions_facts(struct python_state *state, bool free_threaded);
/* The name of a field as describe() prints it: "thread.frame". */
const char *python_field_name(enum python_field field);
/* The number of `at` that a field names. */
u32 *python_field_at(struct python_layout *at, enum python_field field);
