/* SPDX-License-Identifier: Apache-2.0
 * rules.h - one row of call frame information as one rule.
 *
 * Private to this folder and its tests. */
#pragma once
#include "elf/cfi.h"
#include "unwind/rule.h"

/* False: the rule is UNWIND_NONE, since what the row says cannot be told by one. */
bool unwind_rule_of_row(const struct cfi_row *row, struct unwind_rule *rule);
