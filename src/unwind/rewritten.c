/* SPDX-License-Identifier: Apache-2.0
 * rewritten.c - see rewritten.h. */
#include "unwind/rewritten.h"

#include "elf/image.h"
#include "unwind/arch.h"
#include "unwind/code.h"
#include "unwind/order.h"
#include "unwind/rule.h"

/* What BOLT left as it was is there, with rows that are right. */
static const char LEFT[] = ".bolt.org.text";

bool unwind_is_rewritten(const struct image *image)
{
	struct image_section section;

	return image_section_named(image, LEFT, &section);
}

struct comparing {
	const struct unwind_told *told;
	u32 at; /* the point of the first address that is compared */
	unwind_span_fn *fn;
	void *arg;
};

static bool is_from_sp(const struct unwind_rule *rule)
{
	return rule->kind == UNWIND_PLUS && rule->reg == UNWIND_SP;
}

static bool compare(void *arg, u64 begin, u64 end, const struct unwind_rule *followed)
{
	struct comparing *comparing = arg;
	const struct unwind_told *told = comparing->told;

	if (!is_from_sp(followed))
		return true;
	while (comparing->at + 1 < told->point_count && told->points[comparing->at + 1].pc <= begin)
		comparing->at++;
	for (u32 i = comparing->at; i + 1 < told->point_count && told->points[i].pc < end; i++) {
		const struct unwind_point *point = &told->points[i];
		const struct unwind_rule *said = &told->rules[point->rule];
		u64 from = point->pc > begin ? point->pc : begin;
		u64 to = point[1].pc < end ? point[1].pc : end;
		if (is_from_sp(said) && said->offset != followed->offset && from < to &&
		    !comparing->fn(comparing->arg, from, to, followed))
			return false;
	}
	return true;
}

bool unwind_rewritten_spans(const struct image *image, const struct unwind_told *told,
			    unwind_span_fn *fn, void *arg)
{
	struct comparing comparing = { .told = told, .fn = fn, .arg = arg };
	struct unwind_covered left = { 0 };
	struct image_section section;

	if (image_section_named(image, LEFT, &section))
		left = (struct unwind_covered){ section.address, section.address + section.size };
	return unwind_code_spans_of(image, &left, told->entries, told->entry_count, compare,
				    &comparing);
}
