/* decimal_point.h: numbers are printed and read with a point, as in the C locale,
 * whatever locale a program that uses the library has set. The build includes this file
 * in all others of the libraries and the program (CMakeLists.txt), except in those of
 * os.h, which define _GNU_SOURCE first and handle no such numbers. */
#if !defined(XB_BASE_DECIMAL_POINT_H) && !defined(XB_OS_LAYER)
#define XB_BASE_DECIMAL_POINT_H

#include "base/os_print.h"

/* Headers of macOS, and of glibc for clang, have macros of the same names that check the
 * buffer's size. */
#undef snprintf
#undef vsnprintf
#undef fprintf
#undef printf

#define snprintf(...) xb_os_snprintf(__VA_ARGS__)
#define vsnprintf(...) xb_os_vsnprintf(__VA_ARGS__)
#define fprintf(...) xb_os_fprintf(__VA_ARGS__)
#define printf(...) xb_os_fprintf(stdout, __VA_ARGS__)
#define sscanf(...) xb_os_sscanf(__VA_ARGS__)
#define strtod(...) xb_os_strtod(__VA_ARGS__)

#endif
