# WebAssembly by Debian's emscripten; programs run in Node, on the files of this machine.
# See tools/cross.sh.
include($ENV{XB_CROSS_EMSCRIPTEN}/cmake/Modules/Platform/Emscripten.cmake)
list(APPEND CMAKE_FIND_ROOT_PATH $ENV{XB_CROSS_PREFIX})
set(CMAKE_EXE_LINKER_FLAGS_INIT
  "-sNODERAWFS=1 -sALLOW_MEMORY_GROWTH=1 -sTOTAL_STACK=8MB -sEXIT_RUNTIME=1")
set(CMAKE_C_FLAGS_INIT -D_UINTPTR_T) # it is there, as cmocka.h does not see by itself
# Node's own fetch() is not the one that emscripten's start code means.
set(CMAKE_CROSSCOMPILING_EMULATOR node --no-experimental-fetch)
