/* SPDX-License-Identifier: Apache-2.0
 * cmd_doctor.c - sonde doctor: what this machine and this user can do, what is missing and how
 * to grant it; with --pid, what sonde makes of a process. */
#include <string.h>

#include "cli/command.h"
#include "base/json.h"
#include "cli/say.h"
#include "cli/value.h"
#include "session/dump.h"
#include "session/probes.h"
#include "target/target.h"

struct doctor_options {
	u32 pid;
	bool json;
};

#define AT(field) offsetof(struct doctor_options, field)
static const struct option_row rows[] = {
	{ 'p', "pid", "PID", OPTION_NUMBER, AT(pid), 1, VALUE_PID_HIGHEST,
	  .text = "also look at this process: runtime, offsets in use, where each came from" },
	{ 'j', "json", NULL, OPTION_FLAG, AT(json), .text = "as JSON" },
	{ 0 },
};
#undef AT

static const char *const outcome_texts[] = {
	[PROBE_YES] = "yes",
	[PROBE_NO] = "no",
	[PROBE_FACT] = "fact",
};

/* What is known of the process: each half has an error of its own, for one may be readable where
 * the other is not. */
struct patient {
	u32 pid;
	struct target target;
	bool open;
	u32 threads;
	struct str runtime;
	bool described;
	struct err target_err, runtime_err;
};

static void patient_look(struct patient *patient, u32 pid)
{
	target_threads threads = { 0 };

	*patient = (struct patient){ .pid = pid };
	patient->open = target_open(&patient->target, pid, &patient->target_err);
	if (!patient->open)
		return;
	if (target_read_threads(&patient->target, &threads, NULL))
		patient->threads = threads.count;
	vec_free(&threads);
	patient->described = session_describe(pid, &patient->runtime, &patient->runtime_err);
}

static void patient_free(struct patient *patient)
{
	if (patient->open)
		target_close(&patient->target);
	str_free(&patient->runtime);
}

/* --- for people ------------------------------------------------------------ */

static void write_probe(struct out *out, const struct probe *probe,
			const struct probe_result *result)
{
	bool fact = result->outcome == PROBE_FACT;

	outf(out, "  %-4s %s: %s", fact ? "" : outcome_texts[result->outcome], probe->title,
	     result->found);
	if (fact && probe->means)
		outf(out, " (%s)", probe->means);
	out_text(out, "\n");
	if (result->outcome != PROBE_NO)
		return;
	outf(out, "         needed for: %s\n", probe->needed_for);
	if (probe->grant)
		outf(out, "         to grant:   %s\n", probe->grant);
}

static void write_patient(struct out *out, const struct patient *patient)
{
	const struct target *target = &patient->target;

	if (!patient->open)
		return; /* the failure says it all */
	outf(out, "\nprocess %u: ", patient->pid);
	say_foreign(out, target->comm, strnlen(target->comm, sizeof target->comm));
	out_text(out, ", ");
	say_foreign(out, target->exe, strnlen(target->exe, sizeof target->exe));
	outf(out, "\n  uid %u, %u threads, memory is readable\n", target->uid, patient->threads);
	if (target->inner_pid != target->pid)
		outf(out, "  in a pid namespace of its own, as %u\n", target->inner_pid);
	const char *line = patient->described ? patient->runtime.text : "";
	while (*line) {
		size_t length = strcspn(line, "\n");

		out_text(out, "  ");
		say_foreign(out, line, length);
		out_text(out, "\n");
		line += length;
		line += *line == '\n';
	}
}

/* --- for programs ---------------------------------------------------------- */

static void json_probe(struct json *json, const struct probe *probe,
		       const struct probe_result *result)
{
	json_object(json, NULL);
	json_text(json, "name", probe->name);
	json_text(json, "title", probe->title);
	json_text(json, "result", outcome_texts[result->outcome]);
	json_text(json, "found", result->found);
	if (probe->means)
		json_text(json, "means", probe->means);
	if (probe->needed_for)
		json_text(json, "needed_for", probe->needed_for);
	if (probe->grant)
		json_text(json, "grant", probe->grant);
	json_end(json);
}

static void json_patient(struct json *json, const struct patient *patient)
{
	const struct target *target = &patient->target;

	json_object(json, "process");
	json_number(json, "pid", patient->pid);
	if (patient->open) {
		json_bytes(json, "comm", target->comm, strnlen(target->comm, sizeof target->comm));
		json_bytes(json, "exe", target->exe, strnlen(target->exe, sizeof target->exe));
		json_number(json, "uid", target->uid);
		json_number(json, "inner_pid", target->inner_pid);
		json_number(json, "threads", patient->threads);
	}
	if (patient->described)
		json_bytes(json, "runtime", patient->runtime.text, patient->runtime.length);
	else
		json_text(json, "error",
			  patient->open ? patient->runtime_err.text : patient->target_err.text);
	json_end(json);
}

/* --- both ------------------------------------------------------------------ */

static void examine(const struct doctor_options *given, const struct patient *patient,
		    struct out *out)
{
	struct json json = json_make(out);

	if (given->json) {
		json_object(&json, NULL);
		json_text(&json, "version", SONDE_VERSION);
		json_array(&json, "probes");
	} else {
		outf(out, "sonde %s\n", SONDE_VERSION);
	}
	for (u32 i = 0; i < probe_count; i++) {
		struct probe_result result = { 0 };

		probes[i].run(&result);
		if (given->json)
			json_probe(&json, &probes[i], &result);
		else
			write_probe(out, &probes[i], &result);
	}
	if (given->json) {
		json_end(&json);
		if (given->pid)
			json_patient(&json, patient);
		json_end(&json);
	} else if (given->pid) {
		write_patient(out, patient);
	}
}

static int run(void *options_given, int rest_count, char **rest)
{
	const struct doctor_options *given = options_given;
	struct patient patient = { 0 };
	struct err err = { 0 };
	struct out out;

	if (rest_count)
		return say_usage("doctor", "what is \"%.80s\"? Give a process with -p PID",
				 rest[0]);
	if (!out_open_file(&out, "-", &err))
		return say_failure("doctor", &err);
	if (given->pid)
		patient_look(&patient, given->pid);
	examine(given, &patient, &out);
	int code = say_close(&out, "doctor");
	if (given->pid && !patient.open)
		code = say_failure("doctor", &patient.target_err);
	else if (given->pid && !patient.described)
		code = say_failure("doctor", &patient.runtime_err);
	patient_free(&patient);
	return code;
}

const struct command doctor_command = {
	.name = "doctor",
	.summary = "say what sonde can do here, and what is missing",
	.usage = "[OPTIONS] [-p PID]",
	.details =
		"Tries each thing that sonde needs, on processes that it starts for the purpose, and "
		"says how to grant what is missing. Nothing is guessed from the version of the kernel. "
		"With --pid it also says what the process is, which runtime was found in it, which "
		"offsets are in use and where each came from.",
	.options = rows,
	.options_size = sizeof(struct doctor_options),
	.run = run,
};
