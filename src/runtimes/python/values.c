/* SPDX-License-Identifier: Apache-2.0
 * values.c - what an object is, from its type's name and its bytes.
 *
 *	[refcount] [type] | size           head: 16 bytes, 32 without a GIL
 *	                  | float, tag of an int, size of a container, used slots of a dict ...
 *
 * Sizes of heads come from bytes objects, which begin with the same (state->at.bytes_length).
 *
 * Invariants: every length is bounded before it is used, containers are shown PYTHON_ITEMS deep and wide. */
#include "runtimes/python/values.h"

#include "base/utf8.h"
#include "runtimes/python/containers.h"
#include "runtimes/python/repr.h"
#include "runtimes/python/step.h"
#include "runtimes/python/strings.h"
#include "runtimes/python/types.h"

#include <string.h>

enum {
	TEXT_MOST = 80, /* characters of a string */
	ITEMS_MOST = 6,
	DEPTH_MOST = 3,
	DIGITS_MOST = 8, /* of an int, 30 bits each: 240 bits */
	DIGIT_BITS = 30,
	WORD_LIMIT = 1000000000,
	TUPLE_HASH_MINOR = 14, /* from here on tuples keep their hash in front of their items */
};

struct view {
	const struct mem *mem;
	const struct python_state *state;
	struct str *out;
	u32 depth;
};

static u32 head_size(const struct python_state *state)
{
	return state->at.bytes_length;
}

static bool peek_word(const struct view *view, u64 addr, u64 *out)
{
	return mem_peek(view->mem, addr, out, 8);
}

/* ---- strings ------------------------------------------------------------------------------- */

static bool add_string(const struct view *view, u64 object)
{
	struct str text = { 0 };
	u64 length = 0;

	str_clear(&text);
	bool good = python_read_string_to(view->mem, view->state, object, TEXT_MOST, &text,
					  &length);
	if (good) {
		python_repr_text(text.text, text.length, false, view->out);
		if (length > TEXT_MOST)
			str_addf(view->out, "... (%llu characters)", (unsigned long long)length);
	}
	str_free(&text);
	return good;
}

/* Python 2's str, too. */
static bool add_bytes(const struct view *view, u64 object)
{
	char bytes[TEXT_MOST];
	u64 data, length;

	if (!python_read_bytes(view->mem, view->state, object, &data, &length))
		return false;
	u32 shown = length < sizeof bytes ? (u32)length : (u32)sizeof bytes;
	if (shown && !mem_read(view->mem, data, bytes, shown))
		return false;
	str_add_text(view->out, view->state->facts & PYTHON_NAMES_ARE_BYTES ? "" : "b");
	python_repr_bytes(bytes, shown, view->out);
	if (length > shown)
		str_addf(view->out, "... (%llu bytes)", (unsigned long long)length);
	return true;
}

/* Characters of Python 2's unicode: of four bytes or of two, as it was built.  Two of two bytes each make none of four, but
 * for controls. */
static bool add_characters(const struct view *view, u64 data, u32 count, struct str *out)
{
	u32 wide[TEXT_MOST];
	u16 narrow[TEXT_MOST];
	char bytes[4];
	bool is_wide = mem_peek(view->mem, data, wide, 4 * count);

	for (u32 i = 0; i < count && is_wide; i++)
		is_wide = wide[i] < 0x110000;
	if (!is_wide && !mem_peek(view->mem, data, narrow, 2 * count))
		return false;
	for (u32 i = 0; i < count; i++) {
		u32 c = is_wide ? wide[i] : narrow[i];
		bool is_pair = !is_wide && i + 1 < count && c >= 0xd800 && c < 0xdc00 &&
			       narrow[i + 1] >= 0xdc00 && narrow[i + 1] < 0xe000;
		if (is_pair)
			c = 0x10000 + ((c - 0xd800) << 10) + (narrow[++i] - 0xdc00u);
		str_add(out, bytes, utf8_encode(c, bytes));
	}
	return true;
}

static bool add_unicode(const struct view *view, u64 object)
{
	u64 head = object + head_size(view->state), length, data;
	struct str text = { 0 };

	if (!peek_word(view, head, &length) || !peek_word(view, head + 8, &data))
		return false;
	u32 shown = length < TEXT_MOST ? (u32)length : TEXT_MOST;
	str_clear(&text);
	bool good = !shown || add_characters(view, data, shown, &text);
	if (good) {
		str_add_text(view->out, "u");
		python_repr_text(text.text, text.length, true, view->out);
		if (length > shown)
			str_addf(view->out, "... (%llu characters)", (unsigned long long)length);
	}
	str_free(&text);
	return good;
}

/* ---- numbers ------------------------------------------------------------------------------- */

