/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * x86_64.h - registers, by DWARF's numbers (System V ABI, AMD64 supplement, figure 3.36). */
#pragma once
#include "base/types.h"

enum {
	X86_RAX,
	X86_RDX,
	X86_RCX,
	X86_RBX,
	X86_RSI,
	X86_RDI,
	X86_RBP,
	X86_RSP,
	X86_R8,
	X86_R9,
	X86_R10,
	X86_R11,
	X86_R12,
	X86_R13,
	X86_R14,
	X86_R15,
	X86_RIP,
};

/* In the order of struct unwind_rule's `saved`. */
#define UNWIND_EACH_SAVED(X) \
	X(0, X86_RBX) X(1, X86_RBP) X(2, X86_R12) X(3, X86_R13) X(4, X86_R14) X(5, X86_R15)

enum {
	UNWIND_REGISTERS = X86_RIP,
	UNWIND_SP = X86_RSP,
	UNWIND_ENTRY_CFA = 8, /* from the stack pointer, where a function begins */
	UNWIND_FP = X86_RBP,
	/* In which a handler is told what is thrown (__builtin_eh_return_data_regno). */
	UNWIND_EH_FIRST = X86_RAX,
	UNWIND_EH_SECOND = X86_RDX,
	/* In libgcc's struct _Unwind_Context (unwind-dw2.c), behind the places of 18 registers. */
	UNWIND_CONTEXT_SP = 144,
	UNWIND_CONTEXT_PC = 152,
	UNWIND_PC = X86_RIP,
	/* The return address, from the CFA. */
	UNWIND_RETURN = -8,
	/* Of the 16 registers, those that outlive a call. */
	UNWIND_KEPT = 1 << X86_RBX | 1 << X86_RBP | 0xf << X86_R12,
};

/* Where a signal's frame holds the registers: from sp, which leads to struct ucontext when the handler has
 * returned (arch/x86/include/uapi/asm/sigcontext.h, behind 40 bytes of flags, link and stack). */
/* clang-format off */
#define UNWIND_EACH_SIGNAL_REGISTER(X) \
	X(X86_R8, 40) X(X86_R9, 48) X(X86_R10, 56) X(X86_R11, 64) \
	X(X86_R12, 72) X(X86_R13, 80) X(X86_R14, 88) X(X86_R15, 96) \
	X(X86_RDI, 104) X(X86_RSI, 112) X(X86_RBP, 120) X(X86_RBX, 128) \
	X(X86_RDX, 136) X(X86_RAX, 144) X(X86_RCX, 152)
/* clang-format on */

enum {
	UNWIND_SIGNAL_SP = 160,
	UNWIND_SIGNAL_PC = 168,
};
