/* ctx.h: the contents of a context; crossbayes/extend.h has the functions that report
 * failures. */
#ifndef XB_BASE_CTX_H
#define XB_BASE_CTX_H

#include "crossbayes/extend.h"

enum { XB_BACKEND_MAX = 32 }; /* bytes of a backend's name */

typedef struct xb_files xb_files; /* see base/files.h */
struct xb_comm;                   /* see base/comm.h */

struct xb_ctx {
    char message[XB_MESSAGE_MAX];
    char origin[XB_ORIGIN_MAX];
    int threads;                  /* 0: one per core */
    char backend[XB_BACKEND_MAX]; /* used if the options name none; "": the library
                                     chooses */
    xb_progress_fn progress;
    void *progress_arg;
    xb_notice_fn notice;
    void *notice_arg;
    xb_files *files;      /* the files that were read and written; never NULL */
    struct xb_comm *comm; /* processes that share work; NULL: this process alone */
};

#endif
