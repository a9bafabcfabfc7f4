# SPDX-License-Identifier: Apache-2.0
# The page of `report -o`: viewer/ bundled into one HTML file by node and the npm packages of viewer/package-lock.json,
# then embedded. Without them the program is built without the page, and says so when asked for it.
set(CHOPPER_WITH_PAGE AUTO CACHE STRING "Build the HTML page of report -o: AUTO (when node and its packages are there), ON, OFF")
set(CHOPPER_HAVE_PAGE 0)
set(viewer "${PROJECT_SOURCE_DIR}/viewer")
set(page "")
if(CHOPPER_WITH_PAGE)
  find_program(CHOPPER_NODE NAMES node nodejs)
  mark_as_advanced(CHOPPER_NODE)
  if(CHOPPER_NODE AND EXISTS "${viewer}/node_modules/esbuild" AND EXISTS "${viewer}/node_modules/echarts")
    set(CHOPPER_HAVE_PAGE 1)
    set(page "${generated}/page.html")
    file(GLOB_RECURSE page_sources CONFIGURE_DEPENDS "${viewer}/src/*")
    add_custom_command(
      OUTPUT "${page}"
      COMMAND "${CHOPPER_NODE}" "${viewer}/build.mjs" "${page}"
      DEPENDS ${page_sources} "${viewer}/build.mjs" "${viewer}/package-lock.json" "${PROJECT_SOURCE_DIR}/docs/schema.json"
      COMMENT "Bundling viewer/"
      VERBATIM)
  elseif(CHOPPER_WITH_PAGE STREQUAL "ON")
    message(FATAL_ERROR "The HTML page needs node 18 or newer and `npm ci --ignore-scripts` in ${viewer}")
  else()
    message(STATUS "page: report -o is switched off, since node or the npm packages of viewer/ are missing "
                   "(tools/setup.sh viewer installs them)")
  endif()
endif()

set(report_generated "${generated}/html_template.cpp")
add_custom_command(
  OUTPUT "${report_generated}"
  COMMAND "${CMAKE_COMMAND}" "-DPAGE=${page}" "-DOUT=${report_generated}" -P "${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake"
  DEPENDS ${page} "${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake"
  COMMENT "Embedding the page"
  VERBATIM)
# One long literal; the standard's minimum of 65536 characters is no limit of our compilers.
set_source_files_properties("${report_generated}" PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
