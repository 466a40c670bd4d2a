#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# exports.sh [SAMPLES [FORMAT]] - exports.c: a large profile in every format.
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/../build/bench/exports" "$@"
