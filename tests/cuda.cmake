# cuda.cmake: the GPU module, its sources compiled for the CPU (cuda_emulated.h), under the
# tests of passes, training and prediction as they are; and what it does when calls of the
# driver fail. With XB_CUDA the same on the device: `make check-cuda`.
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
add_library(crossbayes_emulated MODULE ${XB_CUDA_SOURCES} ${XB_EMULATED_SOURCES}
  cuda_emulated.cpp)
set_target_properties(crossbayes_emulated PROPERTIES OUTPUT_NAME crossbayes-cuda
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/emulated C_VISIBILITY_PRESET hidden
  CXX_VISIBILITY_PRESET hidden CXX_STANDARD 17)
target_include_directories(crossbayes_emulated PRIVATE ${PROJECT_SOURCE_DIR}/cuda
  ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_definitions(crossbayes_emulated PRIVATE XB_EMULATED)
target_compile_options(crossbayes_emulated PRIVATE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wno-unknown-pragmas;-ffp-contract=off>
  $<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra;-Wshadow;-Wmissing-prototypes;-Wcast-qual>
  $<$<BOOL:${XB_WERROR}>:-Werror>)
target_link_libraries(crossbayes_emulated PRIVATE Threads::Threads)
set(XB_EMULATED ${CMAKE_CURRENT_BINARY_DIR}/emulated/libcrossbayes-cuda.so)

# What is tested unchanged, on whichever module $CROSSBAYES_CUDA names.
foreach(name IN ITEMS test_net_ops test_net_pass test_train test_predict)
  add_executable(${name}_cuda ${name}.c cuda_backend.c)
  foreach(of IN ITEMS INCLUDE_DIRECTORIES LINK_LIBRARIES LINK_OPTIONS COMPILE_DEFINITIONS)
    get_target_property(value ${name} ${of})
    if(value)
      set_target_properties(${name}_cuda PROPERTIES ${of} "${value}")
    endif()
  endforeach()
  target_link_options(${name}_cuda PRIVATE -Wl,--wrap=xb_backend_find)
  target_compile_definitions(${name}_cuda PRIVATE XB_OTHER_BACKEND)
  add_test(NAME ${name}_cuda COMMAND ${name}_cuda)
  set_tests_properties(${name}_cuda PROPERTIES SKIP_RETURN_CODE 77
    ENVIRONMENT "CROSSBAYES_CUDA=${XB_EMULATED}")
endforeach()
