#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of a preset that is built: tools/ctest.sh PRESET [CTEST OPTION...].
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=$1
shift
prefix=()
# The thread sanitizer of older compilers refuses the address layout of kernels with much randomisation, so switch that
# off where it is allowed.
if [ "$preset" = tsan ] && setarch "$(uname -m)" -R true 2>/dev/null; then
  prefix=(setarch "$(uname -m)" -R)
fi
echo "== test $preset"
if [ -t 1 ]; then
  "${prefix[@]}" ctest --preset "$preset" --no-tests=error --progress "$@"
else
  "${prefix[@]}" ctest --preset "$preset" --no-tests=error "$@" | sed -u '/^ *Start *[0-9]*: /d'
fi
