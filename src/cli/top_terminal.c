/* SPDX-License-Identifier: Apache-2.0
 * top_terminal.c - see top_terminal.h.
 *
 * The only file that knows ncurses.  Its way back out (endwin) is not for a signal handler, so the
 * bytes and the modes that lead back are kept from the start. */
#include "cli/top_terminal.h"

#include <locale.h>
#include <ncurses.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cli/signals.h"
#include "cli/top_screen.h"

enum { WIDTH_LEAST = 60, WIDTH_NARROW = 20, WIDTH_NO_TERMINAL = 160, ESCAPE_MS = 25 };

static struct {
	SCREEN *screen;
	struct termios modes;
	char way_back[128];
} terminal;

static u32 width_of(int fd)
{
	struct winsize size;

	return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool top_terminal_fits(void)
{
	const char *kind = getenv("TERM");

	return kind && kind[0] && strcmp(kind, "dumb") != 0 && isatty(STDIN_FILENO) &&
	       width_of(STDOUT_FILENO) >= WIDTH_LEAST;
}

u32 top_terminal_width(void)
{
	u32 width = width_of(STDOUT_FILENO);

	if (!width)
		return WIDTH_NO_TERMINAL;
	return width > WIDTH_NARROW ? width - 1 :
				      WIDTH_NARROW; /* some terminals wrap a full line */
}

/* ---- in and out --------------------------------------------------------------------------- */

/* Async-signal-safe. */
static void restore(void)
{
	if (!terminal.screen)
		return;
	ssize_t unused = write(STDOUT_FILENO, terminal.way_back, strlen(terminal.way_back));
	(void)unused;
	tcsetattr(STDOUT_FILENO, TCSANOW, &terminal.modes);
}

static void on_crash(int number)
{
	restore();
	raise(number); /* SA_RESETHAND: with the default action */
}

static void add_way_back(const char *capability)
{
	const char *bytes = tigetstr(capability);
	size_t used = strlen(terminal.way_back);

	if (bytes && bytes != (char *)-1 && used + strlen(bytes) < sizeof terminal.way_back)
		strcpy(terminal.way_back + used, bytes);
}

static void watch_crashes(void)
{
	static const int numbers[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGQUIT };
	struct sigaction action = { .sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND };

	for (u32 i = 0; i < COUNT_OF(numbers); i++)
		sigaction(numbers[i], &action, NULL);
}

static void set_colours(void)
{
	const char *no_colour = getenv("NO_COLOR");

	if ((no_colour && no_colour[0]) || start_color() == ERR)
		return;
	use_default_colors();
	init_pair(1, COLOR_RED, -1);
}

bool top_terminal_open(void)
{
	setlocale(LC_CTYPE, "");
	if (tcgetattr(STDOUT_FILENO, &terminal.modes) != 0)
		return false;
	terminal.screen = newterm(NULL, stdout, stdin);
	if (!terminal.screen)
		return false;
	add_way_back("sgr0");
	add_way_back("cnorm");
	add_way_back("rmkx");
	add_way_back("rmcup");
	signals_set_restore(restore);
	watch_crashes();
	set_escdelay(ESCAPE_MS);
	set_colours();
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	curs_set(0);
	return true;
}

void top_terminal_close(void)
{
	if (!terminal.screen)
		return;
	endwin();
	signals_set_restore(NULL);
	delscreen(terminal.screen);
	terminal.screen = NULL;
}

bool top_terminal_is_ours(void)
{
	pid_t theirs = terminal.screen ? tcgetpgrp(STDIN_FILENO) : -1;

	return theirs < 0 || theirs == getpgrp();
}

/* ---- cells -------------------------------------------------------------------------------- */

bool top_terminal_resize(struct top_grid *grid)
{
	int height, width;

	getmaxyx(stdscr, height, width);
	return top_grid_resize(grid, (u32)width, (u32)height);
}

static attr_t attributes(u8 style, short *pair)
{
	static const attr_t of[] = {
		[TOP_PLAIN] = A_NORMAL,   [TOP_STRONG] = A_BOLD,    [TOP_FAINT] = A_DIM,
		[TOP_HEAD] = A_UNDERLINE, [TOP_CHOSEN] = A_REVERSE, [TOP_WARNING] = A_BOLD,
	};

	*pair = style == TOP_WARNING && has_colors() ? 1 : 0;
	return of[style];
}

void top_terminal_show(const struct top_grid *grid)
{
	for (u32 y = 0; y < grid->height; y++) {
		for (u32 x = 0; x < grid->width; x++) {
			const struct top_cell *cell = &grid->cells[(size_t)y * grid->width + x];
			cchar_t character;
			short pair;
			attr_t attribute = attributes(cell->style, &pair);
			if (cell->text[0] &&
			    setcchar(&character, cell->text, attribute, pair, NULL) == OK)
				mvadd_wch((int)y, (int)x, &character);
		}
	}
	refresh();
}

/* ---- keys --------------------------------------------------------------------------------- */

static u32 special_key(wint_t key)
{
	static const struct {
		wint_t theirs;
		u32 ours;
	} keys[] = {
		{ KEY_UP, TOP_KEY_UP },         { KEY_DOWN, TOP_KEY_DOWN },
		{ KEY_PPAGE, TOP_KEY_PAGE_UP }, { KEY_NPAGE, TOP_KEY_PAGE_DOWN },
		{ KEY_HOME, TOP_KEY_HOME },     { KEY_END, TOP_KEY_END },
		{ KEY_ENTER, TOP_KEY_ENTER },   { KEY_RIGHT, TOP_KEY_ENTER },
		{ KEY_LEFT, TOP_KEY_ESCAPE },   { KEY_BACKSPACE, TOP_KEY_BACKSPACE },
		{ KEY_BTAB, TOP_KEY_BACK_TAB }, { KEY_RESIZE, TOP_KEY_RESIZE },
	};

	for (u32 i = 0; i < COUNT_OF(keys); i++)
		if (keys[i].theirs == key)
			return keys[i].ours;
	return TOP_KEY_NONE;
}

u32 top_terminal_key(int wait_ms)
{
	wint_t key;

	timeout(wait_ms);
	int kind = get_wch(&key);
	if (kind == ERR)
		return TOP_KEY_NONE;
	if (kind == KEY_CODE_YES)
		return special_key(key);
	switch (key) {
	case '\r':
	case '\n':
		return TOP_KEY_ENTER;
	case 27:
		return TOP_KEY_ESCAPE;
	case '\b':
	case 127:
		return TOP_KEY_BACKSPACE;
	case '\t':
		return TOP_KEY_TAB;
	default:
		return key < TOP_KEY_UP ? (u32)key : TOP_KEY_NONE;
	}
}
