/* SPDX-License-Identifier: Apache-2.0
 * ruby-moving.c - Rubies that switch, collect, compact, recurse, fork and are unknown.
 *
 * The programs run; each look at them is taken while they are stopped, at an instant
 * that nobody chose, so that a wrong frame is the walker's fault. */
#include "ruby-live.h"
#include "runtimes/ruby/discover.h"

#include "base/cleanup.h"
#include "base/table.h"
#include "base/vec.h"
#include "unit/check.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const struct runtime ruby_runtime;

static void start(struct ruby_live *live, const struct ruby_kind *kind, const char *text)
{
	struct err err = { 0 };

	ruby_live_start(live, kind, NULL, text, NULL);
	if (!ruby_live_attach(live, RUBY_BY_ALL, &err))
		fail_msg("Ruby %s: %s", kind->name, err.text);
}

/* A few to a few hundred microseconds of the program's own time. */
static void let_run(u32 round)
{
	usleep(20 + round % 17 * 13);
}

enum { LOOKS = 500, STARTS_MOST = 200 };

/* ---- calls and returns --------------------------------------------------------------------- */

static const char calls_program[] = "def foo; bar; end\n"
				    "def bar; baz; bob; end\n"
				    "def baz; [1, 2, 3].map(&:succ); end\n"
				    "def bob; [1, 2, 3]; end\n"
				    "Thread.main.name = 'main'\n"
				    "puts 'END'\n"
				    "$stdout.flush\n"
				    "loop { foo }\n";

/* The callers that a method can have in that program. */
static bool can_call(const char *caller, const char *callee)
{
	static const char *const calls[][2] = {
		{ "<main>", "loop" },
		{ "loop", "block in <main>" },
		{ "block in <main>", "foo" },
		{ "foo", "bar" },
		{ "bar", "baz" },
		{ "bar", "bob" },
		{ "baz", "map" },
		{ "map", "succ" },
	};

	for (u32 i = 0; i < COUNT_OF(calls); i++)
		if (!strcmp(calls[i][0], caller) && !strcmp(calls[i][1], callee))
			return true;
	return false;
}

static void check_calls(char *labels)
{
	char *rest = NULL, *callee = NULL;

	for (char *label; (label = strtok_r(callee ? NULL : labels, "\n", &rest)); callee = label) {
		char *method = strrchr(label, '#');
		label = method ? method + 1 : label;
		if (callee && !can_call(label, callee))
			fail_msg("%s does not call %s", label, callee);
	}
	assert_non_null(callee);
	assert_string_equal(callee, "<main>");
}

/* Stopped at any instruction, in the middle of a push or a pop too. */
static void every_call_is_one_that_was_made(void **state)
{
	(void)state;
	FOR_EACH_RUBY(kind)
	{
		struct ruby_live live;
		struct vm_thread thread;
		struct str labels = { 0 };
		u64 generation;

		start(&live, kind, calls_program);
		ruby_live_thread(&live, "main", &thread);
		for (u32 i = 0; i < LOOKS; i++) {
			let_run(i);
			ruby_live_freeze(&live);
			if (ruby_live_labels(&live, thread.thread, &labels, &generation) &&
			    !strstr(labels.text, "puts") && !strstr(labels.text, "flush"))
				check_calls(labels.text);
			ruby_live_thaw(&live);
		}
		str_free(&labels);
		ruby_live_stop(&live);
	}
}

/* ---- fibers -------------------------------------------------------------------------------- */

static const char fibers_program[] = "def left(n)\n"
				     "  n.zero? ? Fiber.yield : left(n - 1)\n"
				     "end\n"
				     "def right(n)\n"
				     "  n.zero? ? Fiber.yield : right(n - 1)\n"
				     "end\n"
				     "a = Fiber.new { loop { left(5) } }\n"
				     "b = Fiber.new { loop { right(9) } }\n"
				     "Thread.main.name = 'main'\n"
				     "puts 'END'\n"
				     "$stdout.flush\n"
				     "loop { a.resume; b.resume }\n";

