/* SPDX-License-Identifier: Apache-2.0
 * top-screen.c - the screen of `sonde top`, at any size and under any key. */
#include "check.h"

#include <locale.h>
#include <string.h>

#include "cli/columns.h"
#include "cli/top.h"
#include "cli/top_screen.h"

static const char busy[] =
	"thread main (1);<main> (/srv/app.rb:1);Parser#parse (/srv/lib/parser.rb:10) 60\n"
	"thread main (1);<main> (/srv/app.rb:1);Parser#parse (/srv/lib/parser.rb:10);scan [c] 30\n"
	"thread w\xc3\xb6rker (2);Sorter#run (/srv/lib/\xe6\x97\xa5\xe6\x9c\xac/sorter.rb:5) 10\n";

struct shown {
	struct hand_fed fed;
	struct top_screen screen;
	struct top_grid grid;
	struct out out;
	char *text;
};

static void show(struct shown *shown, u32 width, u32 height)
{
	top_model_refresh(&shown->fed.model);
	assert_true(top_grid_resize(&shown->grid, width, height));
	top_screen_draw(&shown->screen, &shown->grid);
	if (shown->out.buffer)
		out_abandon(&shown->out);
	out_open_memory(&shown->out);
	top_grid_write(&shown->grid, &shown->out);
	out_bytes(&shown->out, "", 1);
	shown->text = (char *)shown->out.buffer;
}

static enum top_action press(struct shown *shown, u32 key)
{
	enum top_action action = top_screen_key(&shown->screen, key);

	show(shown, 80, 24);
	return action;
}

static void begin(struct shown *shown, const char *lines)
{
	*shown = (struct shown){ 0 };
	hand_fed_init(&shown->fed);
	shown->screen.model = &shown->fed.model;
	hand_feed(&shown->fed, 2, lines);
	show(shown, 80, 24);
}

static void end(struct shown *shown)
{
	out_abandon(&shown->out);
	top_grid_free(&shown->grid);
	hand_fed_free(&shown->fed);
}

static void assert_shows(const struct shown *shown, const char *wanted)
{
	if (!strstr(shown->text, wanted))
		fail_msg("no \"%s\" in:\n%s", wanted, shown->text);
}

static void assert_hides(const struct shown *shown, const char *unwanted)
{
	if (strstr(shown->text, unwanted))
		fail_msg("\"%s\" in:\n%s", unwanted, shown->text);
}

static void a_picture_of_80_by_24(void **state)
{
	static const char wanted[] =
		"ruby app.rb (pid 42)                                                  cpu, 2.0 s\n"
		"99.0 of 99 Hz, 100 samples, 2 threads\n"
		"lost 0.0 %, moving 0.0 %; own CPU 4.0 %, the program 0.50 cores\n"
		"[1 functions]  2 lines   3 threads   4 processes   5 languages\n"
		"by self; 100 % is 1.00 s of CPU time in the last 2 s\n"
		" SELF%  total%      SELF  function\n"
		"  60.0    90.0    600 ms  Parser#parse (/srv/lib/parser.rb)\n"
		"  30.0    30.0    300 ms  scan\n"
		"  10.0    10.0    100 ms  Sorter#run (/srv/lib/\xe6\x97\xa5\xe6\x9c\xac/sorter.rb)\n"
		"   0.0    90.0      0 ms  <main> (/srv/app.rb)\n"
		"\n\n\n\n\n\n\n\n\n\n\n\n\n"
		"q quit  ? help  s,t sort  / find  Enter calls  a all  space pause  w write\n";
	struct shown shown;

	(void)state;
	begin(&shown, busy);
	assert_string_equal(shown.text, wanted);
	end(&shown);
}

/* No line is longer than the screen, whatever is drawn. */
static void every_size_holds_its_lines(void **state)
{
	static const u32 keys[] = {
		TOP_KEY_RESIZE, '2', '3', '?', 'q', TOP_KEY_ENTER, '1', TOP_KEY_ENTER,
		TOP_KEY_ESCAPE, '/', 'x'
	};
	struct shown shown;

	(void)state;
	begin(&shown, busy);
	for (u32 k = 0; k < COUNT_OF(keys); k++) {
		press(&shown, keys[k]);
		for (u32 width = 1; width < 90; width += 3) {
			for (u32 height = 1; height < 26; height++) {
				show(&shown, width, height);
				for (char *line = shown.text; *line;) {
					size_t length = strcspn(line, "\n");
					assert_true(columns_of(line, length) <= width);
					line += length + 1;
				}
			}
		}
	}
	end(&shown);
}

static void names_are_cut_at_their_end_and_measured_in_columns(void **state)
{
	struct top_grid grid = { 0 };
	struct out out;

	(void)state;
	assert_true(top_grid_resize(&grid, 10, 3));
	assert_int_equal(top_grid_text(&grid, 0, 0, TOP_PLAIN, "abcdefghijk"), 10);
	/* three wide characters are six columns, and half of one is not drawn */
	assert_int_equal(
		top_grid_text(&grid, 2, 1, TOP_PLAIN,
			      "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5\xe6\x9c\xac"),
		7);
	assert_int_equal(top_grid_text(&grid, 0, 2, TOP_PLAIN, "e\xcc\x81t\xc3\xa9"), 3);
	out_open_memory(&out);
	top_grid_write(&grid, &out);
	out_bytes(&out, "", 1);
	assert_string_equal((char *)out.buffer,
			    "abcdefg...\n  \xe6\x97\xa5\xe6\x9c\xac...\ne\xcc\x81t\xc3\xa9\n");
	out_abandon(&out);
	top_grid_free(&grid);
}

