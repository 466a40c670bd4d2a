#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kernel.sh [OPTION...] - what an interrupt costs, by depth, with the nanoseconds of a native, a Ruby and a Python frame.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 tests/e2e/run.py --row kernel-cost --row kernel-cost-python --row kernel-cost-native "$@"
