# The number of the ABI: a change that is not compatible raises it, whatever the version is.
set(XB_SOVERSION 1)

# xb_library(TARGET NAME OBJECTS INCLUDE): libNAME from the objects of the targets OBJECTS,
# as TARGET_static and TARGET_shared (if XB_SHARED), with the folder INCLUDE of its headers.
if(XB_SHARED)
  set(XB_KINDS static shared)
else()
  set(XB_KINDS static)
endif()

function(xb_library target name objects include)
  list(TRANSFORM objects REPLACE ".+" "$<TARGET_OBJECTS:\\0>")
  foreach(kind IN LISTS XB_KINDS)
    string(TOUPPER ${kind} form)
    add_library(${target}_${kind} ${form} ${objects})
    set_target_properties(${target}_${kind} PROPERTIES OUTPUT_NAME ${name}
      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
      ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
    target_include_directories(${target}_${kind} PUBLIC $<BUILD_INTERFACE:${include}>
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${target}_${kind} PRIVATE xb_flags)
  endforeach()
  if(XB_SHARED)
    set_target_properties(${target}_shared PROPERTIES
      VERSION ${XB_SOVERSION}.0.0 SOVERSION ${XB_SOVERSION})
  endif()
endfunction()
