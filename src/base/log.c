/* SPDX-License-Identifier: Apache-2.0
 * log.c - see log.h. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

u8 log_level[LOG_DOMAIN_COUNT];

static const char *const domain_names[] = {
#define X(name) #name,
	LOG_DOMAINS(X)
#undef X
};

static bool set_level(const char *name, size_t length, u8 level)
{
	bool found = false;

	for (u32 i = 0; i < LOG_DOMAIN_COUNT; i++)
		if ((length == 3 && !memcmp(name, "all", 3)) ||
		    (strlen(domain_names[i]) == length && !memcmp(domain_names[i], name, length))) {
			log_level[i] = level;
			found = true;
		}
	return found;
}

bool log_configure(const char *spec)
{
	while (*spec) {
		size_t length = strcspn(spec, ":,");
		u8 level = 1;
		if (spec[length] == ':')
			level = (u8)atoi(spec + length + 1);
		if (!set_level(spec, length, level))
			return false;
		spec += length + strcspn(spec + length, ",");
		spec += *spec == ',';
	}
	return true;
}

void log_print(enum log_domain domain, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "sonde: %s: ", domain_names[domain]);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}