/* Every stack belongs to one fiber as a whole. */
static void a_stack_is_of_one_fiber(void **state)
{
	(void)state;
	FOR_EACH_RUBY(kind)
	{
		struct ruby_live live;
		struct vm_thread thread;
		struct str labels = { 0 };
		u32 seen[3] = { 0 };
		u64 generation;

		start(&live, kind, fibers_program);
		ruby_live_thread(&live, "main", &thread);
		for (u32 i = 0; i < LOOKS; i++) {
			let_run(i);
			ruby_live_freeze(&live);
			if (ruby_live_labels(&live, thread.thread, &labels, &generation)) {
				bool left = strstr(labels.text, "left"),
				     right = strstr(labels.text, "right");
				bool root = strstr(labels.text, "<main>\n") &&
					    !strstr(labels.text, "block");
				assert_false(left && right);
				assert_false(root && (left || right));
				seen[left ? 0 : right ? 1 : 2]++;
			}
			ruby_live_thaw(&live);
		}
		fprintf(stderr, "Ruby %s: left %u, right %u, neither %u\n", kind->name, seen[0],
			seen[1], seen[2]);
		assert_true(seen[0] && seen[1]);
		str_free(&labels);
		ruby_live_stop(&live);
	}
}

/* ---- ractors ------------------------------------------------------------------------------- */

static const char ractors_program[] = "$VERBOSE = nil\n"
				      "Warning[:experimental] = false\n"
				      "$list = 3.times.map { |i| Ractor.new(i) { |n|\n"
				      "  Thread.current.name = \"ractor #{n}\"\n"
				      "  def spin(n); loop { n += 1 }; end\n"
				      "  n == 2 ? sleep : spin(n)\n"
				      "} }\n"
				      "Thread.main.name = 'main'\n"
				      "puts 'END'\n"
				      "$stdout.flush\n"
				      "sleep\n";

static void threads_of_every_ractor(void **state)
{
	(void)state;
	FOR_EACH_RUBY(kind)
	{
		struct ruby_live live;
		struct vm_thread thread;
		struct str labels = { 0 };
		u64 generation;

		if (strcmp(kind->name, "3.") < 0)
			continue;
		start(&live, kind, ractors_program);
		for (u32 i = 0; i < 3; i++) {
			char name[16];
			u32 tries = 0;
			/* They name themselves when they begin. */
			snprintf(name, sizeof name, "ractor %u", i);
			for (bool there = false; !there;) {
				u64 where = 0;
				assert_true(++tries < 20000);
				while (!there &&
				       ruby_runtime.next_thread(&live.target.mem.mem, &live.state,
								&where, &thread) == STEP_MORE) {
					struct frame frame = { .id = thread.thread,
							       .pos = FRAME_POS_THREAD };
					struct frame_name text = { 0 };
					there = ruby_runtime.name_frame(&live.target.mem.mem,
									&live.state, &frame,
									&text) &&
						text.label.length && !strcmp(text.label.text, name);
					str_free(&text.label);
				}
				usleep(100);
			}
			ruby_live_freeze(&live);
			assert_true(ruby_live_labels(&live, thread.thread, &labels, &generation));
			assert_non_null(strstr(labels.text, "block (2 levels) in <main>\n"));
			if (i < 2) {
				assert_int_not_equal(thread.tid, 0);
				assert_int_not_equal(thread.tid, live.pid);
			}
			ruby_live_thaw(&live);
		}
		str_free(&labels);
		ruby_live_stop(&live);
	}
}

/* ---- depth --------------------------------------------------------------------------------- */

static const char deep_program[] = "def dive(n)\n"
				   "  if n.zero?\n"
				   "    puts 'END'\n"
				   "    $stdout.flush\n"
				   "    sleep\n"
				   "  else\n"
				   "    dive(n - 1)\n"
				   "  end\n"
				   "end\n"
				   "Thread.main.name = 'main'\n"
				   "dive(10_000)\n";

static void ten_thousand_frames(void **state)
{
	(void)state;
	FOR_EACH_RUBY(kind)
	{
		struct ruby_live live;
		struct vm_thread thread;
		struct frame frame, last = { 0 };
		struct walk walk;
		u32 dives = 0;

		start(&live, kind, deep_program);
		ruby_live_thread(&live, "main", &thread);
		ruby_live_freeze(&live);
		enum step step = ruby_runtime.begin(&live.target.mem.mem, &live.state,
						    thread.thread, &walk);
		assert_int_equal(step, STEP_MORE);
		while ((step = ruby_live_step(&live, &walk, &frame)) == STEP_MORE) {
			if (!(frame.flags & FRAME_C) && frame.id == last.id)
				dives++;
			last = frame;
		}
		assert_int_equal(step, STEP_DONE);
		assert_int_equal(dives, 10000);
		ruby_live_thaw(&live);
		ruby_live_stop(&live);
	}
}

/* ---- addresses that come back -------------------------------------------------------------- */

/* Methods made by eval, called, removed, collected: their addresses are soon other methods'.
 * Garbage besides, so that marking and sweeping happen in steps too. */
