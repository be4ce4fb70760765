# package.cmake: what a user of the library meets: headers that stand alone, shared
# libraries that export nothing but xb_ and have no variables, an ABI that changes on
# purpose only, hardened files, and
# installed packages that pkg-config and find_package() find. Shell scripts, one CTest
# test each.
find_program(XB_CXX NAMES g++ c++ clang++ REQUIRED)
find_program(XB_NM nm REQUIRED)
find_program(XB_READELF readelf REQUIRED)
find_program(XB_OBJDUMP objdump REQUIRED)

function(xb_package_test name)
  add_test(NAME ${name} COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/${name}.sh ${ARGN})
endfunction()

xb_package_test(package_symbols ${XB_NM} $<TARGET_FILE:crossbayes_shared>
  $<TARGET_FILE:crossbayes_studies_shared>)

# A sanitised library needs a sanitised consumer: not what is tested here.
if(NOT XB_SANITIZE AND NOT XB_TSAN)
  xb_package_test(package_hardening ${XB_READELF} ${CMAKE_C_COMPILER}
    ${CMAKE_CURRENT_BINARY_DIR}/hardening $<TARGET_FILE:crossbayes_cli>
    $<TARGET_FILE:crossbayes_shared> $<TARGET_FILE:crossbayes_studies_shared>)
  xb_package_test(package_globals ${XB_OBJDUMP} ${CMAKE_C_COMPILER}
    ${CMAKE_CURRENT_BINARY_DIR}/globals $<TARGET_FILE:crossbayes_shared>
    $<TARGET_FILE:crossbayes_studies_shared>)
  # Both compilers, whichever this build is by.
  foreach(pair IN ITEMS "gcc g++" "clang clang++")
    string(REPLACE " " ";" both ${pair})
    list(GET both 0 cc)
    list(GET both 1 cxx)
    find_program(XB_HEADERS_${cc} ${cc})
    find_program(XB_HEADERS_${cxx} ${cxx})
    if(XB_HEADERS_${cc} AND XB_HEADERS_${cxx})
      list(APPEND XB_HEADER_COMPILERS "${XB_HEADERS_${cc}} ${XB_HEADERS_${cxx}}")
    endif()
  endforeach()
  xb_package_test(package_headers ${XB_HEADER_COMPILERS} -- ${PROJECT_SOURCE_DIR}/include
    ${PROJECT_SOURCE_DIR}/studies/include)
  xb_package_test(package_abi ${CMAKE_CURRENT_SOURCE_DIR}/abi ${CMAKE_CURRENT_BINARY_DIR}/abi
    "${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/studies/include"
    $<TARGET_FILE_DIR:crossbayes_shared>/$<TARGET_LINKER_FILE_NAME:crossbayes_shared>
    $<TARGET_FILE_DIR:crossbayes_studies_shared>/$<TARGET_LINKER_FILE_NAME:crossbayes_studies_shared>)
  set_tests_properties(package_abi PROPERTIES SKIP_RETURN_CODE 77)
  xb_package_test(package_core ${CMAKE_COMMAND} ${PROJECT_SOURCE_DIR}
    ${CMAKE_CURRENT_BINARY_DIR}/core ${CMAKE_C_COMPILER} ${PROJECT_VERSION})
  set_tests_properties(package_core PROPERTIES TIMEOUT 3600)
  xb_package_test(package_install ${CMAKE_COMMAND} ${PROJECT_BINARY_DIR}
    ${PROJECT_SOURCE_DIR}/examples/02_law.c ${CMAKE_C_COMPILER} ${PROJECT_VERSION})
endif()
