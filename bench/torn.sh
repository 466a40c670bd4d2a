#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# torn.sh [SAMPLES [HZ]] - torn.c on torn.rb, which prints its pid and runs until it is ended.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec {output}< <(exec ruby bench/torn.rb)
ruby=$!
trap 'kill "$ruby"' EXIT
read -r pid <&"$output"
build/bench/torn "$pid" "$@"