static const char churn_program[] =
	"class Churn; end\n"
	"Thread.main.name = 'main'\n"
	"can = GC.respond_to?(:compact) && RUBY_VERSION >= '3.0'\n"
	"puts 'END'\n"
	"$stdout.flush\n"
	"n = 0\n"
	"loop do\n"
	"  n += 1\n"
	"  name = \"made_#{n}\"\n"
	"  Churn.class_eval \"def #{name}; 20.times { |i| 'x' * i }; end\", \"#{name}.rb\"\n"
	"  churn = Churn.new\n"
	"  30.times { churn.send(name) }\n"
	"  Churn.send(:remove_method, name)\n"
	"  GC.start if n % 7 == 0\n"
	"  GC.compact if can && n % 501 == 0\n"
	"end\n";

struct known {
	u64 id, owner, generation;
	char *text;
};

struct known_list {
	VEC(struct known) list;
	struct table table;
	u32 same, reused, unnamed, collecting;
};

static bool same_key(const void *owner, u32 item, const void *key)
{
	const struct known_list *known = owner;

	return !memcmp(&known->list.at[item], key, offsetof(struct known, text));
}

/* A name read now must be the one that was read before at the same address and generation. */
static void check_known(struct known_list *known, const struct frame *frame, u64 generation,
			const struct frame_name *name)
{
	struct known key = { frame->id, frame->owner, generation, NULL };
	u64 hash = table_hash(&key, offsetof(struct known, text));
	u32 item = table_find(&known->table, hash, same_key, known, &key);
	char text[1024];

	snprintf(text, sizeof text, "%s (%s)", name->label.text,
		 name->path.length ? name->path.text : "");
	if (item != TABLE_NONE) {
		if (strcmp(text, known->list.at[item].text))
			fail_msg("generation %llu: %s was %s", (unsigned long long)generation, text,
				 known->list.at[item].text);
		known->same++;
		return;
	}
	for (u32 i = known->list.count; i-- > 0;)
		if (known->list.at[i].id == frame->id) {
			known->reused += strcmp(text, known->list.at[i].text) != 0;
			break;
		}
	key.text = strdup(text);
	assert_true(vec_push(&known->list, key) &&
		    table_add(&known->table, hash, known->list.count - 1));
}

static void look_at_names(struct ruby_live *live, u64 thread, struct known_list *known)
{
	const struct mem *mem = &live->target.mem.mem;
	struct frame_name name = { 0 };
	struct frame frame;
	struct walk walk;
	enum step step = ruby_runtime.begin(mem, &live->state, thread, &walk);

	assert_int_not_equal(walk.generation, 0);
	known->collecting += (walk.flags & WALK_GC) != 0;
	while (step == STEP_MORE && (step = ruby_live_step(live, &walk, &frame)) == STEP_MORE) {
		str_clear(&name.label);
		str_clear(&name.path);
		if (ruby_runtime.name_frame(mem, &live->state, &frame, &name))
			check_known(known, &frame, walk.generation, &name);
		else
			known->unnamed++;
	}
	str_free(&name.label);
	str_free(&name.path);
}

static void generations_tell_addresses_apart(void **state)
{
	(void)state;
	FOR_EACH_RUBY(kind)
	{
		struct ruby_live live;
		struct vm_thread thread;
		struct known_list known = { 0 };

		start(&live, kind, churn_program);
		ruby_live_thread(&live, "main", &thread);
		/* At least so often, and until it has seen what it is about. */
		for (u32 i = 0; i < LOOKS || (known.reused < 10 && i < 1 << 20); i++) {
			let_run(i);
			ruby_live_freeze(&live);
			look_at_names(&live, thread.thread, &known);
			ruby_live_thaw(&live);
		}
		fprintf(stderr,
			"Ruby %s: %u names the same again, %u addresses reused, %u without a name, "
			"%u looks during a collection\n",
			kind->name, known.same, known.reused, known.unnamed, known.collecting);
		/* While objects move, a name can be away. */
		assert_true(known.same > LOOKS && known.reused >= 10 && known.unnamed < 30 &&
			    known.collecting > 10);
		for (u32 i = 0; i < known.list.count; i++)
			free(known.list.at[i].text);
		vec_free(&known.list);
		table_free(&known.table);
		ruby_live_stop(&live);
	}
}

/* ---- the lock, and forks ------------------------------------------------------------------- */

static const char states_program[] =
	"Thread.new { Thread.current.name = 'sleeper'; sleep }\n"
	"2.times { |i| Thread.new { Thread.current.name = \"runner #{i}\"; loop { i += 1 } } }\n"
	"Thread.main.name = 'main'\n"
	"Thread.pass until Thread.list.count { |t| t.name } == 4\n"
	"puts 'END'\n"
	"$stdout.flush\n"
	"sleep\n";

