/* SPDX-License-Identifier: Apache-2.0
 * json.h - JSON written straight to an out, valid whatever the bytes are.
 *
 *	json_object(&json, NULL);               {
 *	json_number(&json, "pid", 42);            "pid": 42,
 *	json_array(&json, "threads");             "threads": [
 *	json_end(&json);                          ]
 *	json_end(&json);                        }
 *
 * Inside an array the key is NULL.  What is not UTF-8 becomes U+FFFD, byte for byte. */
#pragma once
#include "base/out.h"

struct json {
	struct out *out;
	u32 depth;
	u64 arrays; /* bit n: the container at depth n is an array */
	u64 filled; /* bit n: it holds something already */
};

static inline struct json json_make(struct out *out)
{
	return (struct json){ .out = out };
}

void json_object(struct json *json, const char *key);
void json_array(struct json *json, const char *key);
/* Ends the innermost object or array; the outermost is followed by a newline. */
void json_end(struct json *json);
void json_bytes(struct json *json, const char *key, const char *text, size_t length);
void json_text(struct json *json, const char *key, const char *text);
void json_number(struct json *json, const char *key, u64 number);
/* Six digits behind the point; what is no number becomes null. */
void json_real(struct json *json, const char *key, double number);
void json_bool(struct json *json, const char *key, bool truth);
void json_null(struct json *json, const char *key);
