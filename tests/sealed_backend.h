/* sealed_backend.h: a backend on top of the host's whose buffers can be read or written
 * only inside its operations, and which accepts no other memory as a buffer; see
 * sealed_backend.c. Linked with --wrap=xb_backend_find it replaces every backend. */
#ifndef SEALED_BACKEND_H
#define SEALED_BACKEND_H

#include "backend/backend.h"

extern bool sealed_in_use; /* true: xb_backend_find() gives it; false: the real one */
const xb_backend *sealed_backend(void);
int64_t sealed_calls(void); /* of operations so far */
int sealed_buffers(void);   /* not released yet */

#endif
