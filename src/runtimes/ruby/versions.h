/* SPDX-License-Identifier: Apache-2.0
 * versions.h - which numbers belong to which Ruby. */
#pragma once
#include "runtimes/ruby/layout.h"

enum ruby_match {
	RUBY_MATCH_NONE,    /* older than every row */
	RUBY_MATCH_EXACT,   /* of this minor version, and no newer than the rows were checked for */
	RUBY_MATCH_NEAREST, /* a patch level or a minor version that came later */
};

/* Fills the layout, the facts and the sources of `state` for its version. */
enum ruby_match ruby_versions_find(struct ruby_state *state);
/* The name of a field as describe() prints it: "thread.ec". */
const char *ruby_field_name(enum ruby_field field);
/* The number of `at` that a field names. */
u16 *ruby_field_at(struct ruby_layout *at, enum ruby_field field);
