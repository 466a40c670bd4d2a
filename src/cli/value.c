/* SPDX-License-Identifier: Apache-2.0
 * value.c - see value.h.  By hand and not by strtod(): that one knows "nan", hexadecimal
 * and the locale's comma. */
#include "cli/value.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/suggest.h"

enum {
	FRACTION_DIGITS = 9, /* of a second; more would be less than a nanosecond */
	DIGITS = 10,         /* of any number that we take: 4,294,967,295 has ten */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits at *at, no more than a u64 surely holds; how many there were. */
static u32 take_digits(const char **at, u64 *out)
{
	u32 count = 0;

	*out = 0;
	for (; is_digit(**at) && count <= DIGITS; ++*at, count++)
		*out = *out * 10 + (u64)(**at - '0');
	return count;
}

bool value_parse_number(const char *text, u32 low, u32 high, u32 *out, struct err *err)
{
	char from[32], to[32];
	const char *at = text;
	u64 number;
	bool negative = *at == '-';

	at += negative;
	u32 digits = take_digits(&at, &number);
	if (!digits || (*at && digits <= DIGITS))
		return err_set(err, ERR_USAGE, "\"%.80s\" is not a number; give %s to %s", text,
			       value_grouped(low, from), value_grouped(high, to));
	if (negative || number < low || number > high)
		return err_set(err, ERR_USAGE, "%.80s is out of range; give %s to %s", text,
			       value_grouped(low, from), value_grouped(high, to));
	*out = (u32)number;
	return true;
}

static const struct {
	const char *name;
	u64 ns;
} duration_units[] = {
	{ "", NS_PER_S },         { "s", NS_PER_S },      { "ms", NS_PER_MS },
	{ "us", NS_PER_US },      { "m", 60 * NS_PER_S }, { "min", 60 * NS_PER_S },
	{ "h", 3600 * NS_PER_S },
};

/* ".25" as billionths; anything else is none. */
static u64 take_fraction(const char **at)
{
	u64 billionths = 0;
	u32 digits = 0;

	if (**at != '.')
		return 0;
	for (++*at; is_digit(**at); ++*at, digits++)
		if (digits < FRACTION_DIGITS)
			billionths = billionths * 10 + (u64)(**at - '0');
	for (; digits < FRACTION_DIGITS; digits++)
		billionths *= 10;
	return billionths;
}

bool value_parse_moment(const char *text, u64 *out_ns, struct err *err)
{
	const u64 longest = UINT64_C(366) * 24 * 3600 * NS_PER_S;
	const char *at = text;
	u64 whole;
	u32 digits = take_digits(&at, &whole);
	u64 billionths = take_fraction(&at);

	for (u32 i = 0; digits && i < COUNT_OF(duration_units); i++) {
		u64 unit = duration_units[i].ns;

		if (strcmp(at, duration_units[i].name) != 0)
			continue;
		if (whole > longest / unit)
			return err_set(err, ERR_USAGE, "%.80s is longer than a year", text);
		/* Units are at most 3.6e12 ns, so the product is below 2^72: 128 bits. */
		u64 part = (u64)((unsigned __int128)billionths * unit / NS_PER_S);
		*out_ns = whole * unit + part;
		return true;
	}
	return err_set(err, ERR_USAGE,
		       "\"%.80s\" is not a duration; give seconds, or a number with a unit: "
		       "30, 30s, 5m, 1h, 1.5s, 200ms",
		       text);
}

bool value_parse_duration(const char *text, u64 *out_ns, struct err *err)
{
	return value_parse_moment(text, out_ns, err) &&
	       (*out_ns || err_set(err, ERR_USAGE, "%.80s is no time at all", text));
}

/* A choice can be spelled in several ways: "gvl|gil". */
static bool choice_spelling(const char *choices, u32 index, u32 nth, char out[static 32])
{
	for (; index; index--) {
		choices = strchr(choices, ',');
		if (!choices)
			return false;
		choices++;
	}
	for (; nth; nth--) {
		choices += strcspn(choices, ",|");
		if (*choices++ != '|')
			return false;
	}
	snprintf(out, 32, "%.*s", (int)strcspn(choices, ",|"), choices);
	return true;
}

bool value_choice(const char *choices, u32 index, char out[static 32])
{
	return choice_spelling(choices, index, 0, out);
}

bool value_parse_choice(const char *text, const char *choices, u32 *out, struct err *err)
{
	struct suggest suggest = suggest_make(text);
	char word[32], nearest[32] = "";

	for (u32 i = 0; choice_spelling(choices, i, 0, word); i++)
		for (u32 n = 0; choice_spelling(choices, i, n, word); n++) {
			if (!strcmp(word, text)) {
				*out = i;
				return true;
			}
			u32 distance = suggest.distance;
			suggest_consider(&suggest, word);
			if (suggest.distance < distance)
				memcpy(nearest, word, sizeof nearest);
		}
	err_set(err, ERR_USAGE, "\"%.80s\" is not one of %s", text, choices);
	return nearest[0] ? err_hint(err, "did you mean \"%s\"?", nearest) : false;
}

const char *value_grouped(u64 number, char out[static 32])
{
	char digits[24];
	int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
	char *at = out;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*at++ = ',';
		*at++ = digits[i];
	}
	*at = 0;
	return out;
}

const char *value_duration_text(u64 ns, char out[static 32])
{
	u64 seconds = ns / NS_PER_S;

	if (seconds < 100)
		snprintf(out, 32, "%.1f s", (double)ns / NS_PER_S);
	else if (seconds < 6000)
		snprintf(out, 32, "%u min %u s", (u32)seconds / 60, (u32)seconds % 60);
	else
		snprintf(out, 32, "%llu h %u min", (unsigned long long)seconds / 3600,
			 (u32)(seconds / 60 % 60));
	return out;
}

void value_add_count(struct str *out, u64 count, const char *one, const char *many)
{
	char number[32];

	str_addf(out, "%s %s", value_grouped(count, number), count == 1 ? one : many);
}
