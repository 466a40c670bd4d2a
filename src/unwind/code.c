/* SPDX-License-Identifier: Apache-2.0
 * code.c - see code.h.
 *
 *	gaps, where functions begin -> the state of the stack at each instruction -> spans */
#include "unwind/code.h"

#include "base/table.h"
#include "elf/image.h"
#include "unwind/arch.h"
#include "unwind/cases.h"
#include "unwind/gaps.h"
#include "unwind/rule.h"

#include <elf.h>
#include <string.h>

enum {
	STATES_MAX = UINT16_MAX,
	DEPTH_MAX = 1 << 20,
	JUMPS_MAX = 1 << 13, /* some 0.1 ms each, if somebody wants us to be slow */
};

/* What is known of the stack in front of an instruction. */
struct state {
	s32 depth; /* from sp to the CFA; LOST: not known */
	s32 frame; /* from fp to the CFA, where fp leads there; 0: it does not */
	/* Of a stack that was realigned, where sp no longer leads there: a register does, which may have the CFA and be pushed (gcc's DRAP). */
	s32 below; /* from sp to fp; LOST: not known */
	s32 kept;  /* from the place where the CFA was pushed to fp; 0: it was not */
	s32 held;  /* from the register to the CFA */
	u8 holder; /* which, and 1 more; 0: none */
	u8 base;   /* of the saved registers: UNWIND_BASE_* */
	s8 saved[UNWIND_SAVED];
	u8 is_last;   /* there is no caller */
	u8 is_signal; /* but what was interrupted */
	u8 zero[2];
};

enum { LOST = INT32_MIN };
enum { STATE_NONE, STATE_ENTRY, STATE_LAST, STATE_SIGNAL };

struct work {
	u64 address;
	u16 state;
};

struct reading {
	struct gaps gaps;
	VEC(struct state) states;
	struct table table; /* of the states */
	/* Ways to go: first those that are sure, then the cases of jumps through tables, then what is behind calls that may not come
	 * back. */
	VEC(struct work) soon, cases, later;
	u32 jumps; /* whose table was looked for */
	bool no_memory;
};

/* ---- states -------------------------------------------------------------------------------- */

static bool same_state(const void *owner, u32 item, const void *key)
{
	const struct reading *reading = owner;

	return memcmp(&reading->states.at[item], key, sizeof(struct state)) == 0;
}

static u16 state_number(struct reading *reading, const struct state *state)
{
	u64 hash = table_hash(state, sizeof *state);
	u32 found = table_find(&reading->table, hash, same_state, reading, state);

	if (found != TABLE_NONE)
		return (u16)found;
	if (reading->states.count == STATES_MAX)
		return STATE_NONE;
	if (!vec_push(&reading->states, *state) ||
	    !table_add(&reading->table, hash, reading->states.count - 1)) {
		reading->no_memory = true;
		return STATE_NONE;
	}
	return (u16)(reading->states.count - 1);
}

/* In the order of STATE_NONE and so on. */
static void begin_states(struct reading *reading)
{
	struct state state = { .depth = LOST, .below = LOST };

	memset(state.saved, UNWIND_SAVED_SAME, sizeof state.saved);
	state_number(reading, &state);
	state.depth = UNWIND_ENTRY_CFA;
	state_number(reading, &state);
	state.is_last = true;
	state_number(reading, &state);
	state.is_signal = true;
	state_number(reading, &state);
}

/* What is further away than any frame is large is not known. */
static s32 moved(s32 distance, s64 by)
{
	s64 sum = distance + by;

	return distance == LOST || sum < -DEPTH_MAX || sum > DEPTH_MAX ? LOST : (s32)sum;
}

/* Its place among those that a callee saves; UNWIND_SAVED: it is none. */
static u32 place_of(u8 reg)
{
#define LOOK(place, number)  \
	if (reg == (number)) \
		return place;
	UNWIND_EACH_SAVED(LOOK)
#undef LOOK
	return UNWIND_SAVED;
}

