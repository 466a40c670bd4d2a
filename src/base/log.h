/* SPDX-License-Identifier: Apache-2.0
 * log.h - what a developer wants to see: --debug=kernel:2,target
 *
 * Nothing below cli/ prints.  Debug domains are the exception: off by default,
 * one word tested where a statement stands, always on standard error.  A file
 * names its domain once:  #define LOG_DOMAIN LOG_kernel */
#pragma once
#include "base/types.h"

#define LOG_DOMAINS(X) X(elf) X(target) X(reader) X(kernel) X(session)

enum log_domain {
#define X(name) LOG_##name,
	LOG_DOMAINS(X) LOG_DOMAIN_COUNT,
#undef X
};

extern u8 log_level[LOG_DOMAIN_COUNT];

/* "reader:2,target" or "all"; false for an unknown domain. */
bool log_configure(const char *spec);
void log_print(enum log_domain domain, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#define log_debug(level, ...)                               \
	do {                                                \
		if (log_level[LOG_DOMAIN] >= (level))       \
			log_print(LOG_DOMAIN, __VA_ARGS__); \
	} while (0)
