/* SPDX-License-Identifier: Apache-2.0
 * diff.c - see diff.h.
 *
 * Both profiles' stacks are put into one tree of common names.  What a number of the profile weighs is
 * then a vector by stack of that tree, and one walk through it gives what passes through each stack and
 * each row.  The same walk, done for every batch of the timeline, is what the noise is measured on. */
#include "profile/diff.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/diff_noise.h"
#include "profile/lines.h"
#include "profile/preorder.h"

/* Two in a hundred pairs of recordings of the same program may show a change that is none. */
#define FALSE_RATE 0.02
/* Speed of a function from run to run, as a part of it: see diff_noise.h. */
#define RUN_SPREAD 0.01

enum {
	ADDRESS_DIGITS = 6, /* "0x7f12ab" in a name is an address */
	FEW = 64,           /* samples: below, the normal approximation is not good enough */
};

/* A profile in the numbers of the diff. */
struct part {
	const struct profile *profile;
	struct diff_side *side;
	u32 *location_of, *stack_of; /* by number of the profile */
	double *values, *samples;    /* by number of a vector, see below */
	double *share;
	double kish; /* independent samples of equal weight that would be worth as much */
	/* The variance of a usual row against that of independent samples, with the program's phases
	 * and without. */
	double clustering, without_phases;
	struct noise noise;
};

/* A vector has what passes through each node, then each row's self, then each row's total. */
struct walk {
	struct preorder order;
	const struct names *names;
	u32 nodes, rows, size;
	double *self; /* of the nodes */
	u32 *active, *path;
};

/* ---- common names ------------------------------------------------------------------------- */

/* A name without the addresses in it. */
static u32 plain_name(struct names *names, const struct name_string *name)
{
	if (!strstr(name->text, "0x"))
		return names_string(names, name->text, name->length);
	AUTO_FREE char *plain = malloc(name->length + 1);
	u32 length = 0;
	for (u32 i = 0; plain && i < name->length;) {
		u32 digits = 0;
		if (i + 2 < name->length && name->text[i] == '0' && name->text[i + 1] == 'x')
			while (i + 2 + digits < name->length &&
			       isxdigit((u8)name->text[i + 2 + digits]))
				digits++;
		bool is_address = digits >= ADDRESS_DIGITS &&
				  i > 0; /* a name that is one has no other */
		if (is_address) {
			memcpy(plain + length, "0x_", 3);
			length += 3;
			i += 2 + digits;
		} else {
			plain[length++] = name->text[i++];
		}
	}
	names->bad |= !plain;
	return plain ? names_string(names, plain, length) : 0;
}

static u32 common_string(struct names *names, const struct names *from, u32 string)
{
	const struct name_string *text = &from->strings.at[string];

	return string ? names_string(names, text->text, text->length) : 0;
}

static bool is_machine_code(const struct names *names, const struct name_function *function)
{
	const char *language = names->strings.at[function->language].text;

	return !strcmp(language, "native") || !strcmp(language, "kernel");
}

/* C functions, and machine code wherever it was built or installed, inlined or not, are known by their name alone: where its
 * source was is known only with debugging information. */
static u32 common_function(struct diff *diff, const struct names *from, u32 number)
{
	const struct name_function *function = &from->functions.at[number];
	bool has_path = !is_machine_code(from, function);
	struct name_function common = {
		.name = plain_name(&diff->names, &from->strings.at[function->name]),
		.path = has_path ? common_string(&diff->names, from, function->path) : 0,
	};

	if (!diff->options.any_language) {
		common.language = common_string(&diff->names, from, function->language);
		common.flags = has_path ? function->flags : 0;
	}
	return number ? names_function(&diff->names, &common) : 0;
}

/* Without a line it is another location for each line that calls it. */
static u32 common_line(struct diff *diff, const struct part *part, const struct line *line)
{
	struct name_location location = diff->names.locations.at[part->location_of[line->location]];

	if (!line->site)
		return part->location_of[line->location];
	location.address = part->location_of[line->site];
	return names_location(&diff->names, &location);
}