/* Where the top of the stack is, from what the saved registers' places are relative to. */
static s8 top_of(const struct state *state)
{
	s32 depth = state->base == UNWIND_BASE_FP ? state->below : state->depth;
	bool is_known = depth != LOST && depth % 8 == 0 && -depth / 8 > UNWIND_SAVED_LOST &&
			-depth / 8 < UNWIND_SAVED_SAME;

	return is_known ? (s8)(-depth / 8) : UNWIND_SAVED_LOST;
}

static void move_sp(struct state *state, s64 down)
{
	state->depth = moved(state->depth, down);
	state->below = moved(state->below, down);
	if (state->depth < 0)
		state->depth = LOST;
}

static void push(struct state *state, u8 reg)
{
	u32 place = place_of(reg);

	move_sp(state, 8);
	if (state->below != LOST && state->holder == reg + 1 && !state->held)
		state->kept = state->below;
	if (place < UNWIND_SAVED && state->saved[place] == UNWIND_SAVED_SAME)
		state->saved[place] = top_of(state);
}

/* fp is another. */
static void lose_frame(struct state *state)
{
	state->frame = state->kept = 0;
}

static void pop(struct state *state, u8 reg)
{
	u32 place = place_of(reg);

	if (place < UNWIND_SAVED && state->saved[place] == top_of(state))
		state->saved[place] = UNWIND_SAVED_SAME;
	if (reg == UNWIND_FP)
		lose_frame(state);
	move_sp(state, -8);
}

/* fp = sp + amount.  Behind a realignment what was pushed last is the caller's fp. */
static void make_frame(struct state *state, s32 amount)
{
	if (state->depth != LOST) {
		s32 frame = moved(state->depth, -(s64)amount);
		state->frame = frame == LOST ? 0 : frame;
	} else if (state->holder && !state->held) {
		state->below = moved(0, amount);
		state->base = UNWIND_BASE_FP;
		state->saved[place_of(UNWIND_FP)] = 0;
	}
}

/* reg = sp + amount: what is to lead back behind a realignment. */
static void copy(struct state *state, const struct instruction *instruction)
{
	s32 held = moved(state->depth, -(s64)instruction->amount);
	bool is_kept = place_of(instruction->reg) < UNWIND_SAVED && !instruction->amount;

	if (held == LOST || (held && !is_kept))
		return;
	state->holder = instruction->reg + 1;
	state->held = held;
}

/* sp = reg + amount */
static void uncopy(struct state *state, const struct instruction *instruction)
{
	state->depth = state->holder == instruction->reg + 1 ?
			       moved(state->held, -(s64)instruction->amount) :
			       LOST;
	state->below = LOST;
}

/* A register that a callee saves is on the stack, without a push. */
static void store(struct state *state, u8 reg, s32 amount)
{
	u32 place = place_of(reg);
	struct state at = *state;

	move_sp(&at, -(s64)amount);
	if (place < UNWIND_SAVED && state->saved[place] == UNWIND_SAVED_SAME)
		state->saved[place] = top_of(&at);
}

static s32 from_frame(const struct state *state, s32 amount)
{
	return state->frame ? moved(state->frame, -(s64)amount) : LOST;
}

/* Behind the instruction. */
static void follow(struct state *state, const struct instruction *instruction)
{
	if (state->holder && instruction->written >> (state->holder - 1) & 1)
		state->holder = state->held = 0;
	switch (instruction->kind) {
	case INSTRUCTION_PUSH:
		push(state, instruction->reg);
		break;
	case INSTRUCTION_POP:
		pop(state, instruction->reg);
		break;
	case INSTRUCTION_ADD:
		move_sp(state, -(s64)instruction->amount);
		break;
	case INSTRUCTION_LOSE:
		state->depth = state->below = LOST;
		break;
	case INSTRUCTION_LOSE_FP:
		lose_frame(state);
		break;
	case INSTRUCTION_ADDRESS:
	case INSTRUCTION_SUM:
		if (instruction->reg == UNWIND_FP)
			lose_frame(state);
		break;
	case INSTRUCTION_COPY:
		copy(state, instruction);
		break;
	case INSTRUCTION_UNCOPY:
		uncopy(state, instruction);
		break;
	case INSTRUCTION_STORE:
		store(state, instruction->reg, instruction->amount);
		break;
	case INSTRUCTION_FRAME:
		make_frame(state, instruction->amount);
		break;
	case INSTRUCTION_UNFRAME:
		state->depth = from_frame(state, instruction->amount);
		break;
	case INSTRUCTION_LEAVE:
		state->depth = from_frame(state, 0);
		state->below = LOST;
		pop(state, UNWIND_FP);
		break;
	case INSTRUCTION_CALL:
		if (state->holder && place_of(state->holder - 1) == UNWIND_SAVED)
			state->holder = state->held = 0;
		break;
	case INSTRUCTION_CLEAR:
		/* of a callee that did not save it nobody may want it */
		state->is_last |= state->saved[place_of(UNWIND_FP)] == UNWIND_SAVED_SAME &&
				  state->depth == UNWIND_ENTRY_CFA;
		state->frame = 0;
		break;
	default:
		break;
	}
}

