/* SPDX-License-Identifier: Apache-2.0
 * bytes.h - few bytes, mostly a machine word's: a call for each would cost as much as all else of a planned read. */
#pragma once
#include "base/types.h"

#include <string.h>

static inline void bytes_copy(void *to, const void *from, u32 len)
{
	if (len == 8)
		memcpy(to, from, 8);
	else if (len == 4)
		memcpy(to, from, 4);
	else
		memcpy(to, from, len);
}

static inline bool bytes_are_same(const void *one, const void *other, u32 len)
{
	return len == 8 ? !memcmp(one, other, 8) :
	       len == 4 ? !memcmp(one, other, 4) :
			  !memcmp(one, other, len);
}
