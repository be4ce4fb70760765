/* pyconfig.h: what Python's headers ask of a 64-bit system when an extension of the
 * limited API is compiled for it elsewhere. The real file comes out of Python's own build
 * there; the limited API depends on no more of it than this. */
#ifndef Py_PYCONFIG_H
#define Py_PYCONFIG_H

#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_FLOAT 4
#define SIZEOF_DOUBLE 8
#define SIZEOF_TIME_T 8
#define SIZEOF__BOOL 1
#define ALIGNOF_SIZE_T 8

#ifdef _WIN32
#define MS_WINDOWS 1
#define MS_WIN64 1
#define SIZEOF_LONG 4
#define SIZEOF_WCHAR_T 2
#define HAVE_DECLSPEC_DLL 1
#define Py_ENABLE_SHARED 1
#else
#define SIZEOF_LONG 8
#define SIZEOF_WCHAR_T 4
#endif

#define HAVE_LONG_LONG 1
#define HAVE_SSIZE_T 1
#define HAVE_STDINT_H 1
#define HAVE_INTTYPES_H 1
#define HAVE_STDDEF_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_UNISTD_H 1
#define STDC_HEADERS 1
#define WITH_DOC_STRINGS 1

#endif
