/* SPDX-License-Identifier: Apache-2.0
 * plug.c - a library that churn.c loads and unloads: compiled with NAME and BYTES, which make its code and frames differ. */
#include <stdint.h>

void NAME(void (*spin)(void));

static volatile uint64_t kept;

void NAME(void (*spin)(void))
{
	volatile uint64_t room[BYTES / 8];

	for (unsigned i = 0; i < BYTES / 8; i += 8)
		room[i] = i;
	spin();
	kept += room[0];
}