static bool map_stacks(struct diff *diff, struct part *part)
{
	const struct names *from = &part->profile->names;
	struct lines lines = { 0 };
	bool good = !diff->options.lines || lines_learn(&lines, from);

	for (u32 i = 1; good && i < from->stacks.count; i++) {
		const struct name_stack *stack = &from->stacks.at[i];
		u32 location = diff->options.lines ?
				       common_line(diff, part, &lines.at.at[lines.of_stack.at[i]]) :
				       part->location_of[stack->location];
		part->stack_of[i] = names_stack(&diff->names, part->stack_of[stack->outer],
						location);
	}
	lines_free(&lines);
	return good;
}

static bool map_names(struct diff *diff, struct part *part)
{
	const struct names *from = &part->profile->names;
	AUTO_FREE u32 *function_of = calloc(from->functions.count + 1, sizeof *function_of);

	part->location_of = calloc(from->locations.count + 1, sizeof *part->location_of);
	part->stack_of = calloc(from->stacks.count + 1, sizeof *part->stack_of);
	if (!function_of || !part->location_of || !part->stack_of)
		return false;
	for (u32 i = 0; i < from->functions.count; i++)
		function_of[i] = common_function(diff, from, i);
	for (u32 i = 0; i < from->locations.count; i++) {
		struct name_location location = {
			.function = function_of[from->locations.at[i].function],
			.line = diff->options.lines ? from->locations.at[i].line : 0,
		};
		part->location_of[i] = names_location(&diff->names, &location);
	}
	return map_stacks(diff, part) && !diff->names.bad;
}

/* For people: the line where a function begins now, or began; its file; its language. No number is looked
 * up from here on. */
static void show_lines(struct diff *diff, const struct part *part)
{
	const struct names *from = &part->profile->names;

	for (u32 i = 0; i < from->locations.count; i++) {
		const struct name_function *function =
			&from->functions.at[from->locations.at[i].function];
		struct name_function *shown =
			&diff->names.functions
				 .at[diff->names.locations.at[part->location_of[i]].function];
		if (function->first_line)
			shown->first_line = function->first_line;
		shown->flags |= function->flags;
		if (diff->options.any_language && function->language)
			shown->language = common_string(&diff->names, from, function->language);
	}
}

/* ---- vectors ------------------------------------------------------------------------------ */

static bool walk_make(struct walk *walk, const struct names *names)
{
	u32 deepest = 0;

	for (u32 i = 0; i < names->stacks.count; i++)
		if (names->stacks.at[i].depth > deepest)
			deepest = names->stacks.at[i].depth;
	*walk = (struct walk){ .names = names,
			       .nodes = names->stacks.count,
			       .rows = names->locations.count };
	walk->size = walk->nodes + 2 * walk->rows;
	walk->self = calloc(walk->nodes + 1, sizeof *walk->self);
	walk->active = calloc(walk->rows + 1, sizeof *walk->active);
	walk->path = calloc((size_t)deepest + 1, sizeof *walk->path);
	return walk->self && walk->active && walk->path && preorder_make(&walk->order, names);
}

static void walk_free(struct walk *walk)
{
	preorder_free(&walk->order);
	free(walk->self);
	free(walk->active);
	free(walk->path);
}

/* From what ends at each node, walk->self, to what passes through. Leaves `self` empty. */
static void walk_fill(struct walk *walk, double *vector)
{
	const struct name_stack *stacks = walk->names->stacks.at;
	double *self_of = vector + walk->nodes, *total_of = self_of + walk->rows;
	u32 depth = 0;

	memcpy(vector, walk->self, walk->nodes * sizeof *vector);
	memset(self_of, 0, 2 * walk->rows * sizeof *vector);
	for (u32 i = walk->nodes; i-- > 1;)
		vector[stacks[i].outer] += vector[i];
	for (u32 n = 0; n < walk->order.count; n++) {
		u32 node = walk->order.stack_of[n], row = stacks[node].location;
		while (depth >= stacks[node].depth)
			walk->active[walk->path[depth--]]--;
		depth = stacks[node].depth;
		walk->path[depth] = row;
		self_of[row] += walk->self[node];
		if (!walk->active[row]++)
			total_of[row] += vector[node];
	}
	for (; depth; depth--)
		walk->active[walk->path[depth]]--;
	memset(walk->self, 0, walk->nodes * sizeof *walk->self);
}

