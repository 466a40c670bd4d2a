/* SPDX-License-Identifier: Apache-2.0
 * report_json.c - a report for programs. Amounts are in the unit that it names. */
#include "cli/json_names.h"
#include "cli/report.h"

static void json_rows(struct json *json, const struct report *report)
{
	const struct names *names = &report->profile->names;
	bool lines = report->options->lines;

	json_array(json, lines ? "lines" : "functions");
	for (u32 i = 0; i < report->row_count && i < report->options->limit; i++) {
		const struct fold_key *key = &report->fold.keys.at[report->rows[i]];
		const struct fold_value *row = &report->fold.row[report->rows[i]];
		u32 function = lines ? names->locations.at[key->item].function : key->item;
		u32 line = lines ? names->locations.at[key->item].line :
				   names->functions.at[function].first_line;
		json_object(json, NULL);
		json_place(json, names, function, line, key->site);
		json_number(json, "self", row->self);
		json_number(json, "total", row->total);
		json_number(json, "self_samples", row->self_samples);
		json_number(json, "total_samples", row->total_samples);
		json_end(json);
	}
	json_end(json);
}

static void json_threads(struct json *json, const struct report *report)
{
	const struct profile *profile = report->profile;

	json_array(json, "threads");
	for (u32 i = 0; i < report_used(report->threads, profile->threads.count); i++) {
		const struct profile_thread *thread = &profile->threads.at[report->threads[i].key];
		json_object(json, NULL);
		json_number(json, "pid", profile->processes.at[thread->process].pid);
		json_number(json, "tid", thread->tid);
		json_name(json, "name", &profile->names, thread->name);
		json_number(json, "self", report->threads[i].weight);
		json_number(json, "self_samples", report->threads[i].samples);
		json_end(json);
	}
	json_end(json);
}

static void json_languages(struct json *json, const struct report *report)
{
	json_array(json, "languages");
	for (u32 i = 0; i < report_used(report->languages, report->language_count); i++) {
		json_object(json, NULL);
		json_name(json, "name", &report->profile->names, report->languages[i].key);
		json_number(json, "self", report->languages[i].weight);
		json_number(json, "self_samples", report->languages[i].samples);
		json_end(json);
	}
	json_end(json);
}

static void json_processes(struct json *json, const struct report *report)
{
	const struct profile *profile = report->profile;

	json_array(json, "processes");
	for (u32 i = 0; i < report_used(report->processes, profile->processes.count); i++) {
		const struct profile_process *process =
			&profile->processes.at[report->processes[i].key];
		json_object(json, NULL);
		json_number(json, "pid", process->pid);
		json_name(json, "name", &profile->names, process->name);
		json_number(json, "self", report->processes[i].weight);
		json_number(json, "self_samples", report->processes[i].samples);
		json_end(json);
	}
	json_end(json);
}

void report_json(const struct report *report, struct out *out)
{
	const struct profile *profile = report->profile;
	struct json json = json_make(out);

	json_object(&json, NULL);
	json_text(&json, "title", profile->title);
	json_text(&json, "mode", profile->mode);
	json_text(&json, "unit", report->fold.by_samples ? "samples" : "nanoseconds");
	json_number(&json, "total", report->fold.node[0].total);
	json_number(&json, "samples", report->fold.node[0].total_samples);
	json_number(&json, "start_unix_ns", profile->start_unix_ns);
	json_number(&json, "duration_ns", profile->duration_ns);
	json_rows(&json, report);
	json_threads(&json, report);
	json_processes(&json, report);
	json_languages(&json, report);
	json_end(&json);
}
