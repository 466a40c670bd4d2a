/* SPDX-License-Identifier: Apache-2.0
 * quality_file.c - see quality_file.h.  The fields come from the X-lists of sample/quality.h. */
#include "cli/quality_file.h"

#include "base/out.h"
#include "base/json.h"
#include "cli/record_output.h"

bool quality_file_check(const char *path, struct err *err)
{
	struct out out;

	if (!out_open_file(&out, path, err)) {
		record_output_explain(path, err);
		return err_wrap(err, "--quality");
	}
	out_abandon(&out);
	return true;
}

bool quality_file_write(const char *path, const struct quality *quality, struct err *err)
{
	struct out out;

	if (!out_open_file(&out, path, err))
		return err_wrap(err, "--quality");
	struct json json = json_make(&out);
	json_object(&json, NULL);
	json_text(&json, "engine", quality->engine);
	json_text(&json, "warning", quality->warning);
	json_number(&json, "expected", quality->expected);
	json_number(&json, "taken", quality->taken);
	json_object(&json, "lost");
#define X(name, text) json_number(&json, #name, quality->lost.name);
	QUALITY_LOSSES(X)
#undef X
	json_end(&json);
#define X(name, text) json_number(&json, #name, quality->name);
	QUALITY_COUNTS(X)
#undef X
	json_number(&json, "begin_ns", quality->begin_ns);
	json_number(&json, "end_ns", quality->end_ns);
	json_number(&json, "own_cpu_ns", quality->own_cpu_ns);
	json_number(&json, "attach_cpu_ns", quality->attach_cpu_ns);
	json_end(&json);
	return out_close(&out, err) || err_wrap(err, "--quality");
}
