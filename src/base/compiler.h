/* compiler.h: the differences between GCC and clang. No other file asks which compiler
 * compiles it. */
#ifndef XB_BASE_COMPILER_H
#define XB_BASE_COMPILER_H

/* Before a loop whose iterations do not depend on each other, although its pointers may
 * be equal: the compiler may use vectors. */
#if defined(__clang__)
#define XB_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define XB_INDEPENDENT _Pragma("GCC ivdep")
#else
#define XB_INDEPENDENT
#endif

#endif
