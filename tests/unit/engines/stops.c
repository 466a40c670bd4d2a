/* SPDX-License-Identifier: Apache-2.0
 * stops.c - what would stop us waits until nobody holds a thread of somebody's. */
#include "check.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/thread.h"
#include "engines/stops.h"

static volatile sig_atomic_t got;

static void on_stop(int number)
{
	(void)number;
	got++;
}

static int set_up(void **state)
{
	(void)state;
	got = 0;
	signal(SIGTSTP, on_stop);
	return 0;
}

static int tear_down(void **state)
{
	sigset_t set;

	(void)state;
	signal(SIGTSTP, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	return 0;
}

static void it_comes_when_the_last_hold_is_let(void **state)
{
	(void)state;
	stops_hold();
	stops_hold();
	raise(SIGTSTP);
	stops_let();
	assert_int_equal(got, 0);
	stops_let();
	assert_int_equal(got, 1);
}

static void a_signal_that_was_blocked_stays_blocked(void **state)
{
	(void)state;
	stops_defer();
	stops_hold();
	raise(SIGTSTP);
	stops_let();
	assert_int_equal(got, 0);
	stops_take(false);
	assert_int_equal(got, 1);
}

static void without_a_signal_nothing_is_taken_but_on_demand(void **state)
{
	(void)state;
	stops_defer();
	stops_take(false);
	assert_int_equal(got, 0);
	stops_take(true);
	assert_int_equal(got, 1);
	kill(getpid(), SIGTSTP);
	assert_int_equal(got, 1); /* deferred again */
	stops_take(false);
	assert_int_equal(got, 2);
}

static atomic_bool holds, may_let;
static atomic_int got_when_let;

static void *hold(void *unused)
{
	stops_hold();
	holds = true;
	while (!may_let)
		usleep(100);
	got_when_let = got;
	stops_let();
	return unused;
}

static void *let_soon(void *unused)
{
	usleep(20000); /* while it is being waited for, or before: both are right */
	may_let = true;
	return unused;
}

static void another_threads_hold_is_waited_for(void **state)
{
	pthread_t holder, letter;

	(void)state;
	stops_defer();
	holds = may_let = false;
	got_when_let = -1;
	assert_true(thread_start(&holder, hold, NULL));
	while (!holds)
		usleep(100);
	kill(getpid(), SIGTSTP);
	assert_true(thread_start(&letter, let_soon, NULL));
	while (!got) /* a second is waited each time */
		stops_take(false);
	assert_int_equal(got, 1);
	assert_int_equal(got_when_let, 0);
	pthread_join(holder, NULL);
	pthread_join(letter, NULL);
}

static void *hold_and_end(void *unused)
{
	stops_hold();
	return unused;
}

static void a_hold_of_a_thread_that_has_ended_is_let_by_another(void **state)
{
	pthread_t holder;

	(void)state;
	stops_defer();
	assert_true(thread_start(&holder, hold_and_end, NULL));
	pthread_join(holder, NULL);
	stops_let();
	kill(getpid(), SIGTSTP);
	stops_take(false);
	assert_int_equal(got, 1);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(it_comes_when_the_last_hold_is_let),
		TEST(a_signal_that_was_blocked_stays_blocked),
		TEST(without_a_signal_nothing_is_taken_but_on_demand),
		TEST(another_threads_hold_is_waited_for),
		TEST(a_hold_of_a_thread_that_has_ended_is_let_by_another),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
