/* SPDX-License-Identifier: Apache-2.0
 * symbols.c - IDs by number.
 *
 * An ID is a serial number above four bits of scope, or, up to tLAST_OP_ID, an
 * operator's token number.  Names are in an Array of Arrays, 512 serials each, two
 * elements a serial: {String, Symbol} (rb_symbols_t.ids, 2.2 to 4.0).  In what becomes 4.1 both are typed
 * data: struct id_entry_dir of lists of struct sym_id_entry. */
#include "runtimes/ruby/symbols.h"

#include "runtimes/ruby/objects.h"

#include <string.h>

enum {
	SERIALS_EACH = 512, /* ID_ENTRY_UNIT */
	ENTRY = 2,          /* ID_ENTRY_SIZE */
	SCOPE_SHIFT = 4,
};

static bool find_in_arrays(const struct mem *mem, u64 ids, u64 serial, u64 *name)
{
	u64 inner;

	return ruby_read_element(mem, ids, serial / SERIALS_EACH, &inner) &&
	       ruby_read_element(mem, inner, serial % SERIALS_EACH * ENTRY, name);
}

/* Of a typed object. */
static bool find_data(const struct mem *mem, u64 value, u64 *data)
{
	u64 flags;
	u32 type;

	return ruby_value_type(mem, value, &type, &flags) && type == RUBY_T_DATA &&
	       mem_u64(mem, value + RUBY_DATA_POINTER, data);
}

/* {capacity, lists} of {size, capacity, {Symbol, String} [size]}. */
static bool find_in_lists(const struct mem *mem, u64 ids, u64 serial, u64 *name)
{
	u64 data, directory[2], list, size, at = serial % SERIALS_EACH;

	return find_data(mem, ids, &data) && mem_read(mem, data, directory, sizeof directory) &&
	       serial / SERIALS_EACH < directory[0] &&
	       mem_u64(mem, directory[1] + serial / SERIALS_EACH * 8, &list) &&
	       find_data(mem, list, &data) && mem_u64(mem, data, &size) && at < size &&
	       mem_u64(mem, data + (1 + at) * ENTRY * 8 + 8, name);
}

static bool read_serial(const struct mem *mem, const struct ruby_state *state, u64 ids_addr,
			u64 serial, struct str *out)
{
	u64 ids, name;

	return serial && mem_u64(mem, ids_addr, &ids) &&
	       (find_in_arrays(mem, ids, serial, &name) ||
		find_in_lists(mem, ids, serial, &name)) &&
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
