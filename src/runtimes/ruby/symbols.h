/* SPDX-License-Identifier: Apache-2.0
 * symbols.h - what an ID is called: Ruby's global symbol table. */
#pragma once
#include "base/str.h"
#include "mem/mem.h"
#include "runtimes/ruby/layout.h"

/* Is the word at `ids` the array of names? It is when the operator "+" is where it must be. */
bool ruby_ids_hold(const struct mem *mem, const struct ruby_state *state, u64 ids);
/* Appends the name of an ID. */
bool ruby_read_id(const struct mem *mem, const struct ruby_state *state, u64 id, struct str *out);
