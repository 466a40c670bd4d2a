/* SPDX-License-Identifier: Apache-2.0
 * top_keys.c - what each key does: see top_screen.h. */
#include <string.h>

#include "cli/top_screen.h"

enum { FILTER_BYTES = 200, CONTROL_U = 21 };

u32 top_screen_lines(const struct top_screen *screen)
{
	const struct top_model *model = screen->model;

	/* the function itself and two headings */
	return model->in_tree ? 3 + model->tree.callers.count + model->tree.callees.count :
				model->rows.count;
}

static void to_first_row(struct top_screen *screen)
{
	screen->cursor = screen->scroll = 0;
	screen->follows = false;
}

static void move(struct top_screen *screen, s64 by)
{
	const struct top_model *model = screen->model;
	s64 last = (s64)top_screen_lines(screen) - 1, to = (s64)screen->cursor + by;

	to = to > last ? last : to;
	screen->cursor = to < 0 ? 0 : (u32)to;
	/* the first row is always the heaviest, unless somebody walks away from it */
	screen->follows = screen->cursor && !model->in_tree;
	if (screen->follows)
		screen->followed = model->rows.at[screen->cursor].key;
}

static void set_view(struct top_screen *screen, enum top_view view)
{
	screen->model->view = view;
	screen->model->in_tree = false;
	to_first_row(screen);
}

/* ---- the filter --------------------------------------------------------------------------- */

static void add_character(struct str *text, u32 code)
{
	char bytes[4];
	u32 size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	if (text->length + size > FILTER_BYTES)
		return;
	for (u32 i = size; size > 1 && i-- > 1; code >>= 6)
		bytes[i] = (char)(0x80 | (code & 0x3f));
	bytes[0] = (char)(size == 1 ? code : (0xf00u >> size) | code);
	str_add(text, bytes, size);
}

static void drop_character(struct str *text)
{
	while (text->length && (text->text[text->length - 1] & 0xc0) == 0x80)
		text->length--;
	if (text->length)
		text->length--;
	if (text->text)
		text->text[text->length] = 0;
}

static void type(struct top_screen *screen, u32 key)
{
	struct str *filter = &screen->model->filter;

	if (key == TOP_KEY_ESCAPE || key == CONTROL_U)
		str_clear(filter);
	else if (key == TOP_KEY_BACKSPACE)
		drop_character(filter);
	else if (key >= ' ' && key < TOP_KEY_UP && key != 0x7f)
		add_character(filter, key);
	screen->typing = key != TOP_KEY_ESCAPE && key != TOP_KEY_ENTER;
	to_first_row(screen);
}

/* ---- in and out --------------------------------------------------------------------------- */

static void enter_tree(struct top_screen *screen, enum top_view view, u32 key)
{
	struct top_model *model = screen->model;

	model->in_tree = true;
	model->tree_view = view;
	model->tree_key = key;
	to_first_row(screen);
}

static void enter_scope(struct top_screen *screen, u32 key)
{
	struct top_model *model = screen->model;
	struct top_scope scope = { true, model->view, key };

	top_sums_set_scope(&model->sums, scope);
	str_clear(&model->filter);
	set_view(screen, TOP_FUNCTIONS);
}

static void enter_branch(struct top_screen *screen)
{
	const struct top_model *model = screen->model;
	const struct top_tree *tree = &model->tree;
	u32 line = screen->cursor, caller = line - 2, callee = line - 3 - tree->callers.count;

	if (line >= 2 && caller < tree->callers.count)
		enter_tree(screen, model->tree_view, tree->callers.at[caller].key);
	else if (line >= 3 + tree->callers.count && callee < tree->callees.count)
		enter_tree(screen, model->tree_view, tree->callees.at[callee].key);
}

static void enter(struct top_screen *screen)
{
	const struct top_model *model = screen->model;

	if (model->in_tree) {
		enter_branch(screen);
	} else if (screen->cursor < model->rows.count) {
		u32 key = model->rows.at[screen->cursor].key;
		if (model->view == TOP_FUNCTIONS || model->view == TOP_LINES)
			enter_tree(screen, model->view, key);
		else
			enter_scope(screen, key);
	}
}