static double value_of(const struct diff *diff, const struct profile_entry *entry)
{
	return (double)(diff->by_samples ? entry->count : entry->weight);
}

/* What a part weighs, and how many independent samples of unequal weight would be worth as much
 * (Kish, Survey Sampling, 1965: the square of the sum over the sum of squares). */
static bool weigh(struct diff *diff, struct part *part, struct walk *walk)
{
	const struct profile *profile = part->profile;
	double squares = 0;

	part->values = calloc(walk->size, sizeof(double));
	part->samples = calloc(walk->size, sizeof(double));
	part->share = calloc(walk->size, sizeof(double));
	if (!part->values || !part->samples || !part->share)
		return false;
	for (u32 i = 0; i < profile->entries.count; i++) {
		const struct profile_entry *entry = &profile->entries.at[i];
		double value = value_of(diff, entry);
		walk->self[part->stack_of[entry->stack]] += value;
		part->side->samples += entry->count;
		squares += diff->by_samples ? entry->count_squares : entry->weight_squares;
	}
	walk_fill(walk, part->values);
	for (u32 i = 0; i < profile->entries.count; i++) {
		const struct profile_entry *entry = &profile->entries.at[i];
		/* what weighs nothing is no evidence */
		if (value_of(diff, entry) > 0)
			walk->self[part->stack_of[entry->stack]] += (double)entry->count;
	}
	walk_fill(walk, part->samples);
	part->side->whole = part->values[0];
	part->kish = squares > 0 ? part->values[0] * part->values[0] / squares : 0;
	for (u32 i = 0; i < walk->size && part->side->whole > 0; i++)
		part->share[i] = part->values[i] / part->side->whole;
	return true;
}

/* ---- noise -------------------------------------------------------------------------------- */

/* The cells of each batch, one after the other: first[b] to first[b + 1]. */
static bool sort_cells(const struct timeline *timeline, u32 *cells, u32 first[NOISE_BATCHES + 1])
{
	u32 low = UINT32_MAX, high = 0, at[NOISE_BATCHES] = { 0 };

	for (u32 i = 0; i < timeline->cells.count; i++) {
		u32 slot = timeline->cells.at[i].slot;
		low = slot < low ? slot : low;
		high = slot > high ? slot : high;
	}
	if (low > high || high - low + 1 < NOISE_BATCHES)
		return false;
	u64 slots = (u64)high - low + 1;
	for (u32 i = 0; i < timeline->cells.count; i++)
		at[(timeline->cells.at[i].slot - low) * (u64)NOISE_BATCHES / slots]++;
	first[0] = 0;
	for (u32 b = 0; b < NOISE_BATCHES; b++) {
		first[b + 1] = first[b] + at[b];
		at[b] = first[b];
	}
	for (u32 i = 0; i < timeline->cells.count; i++)
		cells[at[(timeline->cells.at[i].slot - low) * (u64)NOISE_BATCHES / slots]++] = i;
	return true;
}

