/* SPDX-License-Identifier: Apache-2.0
 * pprof.c - fuzzing the reader of profile.proto, gzipped or not: import.h. */
#include "fuzz.h"
#include "import.h"

const char fuzz_name[] = "pprof";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	import_fuzz(&pprof_importer, data, size);
	return 0;
}
