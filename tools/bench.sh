#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs every benchmark: tools/bench.sh [BENCHMARK OPTION...].
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if ! ls bench/*_bench.cpp >/dev/null 2>&1; then
  echo "bench: there are no benchmarks"
  exit 0
fi
tools/build.sh bench
for program in build/bench/bench/*_bench; do
  echo "== $(basename "$program")"
  "$program" "$@"
done
