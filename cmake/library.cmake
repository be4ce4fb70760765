# The number of the ABI: a change that is not compatible raises it, whatever the version is.
set(XB_SOVERSION 1)

# xb_library(TARGET NAME OBJECTS INCLUDE): libNAME from the objects of the target OBJECTS,
# as TARGET_static and TARGET_shared, with the folder INCLUDE of its headers.
function(xb_library target name objects include)
  add_library(${target}_static STATIC $<TARGET_OBJECTS:${objects}>)
  add_library(${target}_shared SHARED $<TARGET_OBJECTS:${objects}>)
  foreach(kind IN ITEMS static shared)
    set_target_properties(${target}_${kind} PROPERTIES OUTPUT_NAME ${name}
      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
      ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
    target_include_directories(${target}_${kind} PUBLIC $<BUILD_INTERFACE:${include}>
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${target}_${kind} PRIVATE xb_flags)
  endforeach()
  set_target_properties(${target}_shared PROPERTIES
    VERSION ${XB_SOVERSION}.0.0 SOVERSION ${XB_SOVERSION})
endfunction()
