/* SPDX-License-Identifier: Apache-2.0
 * proto.h - protobuf's wire format, the part that pprof and OTLP need.
 *
 * A message is built in a struct str and then put into its parent as bytes.  A zero is the
 * default of proto3 and is left out. */
#pragma once
#include "base/str.h"

void proto_uint(struct str *message, u32 field, u64 value);
/* Strings, bytes and inner messages; an empty one is written too: it may be an element. */
void proto_bytes(struct str *message, u32 field, const void *bytes, size_t length);
/* A repeated integer field in packed form; zeros count. */
void proto_packed(struct str *message, u32 field, const u64 *values, u32 count);
/* A repeated fixed64 field in packed form. */
void proto_packed_fixed(struct str *message, u32 field, const u64 *values, u32 count);
void proto_fixed(struct str *message, u32 field, u64 value);
