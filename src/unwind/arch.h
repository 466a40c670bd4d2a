/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * arch.h - the registers of the machine that this is built for. */
#pragma once
#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)
#include "unwind/arch/x86_64.h"
#else
#error "unwind/arch has no file for this machine"
#endif
