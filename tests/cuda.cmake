# cuda.cmake: the GPU module, its sources compiled for the CPU (cuda_emulated.h), under the
# tests of passes, training and prediction as they are; and what it does when calls of the
# driver fail. With XB_CUDA the same on this machine's GPU: `make check-cuda`.
enable_language(CXX)
file(GLOB XB_CUDA_KERNELS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cuda/*.cu)
file(GLOB XB_CUDA_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cuda/*.c)

# Kernels as C++, by the rules of the rest: no contraction behind our back.
foreach(kernel IN LISTS XB_CUDA_KERNELS)
  get_filename_component(name ${kernel} NAME_WE)
  set(copy ${CMAKE_CURRENT_BINARY_DIR}/emulated/${name}.cpp)
  file(GENERATE OUTPUT ${copy} CONTENT "#include \"${kernel}\"\n")
  list(APPEND XB_EMULATED_SOURCES ${copy})
endforeach()
set(XB_EMULATED_FOLDER ${CMAKE_CURRENT_BINARY_DIR}/emulated)
add_library(xbc_emulated_kernels OBJECT ${XB_EMULATED_SOURCES} cuda_emulated.cpp)
add_library(crossbayes_emulated MODULE ${XB_CUDA_SOURCES}
  $<TARGET_OBJECTS:xbc_emulated_kernels>)
add_library(xbc_emulated SHARED $<TARGET_OBJECTS:xbc_emulated_kernels>)
foreach(target IN ITEMS xbc_emulated_kernels crossbayes_emulated xbc_emulated)
  set_target_properties(${target} PROPERTIES CXX_STANDARD 17 C_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY ${XB_EMULATED_FOLDER})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cuda
    ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_definitions(${target} PRIVATE XB_EMULATED)
  target_compile_options(${target} PRIVATE ${XB_PRODUCT_LEVEL}
    $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wno-unknown-pragmas;-ffp-contract=off>
    $<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra;-Wshadow;-Wmissing-prototypes;-Wcast-qual>
    $<$<BOOL:${XB_WERROR}>:-Werror>)
endforeach()
# Fibers jump from stack to stack, which hardened jumps take for a mistake.
set_source_files_properties(cuda_emulated.cpp PROPERTIES COMPILE_OPTIONS
  "-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=0")
set_target_properties(crossbayes_emulated PROPERTIES OUTPUT_NAME crossbayes-cuda)
set_target_properties(xbc_emulated PROPERTIES OUTPUT_NAME xbc-device)
target_link_libraries(crossbayes_emulated PRIVATE Threads::Threads)
target_link_options(crossbayes_emulated PRIVATE
  "LINKER:--version-script=${PROJECT_SOURCE_DIR}/cuda/module.map")
set_target_properties(crossbayes_emulated PROPERTIES
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cuda/module.map)
set(XB_EMULATED ${XB_EMULATED_FOLDER}/libcrossbayes-cuda.so)

# xb_cuda_kernels(NAME SOURCE LIBRARY...): the kernels themselves, the module's of this machine or
# the emulated ones.
function(xb_cuda_kernels name source)
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cuda
    ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE xb_flags crossbayes_static PkgConfig::CMOCKA ${ARGN})
  target_compile_definitions(${name} PRIVATE XB_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name})
endfunction()
xb_cuda_kernels(cuda_draws cuda_draws.c xbc_emulated)
xb_cuda_kernels(cuda_nets cuda_nets.c xbc_emulated)
# All words take the emulation hours.
set_tests_properties(cuda_draws PROPERTIES ENVIRONMENT_MODIFICATION "XB_LONG=unset:")

# xb_cuda_suite(NAME MODULE SUFFIX): a suite as it is, with the module for every backend.
function(xb_cuda_suite name module suffix)
  add_executable(${name}${suffix} ${name}.c cuda_backend.c)
  foreach(of IN ITEMS INCLUDE_DIRECTORIES LINK_LIBRARIES LINK_OPTIONS COMPILE_DEFINITIONS)
    get_target_property(value ${name} ${of})
    if(value)
      set_target_properties(${name}${suffix} PROPERTIES ${of} "${value}")
    endif()
  endforeach()
  target_link_options(${name}${suffix} PRIVATE -Wl,--wrap=xb_backend_find)
  target_compile_definitions(${name}${suffix} PRIVATE XB_OTHER_BACKEND)
  add_test(NAME ${name}${suffix} COMMAND ${name}${suffix})
  set_tests_properties(${name}${suffix} PROPERTIES SKIP_RETURN_CODE 77
    ENVIRONMENT "CROSSBAYES_CUDA=${module}")
endfunction()
xb_cuda_suite(test_net_ops ${XB_EMULATED} _emulated)
xb_cuda_suite(test_kl_backend ${XB_EMULATED} _emulated)
set_tests_properties(test_net_ops_emulated PROPERTIES COST 60)

# xb_cuda_leap(NAME MODULE [VARIABLE...]): training in few launches, beside the CPU.
add_executable(cuda_leap cuda_leap.c)
target_include_directories(cuda_leap PRIVATE ${PROJECT_SOURCE_DIR}/src
  ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(cuda_leap PRIVATE xb_flags crossbayes_static PkgConfig::CMOCKA)
target_compile_definitions(cuda_leap PRIVATE XB_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
add_dependencies(cuda_leap crossbayes_emulated)
function(xb_cuda_leap name module)
  add_test(NAME ${name} COMMAND cuda_leap)
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77
    ENVIRONMENT "CROSSBAYES_CUDA=${module};${ARGN}")
endfunction()
xb_cuda_leap(cuda_leap ${XB_EMULATED})
xb_cuda_leap(cuda_leap_wide ${XB_EMULATED} XB_EMULATED_SHARED=40000)

# A module exports its entry and nothing else.
add_test(NAME cuda_exports COMMAND sh -c
  "test \"$(nm -D --defined-only \"$0\" | awk '{ print $3 }')\" = xb_backend_module" ${XB_EMULATED})

# What a call of the driver that fails ends in.
if(XB_CLI_SOURCES)
  add_test(NAME cuda_faults COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cuda_faults.sh
    ${PROJECT_BINARY_DIR}/crossbayes ${XB_EMULATED} ${CMAKE_CURRENT_BINARY_DIR}/cuda_faults)
endif()

# On this machine's GPU: `make check-cuda`.
if(XB_CUDA)
  xb_cuda_kernels(cuda_draws_gpu cuda_draws.c xbc_device)
  xb_cuda_kernels(cuda_nets_gpu cuda_nets.c xbc_device)
  xb_cuda_leap(cuda_leap_gpu $<TARGET_FILE:crossbayes_cuda>)
  foreach(name IN ITEMS test_net_ops test_net_pass test_train test_predict
      test_kl_backend test_crossbar)
    xb_cuda_suite(${name} $<TARGET_FILE:crossbayes_cuda> _gpu)
  endforeach()
endif()
