/* SPDX-License-Identifier: Apache-2.0
 * kinds.h - what kind of code a frame is, and what formats make of that: a colour, a category.
 *
 * The hues are those of html/colour.js: a language has one colour in all that sonde writes. */
#pragma once
#include "sample/names.h"

struct kind {
	const char *language;   /* as in struct name_function */
	bool is_c;              /* a function of the runtime that is written in C */
	const char *label;      /* for people */
	const char *firefox;    /* one of the colours that the Firefox profiler knows */
	const char *frame_type; /* profile.frame.type of OpenTelemetry's conventions; NULL: none */
	u16 hue;
	bool is_grey;
};

extern const struct kind kinds[];
extern const u32 kind_count;
/* The number of a function's kind. 0 is what is no code, the last is any other language. */
u32 kind_of(const struct names *names, u32 function);
