/* SPDX-License-Identifier: Apache-2.0
 * top_live.c - see top_live.h. */
#include "cli/top_live.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/record_output.h"
#include "cli/say.h"
#include "cli/signals.h"
#include "cli/top_terminal.h"
#include "cli/value.h"
#include "engines/stops.h"

enum {
	DRAW_MS = 1000,
	FIRST_DRAW_MS = 300, /* something to see at once */
	KEY_WAIT_MS = 100,   /* how soon an end is noticed */
	TEXT_MS = 3000,
	FIND_MS = 3000,
	HEAD_LINES = 5, /* of a table in text */
};

/* Once in each round of a loop: takes a Ctrl-Z, then says whether there is a reason to end. */
static enum top_end begin_round(struct top_live *live)
{
	stops_take(!top_terminal_is_ours());
	if (signals_stop())
		return TOP_END_SIGNAL;
	if (live->command && spawn_poll(live->command))
		return TOP_END_COMMAND;
	if (!live->all && !top_sources_running(live->sources, &live->err))
		return live->command ? TOP_END_COMMAND : TOP_END_GONE;
	return clock_now_ns() >= live->end_ns ? TOP_END_TIME : TOP_GOES_ON;
}

static void find_more(struct top_live *live)
{
	u64 now_ns = clock_now_ns();

	if (!live->all || now_ns < live->next_find_ns)
		return;
	top_sources_find(live->sources);
	live->next_find_ns = clock_now_ns() + FIND_MS * NS_PER_MS;
}

enum top_end top_live_wait(struct top_live *live)
{
	enum top_end end;

	while (!(end = begin_round(live))) {
		u64 wake_ns = clock_now_ns() + KEY_WAIT_MS * NS_PER_MS;
		clock_sleep_until(wake_ns < live->end_ns ? wake_ns : live->end_ns);
	}
	return end;
}

const char *top_live_warning(struct top_live *live)
{
	const char *warning = live->model->gather.profile.quality.warning;

	if (live->has_warned || !warning[0])
		return NULL;
	live->has_warned = true;
	return warning;
}

/* ---- text --------------------------------------------------------------------------------- */

/* Standard output takes it line by line, so that a table is whole when it is there. */
static bool print_table(struct top_live *live, struct top_grid *grid)
{
	struct out out;
	struct err err;

	pthread_mutex_lock(&live->sources->lock);
	bool good = top_grid_resize(grid, top_terminal_width(), HEAD_LINES + live->limit);
	top_model_refresh(live->model);
	const char *warning = top_live_warning(live);
	if (warning)
		say_warning("%s", warning);
	top_screen_draw(&live->screen, grid);
	pthread_mutex_unlock(&live->sources->lock);
	if (!good || !out_open_file(&out, "-", &err))
		return false;
	top_grid_write(grid, &out);
	out_text(&out, "\n");
	return out_close(&out, &err);
}

enum top_end top_live_text(struct top_live *live)
{
	struct top_grid grid = { 0 };
	u64 next_ns = clock_now_ns() + TEXT_MS * NS_PER_MS;
	enum top_end end;

	live->screen.plain = true;
	while (!(end = begin_round(live))) {
		u64 now_ns = clock_now_ns(), wake_ns = now_ns + KEY_WAIT_MS * NS_PER_MS;
		find_more(live);
		if (now_ns >= next_ns) {
			if (!print_table(live, &grid)) {
				end = TOP_END_OUTPUT;
				break;
			}
			next_ns += TEXT_MS * NS_PER_MS;
		}
		clock_sleep_until(wake_ns < live->end_ns ? wake_ns : live->end_ns);
	}
	if (end != TOP_END_OUTPUT) /* what came since the last one */
		print_table(live, &grid);
	top_grid_free(&grid);
	return end;
}

/* ---- the screen --------------------------------------------------------------------------- */

