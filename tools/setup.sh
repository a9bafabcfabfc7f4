#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing for parts of the build, and nothing else.
#
#   tools/setup.sh PART...      build, viewer, browser, test, python, clang, format, bench, coverage
#   SETUP=no tools/setup.sh ... does nothing: for machines that are set up in another way
#
# Packages come from apt (Debian 12 and 13, Ubuntu 24.04; sudo when not root) and npm. A program that is on the PATH
# counts as installed, wherever it comes from.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ "${SETUP:-yes}" = no ] && exit 0

# The version that made the layout of the sources (.clang-format); others differ in their output.
clang_format_version=16

packages=()
installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
need_program() { command -v "$1" >/dev/null || packages+=("$2"); }
need_library() { for name in "$@"; do installed "$name" || packages+=("$name"); done; }
simdjson_current() {
  [ -f node_modules/@nozbe/simdjson/src/simdjson.cpp ] && cmp -s package-lock.json node_modules/.chopper-lock.json
}
viewer_current() {
  [ -d viewer/node_modules/esbuild ] && [ -d viewer/node_modules/echarts ] &&
    cmp -s viewer/package-lock.json viewer/node_modules/.chopper-lock.json
}
# A clang from 16 on with the fuzzer's run-time library.
clang_ready() {
  local compiler
  for compiler in clang++-{16..21} clang++; do
    command -v "$compiler" >/dev/null || continue
    [ "$("$compiler" -dumpversion | cut -d. -f1)" -ge 16 ] || continue
    ls "$("$compiler" -print-resource-dir)"/lib/*/libclang_rt.fuzzer*.a >/dev/null 2>&1 && return 0
  done
  return 1
}

want_clang='' want_format='' want_npm='' want_viewer=''
for part in "$@"; do
  case $part in
    build)
      need_program g++ g++
      need_program cmake cmake
      need_program ninja ninja-build
      need_program pkg-config pkg-config
      command -v dpkg-query >/dev/null &&
        need_library libfmt-dev libcli11-dev libisal-dev libzstd-dev zlib1g-dev libtomlplusplus-dev libsqlite3-dev
      if ! simdjson_current; then
        want_npm=1
        need_program node nodejs
        need_program npm npm
      fi ;;
    viewer)  # the HTML page of report -o
      if ! viewer_current; then
        want_viewer=1
        need_program node nodejs
        need_program npm npm
      fi ;;
    browser)  # for the test of the page; on Ubuntu chromium is a snap, and the test is skipped
      if [ -f /etc/debian_version ] && ! grep -qs '^ID=ubuntu' /etc/os-release; then
        need_program chromium chromium
      fi ;;
    test)
      need_program python3 python3
      need_program git git
      need_program jq jq  # for the commands of the docs
      command -v dpkg-query >/dev/null && need_library libgtest-dev ;;
    python) need_program python3 python3 ;;
    clang) clang_ready || want_clang=1 ;;
    format)
      need_program git git
      command -v "clang-format-$clang_format_version" >/dev/null || want_format=1 ;;
    bench) command -v dpkg-query >/dev/null && need_library libbenchmark-dev ;;
    coverage) need_program gcovr gcovr ;;
    *) echo "setup: no such part: $part" >&2; exit 2 ;;
  esac
done

available() { [ -n "$(apt-cache show --no-all-versions "$1" 2>/dev/null)" ]; }
# Some distributions never have this clang-format: the check is skipped there, which should cost neither an update of
# the package lists nor a password.
if [ -n "$want_format" ] && find /var/lib/apt/lists -maxdepth 1 -name '*_Packages*' 2>/dev/null | grep . >/dev/null; then
  available "clang-format-$clang_format_version" || want_format=''
fi

if [ ${#packages[@]} -gt 0 ] || [ -n "$want_clang$want_format" ]; then
  if ! command -v apt-get >/dev/null; then
    [ -n "$want_format" ] && echo "setup: clang-format $clang_format_version is missing; the format check will be skipped" >&2
    [ -n "$want_clang" ] && packages+=("clang (16 or newer) with compiler-rt")
    if [ ${#packages[@]} -gt 0 ]; then
      echo "setup: this machine has no apt-get. Install what these Debian packages hold, then run make SETUP=no ..." >&2
      printf 'setup:   %s\n' "${packages[@]}" >&2
      exit 1
    fi
  else
    as_root=()
    if [ "$(id -u)" -ne 0 ]; then
      command -v sudo >/dev/null || {
        echo "setup: packages are missing and there is no sudo; as root, install: ${packages[*]} ${want_clang:+clang }${want_format:+clang-format-16}" >&2
        exit 1
      }
      as_root=(sudo)
    fi
    apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "$@"; }
    echo "setup: apt-get update"
    apt update -qq || { echo "setup: apt-get update failed" >&2; exit 1; }
    if [ -n "$want_clang" ]; then
      # The distribution's own choice if it is new enough, else the oldest that is.
      own=$(apt-cache policy clang 2>/dev/null | sed -nE 's/^ *Candidate: ([0-9]+:)?([0-9]+).*/\2/p')
      for version in $([ "${own:-0}" -ge 16 ] && echo "$own") {16..21}; do
        if available "clang-$version" && available "libclang-rt-$version-dev"; then
          packages+=("clang-$version" "libclang-rt-$version-dev")
          want_clang=''
          break
        fi
      done
      [ -z "$want_clang" ] || { echo "setup: this distribution has no clang from 16 on" >&2; exit 1; }
    fi
    if [ -n "$want_format" ] && available "clang-format-$clang_format_version"; then
      packages+=("clang-format-$clang_format_version")
    fi
    if [ ${#packages[@]} -gt 0 ]; then
      echo "setup: apt-get install ${packages[*]}"
      log=$(mktemp)
      if ! apt install -y -qq --no-install-recommends "${packages[@]}" >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        echo "setup: apt-get could not install: ${packages[*]}" >&2
        exit 1
      fi
      rm -f "$log"
    fi
  fi
fi

if [ -n "$want_npm" ]; then
  if ! command -v npm >/dev/null; then
    echo "setup: npm is missing" >&2
    exit 1
  fi
  echo "setup: npm ci"
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
  cp package-lock.json node_modules/.chopper-lock.json
fi

# The page is optional: without its packages the program is built without it.
if [ -n "$want_viewer" ]; then
  echo "setup: npm ci in viewer/"
  if (cd viewer && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null); then
    cp viewer/package-lock.json viewer/node_modules/.chopper-lock.json
  else
    echo "setup: the npm packages of viewer/ could not be installed; chopper is built without the HTML page" >&2
  fi
fi
