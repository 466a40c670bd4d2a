/* SPDX-License-Identifier: Apache-2.0
 * cmd_audit.c - sonde audit: how true are unpaused samples of this very process? */
#include <unistd.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/json_names.h"
#include "cli/say.h"
#include "cli/signals.h"
#include "cli/value.h"
#include "session/audit.h"

struct audit_command_options {
	u32 pid;
	u32 hz;
	u64 duration_ns;
	bool json;
};

static const struct audit_command_options defaults = { .hz = 499, .duration_ns = 10 * NS_PER_S };

#define AT(field) offsetof(struct audit_command_options, field)
static const struct option_row rows[] = {
	{ 'p', "pid", "PID", OPTION_NUMBER, AT(pid), 1, VALUE_PID_HIGHEST,
	  .text = "the process to sample" },
	{ 'r', "rate", "HZ", OPTION_NUMBER, AT(hz), 1, 20000, .text = "samples a second" },
	{ 'd', "duration", "TIME", OPTION_DURATION, AT(duration_ns),
	  .text = "stop after this long: 30, 30s, 5m, 1.5s, 200ms" },
	{ 'j', "json", NULL, OPTION_FLAG, AT(json), .text = "as JSON" },
	{ 0 },
};
#undef AT

/* The figures of one side, in the order of both forms. */
#define AUDIT_FIGURES(X)               \
	X(attempts, "attempts", false) \
	X(complete, "complete", true)  \
	X(moving, "moving", true)      \
	X(failed, "failed", true)      \
	X(impossible, "impossible", true)

static double part(u64 count, u64 whole)
{
	return whole ? (double)count / (double)whole : 0;
}

static double own_us(const struct audit_side *side)
{
	return side->attempts ? (double)side->own_cpu_ns / (double)side->attempts / NS_PER_US : 0;
}

/* "   1,234  99.1 %" in two columns. */
static void write_figure(struct out *out, u64 count, u64 whole, bool with_part)
{
	char number[32];

	outf(out, "%12s ", value_grouped(count, number));
	if (with_part)
		outf(out, "%8.3f %%", 100 * part(count, whole));
	else
		outf(out, "%10s", "");
}

static void write_text(const struct audit_result *result, struct out *out)
{
	const struct audit_side *stopped = &result->side[AUDIT_STOPPED];
	const struct audit_side *unstopped = &result->side[AUDIT_UNSTOPPED];
	const struct name_string *strings = result->names.strings.at;
	char number[32];

	outf(out, "process %u: ", result->pid);
	say_foreign(out, strings[result->title].text, strings[result->title].length);
	out_text(out, " (");
	say_foreign(out, strings[result->runtime].text, strings[result->runtime].length);
	outf(out, "), %s\n\n", value_duration_text(result->duration_ns, number));
	outf(out, "%-12s%12s%11s%12s\n", "", "stopped", "", "not stopped");
#define X(field, text, with_part)                                            \
	outf(out, "%-12s", text);                                            \
	write_figure(out, stopped->field, stopped->attempts, with_part);     \
	write_figure(out, unstopped->field, unstopped->attempts, with_part); \
	out_text(out, "\n");
	AUDIT_FIGURES(X)
#undef X
	outf(out, "%-12s%9.1f us%20.1f us\n\n", "own CPU each", own_us(stopped), own_us(unstopped));
	outf(out, "distance of shares: %.2f points, of which chance alone makes %.2f: %s\n",
	     100 * result->distance, 100 * result->noise,
	     result->distance <= result->noise ? "no difference can be seen" :
						 "not stopping changes the picture");
	if (result->natives.count)
		out_text(out, "\nwhere the thread was when a read did not hold:\n");
	for (u32 i = 0; i < result->natives.count; i++) {
		const struct audit_native *native = &result->natives.at[i];

		outf(out, "%12s  ", value_grouped(native->count, number));
		say_foreign(out, strings[native->name].text, strings[native->name].length);
		out_text(out, native->image ? "  " : "");
		say_foreign(out, strings[native->image].text, strings[native->image].length);
		out_text(out, "\n");
	}
}

