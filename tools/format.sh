#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lays out the C++ sources with clang-format: tools/format.sh [--check]. Only the version named here is used, since
# versions differ in their output; where it is not to be had the check is skipped and says so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=16
if command -v "clang-format-$version" >/dev/null; then
  program=clang-format-$version
elif command -v clang-format >/dev/null && [[ $(clang-format --version) == *"version $version."* ]]; then
  program=clang-format
else
  echo "format: skipped, clang-format $version is not installed, and other versions lay out differently"
  [ "${1:-}" = --check ] && exit 0 || exit 1
fi
mapfile -t files < <(
  { git ls-files -co --exclude-standard 2>/dev/null || find . -type f -not -path './build/*' -not -path './node_modules/*'; } |
    sed 's#^\./##' | grep -E '^(src|include|wire|tests|fuzz|bench|collectors|examples)/.*\.(cpp|h)$' | sort)
existing=()
for file in "${files[@]}"; do [ -f "$file" ] && existing+=("$file"); done
if [ ${#existing[@]} -eq 0 ]; then
  echo "format: no sources"
elif [ "${1:-}" = --check ]; then
  "$program" --style=file --dry-run -Werror "${existing[@]}"
  echo "format: ${#existing[@]} files are laid out as clang-format $version does"
else
  "$program" --style=file -i "${existing[@]}"
fi
