/* SPDX-License-Identifier: Apache-2.0
 * pprof_encode.h - a profile as a perftools.profiles.Profile message, not compressed. */
#pragma once
#include "export/sink.h"
#include "profile/profile.h"

/* False when out of memory: what went to the sink is then not whole. */
bool pprof_encode(const struct profile *profile, const struct sink *sink);
