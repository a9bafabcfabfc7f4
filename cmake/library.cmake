# SPDX-License-Identifier: Apache-2.0
# chopper::chopper, the library for other programs: the objects of all modules but the doors in one archive, with the
# public headers, and the install rules. Only what the linker needs is exported.

set(objects "")
foreach(module IN LISTS chopper_modules)
  if(module MATCHES "^(cli|serve|mpi|synth|record)$")
    continue()
  endif()
  get_target_property(type chopper_${module} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    list(APPEND objects $<TARGET_OBJECTS:chopper_${module}>)
  endif()
endforeach()
if(NOT objects)
  return()
endif()
if(CHOPPER_SIMDJSON_BUNDLED)
  list(APPEND objects $<TARGET_OBJECTS:simdjson_lib>)
endif()

add_library(chopper_library STATIC ${objects})
add_library(chopper::chopper ALIAS chopper_library)
file(GLOB public_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/chopper/*.h")
target_sources(chopper_library PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${public_headers})
target_compile_features(chopper_library PUBLIC cxx_std_20)
target_link_libraries(chopper_library PRIVATE ${base_public} ${base_private} SQLite::SQLite3)
if(NOT CHOPPER_SIMDJSON_BUNDLED)
  target_link_libraries(chopper_library PRIVATE simdjson::simdjson)
endif()
if(CHOPPER_SANITIZE)
  target_link_options(chopper_library INTERFACE $<BUILD_INTERFACE:-fsanitize=${CHOPPER_SANITIZE}>)
endif()
set_target_properties(
  chopper_library
  PROPERTIES LINKER_LANGUAGE CXX
             OUTPUT_NAME chopper
             EXPORT_NAME chopper
             VERIFY_INTERFACE_HEADER_SETS ${PROJECT_IS_TOP_LEVEL})

if(CHOPPER_INSTALL)
  include(CMakePackageConfigHelpers)
  set(config_folder "${CMAKE_INSTALL_LIBDIR}/cmake/chopper")
  if(TARGET chopper)
    install(TARGETS chopper RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  endif()
  install(TARGETS chopper_library EXPORT chopper_targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
          FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(EXPORT chopper_targets NAMESPACE chopper:: FILE chopperTargets.cmake DESTINATION "${config_folder}")
  configure_package_config_file(cmake/chopperConfig.cmake.in "${generated}/chopperConfig.cmake"
                                INSTALL_DESTINATION "${config_folder}")
  write_basic_package_version_file("${generated}/chopperConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
  install(FILES "${generated}/chopperConfig.cmake" "${generated}/chopperConfigVersion.cmake"
          DESTINATION "${config_folder}")
endif()