/* What a signal's handler returns to: mov $15, %rax; syscall (rt_sigreturn).  It comes back to its first byte, from in front of it. */
static void mark_signal(struct gap *gap)
{
	static const u8 returns[][9] = { { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 },
					 { 0xb8, 15, 0, 0, 0, 0x0f, 0x05 } };
	static const u32 lengths[] = { 9, 7 };
	u64 size = gap->end - gap->begin;

	for (u32 i = 0; i < COUNT_OF(returns); i++)
		for (u64 at = 1; at + lengths[i] <= size; at++)
			if (gap->marks[at] & BEGINS &&
			    !memcmp(gap->bytes + at, returns[i], lengths[i])) {
				gap->states[at] = gap->states[at + lengths[i] - 2] = STATE_SIGNAL;
				if (!gap->states[at - 1])
					gap->states[at - 1] = STATE_SIGNAL;
			}
}

/* ---- the ways ------------------------------------------------------------------------------ */

static void go_on(struct reading *reading, u64 address, u16 state)
{
	reading->no_memory |= !vec_push(&reading->soon, (struct work){ address, state });
}

static void go_on_later(struct reading *reading, u64 address, u16 state)
{
	reading->no_memory |= !vec_push(&reading->later, (struct work){ address, state });
}

struct jump {
	struct reading *reading;
	u16 state;
};

static void go_on_case(void *arg, u64 address)
{
	const struct jump *jump = arg;
	struct work work = { address, jump->state };

	jump->reading->no_memory |= !vec_push(&jump->reading->cases, work);
}

static void go_on_cases(struct reading *reading, const struct gap *gap, u64 at,
			const struct instruction *instruction, u16 state)
{
	struct jump jump = { reading, state };

	if (reading->jumps++ < JUMPS_MAX)
		unwind_each_case(&reading->gaps, gap, at, instruction, go_on_case, &jump);
}

/* Where a call is over.  Where a jump leads, too, or padding is, it may be one that never is: if nothing else leads there, later. */
static bool comes_back(struct reading *reading, const struct gap *gap, u64 at, u16 state)
{
	struct instruction instruction;
	bool is_padded = false;
	u64 from = at;

	for (; at < gap->end && gap_read(gap, at, &instruction) &&
	       gap_is_padding(gap, at, instruction.length);
	     at += instruction.length)
		is_padded = true;
	bool is_led_to = at < gap->end && gap->marks[at - gap->begin] & IS_LED_TO;
	if (is_led_to)
		go_on_later(reading, from, state);
	return !is_led_to && !is_padded;
}

/* Does it take more off the stack than a function finds there? Who jumped here has put it there (libffi's trampolines). */
static bool takes_more(const struct state *before, const struct instruction *instruction)
{
	s64 taken = instruction->kind == INSTRUCTION_ADD ? instruction->amount :
		    instruction->kind == INSTRUCTION_POP ? 8 :
							   0;

	return before->depth != LOST && taken > before->depth;
}

