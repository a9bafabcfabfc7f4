#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds, prints the table of bench/compare_speed.py, then runs every benchmark: tools/bench.sh [BENCHMARK OPTION...].
#   BENCH_MB           size of the inputs of the table, default 200; the published figures use 1000
#   BENCH_LARGE_MB     size of the large input, default 0: none; the published figures use 5000
#   BENCH_PEER_PYTHON  a Python that has the other programs (bench/README.md), default python3
#   CHOPPER_YARDSTICKS folder of rawjson.cpp and gen_kineto.py, default ../shared/bench
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
megabytes=${BENCH_MB:-200}
yardsticks=${CHOPPER_YARDSTICKS:-../shared/bench}

tools/build.sh release chopper
tools/build.sh bench
echo "== compare_speed"
if [ -f "$yardsticks/rawjson.cpp" ]; then
  CHOPPER_YARDSTICKS=$yardsticks python3 bench/compare_speed.py --mb "$megabytes" --rank-mb $((megabytes / 5)) \
    --large-mb "${BENCH_LARGE_MB:-0}" --peer-python "${BENCH_PEER_PYTHON:-python3}" --json build/bench/compare_speed.json
else
  echo "bench: the table is left out, there is no rawjson.cpp in $yardsticks (CHOPPER_YARDSTICKS)"
fi
for program in build/bench/bench/*_bench; do
  echo "== $(basename "$program")"
  "$program" "$@"
done
