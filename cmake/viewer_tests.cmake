# SPDX-License-Identifier: Apache-2.0
# Tests of the HTML page, label page: types, unit tests of the panels, what report -o writes, and the page in a browser.
# The sanitizers have nothing to see in JavaScript; there only the program's own part is run.
if(NOT TARGET chopper)
  return()
endif()
add_test(NAME page.report COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tests/page/report_page.py" --chopper
                                  $<TARGET_FILE:chopper>)
set_tests_properties(page.report PROPERTIES LABELS page TIMEOUT 120 SKIP_RETURN_CODE 77)
if(NOT CHOPPER_HAVE_PAGE OR CHOPPER_SANITIZE OR NOT EXISTS "${PROJECT_SOURCE_DIR}/viewer/node_modules/typescript")
  return()
endif()
set(viewer "${PROJECT_SOURCE_DIR}/viewer")
set(viewer_tests "${PROJECT_BINARY_DIR}/viewer_tests")
add_test(NAME page.types COMMAND "${CHOPPER_NODE}" "${viewer}/node_modules/typescript/bin/tsc" -p "${viewer}")
add_test(NAME page.bundle_tests COMMAND "${CHOPPER_NODE}" "${viewer}/build.mjs" --tests "${viewer_tests}")
add_test(NAME page.panels COMMAND "${CHOPPER_NODE}" --test "${viewer_tests}/panels_test.mjs")
add_test(NAME page.browser
         COMMAND "${CHOPPER_NODE}" "${viewer_tests}/browser_test.mjs" --viewer "${viewer}" --template
                 "${PROJECT_BINARY_DIR}/generated/page.html" --chopper $<TARGET_FILE:chopper> --screenshots
                 "${PROJECT_BINARY_DIR}/screenshots")
set_tests_properties(page.bundle_tests PROPERTIES FIXTURES_SETUP viewer_tests)
set_tests_properties(page.panels page.browser PROPERTIES FIXTURES_REQUIRED viewer_tests)
set_tests_properties(page.panels PROPERTIES ENVIRONMENT "CHOPPER_SNAPSHOTS=${viewer}/test/snapshots")
set_tests_properties(page.types page.bundle_tests page.panels page.browser PROPERTIES LABELS page TIMEOUT 300)
set_tests_properties(page.browser PROPERTIES SKIP_RETURN_CODE 77)
