#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds tests/install as a stranger would, in two ways: with the package installed to a fresh prefix, and with the
# source folder added to its own build. Both programs must report on the demo and print this version.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tools/build.sh release
work=$PWD/build/install-test
rm -rf "$work"
mkdir -p "$work"
cmake --install build/release --prefix "$work/prefix" >"$work/install.log"
version=$(sed -nE 's/^project\(chopper VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)

[ "$("$work/prefix/bin/chopper" --version | grep -c -F "$version")" -ge 1 ] || {
  echo "install: the installed program does not print version $version" >&2
  exit 1
}
for file in bash-completion/completions/chopper zsh/site-functions/_chopper fish/vendor_completions.d/chopper.fish man/man1/chopper.1; do
  [ -s "$work/prefix/share/$file" ] || {
    echo "install: no share/$file" >&2
    exit 1
  }
done
launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
consumer() {  # consumer NAME CMAKE-OPTION...
  local name=$1
  shift
  echo "== consumer: $name"
  cmake -S tests/install -B "$work/$name" -G Ninja -DCMAKE_BUILD_TYPE=Release "${launcher[@]}" "$@" >"$work/$name.log" 2>&1 || {
    cat "$work/$name.log" >&2
    return 1
  }
  cmake --build "$work/$name"
  local printed
  printed=$("$work/$name/consumer" examples/demo)
  [ "$printed" = "$version" ] || { echo "install: $name printed '$printed', not '$version'" >&2; return 1; }
}
consumer found -DCMAKE_PREFIX_PATH="$work/prefix"
# Whether it builds is the question here, not how fast it is.
consumer subdirectory -DCHOPPER_SOURCE_DIR="$PWD" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O1
echo "install: both consumers print $version"