static void json_side(struct json *json, const char *key, const struct audit_side *side)
{
	json_object(json, key);
#define X(field, text, with_part) json_number(json, #field, side->field);
	AUDIT_FIGURES(X)
#undef X
	json_number(json, "own_cpu_ns", side->own_cpu_ns);
	json_end(json);
}

static void write_json(const struct audit_result *result, struct out *out)
{
	struct json json = json_make(out);

	json_object(&json, NULL);
	json_number(&json, "pid", result->pid);
	json_name(&json, "title", &result->names, result->title);
	json_name(&json, "runtime", &result->names, result->runtime);
	json_number(&json, "duration_ns", result->duration_ns);
	json_side(&json, "stopped", &result->side[AUDIT_STOPPED]);
	json_side(&json, "unstopped", &result->side[AUDIT_UNSTOPPED]);
	json_real(&json, "distance", result->distance);
	json_real(&json, "noise", result->noise);
	json_array(&json, "failed_in");
	for (u32 i = 0; i < result->natives.count; i++) {
		const struct audit_native *native = &result->natives.at[i];

		json_object(&json, NULL);
		json_name(&json, "function", &result->names, native->name);
		json_name(&json, "image", &result->names, native->image);
		json_number(&json, "count", native->count);
		json_end(&json);
	}
	json_end(&json);
	json_end(&json);
}

static int run(void *options_given, int rest_count, char **rest)
{
	const struct audit_command_options *given = options_given;
	struct audit_options audit = { given->pid, given->hz, given->duration_ns };
	struct audit_result result;
	struct err err = { 0 };
	struct out out;
	char text[32];

	if (rest_count)
		return say_usage("audit", "what is \"%.80s\"? Give the process with -p PID",
				 rest[0]);
	if (!given->pid)
		return say_usage("audit", "which process? Give -p PID");
	signals_watch(0);
	say_note(
		"sampling process %u for %s, stopped and not stopped in turn; Ctrl-C ends it early",
		given->pid, value_duration_text(given->duration_ns, text));
	if (!audit_run(&audit, &result, &err))
		return say_failure("audit", &err);
	int code = EXIT_FAILED;
	if (!result.side[AUDIT_STOPPED].attempts || !result.side[AUDIT_UNSTOPPED].attempts) {
		err_set(&err, ERR_BAD_DATA,
			result.is_held ?
				"process %u is stopped: kill -CONT (SIGCONT) lets it go on" :
				"process %u has hardly run: there is nothing to compare",
			given->pid);
		say_failure("audit", &err);
	} else if (!out_open_file(&out, "-", &err)) {
		say_failure("audit", &err);
	} else {
		(given->json ? write_json : write_text)(&result, &out);
		code = say_close(&out, "audit");
	}
	audit_free(&result);
	return code;
}

const struct command audit_command = {
	.name = "audit",
	.summary = "measure how true samples of your own process are",
	.usage = "[OPTIONS] -p PID",
	.details =
		"Samples the process stopping the thread for microseconds and not stopping it, in "
		"turn, and compares: how many samples were complete, how many ended in [moving], how "
		"many could not be read, and how many showed a caller above a callee that no stopped "
		"sample showed (for the stopped ones: no other stopped sample, which is what chance alone makes). The "
		"distance of shares is how much of the picture would have to move for the two to be "
		"equal, with [moving] as a part of it; what chance alone makes of as many samples is "
		"printed beside it. Last, the native functions that the thread was in right after a "
		"read that did not hold; (after NAME) is a function without a symbol, in a stripped "
		"library, that lies behind NAME.\n\n"
		"  sonde audit -p 1234 -d 30s -r 999",
	.options = rows,
	.defaults = &defaults,
	.options_size = sizeof(struct audit_command_options),
	.run = run,
};
