/* SPDX-License-Identifier: Apache-2.0
 * path.c - the parts of a file's name. */
#include "check.h"

#include "base/path.h"

static void the_base_is_behind_the_last_slash(void **state)
{
	(void)state;
	assert_string_equal(path_base("/app/lib/run.rb"), "run.rb");
	assert_string_equal(path_base("run.rb"), "run.rb");
	assert_string_equal(path_base("/app/"), "");
	assert_string_equal(path_base(""), "");
}

static void an_end_needs_a_name_in_front(void **state)
{
	(void)state;
	assert_true(path_ends("x.html", ".html"));
	assert_true(path_ends("dir/X.HTML", ".html"));
	assert_false(path_ends(".html", ".html"));
	assert_false(path_ends("html", ".html"));
	assert_false(path_ends("x.html.gz", ".html"));
	assert_true(path_ends("x.pb.gz", ".pb.gz"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_base_is_behind_the_last_slash),
		cmocka_unit_test(an_end_needs_a_name_in_front),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
