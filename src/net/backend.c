/* backend.c: the backends by name. Asked when a pass is made. */
#include "net/backend.h"

#include <string.h>

static const xb_backend *const backends[] = {&xb_backend_ref};

int xb_backend_count(void) { return XB_COUNT(backends); }
const char *xb_backend_name_at(int i) { return backends[i]->name; }

const xb_backend *xb_backend_find(const char *name)
{
    for (int i = 0; i < XB_COUNT(backends); i++)
        if (!name || strcmp(backends[i]->name, name) == 0) return backends[i];
    return NULL;
}
