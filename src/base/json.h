/* SPDX-License-Identifier: Apache-2.0
 * json.h - JSON written straight to an out, valid whatever the bytes are.
 *
 *	json_object(&json, NULL);               {
 *	json_number(&json, "pid", 42);            "pid": 42,
 *	json_array(&json, "threads");             "threads": [
 *	json_end(&json);                          ]
 *	json_end(&json);                        }
 *
 * Inside an array the key is NULL.  What is not UTF-8 becomes U+FFFD, byte for byte.
 * One value a line, indented; json_flat() puts a container on one line: for rows and columns
 * of millions of numbers, which nobody reads and each of which would cost a dozen blanks. */
#pragma once
#include "base/out.h"

struct json {
	struct out *out;
	u32 depth;
	u64 arrays; /* bit n: the container at depth n is an array */
	u64 filled; /* bit n: it holds something already */
	u32 flat;   /* from this depth on everything is on one line; 0: nothing is */
};

static inline struct json json_make(struct out *out)
{
	return (struct json){ .out = out };
}

void json_object(struct json *json, const char *key);
void json_array(struct json *json, const char *key);
/* The container that was just begun, with all that is in it, stands on one line. */
void json_flat(struct json *json);
/* Ends the innermost object or array; the outermost is followed by a newline. */
void json_end(struct json *json);
void json_bytes(struct json *json, const char *key, const char *text, size_t length);
void json_text(struct json *json, const char *key, const char *text);
void json_number(struct json *json, const char *key, u64 number);
/* number / 10^places, exactly: 1234 with 3 places is 1.234; zeros at the end are left out. */
void json_fixed(struct json *json, const char *key, u64 number, u32 places);
/* Six digits behind the point; what is no number becomes null. */
void json_real(struct json *json, const char *key, double number);
void json_bool(struct json *json, const char *key, bool truth);
void json_null(struct json *json, const char *key);
/* JSON as it stands. */
void json_literal(struct json *json, const char *key, const char *text);
