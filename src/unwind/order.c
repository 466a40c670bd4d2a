/* SPDX-License-Identifier: Apache-2.0
 * order.c - see order.h. */
#include "unwind/order.h"

#include "base/radix.h"

#include <stddef.h>
#include <stdlib.h>

static int compare(const void *left_, const void *right_)
{
	const struct unwind_span *left = left_, *right = right_;

	if (left->begin != right->begin)
		return left->begin < right->begin ? -1 : 1;
	if (left->source != right->source)
		return left->source - right->source;
	return (left->end > right->end) - (left->end < right->end);
}

static void order_equals(struct unwind_span *spans, u32 count)
{
	for (u32 i = 0, next; i < count; i = next) {
		for (next = i + 1; next < count && spans[next].begin == spans[i].begin;)
			next++;
		if (next > i + 1)
			qsort(spans + i, next - i, sizeof *spans, compare);
	}
}

/* How many from the first on are in order. */
static u32 ordered_count(const struct unwind_span *spans, u32 count)
{
	for (u32 i = 1; i < count; i++)
		if (compare(&spans[i - 1], &spans[i]) > 0)
			return i;
	return count;
}

static void order_all(struct unwind_span *spans, struct unwind_span *spare, u32 count)
{
	radix_order(spans, spare, count, sizeof *spans, offsetof(struct unwind_span, begin));
	order_equals(spans, count);
}

/* Both parts are in order; the second is copied, and the places fill up from the last on. */
static void merge(struct unwind_span *spans, u32 first, struct unwind_span *spare, u32 second)
{
	memcpy(spare, spans + first, second * sizeof *spans);
	while (second) {
		bool is_first = first && compare(&spans[first - 1], &spare[second - 1]) > 0;
		spans[first + second - 1] = is_first ? spans[first - 1] : spare[second - 1];
		first -= is_first;
		second -= !is_first;
	}
}

/* Few are added to many that are in order. */
bool unwind_order(struct unwind_span *spans, u32 count)
{
	u32 first = ordered_count(spans, count), second = count - first;

	if (!second)
		return true;
	if (first < second) {
		first = 0;
		second = count;
	}
	struct unwind_span *spare = malloc(second * sizeof *spans);
	if (!spare)
		return false;
	order_all(spans + first, spare, second);
	if (first)
		merge(spans, first, spare, second);
	free(spare);
	return true;
}
