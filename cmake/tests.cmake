# SPDX-License-Identifier: Apache-2.0
# Registers the tests. A new file or folder is a new test; nothing here lists them.
find_package(GTest QUIET)
find_package(Python3 QUIET COMPONENTS Interpreter)
if(NOT GTest_FOUND OR NOT Python3_FOUND)
  # The program can be built without them; a run of the tests must not pass without them.
  message(STATUS "Tests are left out: GoogleTest or python3 was not found (Debian: libgtest-dev python3)")
  add_test(NAME tests_are_left_out_install_googletest_and_python3 COMMAND "${CMAKE_COMMAND}" -E false)
  return()
endif()
include(GoogleTest)
set(golden_timeout 60)
if(CHOPPER_SANITIZE)
  set(golden_timeout 300)
endif()

file(GLOB support_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/support/*.cpp")
if(support_sources)
  add_library(chopper_test_support STATIC ${support_sources})
  chopper_configure(chopper_test_support)
  target_include_directories(chopper_test_support PUBLIC "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(chopper_test_support PUBLIC ${chopper_test_libraries} SQLite::SQLite3 GTest::gtest)
endif()

# Adds the program `target` of the sources matching `pattern`, if there are any; each of its tests becomes a ctest
# `prefix`.<suite>.<test>.
function(chopper_gtest target prefix pattern)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${pattern}")
  if(NOT sources)
    return()
  endif()
  list(SORT sources)
  add_executable(${target} ${sources})
  chopper_configure(${target})
  # What is tested is optimised; the tests themselves compile a third faster without.
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_compile_definitions(${target} PRIVATE CHOPPER_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                               CHOPPER_TEST_DATA="${CHOPPER_TEST_DATA}")
  target_link_libraries(${target} PRIVATE ${ARGN} GTest::gtest_main)
  if(TARGET chopper_test_support)
    target_link_libraries(${target} PRIVATE chopper_test_support)
  endif()
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  # Listing at test time: the thread sanitizer may need a setting (tools/ctest.sh) that the build does not have.
  gtest_discover_tests(
    ${target}
    TEST_PREFIX ${prefix}.
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${prefix} TIMEOUT 600 ENVIRONMENT "CHOPPER_TEST_DATA=${CHOPPER_TEST_DATA}")
endfunction()

foreach(module IN LISTS chopper_modules)
  chopper_gtest(chopper_${module}_test ${module} "src/${module}/*_test.cpp" chopper_${module})
  if(TARGET chopper_${module}_test)
    target_compile_definitions(chopper_${module}_test PRIVATE ${${module}_definitions})
    target_link_libraries(chopper_${module}_test PRIVATE ${${module}_private})
  endif()
endforeach()
chopper_gtest(chopper_conformance_test conformance "tests/conformance/*.cpp" ${chopper_test_libraries})
chopper_gtest(chopper_property_test property "tests/property/*.cpp" ${chopper_test_libraries})

if(TARGET chopper)
  file(GLOB commands CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/tests/golden"
       "${PROJECT_SOURCE_DIR}/tests/golden/*/*/*/command")
  foreach(command IN LISTS commands)
    get_filename_component(case "${command}" DIRECTORY)
    string(REPLACE "/" "." name "${case}")
    add_test(NAME golden.${name}
             COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/golden.py" --chopper $<TARGET_FILE:chopper>
                     "${PROJECT_SOURCE_DIR}/tests/golden/${case}")
    set_tests_properties(golden.${name} PROPERTIES LABELS golden TIMEOUT ${golden_timeout})
  endforeach()

  if(EXISTS "${PROJECT_SOURCE_DIR}/tests/reference/compare.py")
    set(limit "")
    if(CHOPPER_SANITIZE)
      set(limit --skip-larger-than 3)
    endif()
    add_test(NAME reference
             COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tests/reference/compare.py" --chopper
                     $<TARGET_FILE:chopper> --data "${CHOPPER_TEST_DATA}" ${limit})
    set_tests_properties(reference PROPERTIES LABELS slow TIMEOUT 1500 SKIP_RETURN_CODE 77)
  endif()

  if(EXISTS "${PROJECT_SOURCE_DIR}/tests/reference/synth_truth.py")
    set(selection "")
    if(CHOPPER_SANITIZE)
      set(selection --fewer)
    endif()
    add_test(NAME reference_synth
             COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tests/reference/synth_truth.py" --chopper
                     $<TARGET_FILE:chopper> ${selection})
    set_tests_properties(reference_synth PROPERTIES LABELS slow TIMEOUT 900)
  endif()

  if(EXISTS "${PROJECT_SOURCE_DIR}/tests/reference/counters_truth.py")
    set(selection "")
    if(CHOPPER_SANITIZE)
      set(selection --fewer)
    endif()
    add_test(NAME reference_counters
             COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tests/reference/counters_truth.py" --chopper
                     $<TARGET_FILE:chopper> ${selection})
    set_tests_properties(reference_counters PROPERTIES LABELS slow TIMEOUT 600)
  endif()

  if(EXISTS "${PROJECT_SOURCE_DIR}/tests/reference/decomposition_truth.py")
    add_test(NAME reference_decomposition
             COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tests/reference/decomposition_truth.py" --chopper
                     $<TARGET_FILE:chopper>)
    set_tests_properties(reference_decomposition PROPERTIES LABELS slow TIMEOUT 600)
  endif()

  if(EXISTS "${PROJECT_SOURCE_DIR}/tests/reference/attribution_compare.py")
    set(limit "")
    if(CHOPPER_SANITIZE)
      set(limit --skip-larger-than 1)
    endif()
    add_test(NAME reference_attribution
             COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tests/reference/attribution_compare.py" --chopper
                     $<TARGET_FILE:chopper> --data "${CHOPPER_TEST_DATA}" ${limit})
    set_tests_properties(reference_attribution PROPERTIES LABELS slow TIMEOUT 1500 SKIP_RETURN_CODE 77)
  endif()

  if(EXISTS "${PROJECT_SOURCE_DIR}/tests/reference/synth_labels.py")
    add_test(NAME reference_labels
             COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tests/reference/synth_labels.py" --chopper
                     $<TARGET_FILE:chopper>)
    set_tests_properties(reference_labels PROPERTIES LABELS slow TIMEOUT 600)
  endif()
endif()

include(cmake/viewer_tests.cmake)

if(NOT CHOPPER_SANITIZE)
  add_test(NAME check.layers COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/check_layers.py")
  add_test(NAME check.layers_self_test COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/check_layers.py"
                                               --self-test)
  add_test(NAME check.sources COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/check_sources.py")
  add_test(NAME check.golden_self_test COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/golden.py" --self-test)
  add_test(NAME check.symbols COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/check_symbols.py"
                                      "${PROJECT_BINARY_DIR}")
  add_test(NAME check.demo COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/make_demo.py" --check)
  add_test(NAME check.completion COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/check_completion.py" --chopper
                                         $<TARGET_FILE:chopper>)
  add_test(NAME check.plan COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/check_plan.py" --chopper
                                   $<TARGET_FILE:chopper>)
  set_tests_properties(check.plan PROPERTIES SKIP_RETURN_CODE 77)
  add_test(NAME check.docs COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/check_docs.py" --chopper
                                   $<TARGET_FILE:chopper>)
  set_tests_properties(check.layers check.layers_self_test check.sources check.golden_self_test check.symbols check.demo
                       check.completion check.docs check.plan PROPERTIES LABELS check)
endif()
