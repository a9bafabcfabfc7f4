#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configures and builds a preset: tools/build.sh PRESET [TARGET...]. The configuration log is shown only when it fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=$1
shift
echo "== build $preset"
mkdir -p build
if ! cmake --preset "$preset" >"build/configure-$preset.log" 2>&1; then
  cat "build/configure-$preset.log" >&2
  exit 1
fi
targets=()
for target in "$@"; do targets+=(--target "$target"); done
cmake --build --preset "$preset" "${targets[@]}"
# Each public header compiles alone.
if [ $# -eq 0 ] && [ "$preset" = release ] && ls include/chopper/*.h >/dev/null 2>&1; then
  cmake --build --preset "$preset" --target all_verify_interface_header_sets
fi
