/* fuse.h: which layers of a pass run as one; see fuse.c. */
#ifndef XB_RUN_FUSE_H
#define XB_RUN_FUSE_H

#include "run/pass.h"

/* Sets everything of the pass's layers except their positions in memory. The pass must
 * have its run and net. */
void xb_fuse(xb_pass *pass);

#endif
