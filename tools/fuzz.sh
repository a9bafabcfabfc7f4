#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz targets and runs them.
#
#   tools/fuzz.sh seeds    each over fuzz/seeds and the golden inputs
#   tools/fuzz.sh long     each for FUZZ_SECONDS (default 1800), starting from these; what it learns stays in build/corpus
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if ! ls fuzz/*_fuzz.cpp >/dev/null 2>&1; then
  echo "fuzz: there are no fuzz targets"
  exit 0
fi
tools/build.sh fuzz
case ${1:-seeds} in
  seeds) tools/ctest.sh fuzz ;;
  long)
    seeds=()
    for folder in fuzz/seeds tests/golden; do [ -d "$folder" ] && seeds+=("$PWD/$folder"); done
    for source in fuzz/*_fuzz.cpp; do
      target=$(basename "$source" .cpp)
      corpus=$PWD/build/corpus/$target
      mkdir -p "$corpus"
      echo "== fuzz $target for ${FUZZ_SECONDS:-1800} s"
      build/fuzz/fuzz/"$target" -max_total_time="${FUZZ_SECONDS:-1800}" -timeout=20 -rss_limit_mb=4096 -max_len=65536 \
        -print_final_stats=1 -artifact_prefix="$corpus-" "$corpus" "${seeds[@]}"
    done ;;
  *) sed -n '3,6p' "$0"; exit 2 ;;
esac