/* One step back: out of the tree, then of the filter, then of the scope. */
static void leave(struct top_screen *screen)
{
	struct top_model *model = screen->model;
	enum top_view of = model->sums.scope.of;

	if (model->in_tree) {
		set_view(screen, model->view);
	} else if (model->filter.length) {
		str_clear(&model->filter);
		to_first_row(screen);
	} else if (model->sums.scope.set) {
		top_sums_set_scope(&model->sums, (struct top_scope){ 0 });
		set_view(screen, of);
	}
}

/* ---- one key ------------------------------------------------------------------------------ */

static bool move_by_key(struct top_screen *screen, u32 key)
{
	s64 page = screen->page > 1 ? screen->page - 1 : 1;

	switch (key) {
	case TOP_KEY_UP:
	case 'k':
		move(screen, -1);
		return true;
	case TOP_KEY_DOWN:
	case 'j':
		move(screen, 1);
		return true;
	case TOP_KEY_PAGE_UP:
		move(screen, -page);
		return true;
	case TOP_KEY_PAGE_DOWN:
		move(screen, page);
		return true;
	case TOP_KEY_HOME:
		move(screen, -(s64)screen->cursor);
		return true;
	case TOP_KEY_END:
		move(screen, UINT32_MAX);
		return true;
	default:
		return false;
	}
}

static bool view_by_key(struct top_screen *screen, u32 key)
{
	enum top_view view = screen->model->view;

	if (key >= '1' && key < '1' + TOP_VIEWS)
		set_view(screen, key - '1');
	else if (key == TOP_KEY_TAB)
		set_view(screen, (view + 1) % TOP_VIEWS);
	else if (key == TOP_KEY_BACK_TAB)
		set_view(screen, (view + TOP_VIEWS - 1) % TOP_VIEWS);
	else
		return false;
	return true;
}

static bool sort_by_key(struct top_screen *screen, u32 key)
{
	struct top_model *model = screen->model;

	if (key == 's')
		model->sort = TOP_BY_SELF;
	else if (key == 't')
		model->sort = TOP_BY_TOTAL;
	else if (key == 'n')
		model->sort = TOP_BY_NAME;
	else if (key == 'a')
		model->span = model->span == TOP_ALL ? TOP_RECENT : TOP_ALL;
	else
		return false;
	if (!screen->follows)
		to_first_row(screen);
	return true;
}

static enum top_action pause_or_resume(struct top_model *model)
{
	model->paused = !model->paused;
	return model->paused ? TOP_ACT_NONE : TOP_ACT_RESUME;
}

enum top_action top_screen_key(struct top_screen *screen, u32 key)
{
	screen->message[0] = 0;
	if (key == TOP_KEY_NONE || key == TOP_KEY_RESIZE)
		return TOP_ACT_NONE;
	if (screen->typing) {
		type(screen, key);
		return TOP_ACT_NONE;
	}
	if (key == 'q')
		return TOP_ACT_QUIT;
	if (screen->help || key == '?' || key == 'h') {
		screen->help = !screen->help;
		return TOP_ACT_NONE;
	}
	if (move_by_key(screen, key) || view_by_key(screen, key) || sort_by_key(screen, key))
		return TOP_ACT_NONE;
	switch (key) {
	case TOP_KEY_ENTER:
		enter(screen);
		return TOP_ACT_NONE;
	case TOP_KEY_ESCAPE:
	case TOP_KEY_BACKSPACE:
		leave(screen);
		return TOP_ACT_NONE;
	case '/':
		screen->typing = true;
		screen->model->in_tree = false;
		to_first_row(screen);
		return TOP_ACT_NONE;
	case ' ':
		return pause_or_resume(screen->model);
	case 'w':
		return TOP_ACT_WRITE_HTML;
	case 'W':
		return TOP_ACT_WRITE_FOLDED;
	default:
		return TOP_ACT_NONE;
	}
}