/* To the end of the way, or to where another has been. */
static void walk(struct reading *reading, struct work work)
{
	struct gap *gap = gaps_at(&reading->gaps, work.address);
	struct instruction instruction;
	bool is_first = true, is_straight = work.state == STATE_ENTRY;

	for (u64 at = work.address; gap && at < gap->end && work.state && !reading->no_memory;
	     is_first = false) {
		u64 place = at - gap->begin;
		bool is_foreign = gap->marks[place] & IS_ENTRY && work.state != STATE_ENTRY &&
				  !(is_first && work.state == STATE_LAST);
		if (gap->states[place] || is_foreign || !gap_read(gap, at, &instruction))
			return;
		gap->marks[place] |= BEGINS;
		gap->states[place] = work.state;
		struct state state = reading->states.at[work.state];
		is_straight &= !instruction.target;
		bool is_none = is_straight && takes_more(&state, &instruction);
		follow(&state, &instruction);
		work.state = state_number(reading, &state);
		at += instruction.length;
		if (is_none)
			memset(gap->states + (work.address - gap->begin), STATE_NONE,
			       (at - work.address) * sizeof *gap->states);
		if (instruction.target && (instruction.kind == INSTRUCTION_JUMP ||
					   instruction.kind == INSTRUCTION_BRANCH))
			go_on(reading, instruction.target, work.state);
		if (instruction.kind == INSTRUCTION_JUMP && !instruction.target)
			go_on_cases(reading, gap, at - instruction.length, &instruction,
				    work.state);
		if (instruction.kind == INSTRUCTION_CALL ?
			    !comes_back(reading, gap, at, work.state) :
			    instruction_ends_way(&instruction))
			return;
	}
}

static void walk_soon(struct reading *reading)
{
	while ((reading->soon.count || reading->cases.count) && !reading->no_memory)
		walk(reading, reading->soon.count ? reading->soon.at[--reading->soon.count] :
						    reading->cases.at[--reading->cases.count]);
}

static void walk_later(struct reading *reading)
{
	while (reading->later.count && !reading->no_memory) {
		walk(reading, reading->later.at[--reading->later.count]);
		walk_soon(reading);
	}
}

static void walk_entries(struct reading *reading, const struct gap *gap)
{
	u64 first = image_entry(reading->gaps.image);

	for (u64 at = gap->begin; at < gap->end; at++)
		if (gap->marks[at - gap->begin] & IS_ENTRY)
			go_on(reading, at, at == first ? STATE_LAST : STATE_ENTRY);
	walk_soon(reading);
}

/* What no way has led to, behind one that ends, and begins on a line behind padding, is the next function; unless the last one
 * jumps through a table: then it may be a case. */
static void walk_rest(struct reading *reading, struct gap *gap)
{
	struct instruction instruction;
	bool is_behind_end = true, is_behind_padding = true, has_cases = false;

	for (u64 at = gap->begin; at < gap->end;) {
		u64 place = at - gap->begin;
		if (!(gap->marks[place] & BEGINS) || !gap_read(gap, at, &instruction)) {
			at++;
			continue;
		}
		bool is_pad = gap_is_padding(gap, at, instruction.length);
		has_cases &= !(gap->marks[place] & IS_ENTRY);
		if (!gap->states[place] && !(gap->marks[place] & IS_LED_TO) && is_behind_end &&
		    is_behind_padding && !is_pad && !has_cases && at % UNWIND_LINE == 0) {
			gap->marks[place] |= IS_ENTRY;
			go_on(reading, at, STATE_ENTRY);
			walk_soon(reading);
		}
		/* with nothing on the stack it is a tail call */
		has_cases |= instruction.kind == INSTRUCTION_JUMP && !instruction.target &&
			     gap->states[place] != STATE_ENTRY;
		is_behind_padding = is_pad;
		is_behind_end = instruction_ends_way(&instruction) ||
				(is_pad && (is_behind_end || !gap->states[place]));
		at += instruction.length;
	}
}

/* ---- spans --------------------------------------------------------------------------------- */

/* As a prologue makes it: push %rbp; mov %rsp, %rbp. Then fp is surer than sp, which a loop may have moved, or a callee that pops
 * its arguments, as V8's do. */
static bool has_usual_frame(const struct state *state)
{
	return state->frame == 2 * 8 && state->saved[place_of(UNWIND_FP)] == -2 &&
	       state->base != UNWIND_BASE_FP;
}

