# A hash of a library's sources, the compiler and its flags, in a header that is written
# when one of them changes. As a script (cmake -P) it writes the header OUT with MACRO, from
# LIST: a line of what is not a file, then the names of files relative to ROOT.
if(CMAKE_SCRIPT_MODE_FILE)
  file(STRINGS ${LIST} names)
  list(POP_FRONT names all)
  foreach(name IN LISTS names)
    file(SHA256 ${ROOT}/${name} hash)
    string(APPEND all "\n${name} ${hash}")
  endforeach()
  string(SHA256 hash "${all}")
  string(SUBSTRING ${hash} 0 40 hash)
  file(WRITE ${OUT} "#define ${MACRO} \"${hash}\"\n")
  return()
endif()

# xb_build_id(OBJECTS HEADER MACRO FOLDER...): HEADER for the target OBJECTS from all C files
# in the FOLDERs.
function(xb_build_id objects header macro)
  set(files)
  foreach(folder IN LISTS ARGN)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
      ${PROJECT_SOURCE_DIR}/${folder}/*.[ch])
    list(APPEND files ${found})
  endforeach()
  list(SORT files)
  set(made ${CMAKE_CURRENT_BINARY_DIR}/generated)
  string(JOIN "\n" lines "${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}\
 ${CMAKE_SYSTEM_PROCESSOR} ${CMAKE_BUILD_TYPE} ${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_RELEASE}\
 ${XB_SANITIZE} ${XB_TSAN} ${XB_FUZZ}" ${files})
  file(CONFIGURE OUTPUT ${made}/${header}.txt CONTENT "${lines}\n" @ONLY)
  set(depends)
  foreach(file IN LISTS files)
    list(APPEND depends ${PROJECT_SOURCE_DIR}/${file})
  endforeach()
  add_custom_command(OUTPUT ${made}/${header} VERBATIM
    DEPENDS ${depends} ${made}/${header}.txt
    COMMAND ${CMAKE_COMMAND} -DLIST=${made}/${header}.txt -DROOT=${PROJECT_SOURCE_DIR}
      -DOUT=${made}/${header} -DMACRO=${macro} -P ${PROJECT_SOURCE_DIR}/cmake/build_id.cmake)
  target_sources(${objects} PRIVATE ${made}/${header})
  target_include_directories(${objects} PRIVATE ${made})
endfunction()
