/* SPDX-License-Identifier: Apache-2.0
 * top_terminal.h - the terminal of `sonde top`: cells out, keys in, by ncurses.
 *
 * However sonde ends, the terminal is as it was. */
#pragma once
#include "cli/top_grid.h"

/* Can a full screen be drawn here: a terminal of a known kind, and at least 60 columns of it? */
bool top_terminal_fits(void);
/* The width of standard output, or of a line that nobody looks at; at least 20. */
u32 top_terminal_width(void);
/* False: ncurses does not know the terminal. */
bool top_terminal_open(void);
/* Does nothing when it is not open. */
void top_terminal_close(void);
/* False: it is open, and somebody else's; we are in the background. */
bool top_terminal_is_ours(void);
/* The grid gets the terminal's size. */
bool top_terminal_resize(struct top_grid *grid);
void top_terminal_show(const struct top_grid *grid);
/* The next key (enum top_key_code), or TOP_KEY_NONE after so many milliseconds. */
u32 top_terminal_key(int wait_ms);
