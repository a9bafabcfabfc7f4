# SPDX-License-Identifier: Apache-2.0
# Toolchain of the presets clang and fuzz: the oldest clang from 16 on that is installed, since distributions differ.
# -DCMAKE_CXX_COMPILER=... chooses another.
if(NOT CMAKE_CXX_COMPILER)
  find_program(CHOPPER_CLANG NAMES clang++-16 clang++-17 clang++-18 clang++-19 clang++-20 clang++-21 clang++)
  if(NOT CHOPPER_CLANG)
    message(FATAL_ERROR "clang++ 16 or newer was not found (tools/setup.sh clang installs it)")
  endif()
  set(CMAKE_CXX_COMPILER "${CHOPPER_CLANG}")
endif()