static void keys_choose_view_order_and_span(void **state)
{
	struct shown shown;

	(void)state;
	begin(&shown, busy);
	press(&shown, 't');
	assert_shows(&shown, "by total; 100 % is");
	press(&shown, '2');
	assert_shows(&shown, "parser.rb:10)");
	press(&shown, TOP_KEY_TAB);
	assert_shows(&shown, "main (1)");
	press(&shown, TOP_KEY_BACK_TAB);
	assert_shows(&shown, "[2 lines]");
	press(&shown, 'a');
	assert_shows(&shown, "since the start");
	assert_int_equal(press(&shown, ' '), TOP_ACT_NONE);
	assert_shows(&shown, "PAUSED");
	assert_int_equal(press(&shown, ' '), TOP_ACT_RESUME);
	press(&shown, '?');
	assert_shows(&shown, "recursion counts once");
	assert_int_equal(press(&shown, TOP_KEY_ESCAPE), TOP_ACT_NONE);
	assert_shows(&shown, "by total");
	assert_int_equal(press(&shown, 'w'), TOP_ACT_WRITE_HTML);
	assert_int_equal(press(&shown, 'W'), TOP_ACT_WRITE_FOLDED);
	assert_int_equal(press(&shown, 'q'), TOP_ACT_QUIT);
	end(&shown);
}

static void a_filter_is_typed_seen_and_taken_back(void **state)
{
	struct shown shown;

	(void)state;
	begin(&shown, busy);
	press(&shown, '/');
	press(&shown, 'q'); /* typed, not obeyed */
	press(&shown, TOP_KEY_BACKSPACE);
	press(&shown, 's');
	press(&shown, 'C');
	press(&shown, 0x672c);
	press(&shown, TOP_KEY_BACKSPACE);
	assert_shows(&shown, "only names with: sC_");
	assert_shows(&shown, "scan");
	assert_hides(&shown, "Parser");
	press(&shown, TOP_KEY_ENTER);
	assert_shows(&shown, "with \"sC\": 1 of 4, self 30.0 %");
	press(&shown, TOP_KEY_ESCAPE);
	assert_shows(&shown, "Parser");
	end(&shown);
}

static void enter_goes_into_a_function_and_into_a_thread(void **state)
{
	struct shown shown;

	(void)state;
	begin(&shown, busy);
	press(&shown, TOP_KEY_ENTER);
	assert_shows(&shown, "called by");
	assert_shows(&shown, "<main>");
	assert_shows(&shown, "scan");
	press(&shown, TOP_KEY_END);
	press(&shown, TOP_KEY_ENTER); /* what it calls */
	assert_shows(&shown, "calls nothing");
	press(&shown, TOP_KEY_ESCAPE);
	assert_shows(&shown, "[1 functions]");
	press(&shown, '3');
	press(&shown, TOP_KEY_DOWN);
	press(&shown, TOP_KEY_ENTER);
	assert_shows(&shown, "of thread w\xc3\xb6rker (2)");
	assert_hides(&shown, "Parser");
	press(&shown, TOP_KEY_ESCAPE);
	assert_shows(&shown, "[3 threads]");
	assert_hides(&shown, "of thread");
	end(&shown);
}

/* The row that somebody chose is followed; the first place is always the heaviest's. */
static void the_cursor_stays_on_its_row(void **state)
{
	struct shown shown;

	(void)state;
	begin(&shown, busy);
	press(&shown, TOP_KEY_DOWN);
	assert_int_equal(shown.screen.cursor, 1);
	hand_feed(&shown.fed, 1, "scan [c] 500\n");
	show(&shown, 80, 24);
	assert_int_equal(shown.screen.cursor, 0);
	press(&shown, TOP_KEY_HOME);
	hand_feed(&shown.fed, 1, "<main> (/srv/app.rb:1) 900\n");
	show(&shown, 80, 24);
	assert_int_equal(shown.screen.cursor, 0);
	end(&shown);
}

static void a_name_cannot_write_to_the_terminal(void **state)
{
	struct shown shown;

	(void)state;
	begin(&shown, "evil\\x1b[2J\\nname 3\n");
	assert_hides(&shown, "\x1b");
	assert_shows(&shown, "evil\\x1b[2J\\nname");
	end(&shown);
}

static void without_samples_it_says_why(void **state)
{
	struct shown shown;

	(void)state;
	begin(&shown, "");
	assert_shows(&shown, "nothing has used the CPU");
	press(&shown, TOP_KEY_DOWN);
	press(&shown, TOP_KEY_ENTER);
	press(&shown, TOP_KEY_END);
	end(&shown);
}

static int set_utf8(void **state)
{
	(void)state;
	return setlocale(LC_CTYPE, "C.UTF-8") ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_picture_of_80_by_24),
		cmocka_unit_test(every_size_holds_its_lines),
		cmocka_unit_test(names_are_cut_at_their_end_and_measured_in_columns),
		cmocka_unit_test(keys_choose_view_order_and_span),
		cmocka_unit_test(a_filter_is_typed_seen_and_taken_back),
		cmocka_unit_test(enter_goes_into_a_function_and_into_a_thread),
		cmocka_unit_test(the_cursor_stays_on_its_row),
		cmocka_unit_test(a_name_cannot_write_to_the_terminal),
		cmocka_unit_test(without_samples_it_says_why),
	};

	return cmocka_run_group_tests(tests, set_utf8, NULL);
}
