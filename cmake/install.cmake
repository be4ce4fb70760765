# make install: headers, the libraries in both forms, the program with its manual pages and shell
# completions, pkg-config and CMake files.
include(CMakePackageConfigHelpers)

if(TARGET crossbayes_cli)
  install(TARGETS crossbayes_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
# The program writes its own pages: cmd_NAME.c is the command NAME.
if(TARGET crossbayes_cli AND (NOT CMAKE_CROSSCOMPILING OR CMAKE_SYSTEM_NAME STREQUAL Linux))
  set(XB_TEXTS ${PROJECT_BINARY_DIR}/texts)
  file(MAKE_DIRECTORY ${XB_TEXTS})
  function(xb_text file)
    add_custom_command(OUTPUT ${XB_TEXTS}/${file} DEPENDS crossbayes_cli VERBATIM
      COMMAND sh -c "\"$0\" \"$@\" > '${XB_TEXTS}/${file}'"
      ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:crossbayes_cli> ${ARGN})
    set(XB_TEXT_FILES ${XB_TEXT_FILES} ${XB_TEXTS}/${file} PARENT_SCOPE)
  endfunction()
  xb_text(crossbayes.1 manual)
  foreach(source IN LISTS XB_CLI_SOURCES)
    get_filename_component(name ${source} NAME_WE)
    if(name MATCHES "^cmd_(.*)$")
      xb_text(crossbayes-${CMAKE_MATCH_1}.1 manual ${CMAKE_MATCH_1})
    endif()
  endforeach()
  set(XB_MAN_PAGES ${XB_TEXT_FILES})
  xb_text(crossbayes.bash completion bash)
  xb_text(_crossbayes completion zsh)
  xb_text(crossbayes.fish completion fish)
  add_custom_target(xb_texts ALL DEPENDS ${XB_TEXT_FILES})
  install(FILES ${XB_MAN_PAGES} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${XB_TEXTS}/crossbayes.bash RENAME crossbayes
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${XB_TEXTS}/_crossbayes
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${XB_TEXTS}/crossbayes.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

file(RELATIVE_PATH XB_PC_TO_PREFIX
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" XB_PC_TO_PREFIX ${XB_PC_TO_PREFIX})

# xb_install(TARGET NAME INCLUDE): what xb_library() of the same words made, its headers,
# and what pkg-config and find_package() find it by.
function(xb_install target name include)
  install(DIRECTORY ${include}/crossbayes DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  list(TRANSFORM XB_KINDS PREPEND ${target}_ OUTPUT_VARIABLE libraries)
  install(TARGETS ${libraries}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  configure_package_config_file(cmake/${name}-config.cmake.in
    ${PROJECT_BINARY_DIR}/${name}-config.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/${name}
    PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
  write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/${name}-config-version.cmake COMPATIBILITY SameMajorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/${name}-config.cmake
                ${PROJECT_BINARY_DIR}/${name}-config-version.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/${name})
endfunction()

if(XB_JPEG)
  set(XB_PC_JPEG "-ljpeg ")
  set(XB_CONFIG_JPEG "jpeg;")
endif()
xb_install(crossbayes crossbayes include)
if(XB_STUDIES)
  xb_install(crossbayes_studies crossbayes-studies studies/include)
endif()