/* Sampling goes on meanwhile: a session waits for nobody who looks at the model. */
static void write_report(struct top_live *live, const char *format)
{
	const struct profile *profile = &live->model->gather.profile;
	struct export_options options = { .threads = profile->threads.count > 1 };
	struct record_output output;
	struct err err = { 0 };
	char *message = live->screen.message;
	size_t room = sizeof live->screen.message;
	char bytes[32];
	u64 size;

	if (!profile_total_count(profile)) {
		snprintf(message, room, "there is no sample to write yet");
		return;
	}
	if (!record_output_choose(&output, NULL, format, &err) ||
	    !record_output_open(&output, live->pid, &err) ||
	    !record_output_write(&output, profile, &options, &size, &err)) {
		snprintf(message, room, "%s", err.text);
		return;
	}
	snprintf(message, room, "wrote %s (%s bytes)", output.path, value_grouped(size, bytes));
	str_addf(&live->written, "%s%s", live->written.length ? ", " : "", output.path);
}

static void draw(struct top_live *live, struct top_grid *grid)
{
	pthread_mutex_lock(&live->sources->lock);
	bool good = top_terminal_resize(grid);
	top_model_refresh(live->model);
	const char *warning = top_live_warning(live);
	if (warning)
		snprintf(live->screen.message, sizeof live->screen.message, "warning: %s", warning);
	if (good)
		top_screen_draw(&live->screen, grid);
	pthread_mutex_unlock(&live->sources->lock);
	if (good)
		top_terminal_show(grid);
}

/* False: quit. */
static bool handle(struct top_live *live, u32 key)
{
	bool go_on = true;

	pthread_mutex_lock(&live->sources->lock);
	switch (top_screen_key(&live->screen, key)) {
	case TOP_ACT_QUIT:
		go_on = false;
		break;
	case TOP_ACT_WRITE_HTML:
		write_report(live, "html");
		break;
	case TOP_ACT_WRITE_FOLDED:
		write_report(live, "folded");
		break;
	case TOP_ACT_RESUME:
		top_sources_resume(live->sources);
		break;
	case TOP_ACT_NONE:
		break;
	}
	top_model_refresh(live->model); /* what the next key acts on */
	pthread_mutex_unlock(&live->sources->lock);
	return go_on;
}

/* Waits for a key, then takes all that are there. False: quit. */
static bool handle_keys(struct top_live *live, u64 until_ns, bool *any)
{
	u64 now_ns = clock_now_ns(),
	    left_ms = until_ns > now_ns ? (until_ns - now_ns) / NS_PER_MS : 0;
	u32 key = top_terminal_key(left_ms < KEY_WAIT_MS ? (int)left_ms : KEY_WAIT_MS);

	*any = key != TOP_KEY_NONE;
	if (!*any && clock_now_ns() < now_ns + NS_PER_MS) /* the terminal has gone */
		clock_sleep_until(now_ns +
				  (left_ms < KEY_WAIT_MS ? left_ms : KEY_WAIT_MS) * NS_PER_MS);
	for (; key != TOP_KEY_NONE; key = top_terminal_key(0))
		if (!handle(live, key))
			return false;
	return true;
}

enum top_end top_live_screen(struct top_live *live)
{
	struct top_grid grid = { 0 };
	u64 next_ns = clock_now_ns() + FIRST_DRAW_MS * NS_PER_MS;
	enum top_end end;

	draw(live, &grid);
	while (!(end = begin_round(live))) {
		bool any;
		if (!top_terminal_is_ours()) {
			clock_sleep_until(clock_now_ns() + KEY_WAIT_MS * NS_PER_MS);
			continue;
		}
		if (!handle_keys(live, next_ns, &any)) {
			end = TOP_END_QUIT;
			break;
		}
		find_more(live);
		bool due = clock_now_ns() >= next_ns;
		if (any || due)
			draw(live, &grid);
		if (due)
			next_ns = clock_now_ns() + DRAW_MS * NS_PER_MS;
	}
	top_grid_free(&grid);
	live->has_warned = false; /* what stood on the screen is gone with it */
	return end;
}
