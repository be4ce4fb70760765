/* fuse.h: which layers of a pass run as one; see fuse.c. */
#ifndef XB_RUN_FUSE_H
#define XB_RUN_FUSE_H

#include "run/pass.h"

/* Sets every layer of the pass but its places; its run and net are set. */
void xb_fuse(xb_pass *pass);

#endif