/* A sample weighs what its entry's do on the average. */
static bool measure(const struct diff *diff, struct part *part, struct walk *walk)
{
	const struct profile *profile = part->profile;
	const struct timeline *timeline = &profile->timeline;
	AUTO_FREE double *vector = calloc(walk->size, sizeof *vector);
	AUTO_FREE u32 *cells = calloc(timeline->cells.count + 1, sizeof *cells);
	u32 first[NOISE_BATCHES + 1];

	if (!vector || !cells ||
	    !noise_init(&part->noise, walk->size, part->share, part->side->whole))
		return false;
	if (timeline->bad || !(part->side->whole > 0) || !sort_cells(timeline, cells, first))
		return true;
	for (u32 b = 0; b < NOISE_BATCHES; b++) {
		for (u32 i = first[b]; i < first[b + 1]; i++) {
			const struct timeline_cell *cell = &timeline->cells.at[cells[i]];
			const struct profile_entry *entry = &profile->entries.at[cell->entry];
			walk->self[part->stack_of[entry->stack]] += value_of(diff, entry) *
								    cell->count /
								    (double)entry->count;
		}
		walk_fill(walk, vector);
		noise_add(&part->noise, vector, vector[0]);
	}
	noise_end(&part->noise);
	part->side->has_times = noise_is_measured(&part->noise);
	return true;
}

static double independent_variance(const struct part *part, double share)
{
	return share * (1 - share) / (part->kish > 1 ? part->kish : 1);
}

