# make install: headers, both libraries, the program, pkg-config and CMake files.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/crossbayes DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS crossbayes_static crossbayes_shared
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET crossbayes_cli)
  install(TARGETS crossbayes_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

file(RELATIVE_PATH XB_PC_TO_PREFIX
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" XB_PC_TO_PREFIX ${XB_PC_TO_PREFIX})
configure_file(cmake/crossbayes.pc.in crossbayes.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/crossbayes.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

configure_package_config_file(cmake/crossbayes-config.cmake.in
  ${PROJECT_BINARY_DIR}/crossbayes-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/crossbayes
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/crossbayes-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/crossbayes-config.cmake
              ${PROJECT_BINARY_DIR}/crossbayes-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/crossbayes)
