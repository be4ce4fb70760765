/* sealed_backend.h: a backend over the host's whose buffers cannot be read or written but
 * inside its operations, and which takes no other memory for a buffer; see
 * sealed_backend.c. Linked with --wrap=xb_backend_find it stands in for every backend. */
#ifndef SEALED_BACKEND_H
#define SEALED_BACKEND_H

#include "backend/backend.h"

extern bool sealed_in_use; /* true: xb_backend_find() gives it; false: the real one */
const xb_backend *sealed_backend(void);
int64_t sealed_calls(void); /* of operations so far */
int sealed_buffers(void);   /* not released yet */

#endif
