/* SPDX-License-Identifier: Apache-2.0
 * folded.c - fuzzing the reader of folded stacks: import.h. */
#include "fuzz.h"
#include "import.h"

const char fuzz_name[] = "folded";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	import_fuzz(&folded_importer, data, size);
	return 0;
}
