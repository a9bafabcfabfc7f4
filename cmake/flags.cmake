# SPDX-License-Identifier: Apache-2.0
# Two interface targets carry our flags; linked PRIVATE, they never reach a consumer.
#   chopper_machine_flags   instruction set, sanitizers, coverage: also for simdjson, which we compile
#   chopper_flags           these, C++20 and the warnings: for our own code

add_library(chopper_machine_flags INTERFACE)
if(CHOPPER_CPU)
  target_compile_options(chopper_machine_flags INTERFACE "-march=${CHOPPER_CPU}")
  # Carry-less multiplication (every CPU with AVX2 has it) is not part of x86-64-v3, and simdjson wants both.
  if(CHOPPER_CPU STREQUAL "x86-64-v3")
    target_compile_options(chopper_machine_flags INTERFACE -mpclmul)
  endif()
endif()
if(CHOPPER_SANITIZE)
  target_compile_options(chopper_machine_flags INTERFACE -fsanitize=${CHOPPER_SANITIZE} -fno-sanitize-recover=all
                                                         -fno-omit-frame-pointer)
  target_link_options(chopper_machine_flags INTERFACE -fsanitize=${CHOPPER_SANITIZE})
endif()
if(CHOPPER_BUILD_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "CHOPPER_BUILD_FUZZ needs clang (preset fuzz)")
  endif()
  target_compile_options(chopper_machine_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(CHOPPER_COVERAGE)
  target_compile_options(chopper_machine_flags INTERFACE --coverage)
  target_link_options(chopper_machine_flags INTERFACE --coverage)
endif()
if(CHOPPER_SIMDJSON_BUNDLED)
  target_link_libraries(simdjson_lib PRIVATE chopper_machine_flags)
endif()

add_library(chopper_flags INTERFACE)
target_link_libraries(chopper_flags INTERFACE chopper_machine_flags)
target_compile_features(chopper_flags INTERFACE cxx_std_20)
target_compile_options(
  chopper_flags
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            -Wshadow
            -Wconversion
            -Wsign-conversion
            -Wnon-virtual-dtor
            -Wold-style-cast
            -Wcast-qual)
# Printed values must not depend on whether a compiler fuses a multiplication with an addition.
target_compile_options(chopper_flags INTERFACE -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Not -Wnull-dereference: with -O3 g++ 12 reports it inside the standard containers.
  target_compile_options(chopper_flags INTERFACE -Wduplicated-cond)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # g++ 12 reports "may overlap" in std::string's operator+ (GCC bug 105329, mended in 13).
    target_compile_options(chopper_flags INTERFACE -Wno-restrict)
  endif()
  if(CHOPPER_SANITIZE)
    # Instrumented code defeats g++'s analysis of std::optional and std::variant.
    target_compile_options(chopper_flags INTERFACE -Wno-maybe-uninitialized)
  endif()
else()
  target_compile_options(chopper_flags INTERFACE -Wnull-dereference)
endif()
if(CHOPPER_WERROR)
  target_compile_options(chopper_flags INTERFACE -Werror)
endif()

# What all our targets have in common.
function(chopper_configure target)
  target_link_libraries(${target} PRIVATE chopper_flags)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include"
                                               "${PROJECT_BINARY_DIR}/generated")
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
endfunction()