static int smaller(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median, over rows that have enough samples, of what their variance is against that of independent
 * samples: one function that comes in one block does not speak for the others. */
static double usual_ratio(const struct part *part, const struct walk *walk, bool phases,
			  double *ratios)
{
	u32 count = 0;

	if (!part->side->has_times)
		return NOISE_ASSUMED;
	for (u32 i = walk->nodes; i < walk->nodes + walk->rows; i++) {
		if (part->samples[i] < FEW || part->share[i] >= 1)
			continue;
		struct noise_variance measured = noise_of(&part->noise, i);
		ratios[count++] = (phases ? measured.variance : measured.sampling) /
				  independent_variance(part, part->share[i]);
	}
	qsort(ratios, count, sizeof *ratios, smaller);
	return count && ratios[count / 2] > 1 ? ratios[count / 2] : 1;
}

static bool set_clustering(struct diff *diff, struct part *part, const struct walk *walk)
{
	AUTO_FREE double *ratios = calloc(walk->rows + 1, sizeof *ratios);

	if (!ratios)
		return false;
	part->clustering = usual_ratio(part, walk, true, ratios);
	part->without_phases = usual_ratio(part, walk, false, ratios);
	part->side->effective = part->kish /
				(diff->options.same_work ? part->without_phases : part->clustering);
	return true;
}

/* The variance of a share in one recording, of which both together say `pooled`. What is measured on a few
 * samples may be far too small, so it is never less than the usual. */
static struct noise_variance variance_of(const struct part *part, u32 number, double pooled)
{
	double independent = independent_variance(part, pooled);
	double usual = independent * part->clustering, calm = independent * part->without_phases;
	struct noise_variance out = { usual, INFINITY, calm };

	if (!part->side->has_times)
		return out;
	out = noise_of(&part->noise, number);
	if (out.variance < usual)
		out = (struct noise_variance){ usual, INFINITY, out.sampling };
	if (out.sampling < calm)
		out.sampling = calm;
	return out;
}

struct comparing {
	struct diff *diff;
	const struct part *before, *after;
	const struct walk *walk;
};

/* What a number of a vector is of. */
static u32 location_at(const struct walk *walk, u32 number)
{
	return number < walk->nodes ? walk->names->stacks.at[number].location :
				      (number - walk->nodes) % walk->rows;
}

/* How likely so large a difference is by chance; the standard error and its degrees of freedom. */
static double chance_of(const struct comparing *c, u32 number, bool phases, double *error,
			double *freedom)
{
	const struct part *a = c->before, *b = c->after;
	double n = a->side->effective + b->side->effective;
	double pooled = (a->share[number] * a->side->effective +
			 b->share[number] * b->side->effective) /
			(n > 0 ? n : 1);
	pooled = pooled < 1 ? pooled : 1;
	struct noise_variance x = variance_of(a, number, pooled);
	struct noise_variance y = variance_of(b, number, pooled);
	double vx = phases ? x.variance : x.sampling, vy = phases ? y.variance : y.sampling;
	double fx = phases ? x.freedom : NOISE_BATCHES - 1, fy = phases ? y.freedom : fx;
	double run = RUN_SPREAD * pooled * (1 - pooled);
	double variance = vx + vy + 2 * run * run;
	double below = vx * vx / fx + vy * vy / fy; /* Welch and Satterthwaite */

	*error = sqrt(variance);
	*freedom = below > 0 ? variance * variance / below : INFINITY;
	if (!(variance > 0))
		return 1;
	double chance = noise_student((b->share[number] - a->share[number]) / *error, *freedom);
	double first = a->samples[number] / (phases ? a->clustering : a->without_phases);
	double seen = first + b->samples[number] / (phases ? b->clustering : b->without_phases);
	if (seen < FEW) {
		double exact = noise_uneven(first, seen, a->side->effective / n);
		chance = exact > chance ? exact : chance;
	}
	return chance;
}

static bool can_be_told(const struct comparing *c, u32 number)
{
	return c->before->samples[number] + c->after->samples[number] >= NOISE_LEAST &&
	       c->before->side->whole > 0 && c->after->side->whole > 0 &&
	       !names_is_of_reading(c->walk->names, location_at(c->walk, number));
}

/* By the cutoff of all that were compared together. */
static void judge(const struct comparing *c, u32 number, double cutoff, struct diff_value *out)
{
	const struct diff_options *options = &c->diff->options;
	double error, freedom;

	*out = (struct diff_value){ .before = c->before->share[number],
				    .after = c->after->share[number] };
	out->chance = chance_of(c, number, !options->same_work, &error, &freedom);
	out->error = error * noise_quantile(cutoff, freedom);
	bool told = can_be_told(c, number) && out->chance <= cutoff;
	if (told && out->before != out->after)
		out->verdict = c->before->samples[number] == 0 ? DIFF_NEW :
			       c->after->samples[number] == 0  ? DIFF_GONE :
			       out->after > out->before        ? DIFF_MORE :
								 DIFF_LESS;
	double change = fabs(out->after - out->before);
	if (!told && change > out->error)
		out->error = change; /* few samples: the exact test says that it is noise */
	if (!told && !options->same_work && can_be_told(c, number))
		out->phases = chance_of(c, number, false, &error, &freedom) <= cutoff;
}

/* Is a row's total its self? It is one comparison then. */
static bool is_same(const struct comparing *c, u32 self, u32 total)
{
	return c->before->values[self] == c->before->values[total] &&
	       c->after->values[self] == c->after->values[total];
}

/* The cutoff of a range of the vector; `half`: behind so many selfs come their totals. */
static double cutoff_of(const struct comparing *c, u32 first, u32 count, u32 half, double *chances,
			u32 *tested)
{
	double error, freedom;

	*tested = 0;
	for (u32 i = first; i < first + count; i++)
		if (can_be_told(c, i) && !(i >= first + half && is_same(c, i - half, i)))
			chances[(*tested)++] = chance_of(c, i, !c->diff->options.same_work, &error,
							 &freedom);
	return noise_cutoff(chances, *tested, FALSE_RATE);
}

static bool judge_all(const struct comparing *c)
{
	struct diff *diff = c->diff;
	const struct walk *walk = c->walk;
	AUTO_FREE double *chances = calloc(walk->size, sizeof *chances);
	u32 tested;

	diff->row = calloc(walk->rows + 1, sizeof *diff->row);
	diff->node = calloc(walk->nodes + 1, sizeof *diff->node);
	if (!chances || !diff->row || !diff->node)
		return false;
	diff->cutoff = cutoff_of(c, walk->nodes, 2 * walk->rows, walk->rows, chances,
				 &diff->tested);
	for (u32 i = 0; i < walk->rows; i++) {
		struct diff_row *row = &diff->row[i];
		u32 self = walk->nodes + i, total = self + walk->rows;
		row->before_samples = (u64)c->before->samples[total];
		row->after_samples = (u64)c->after->samples[total];
		judge(c, self, diff->cutoff, &row->self);
		judge(c, total, diff->cutoff, &row->total);
		diff->compared += row->before_samples || row->after_samples;
		diff->changed += row->self.verdict || row->total.verdict;
		diff->in_phases += (row->self.phases || row->total.phases) && !row->self.verdict &&
				   !row->total.verdict;
	}
	double cutoff = cutoff_of(c, 1, walk->nodes - 1, walk->nodes, chances, &tested);
	for (u32 i = 0; i < walk->nodes; i++) {
		diff->node[i].before_samples = (u64)c->before->samples[i];
		diff->node[i].after_samples = (u64)c->after->samples[i];
		judge(c, i, cutoff, &diff->node[i].total);
	}
	return true;
}

/* What ends at a node. */
static void set_node_selfs(struct diff *diff, const struct part *before, const struct part *after)
{
	for (u32 i = 0; i < diff->names.stacks.count; i++) {
		diff->node[i].self.before += before->share[i];
		diff->node[i].self.after += after->share[i];
		if (!i)
			continue;
		struct diff_value *outer = &diff->node[diff->names.stacks.at[i].outer].self;
		outer->before -= before->share[i];
		outer->after -= after->share[i];
	}
}

/* ---- the whole ---------------------------------------------------------------------------- */

static void part_free(struct part *part)
{
	free(part->location_of);
	free(part->stack_of);
	free(part->values);
	free(part->samples);
	free(part->share);
	noise_free(&part->noise);
}

bool diff_make(struct diff *diff, const struct profile *before, const struct profile *after,
	       const struct diff_options *options)
{
	struct part parts[2] = { { .profile = before, .side = &diff->before },
				 { .profile = after, .side = &diff->after } };
	struct walk walk = { 0 };
	struct comparing comparing = { diff, &parts[0], &parts[1], &walk };

	*diff = (struct diff){ .options = *options };
	diff->by_samples = !profile_total_weight(before) || !profile_total_weight(after);
	bool good = names_init(&diff->names) && map_names(diff, &parts[0]) &&
		    map_names(diff, &parts[1]) && walk_make(&walk, &diff->names);
	for (u32 i = 0; good && i < COUNT_OF(parts); i++)
		good = weigh(diff, &parts[i], &walk) && measure(diff, &parts[i], &walk) &&
		       set_clustering(diff, &parts[i], &walk);
	if (good && judge_all(&comparing)) {
		set_node_selfs(diff, &parts[0], &parts[1]);
		show_lines(diff, &parts[0]);
		show_lines(diff, &parts[1]);
		good = !diff->names.bad;
	} else {
		good = false;
	}
	walk_free(&walk);
	part_free(&parts[0]);
	part_free(&parts[1]);
	return good;
}

void diff_free(struct diff *diff)
{
	names_free(&diff->names);
	free(diff->row);
	free(diff->node);
	*diff = (struct diff){ 0 };
}

struct diff_usual diff_usual_noise(const struct diff *diff)
{
	double quantile = noise_quantile(diff->cutoff, NOISE_BATCHES),
	       squared = quantile * quantile;
	double before = diff->before.effective > 1 ? diff->before.effective : 1;
	double after = diff->after.effective > 1 ? diff->after.effective : 1;

	return (struct diff_usual){ .linear = squared * (1 / before + 1 / after),
				    .square = squared * 2 * RUN_SPREAD * RUN_SPREAD };
}

double diff_floor(const struct diff *diff, double share)
{
	struct diff_usual usual = diff_usual_noise(diff);
	double spread = share * (1 - share);

	return sqrt(usual.linear * spread + usual.square * spread * spread);
}

const char *diff_verdict_text(enum diff_verdict verdict)
{
	static const char *const texts[] = { "", "more", "less", "new", "gone" };

	return texts[verdict];
}
