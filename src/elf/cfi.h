/* SPDX-License-Identifier: Apache-2.0
 * cfi.h - what an image says about unwinding: the rows of .eh_frame and .debug_frame.
 *
 * Both hold, in bytecode, a table: at this pc the caller's stack pointer (the CFA, canonical frame address) is that
 * far from that register, and the registers that the caller wants back are there (DWARF 5, 6.4; Linux
 * Standard Base 5, 10.6, for what .eh_frame does differently).  This runs the bytecode and hands out the rows;
 * what they mean for a machine is decided above (unwind/).
 *
 * The file is foreign input: every length is checked against what holds it, an entry that makes no sense is
 * passed over and counted, and the work is bounded by the section's size. */
#pragma once
#include "elf/image.h"

enum {
	/* Columns that are kept: x86-64 has 17 (the return address is the last), aarch64 32 and its sp. */
	CFI_REGISTERS = 33,
};

enum cfi_how {
	CFI_SAME,          /* the callee leaves it as it is: also what was not said */
	CFI_UNDEFINED,     /* it is gone; of the return address: there is no caller */
	CFI_AT_CFA,        /* stored at CFA + offset */
	CFI_REGISTER_PLUS, /* is `reg` + offset */
	CFI_CFA_PLUS,      /* is CFA + offset */
	CFI_AT_EXPRESSION, /* stored where the DWARF expression says, which begins with the CFA on its stack */
	CFI_IS_EXPRESSION, /* is what it says */
};

struct cfi_rule {
	u8 how;     /* enum cfi_how */
	u8 reg;     /* DWARF's number */
	u16 length; /* of the expression, bytes */
	union {
		s64 offset;
		const u8 *expression; /* as long as the row */
	};
};

/* Of the instructions from begin to end, as linked. */
struct cfi_row {
	u64 begin, end;
	u64 function_begin, function_end;
	struct cfi_rule cfa; /* CFI_REGISTER_PLUS, CFI_IS_EXPRESSION or CFI_UNDEFINED */
	struct cfi_rule registers[CFI_REGISTERS];
	u8 return_register;
	bool is_signal; /* a signal's frame: its caller was interrupted, and its pc is no return address */
};

struct cfi_summary {
	u32 functions; /* whose rows were handed out */
	u32 damaged;   /* entries that were passed over */
};

/* What is wanted behind a row. */
enum cfi_wish { CFI_MORE, CFI_NEXT_FUNCTION, CFI_ENOUGH };

/* The row is valid during the call. */
typedef enum cfi_wish cfi_row_fn(void *arg, const struct cfi_row *row);

enum cfi_source { CFI_EH_FRAME, CFI_DEBUG_FRAME };

/* Of all that the rows of an image come from, and of where it lies. */
struct cfi_digest {
	u64 words[2];
};

/* Every row of one of the two, those of a function in ascending order, functions in the file's. An image
 * without it has none. False and err when it cannot be read or memory is out. */
bool cfi_each_row(const struct image *image, enum cfi_source source, cfi_row_fn *fn, void *arg,
		  struct cfi_summary *summary, struct err *err);
/* Images of equal digests have equal rows. */
bool cfi_digest(const struct image *image, struct cfi_digest *out, struct err *err);
