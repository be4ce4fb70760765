# aarch64-linux.cmake: a toolchain file for AArch64 Linux from another machine, with Debian's
# cross compiler and C library (gcc-aarch64-linux-gnu; or -DXB_CROSS_CLANG=ON), run by
# qemu-user. XB_SYSROOT is a folder with the other libraries, as tools/aarch64.sh makes one.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES XB_SYSROOT XB_CROSS_CLANG)
if(XB_CROSS_CLANG)
  set(CMAKE_C_COMPILER clang)
  set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu)
else()
  set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
endif()
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu
  -E LD_LIBRARY_PATH=${XB_SYSROOT}/usr/lib/aarch64-linux-gnu)

set(CMAKE_FIND_ROOT_PATH ${XB_SYSROOT} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${XB_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${XB_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig)
set(CMAKE_C_FLAGS_INIT "-isystem ${XB_SYSROOT}/usr/include/aarch64-linux-gnu")
foreach(kind IN ITEMS EXE SHARED)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT
    "-Wl,-rpath-link,${XB_SYSROOT}/usr/lib/aarch64-linux-gnu")
endforeach()