static void states_of_threads(void **state)
{
	(void)state;
	FOR_EACH_RUBY(kind)
	{
		struct ruby_live live;
		struct vm_thread one, two;
		u32 right = 0;

		start(&live, kind, states_program);
		for (u32 i = 0; i < 50; i++) {
			let_run(i);
			ruby_live_freeze(&live);
			ruby_live_thread(&live, "runner 0", &one);
			ruby_live_thread(&live, "runner 1", &two);
			right += (one.state == VM_THREAD_RUNNING &&
				  two.state == VM_THREAD_WAITING) ||
				 (two.state == VM_THREAD_RUNNING && one.state == VM_THREAD_WAITING);
			ruby_live_thread(&live, "sleeper", &one);
			assert_int_equal(one.state, VM_THREAD_BLOCKED);
			ruby_live_thaw(&live);
		}
		/* The rest is a handover of the lock, or main on its way to sleep. */
		assert_true(right >= 40);
		ruby_live_stop(&live);
	}
}

static const char fork_program[] =
	"Thread.new {\n"
	"  Thread.current.name = 'forker'\n"
	"  pid = fork { Thread.current.name = 'child'; puts 'END'; $stdout.flush; sleep }\n"
	"  puts \"CHILD #{pid} LAUNCHED\"\n"
	"  $stdout.flush\n"
	"  sleep\n"
	"}\n"
	"sleep\n";

/* A state is copied to a forked child as it is; there the tid must be the child's. */
static void a_forked_child_has_its_own_tid(void **state)
{
	(void)state;
	FOR_EACH_RUBY(kind)
	{
		struct ruby_live live, child;
		struct vm_thread thread;
		struct err err = { 0 };
		int pid = 0;

		start(&live, kind, fork_program);
		ruby_live_wait(&live, "LAUNCHED\n");
		assert_int_equal(sscanf(strstr(live.printed.text, "CHILD "), "CHILD %d", &pid), 1);
		child = live;
		assert_true(target_open(&child.target, (u32)pid, &err));
		ruby_live_thread(&child, "child", &thread);
		assert_int_equal(thread.tid, pid);
		assert_int_not_equal(thread.state, VM_THREAD_UNKNOWN);
		target_close(&child.target);
		kill(pid, SIGKILL);
		ruby_live_stop(&live);
	}
}

/* As the first process of a container: its pid, 1, is also the value of many other words. */
static void tids_in_a_namespace_of_its_own(void **state)
{
	AUTO_CLOSE int ours = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);

	(void)state;
	FOR_EACH_RUBY(kind)
	{
		struct ruby_live live;
		struct vm_thread main_thread, other[3];
		struct err err = { 0 };

		if (unshare(CLONE_NEWPID) != 0) {
			fprintf(stderr, "SKIPPED: a pid namespace needs root\n");
			skip();
		}
		ruby_live_start(&live, kind, NULL, states_program, NULL);
		assert_int_equal(setns(ours, CLONE_NEWPID), 0);
		assert_true(ruby_live_attach(&live, RUBY_BY_ALL, &err));
		ruby_live_thread(&live, "main", &main_thread);
		ruby_live_thread(&live, "sleeper", &other[0]);
		ruby_live_thread(&live, "runner 0", &other[1]);
		ruby_live_thread(&live, "runner 1", &other[2]);
		assert_int_equal(main_thread.tid, 1);
		for (u32 i = 0; i < 3; i++)
			assert_in_range(other[i].tid, 2, 20);
		assert_int_not_equal(other[1].tid, other[2].tid);
		ruby_live_stop(&live);
	}
}

/* ---- the first milliseconds ---------------------------------------------------------------- */

static const char start_program[] = "puts [1].map { |_| 'END' }\n$stdout.flush\nsleep\n";