static void rule_of(const struct state *state, struct unwind_rule *rule)
{
	*rule = (struct unwind_rule){ .kind = UNWIND_PLUS,
				      .reg = UNWIND_SP,
				      .offset = state->depth };
	if (state->is_last) {
		*rule = (struct unwind_rule){ .kind = state->is_signal ? UNWIND_SIGNAL :
									 UNWIND_END };
		return;
	}
	rule->base = state->base;
	if (state->depth == LOST || has_usual_frame(state)) {
		bool is_held = state->holder && !state->kept && !state->frame;
		rule->kind = state->kept             ? UNWIND_DEREF :
			     state->frame || is_held ? UNWIND_PLUS :
						       UNWIND_NONE;
		rule->reg = is_held ? state->holder - 1 : UNWIND_FP;
		rule->offset = state->kept ? -state->kept : is_held ? state->held : state->frame;
	}
	memcpy(rule->saved, state->saved, sizeof rule->saved);
}

static bool put(const struct reading *reading, u64 begin, u64 end, u16 state, unwind_span_fn *fn,
		void *arg)
{
	struct unwind_rule rule;

	if (!state)
		return true;
	rule_of(&reading->states.at[state], &rule);
	return fn(arg, begin, end, &rule);
}

static bool put_spans(const struct reading *reading, const struct gap *gap, unwind_span_fn *fn,
		      void *arg)
{
	struct instruction instruction;
	u64 begin = gap->begin, at = gap->begin;
	u16 state = STATE_NONE;

	while (at < gap->end) {
		u16 its = gap->states[at - gap->begin];
		u32 length = its && gap->marks[at - gap->begin] & BEGINS &&
					     gap_read(gap, at, &instruction) ?
				     instruction.length :
				     1;
		if (its != state) {
			if (!put(reading, begin, at, state, fn, arg))
				return false;
			begin = at;
			state = its;
		}
		at += length;
	}
	return put(reading, begin, at, state, fn, arg);
}

/* ---- all of it ----------------------------------------------------------------------------- */

static bool reading_begin(struct reading *reading, const struct image *image)
{
	*reading = (struct reading){ .gaps.image = image };
	if (image_machine(image) != EM_X86_64)
		return false;
	begin_states(reading);
	return true;
}

/* Gives out what was found, and frees it. */
static bool reading_end(struct reading *reading, unwind_span_fn *fn, void *arg)
{
	const struct gaps *gaps = &reading->gaps;
	bool enough = false;

	for (u32 i = 0; i < gaps->list.count && !enough && !reading->no_memory; i++)
		enough = !put_spans(reading, &gaps->list.at[i], fn, arg);
	gaps_free(&reading->gaps);
	vec_free(&reading->states);
	vec_free(&reading->soon);
	vec_free(&reading->cases);
	vec_free(&reading->later);
	table_free(&reading->table);
	return !reading->no_memory;
}

bool unwind_code_spans(const struct image *image, const struct unwind_covered *covered, u32 count,
		       unwind_span_fn *fn, void *arg)
{
	struct reading reading;
	const struct gaps *gaps = &reading.gaps;

	if (!reading_begin(&reading, image))
		return true;
	gaps_find(&reading.gaps, covered, count);
	reading.no_memory |= gaps->no_memory;
	for (u32 i = 0; i < gaps->list.count; i++)
		walk_entries(&reading, &gaps->list.at[i]);
	for (u32 i = 0; i < gaps->list.count; i++)
		walk_rest(&reading, &gaps->list.at[i]);
	walk_later(&reading);
	for (u32 i = 0; i < gaps->list.count; i++) {
		walk_rest(&reading, &gaps->list.at[i]);
		mark_signal(&gaps->list.at[i]);
	}
	return reading_end(&reading, fn, arg);
}

bool unwind_code_spans_of(const struct image *image, const struct unwind_covered *covered,
			  const u64 *entries, u32 count, unwind_span_fn *fn, void *arg)
{
	struct reading reading;
	const struct gaps *gaps = &reading.gaps;

	if (!reading_begin(&reading, image))
		return true;
	gaps_find_of(&reading.gaps, covered, entries, count);
	reading.no_memory |= gaps->no_memory;
	for (u32 i = 0; i < gaps->list.count; i++)
		walk_entries(&reading, &gaps->list.at[i]);
	return reading_end(&reading, fn, arg);
}