/* Magnitude in decimal: words of nine digits, the least first. */
static void add_magnitude(struct str *out, const u32 *digits, u32 count)
{
	u32 words[2 * DIGITS_MOST] = { 0 }, used = 1;

	for (u32 i = count; i-- > 0;) {
		u64 carry = digits[i];
		for (u32 w = 0; w < used; w++) {
			carry += (u64)words[w] << DIGIT_BITS;
			words[w] = (u32)(carry % WORD_LIMIT);
			carry /= WORD_LIMIT;
		}
		for (; carry; carry /= WORD_LIMIT)
			words[used++] = (u32)(carry % WORD_LIMIT);
	}
	str_addf(out, "%u", words[used - 1]);
	for (u32 w = used - 1; w-- > 0;)
		str_addf(out, "%09u", words[w]);
}

/* PyLongObject: a signed number of digits; from 3.12 on that number, unsigned, above three bits of which the low
 * two are 2 for negative and 1 for zero. */
static bool add_int(const struct view *view, u64 object)
{
	bool has_tag = view->state->version >= 0x030c0000;
	u64 head = object + head_size(view->state), word;
	u32 digits[DIGITS_MOST];

	if (!peek_word(view, head, &word))
		return false;
	bool negative = has_tag ? (word & 3) == 2 : (s64)word < 0;
	u64 count = has_tag ? word >> 3 : negative ? 0 - word : word;
	if (count > DIGITS_MOST) {
		str_addf(view->out, "<int of %s%llu bits>", negative ? "-" : "",
			 (unsigned long long)count * DIGIT_BITS);
		return true;
	}
	if (count && !mem_peek(view->mem, head + 8, digits, (u32)count * 4))
		return false;
	str_add_text(view->out, negative ? "-" : "");
	add_magnitude(view->out, digits, (u32)count);
	return true;
}

/* Python 2's other int. */
static bool add_long(const struct view *view, u64 object)
{
	if (!add_int(view, object))
		return false;
	str_add_text(view->out, "L");
	return true;
}

static bool add_bool(const struct view *view, u64 object)
{
	u32 digit;
	u64 head = object + head_size(view->state);

	if (!mem_peek(view->mem, head + (python_major(view->state) > 2 ? 8 : 0), &digit, 4))
		return false;
	str_add_text(view->out, digit ? "True" : "False");
	return true;
}

/* Python 2's int is a C long. */
static bool add_old_int(const struct view *view, u64 object)
{
	u64 value;

	if (python_major(view->state) > 2)
		return add_int(view, object);
	if (!peek_word(view, object + head_size(view->state), &value))
		return false;
	str_addf(view->out, "%lld", (long long)value);
	return true;
}

static bool add_float(const struct view *view, u64 object)
{
	double value;

	if (!mem_peek(view->mem, object + head_size(view->state), &value, sizeof value))
		return false;
	python_repr_float(value, view->out);
	return true;
}

static bool add_none(const struct view *view, u64 object)
{
	(void)object;
	str_add_text(view->out, "None");
	return true;
}

/* ---- containers ---------------------------------------------------------------------------- */

static bool is_old(const struct view *view)
{
	return python_major(view->state) == 2;
}

static void add_object(const struct view *view, u64 object);

static void add_items(const struct view *view, u64 items, u64 size, const char *brackets)
{
	struct view inner = *view;
	u64 item;

	inner.depth++;
	str_add(view->out, brackets, 1);
	for (u64 i = 0; i < size; i++) {
		str_add_text(view->out, i ? ", " : "");
		if (i == ITEMS_MOST || inner.depth > DEPTH_MOST) {
			str_addf(view->out, "... %llu in all", (unsigned long long)size);
			break;
		}
		if (peek_word(view, items + 8 * i, &item))
			add_object(&inner, item);
		else
			str_add_text(view->out, "?");
	}
	if (size == 1 && brackets[0] == '(')
		str_add_text(view->out, ",");
	str_add(view->out, brackets + 1, 1);
}

static bool add_tuple(const struct view *view, u64 object)
{
	u64 items, size;

	if (!python_read_tuple(view->mem, view->state, object, &items, &size))
		return false;
	add_items(view, items, size, "()");
	return true;
}

static bool add_list(const struct view *view, u64 object)
{
	u64 head = object + head_size(view->state), size, items;

	if (!peek_word(view, head, &size) || !peek_word(view, head + 8, &items))
		return false;
	add_items(view, items, size, "[]");
	return true;
}

/* A dict or a set on its way out: whether there is more is known before an item is added. */
struct listing {
	struct view view; /* one deeper */
	u64 count, done;
};