/* From exec on: not a Ruby yet, not ready yet, then attached, with a table of symbols. */
static void attach_while_it_starts(void **state)
{
	(void)state;
	FOR_EACH_RUBY(kind)
	{
		struct ruby_live live;
		struct str labels = { 0 };
		struct vm_thread thread;
		u32 not_ready = 0;
		u64 generation;

		/* on a busy machine it can be ready before it is asked first */
		for (u32 i = 0; i < 6 || (!not_ready && i < STARTS_MOST); i++) {
			struct err err = { 0 };
			ruby_live_spawn(&live, kind, NULL, start_program, NULL);
			while (!ruby_live_attach(&live, RUBY_BY_ALL, &err)) {
				assert_true(err.code == ERR_NOT_MINE || err.code == ERR_NOT_READY);
				not_ready += err.code == ERR_NOT_READY;
			}
			assert_int_not_equal(live.state.ids, 0);
			ruby_live_wait(&live, "END\n");
			u64 where = 0;
			assert_int_equal(ruby_runtime.next_thread(&live.target.mem.mem, &live.state,
								  &where, &thread),
					 STEP_MORE);
			assert_int_equal(thread.tid, live.pid);
			assert_true(ruby_live_labels(&live, thread.thread, &labels, &generation));
			assert_non_null(strstr(labels.text, "<main>\n"));
			ruby_live_stop(&live);
		}
		fprintf(stderr, "Ruby %s: asked %u times before it was ready\n", kind->name,
			not_ready);
		assert_true(not_ready > 0);
		str_free(&labels);
	}
}

/* ---- a Ruby that nobody has seen ----------------------------------------------------------- */

/* Writes `to` over every NUL-terminated `from` of the same length. */
static void patch(u8 *bytes, size_t length, const char *from, const char *to)
{
	size_t size = strlen(from) + 1;
	u32 patched = 0;

	for (u8 *at = bytes; (at = memmem(at, length - (size_t)(at - bytes), from, size));
	     at += size) {
		memcpy(at, to, size - 1);
		patched++;
	}
	assert_true(patched > 0);
}

static void copy_patched(const char *from, const char *to, const char *version, const char *other)
{
	AUTO_FCLOSE FILE *in = fopen(from, "rb");
	AUTO_FCLOSE FILE *out = fopen(to, "wb");
	AUTO_FREE u8 *bytes = malloc(16 << 20);

	assert_non_null(in);
	assert_non_null(out);
	size_t length = fread(bytes, 1, 16 << 20, in);
	patch(bytes, length, version, other);
	assert_int_equal(fwrite(bytes, 1, length, out), length);
}

/* ruby_version says 3.4.99, and the file is renamed once it is mapped. */
static void an_unknown_version_under_an_unknown_name(void **state)
{
	const struct ruby_kind *kind = &ruby_kinds[4];
	char root[PATH_MAX], folder[PATH_MAX + 64], from[PATH_MAX + 128], to[PATH_MAX + 128];
	struct ruby_live live;
	struct vm_thread thread;
	struct str labels = { 0 };
	struct err err = { 0 };
	u64 generation;

	(void)state;
	if (!ruby_kind_is_here(kind))
		skip();
	ruby_kind_root(kind, root, sizeof root);
	snprintf(folder, sizeof folder, "%s/tmp/unknown-ruby-XXXXXX", root);
	assert_non_null(mkdtemp(folder));
	snprintf(from, sizeof from, "%s/usr/lib/x86_64-linux-gnu/libruby-3.4.so.3.4", root);
	snprintf(to, sizeof to, "%s/libruby-3.4.so.3.4", folder);
	copy_patched(from, to, "3.4.11", "3.4.99");
	ruby_live_start(&live, kind, NULL, deep_program, folder + strlen(root));
	snprintf(from, sizeof from, "%s/nothing.so", folder);
	assert_int_equal(rename(to, from), 0);

	if (!ruby_live_attach(&live, RUBY_BY_ALL, &err))
		fail_msg("%s", err.text);
	assert_non_null(strstr(live.warning, "3.4.99"));
	ruby_live_thread(&live, "main", &thread);
	assert_int_equal(thread.tid, live.pid);
	do /* what it has written may be here before it sleeps */
		assert_true(ruby_live_labels(&live, thread.thread, &labels, &generation));
	while (!strstr(labels.text, "Kernel#sleep"));
	assert_non_null(strstr(labels.text, "Kernel#sleep\nObject#dive\nObject#dive\n"));
	str_free(&labels);
	ruby_live_stop(&live);
	assert_int_equal(unlink(from), 0);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_is_one_that_was_made),
		cmocka_unit_test(a_stack_is_of_one_fiber),
		cmocka_unit_test(threads_of_every_ractor),
		cmocka_unit_test(ten_thousand_frames),
		cmocka_unit_test(generations_tell_addresses_apart),
		cmocka_unit_test(states_of_threads),
		cmocka_unit_test(a_forked_child_has_its_own_tid),
		cmocka_unit_test(tids_in_a_namespace_of_its_own),
		cmocka_unit_test(attach_while_it_starts),
		cmocka_unit_test(an_unknown_version_under_an_unknown_name),
	};

	if (!ruby_kinds_here())
		return RUBY_LIVE_SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
