/* SPDX-License-Identifier: Apache-2.0
 * tapes.c - recorded walks of real interpreters, walked again without them.
 *
 * tests/tapes/NAME.tape was written by `sonde record --tape DIR` (mem/tape.h has the format).
 * Each is replayed: the same frames must come out.  Then each of its reads is failed in turn:
 * whatever is still given must be right, and that something is missing must be said. */
#include "check.h"

#include "mem/tape.h"
#include "runtimes/runtime.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

enum { FRAMES_MAX = 1024 };

struct fixture {
	const struct runtime *runtime;
	_Alignas(16) u8 state[RUNTIME_STATE_MAX];
	u64 thread;
	bool stands; /* the thread was stopped */
	struct tape tape;
	struct frame frames[FRAMES_MAX];
	u32 count;
};

/* What a walk gave. */
struct walked {
	struct frame frames[FRAMES_MAX];
	u32 count, torn;
	bool unset; /* the leaf was left out */
	enum step end;
};

static u32 unhex(const char *text, u8 *out, u32 room)
{
	u32 count = 0, byte;

	while (count < room && sscanf(text + 2 * count, "%2x", &byte) == 1)
		out[count++] = (u8)byte;
	return count;
}

static void parse_state(struct fixture *f, const char *line)
{
	char name[32];
	int at = 0;

	assert_int_equal(sscanf(line, "state %31s %n", name, &at), 1);
	for (u32 i = 0; i < runtime_count; i++)
		if (!strcmp(runtimes[i]->name, name))
			f->runtime = runtimes[i];
	assert_non_null(f->runtime);
	/* a state of another size: record the tapes anew, as tests/tapes/README says */
	assert_int_equal(unhex(line + at, f->state, sizeof f->state), f->runtime->state_size);
}

static void parse_line(struct fixture *f, const char *line, size_t length)
{
	unsigned long long id, owner, at, thread;
	u32 pos, flags;

	if (!strncmp(line, "state ", 6)) {
		parse_state(f, line);
	} else if (!strncmp(line, "stands", 6)) {
		f->stands = true;
	} else if (sscanf(line, "thread %llx", &thread) == 1) {
		f->thread = thread;
	} else if (!strncmp(line, "read ", 5)) {
		assert_true(tape_parse_line(&f->tape, line, length));
	} else if (sscanf(line, "frame %llx %llx %llx %x %x", &id, &owner, &at, &pos, &flags) ==
		   5) {
		assert_true(f->count < FRAMES_MAX);
		f->frames[f->count++] = (struct frame){
			.id = id, .owner = owner, .at = at, .pos = pos, .flags = (u16)flags
		};
	}
}

static void load(struct fixture *f, const char *path)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;
	ssize_t length;

	assert_non_null(file);
	while ((length = getline(&line, &room, file)) > 0)
		parse_line(f, line, (size_t)length - (line[length - 1] == '\n'));
	free(line);
	fclose(file);
	assert_non_null(f->runtime);
	assert_true(f->count > 0 && f->tape.reads.count > 0);
}

static void walk(const struct fixture *f, const struct mem *mem, struct walked *out)
{
	struct walk walk = { 0 };

	out->count = out->torn = 0;
	out->end = f->runtime->begin(mem, f->state, f->thread, &walk);
	walk.flags |= f->stands ? WALK_STANDS : 0;
	while (step_goes_on(out->end) && out->count < FRAMES_MAX) {
		struct frame frame = { 0 };
		out->end = f->runtime->step(mem, f->state, &walk, &frame);
		if (out->end == STEP_MORE)
			out->frames[out->count++] = frame;
		else if (out->end == STEP_TORN)
			out->torn++;
	}
	out->unset = walk.flags & WALK_TOP_UNSET;
}

static bool same(const struct frame *a, const struct frame *b)
{
	return a->id == b->id && a->owner == b->owner && a->at == b->at && a->pos == b->pos;
}

static void replays_to_the_same_frames(const struct fixture *f)
{
	struct walked walked;
	struct mem_replay replay;

	mem_replay_init(&replay, &f->tape);
	walk(f, &replay.mem, &walked);
	assert_int_equal(walked.end, STEP_DONE);
	assert_int_equal(walked.torn, 0);
	assert_int_equal(walked.count, f->count);
	for (u32 i = 0; i < f->count; i++)
		assert_true(same(&walked.frames[i], &f->frames[i]));
}

/* Every frame given is one of the true ones, in their order. */
static bool is_part_of(const struct walked *walked, const struct fixture *f)
{
	u32 next = 0;

	for (u32 i = 0; i < walked->count; i++) {
		while (next < f->count && f->frames[next].at != walked->frames[i].at)
			next++;
		if (next == f->count || !same(&walked->frames[i], &f->frames[next]))
			return false;
		next++;
	}
	return true;
}

static u32 each_read_can_fail(const struct fixture *f)
{
	struct walked walked;
	struct mem_replay replay;
	struct mem_faulty faulty;
	u32 outer_kept = 0;
	u64 n = 0;

	do {
		mem_replay_init(&replay, &f->tape);
		mem_faulty_init(&faulty, &replay.mem, n);
		walk(f, &faulty.mem, &walked);
		if (faulty.count <= n)
			break; /* past the last read */
		assert_true(is_part_of(&walked, f));
		/* less than everything is said to be less; what begin only peeks at may be missed */
		if (walked.count < f->count)
			assert_true(walked.torn || walked.unset || walked.end != STEP_DONE);
		outer_kept += walked.end == STEP_DONE && walked.torn;
		n++;
	} while (n < 100000);
	assert_true(n > 0);
	return outer_kept;
}

static void every_tape(void **state)
{
	const char *tests = getenv("SONDE_TESTS");
	char path[4096];
	u32 tapes = 0;

	(void)state;
	assert_non_null(tests);
	snprintf(path, sizeof path, "%s/tapes", tests);
	DIR *dir = opendir(path);
	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir));) {
		size_t length = strlen(entry->d_name);
		if (length < 5 || strcmp(entry->d_name + length - 5, ".tape") != 0)
			continue;
		struct fixture *f = calloc(1, sizeof *f);
		snprintf(path, sizeof path, "%s/tapes/%s", tests, entry->d_name);
		load(f, path);
		replays_to_the_same_frames(f);
		u32 kept = each_read_can_fail(f);
		print_message(
			"%s: %u frames, %u reads, outer frames kept after %u of the failures\n",
			entry->d_name, f->count, f->tape.reads.count, kept);
		tape_free(&f->tape);
		free(f);
		tapes++;
	}
	closedir(dir);
	assert_true(tapes >= 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_tape) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
