# SPDX-License-Identifier: Apache-2.0
# Shell completion and the manual page, printed by the program when it is installed: building for another machine must
# not run it. Where it cannot run here, they are left out with a warning.
if(NOT TARGET chopper OR NOT CHOPPER_INSTALL)
  return()
endif()

# Installs the output of `chopper <words>` as `name` in `folder`, which is relative to the prefix.
function(chopper_install_output folder name)
  set(file "${PROJECT_BINARY_DIR}/share/${folder}/${name}")
  install(CODE "
    get_filename_component(parent [[${file}]] DIRECTORY)
    file(MAKE_DIRECTORY \"\${parent}\")
    execute_process(COMMAND [[$<TARGET_FILE:chopper>]] ${ARGN} OUTPUT_FILE [[${file}]] RESULT_VARIABLE failed ERROR_QUIET)
    if(failed)
      file(REMOVE [[${file}]])
      message(WARNING \"chopper does not run here: ${name} is not installed\")
    endif()")
  install(FILES "${file}" DESTINATION "${folder}" OPTIONAL)
endfunction()

chopper_install_output("${CMAKE_INSTALL_DATADIR}/bash-completion/completions" chopper completion bash)
chopper_install_output("${CMAKE_INSTALL_DATADIR}/zsh/site-functions" _chopper completion zsh)
chopper_install_output("${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" chopper.fish completion fish)
chopper_install_output("${CMAKE_INSTALL_MANDIR}/man1" chopper.1 man)
