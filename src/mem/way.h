/* SPDX-License-Identifier: (Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only)
 * way.h - how reads that follow each other lie. */
#pragma once

enum mem_way {
	MEM_UP,
	MEM_DOWN,
	MEM_BESIDE, /* members of one object */
};
