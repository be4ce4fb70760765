/* build.c: which build this is. cmake/build_id.cmake writes the hash. */
#include "crossbayes/base.h"
#include "xb_build.h"

const char *xb_build_id(void) { return XB_VERSION_STRING " " XB_BUILD_HASH; }