static bool add_next(struct listing *listing)
{
	struct str *out = listing->view.out;

	str_add_text(out, listing->done ? ", " : "");
	if (listing->done == ITEMS_MOST || listing->view.depth > DEPTH_MOST) {
		str_addf(out, "... %llu in all", (unsigned long long)listing->count);
		return false;
	}
	listing->done++;
	return true;
}

static bool add_item(void *arg, u64 key, u64 value)
{
	struct listing *listing = arg;

	if (!add_next(listing))
		return true;
	add_object(&listing->view, key);
	str_add_text(listing->view.out, ": ");
	add_object(&listing->view, value);
	return false;
}

/* Python 2 counts slots that were ever filled first. */
static bool add_dict(const struct view *view, u64 object)
{
	struct listing listing = { .view = *view };
	u64 count = object + head_size(view->state) + (is_old(view) ? 8 : 0);

	if (!peek_word(view, count, &listing.count))
		return false;
	listing.view.depth++;
	str_add_text(view->out, "{");
	python_each_item(view->mem, view->state, object, add_item, &listing);
	str_add_text(view->out, "}");
	return true;
}

static bool add_members(const struct view *view, u64 object, const char *brackets)
{
	struct listing listing = { .view = *view };
	u64 members[ITEMS_MOST + 1];
	u32 place = 0;

	if (!peek_word(view, object + head_size(view->state) + 8, &listing.count))
		return false;
	listing.view.depth++;
	u32 found = python_set_members(view->mem, view->state, object, &place, members,
				       COUNT_OF(members));
	str_add(view->out, brackets, 1);
	for (u32 i = 0; i < found && add_next(&listing); i++)
		add_object(&listing.view, members[i]);
	str_add(view->out, brackets + 1, 1);
	return true;
}

static bool is_empty(const struct view *view, u64 set)
{
	u64 count;

	return peek_word(view, set + head_size(view->state) + 8, &count) && !count;
}

/* As a call of its type: set([1]) in Python 2, frozenset({1}), set(). */
static bool add_made(const struct view *view, u64 object, const char *type)
{
	bool old = is_old(view);

	str_addf(view->out, "%s(", type);
	bool good = (!old && is_empty(view, object)) ||
		    add_members(view, object, old ? "[]" : "{}");
	str_add_text(view->out, ")");
	return good;
}

static bool add_set(const struct view *view, u64 object)
{
	return is_old(view) || is_empty(view, object) ? add_made(view, object, "set") :
							add_members(view, object, "{}");
}

static bool add_frozenset(const struct view *view, u64 object)
{
	return add_made(view, object, "frozenset");
}

/* ---- any ----------------------------------------------------------------------------------- */

static bool add_str(const struct view *view, u64 object)
{
	bool is_bytes = view->state->facts & PYTHON_NAMES_ARE_BYTES;

	return (is_bytes ? add_bytes : add_string)(view, object);
}

static void add_object(const struct view *view, u64 object)
{
	static const struct {
		const char *type;
		bool (*add)(const struct view *view, u64 object);
	} kinds[] = {
		{ "NoneType", add_none },   { "bool", add_bool },   { "int", add_old_int },
		{ "long", add_long },       { "float", add_float }, { "str", add_str },
		{ "bytes", add_bytes },     { "tuple", add_tuple }, { "list", add_list },
		{ "dict", add_dict },       { "set", add_set },     { "frozenset", add_frozenset },
		{ "unicode", add_unicode },
	};
	char name[PYTHON_TYPE_NAME_MAX];

	if (!python_type_name(view->mem, view->state, object, name)) {
		str_add_text(view->out, "?");
		return;
	}
	for (u32 i = 0; i < COUNT_OF(kinds); i++)
		if (!strcmp(name, kinds[i].type)) {
			if (!kinds[i].add(view, object))
				str_add_text(view->out, "?");
			return;
		}
	str_addf(view->out, "<%s at %#llx>", name, (unsigned long long)object);
}

void python_add_value(const struct mem *mem, const struct python_state *state, u64 object,
		      struct str *out)
{
	struct view view = { .mem = mem, .state = state, .out = out };

	add_object(&view, object);
}

bool python_read_tuple(const struct mem *mem, const struct python_state *state, u64 tuple,
		       u64 *items, u64 *count)
{
	bool has_hash = python_minor(state) >= TUPLE_HASH_MINOR;
	u64 head = tuple + head_size(state);

	*items = head + (has_hash ? 16 : 8);
	return python_address_ok(tuple) && mem_peek(mem, head, count, 8);
}

u64 python_cell_content(const struct mem *mem, const struct python_state *state, u64 object)
{
	char name[PYTHON_TYPE_NAME_MAX];
	u64 content;

	if (!python_type_name(mem, state, object, name) || strcmp(name, "cell") != 0 ||
	    !mem_peek(mem, object + head_size(state), &content, 8))
		return object;
	return content;
}
