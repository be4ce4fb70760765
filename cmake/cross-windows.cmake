# Windows on x86-64, by Debian's MinGW-w64; programs run in Wine. See tools/cross.sh.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
# What was built along comes first: the import library of a DLL would be found beside it.
set(CMAKE_FIND_ROOT_PATH $ENV{XB_CROSS_PREFIX} /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Numbers are printed and read as C says, whatever the system's own library does.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_CROSSCOMPILING_EMULATOR $ENV{XB_CROSS_RUN})
# GCC keeps the stack of Windows at 16 bytes and spills wider vectors as if it were aligned
# for them (its bug 54412): the assembler writes moves that need no alignment.
set(CMAKE_C_FLAGS_INIT "-D__USE_MINGW_ANSI_STDIO=1 -Wa,-muse-unaligned-vector-move")
