/* SPDX-License-Identifier: Apache-2.0
 * lines.h - from a position in an iseq to a line, exactly. */
#pragma once
#include "mem/mem.h"
#include "runtimes/ruby/layout.h"

/* rb_iseq_t -> its body, when it is an iseq. */
bool ruby_read_body(const struct mem *mem, u64 iseq, u64 *body_addr, struct ruby_body *body);
u32 ruby_first_line(const struct mem *mem, const struct ruby_state *state, u64 body_addr);
/* `pos` is the low half of the pc, 0 for a NULL pc. 0 when it stands outside of the iseq, as a
 * JIT's leaf can. */
u32 ruby_read_line(const struct mem *mem, const struct ruby_state *state, u64 body_addr,
		   const struct ruby_body *body, u32 pos);
