# SPDX-License-Identifier: Apache-2.0
# Every target sets up what it needs (apt and npm packages, each only when missing; SETUP=no leaves that out) and can
# be run alone. docs/how-to/build.md explains them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := all

SETUP ?= yes
JOBS ?= $(shell nproc)
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(JOBS)
export CTEST_PARALLEL_LEVEL ?= $(JOBS)
export SETUP

setup = tools/setup.sh $(1)
build = tools/build.sh $(1)
suite = tools/build.sh $(1) && tools/ctest.sh $(1)

.PHONY: all demo test check asan tsan clang fuzz page install-test bench coverage soak layers ascii format format-check clean

all:  ## builds build/release/chopper
	@$(call setup,build viewer)
	@$(call build,release) chopper

demo: all  ## builds, then reports on the traces of examples/demo
	@build/release/chopper report examples/demo

test:  ## the suite before a commit: layers, sources, format, release, sanitizers
	@$(call setup,build viewer test format)
	@$(MAKE) --no-print-directory SETUP=no check
	@$(call suite,release)
	@$(call suite,asan)

check: layers ascii format-check  ## the checks that need no compiler

layers:  ## includes follow tools/layers.txt
	@$(call setup,python)
	@python3 tools/check_layers.py --self-test
	@python3 tools/check_layers.py

ascii:  ## ASCII, licence line, final newline
	@$(call setup,python)
	@python3 tools/check_sources.py

format-check:  ## the layout is clang-format's
	@$(call setup,format)
	@tools/format.sh --check

format:  ## rewrites the layout
	@$(call setup,format)
	@tools/format.sh

asan:  ## suite with the address and undefined-behaviour sanitizers
	@$(call setup,build test)
	@$(call suite,asan)

tsan:  ## suite with the thread sanitizer
	@$(call setup,build test)
	@$(call suite,tsan)

clang:  ## suite compiled by clang 16 or newer
	@$(call setup,build test clang)
	@$(call suite,clang)

fuzz:  ## fuzz targets over their seeds
	@$(call setup,build test clang)
	@tools/fuzz.sh seeds

page:  ## tests of the HTML page: types, unit tests, and the page in a browser
	@$(call setup,build viewer browser test)
	@$(call build,release) chopper
	@ctest --preset release -L page

install-test:  ## a consumer built against the installed package, and against the source folder
	@$(call setup,build)
	@tools/install_test.sh

bench:  ## benchmarks
	@$(call setup,build bench)
	@tools/bench.sh

coverage:  ## suite with line coverage, summary by gcovr
	@$(call setup,build test coverage)
	@$(call suite,coverage)
	@gcovr --root . --filter src/ --exclude '.*_test\.cpp' build/coverage

soak:  ## hours: long fuzzing (FUZZ_SECONDS for each target), files of SOAK_MB megabytes
	@$(call setup,build test clang)
	@tools/fuzz.sh long
	@$(call build,release) chopper
	@python3 tools/soak_large_files.py --chopper build/release/chopper

clean:  ## removes build/ (node_modules/ stays)
	rm -rf build
