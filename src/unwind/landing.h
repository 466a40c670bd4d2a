/* SPDX-License-Identifier: Apache-2.0
 * landing.h - functions that do not return to their caller, but land in another frame: __builtin_eh_return().
 *
 * An unwinder (libgcc's _Unwind_RaiseException, _Unwind_Resume and the like) ends a throw so: a function that it calls
 * (uw_install_context_1) puts what the handler's frame needs, its way back, too, over what its own frame has saved, word by
 * word; then the stack pointer leaps to that frame.  From that call on its rows lead to a caller that is partly the one and
 * partly the other, so the handler's frame counts, which the struct that is handed over tells: struct _Unwind_Context is found by how
 * its CFA and pc are loaded behind the call, for _Unwind_DebugHook.
 *
 * Private to this folder and its tests. */
#pragma once
#include "base/types.h"

struct cfi_row;
struct image;
struct unwind_rule;

/* Is it a row behind the leap?  It has the two registers in which a handler is told what is thrown, as no other code has, and
 * the frame pointer is the handler's. */
bool unwind_row_lands(const struct cfi_row *row);
/* What the rule of such a row is: registers are the handler's already, and so is the way back, which is no call's. */
void unwind_rule_behind_leap(struct unwind_rule *rule);
/* From where on in front of the leap at `end` the handler's frame counts, and by which rule: UNWIND_NONE where nothing says where the
 * struct is. `begin` is an instruction. `end`: there is no call. */
u64 unwind_rule_before_leap(const struct image *image, u64 begin, u64 end,
			    struct unwind_rule *rule);
