# flags.cmake: how a build is guarded. One of: sanitised (XB_SANITIZE, XB_FUZZ: addresses
# and undefined behaviour; XB_TSAN: data races), or hardened, which every other build for
# Linux is.
# tests/package_hardening.sh reads the latter from what was built.
if(XB_FUZZ)
  target_compile_options(xb_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

if(XB_SANITIZE OR XB_FUZZ)
  # a report has functions and lines; more about variables takes the compiler half as long
  # again, and -O2 twice as long
  target_compile_options(xb_flags INTERFACE -O1 -g1 -fsanitize=address,undefined
    -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(xb_flags INTERFACE -fsanitize=address,undefined)
elseif(XB_TSAN)
  target_compile_options(xb_flags INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(xb_flags INTERFACE -fsanitize=thread)
elseif(CMAKE_SYSTEM_NAME STREQUAL Linux)
  # Position-independent, no writable table of functions, no executable stack, canaries
  # and checked copies where a compiler can tell a buffer's size.
  target_compile_options(xb_flags INTERFACE -fstack-protector-strong)
  if(NOT (CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64 AND CMAKE_C_COMPILER_ID STREQUAL Clang))
    # clang 14 has none for AArch64, and warns
    target_compile_options(xb_flags INTERFACE -fstack-clash-protection)
    set(no_stack_clash -fno-stack-clash-protection)
  endif()
  target_link_options(xb_flags INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_compile_options(xb_flags INTERFACE -fcf-protection=full)
  endif()
  if(NOT CMAKE_BUILD_TYPE STREQUAL Debug) # needs an optimiser
    target_compile_options(xb_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
  endif()
elseif(APPLE)
  target_compile_options(xb_flags INTERFACE -fstack-protector-strong)
endif()
# GCC lets a stack on Windows be aligned to 16 bytes only and spills 32 to it as if they
# were aligned; the assembler makes these moves unaligned.
if(WIN32)
  target_compile_options(xb_flags INTERFACE -Wa,-muse-unaligned-vector-move)
endif()

# With sanitizers -O3 takes the compiler a minute for each of the kernels, and clang
# several even for -O1: where readers are what is tested, kernels are left alone. Any
# level gives the same bytes (tests/determinism.sh).
if(XB_FUZZ)
  set(kernel_level "-O1;-fno-sanitize=all")
elseif(XB_SANITIZE OR XB_TSAN)
  set(kernel_level -O1)
elseif(NOT CMAKE_SYSTEM_NAME STREQUAL Linux)
  set(kernel_level -O3)
else()
  # Kernels only compute, in room that their callers made: no canaries in inner loops, and
  # no checked memcpy, which keeps GCC from turning a loop around it into vectors.
  set(kernel_level "-O3;-fno-stack-protector;${no_stack_clash};-U_FORTIFY_SOURCE")
endif()
set(XB_KERNEL_LEVEL "${kernel_level}" CACHE STRING "optimisation of the kernels")
mark_as_advanced(XB_KERNEL_LEVEL)
