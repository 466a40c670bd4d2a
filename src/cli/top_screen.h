/* SPDX-License-Identifier: Apache-2.0
 * top_screen.h - the model as a screen of cells, at any size, and what each key does to it. */
#pragma once
#include "cli/top_grid.h"
#include "cli/top_model.h"

/* Characters are themselves; these are past the last of Unicode. */
enum top_key_code {
	TOP_KEY_NONE = 0,
	TOP_KEY_UP = 0x110000,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_ENTER,
	TOP_KEY_ESCAPE,
	TOP_KEY_BACKSPACE,
	TOP_KEY_TAB,
	TOP_KEY_BACK_TAB,
	TOP_KEY_RESIZE,
};

/* What is left to do for who owns files and sessions. */
enum top_action {
	TOP_ACT_NONE,
	TOP_ACT_QUIT,
	TOP_ACT_WRITE_HTML,
	TOP_ACT_WRITE_FOLDED,
	TOP_ACT_RESUME, /* sampling has gone on during the pause, and the model has not looked */
};

struct top_screen {
	struct top_model *model;
	bool plain; /* no tabs, no keys: text for a pipe */
	bool help, typing;
	u32 cursor, scroll;
	bool follows; /* the cursor stays on its row wherever that goes */
	u32 followed;
	u32 page;          /* rows that the last picture had room for */
	char message[600]; /* the last line, until the next key */
};

enum top_action top_screen_key(struct top_screen *screen, u32 key);
/* What the model has now; it was refreshed. */
void top_screen_draw(struct top_screen *screen, struct top_grid *grid);
/* A line of the table or the tree: how many there are. */
u32 top_screen_lines(const struct top_screen *screen);
