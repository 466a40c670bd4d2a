/* SPDX-License-Identifier: Apache-2.0
 * switches.c - what a thread's newest switch record says, from records that were made by hand. */
#include "target/switches.h"

#include <linux/perf_event.h>
#include <string.h>

#include "base/clock.h"
#include "check.h"

enum { PAGE = 4096, OURS = 3, ANOTHER = 1 };

static const u16 IN = 0, OUT = PERF_RECORD_MISC_SWITCH_OUT,
		 PREEMPTED = PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;

/* Two pages as the kernel maps them: its own words, then the records. */
static _Alignas(PAGE) u8 pages[2 * PAGE];

static void write_newest(u16 misc, u64 time_ns, u32 cpu)
{
	struct {
		struct perf_event_header header;
		u32 pid, tid;
		u64 time_ns;
		u32 cpu, reserved;
	} record = { { PERF_RECORD_SWITCH, misc, sizeof record }, 7, 8, time_ns, cpu, 0 };
	u64 head = -(u64)sizeof record;

	memcpy(pages + PAGE + (head & (PAGE - 1)), &record, sizeof record);
	((struct perf_event_mmap_page *)pages)->data_head = head;
}

static const u64 WOKE_NS = NS_PER_S;

static enum switches_state read_newest(u16 misc, u64 time_ns, u32 cpu, u64 released_ns)
{
	struct switches switches = { .fd = -1, .pages = pages };
	struct median taken_ns = { 5 * NS_PER_US, 2 * NS_PER_US };
	struct switches_moment moment = { .at_ns = WOKE_NS + 40 * NS_PER_US,
					  .woke_ns = WOKE_NS,
					  .cpu = OURS,
					  .taken_ns = &taken_ns };

	write_newest(misc, time_ns, cpu);
	return switches_read(&switches, &moment, released_ns);
}

static void who_is_on_a_cpu_by_its_newest_record(void **state)
{
	const u64 just = WOKE_NS - 4 * NS_PER_US, before = WOKE_NS - 60 * NS_PER_US;
	const u64 after = WOKE_NS + 30 * NS_PER_US;
	const struct {
		u16 misc;
		u64 time_ns;
		u32 cpu;
		u64 released_ns;
		enum switches_state want;
	} cases[] = {
		{ IN, 1, ANOTHER, 0, SWITCHES_ON_CPU },
		{ OUT, just, OURS, 0, SWITCHES_OFF_CPU }, /* it waits for something */
		{ PREEMPTED, just, OURS, 0, SWITCHES_ON_CPU },
		{ PREEMPTED, after, OURS, 0, SWITCHES_ON_CPU },
		{ PREEMPTED, before, OURS, 0, SWITCHES_OFF_CPU },  /* lost to somebody else */
		{ PREEMPTED, just, ANOTHER, 0, SWITCHES_OFF_CPU }, /* and there, too */
		{ PREEMPTED, 1, OURS, 0, SWITCHES_OFF_CPU },
		{ OUT, before, ANOTHER, just, SWITCHES_ON_CPU }, /* we let it go a moment ago */
		{ OUT, 1, ANOTHER, WOKE_NS - NS_PER_MS, SWITCHES_OFF_CPU },
		{ OUT, after, ANOTHER, just, SWITCHES_OFF_CPU }, /* it ran since */
	};
	(void)state;

	for (u32 i = 0; i < COUNT_OF(cases); i++)
		if (read_newest(cases[i].misc, cases[i].time_ns, cases[i].cpu,
				cases[i].released_ns) != cases[i].want)
			fail_msg("case %u", i);
}

static void nothing_is_known_without_a_record(void **state)
{
	struct switches unwatched = { .fd = -1 }, watched = { .fd = -1, .pages = pages };
	const struct switches_moment now = { .woke_ns = UINT64_MAX };
	(void)state;

	assert_int_equal(switches_read(&unwatched, &now, 0), SWITCHES_UNKNOWN);
	memset(pages, 0, sizeof pages);
	assert_int_equal(switches_read(&watched, &now, 0), SWITCHES_UNKNOWN);
	write_newest(PREEMPTED, WOKE_NS, 0);
	assert_int_equal(switches_read(&watched, &now, 0), SWITCHES_OFF_CPU);
}

/* A machine on which it takes long from the switch to our first look at the clock. */
static void what_is_usual_is_learned(void **state)
{
	struct switches switches = { .fd = -1, .pages = pages };
	struct median taken_ns = { 5 * NS_PER_US, 2 * NS_PER_US };
	struct switches_moment moment = {
		.at_ns = WOKE_NS, .woke_ns = WOKE_NS, .cpu = OURS, .taken_ns = &taken_ns
	};
	(void)state;

	write_newest(PREEMPTED, WOKE_NS - 40 * NS_PER_US, OURS);
	assert_int_equal(switches_read(&switches, &moment, 0), SWITCHES_OFF_CPU);
	for (u32 i = 0; i < 100; i++)
		switches_read(&switches, &moment, 0);
	assert_int_equal(switches_read(&switches, &moment, 0), SWITCHES_ON_CPU);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_on_a_cpu_by_its_newest_record),
		cmocka_unit_test(nothing_is_known_without_a_record),
		cmocka_unit_test(what_is_usual_is_learned),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
