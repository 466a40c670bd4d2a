/* SPDX-License-Identifier: Apache-2.0
 * symbols.c - IDs by number.
 *
 * An ID is a serial number above four bits of scope, or, up to tLAST_OP_ID, an
 * operator's token number.  Names are in an Array of Arrays, 512 serials each, two
 * elements a serial: {String, Symbol} (rb_symbols_t.ids, 2.2 to 4.0). */
#include "runtimes/ruby/symbols.h"

#include "runtimes/ruby/objects.h"

#include <string.h>

enum {
	SERIALS_EACH = 512, /* ID_ENTRY_UNIT */
	ENTRY = 2,          /* ID_ENTRY_SIZE */
	SCOPE_SHIFT = 4,
};

static bool read_serial(const struct mem *mem, const struct ruby_state *state, u64 ids_addr,
			u64 serial, struct str *out)
{
	u64 ids, inner, name;

	return serial && mem_u64(mem, ids_addr, &ids) &&
	       ruby_read_element(mem, ids, serial / SERIALS_EACH, &inner) &&
	       ruby_read_element(mem, inner, serial % SERIALS_EACH * ENTRY, &name) &&
	       ruby_read_string(mem, state, name, out);
}

bool ruby_ids_hold(const struct mem *mem, const struct ruby_state *state, u64 ids)
{
	struct str name = { 0 };
	bool held = read_serial(mem, state, ids, '+', &name) && name.length == 1 &&
		    name.text[0] == '+';

	str_free(&name);
	return held;
}

bool ruby_read_id(const struct mem *mem, const struct ruby_state *state, u64 id, struct str *out)
{
	u64 serial = id <= state->at.id_last_operator ? id : id >> SCOPE_SHIFT;

	return state->ids && serial <= UINT32_MAX &&
	       read_serial(mem, state, state->ids, serial, out);
}
