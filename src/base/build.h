/* build.h: which build of the library this is. */
#ifndef XB_BASE_BUILD_H
#define XB_BASE_BUILD_H

enum { XB_BUILD_TEXT = 96 };

/* "0.1.0 1f2e3d...": the version and the linker's build id, a hash of the code that is
 * running; the version alone where the linker left none. */
void xb_build_text(char out[XB_BUILD_TEXT]);

#endif
