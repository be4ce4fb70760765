/* reproduction.h: the results, figure by figure, which reproduce.c fills and
 * reproduction.c (JSON) and story.c (the page) present. */
#ifndef XB_REPRODUCE_REPRODUCTION_H
#define XB_REPRODUCE_REPRODUCTION_H

#include "crossbayes/extend.h"
#include "reproduce/claims.h"
#include "reproduce/exhibits.h"

typedef struct xb_found {
    const xb_claim_kind *kind;
    xb_judgement judgement;
} xb_found;

struct xb_reproduction {
    xb_reproduce_options opt; /* its texts are borrowed from the caller; `command` is a
                                 copy */
    xb_figure_state state[XB_PAPER_FIGURES + 1]; /* by figure, from 1 */
    xb_found *found;                             /* [count], by figure */
    int count;
    char command[XB_COMMAND_TEXT]; /* the same for any folder and number of threads */
    char data[32];                 /* checksum of the faces, or "synthetic" */
};

/* The number of claims of a figure (0: of all) with this finding. */
int xb_reproduction_tally(const xb_reproduction *r, int figure, xb_finding_kind finding);

/* story.c: writes `path`, with the figures in DIR/figN. */
xb_status xb_reproduction_page(xb_ctx *ctx, const xb_reproduction *r, const char *dir,
                               const char *path);

/* DIR/figN. */
enum { XB_REPRODUCE_PATH = 4096 };
xb_status xb_reproduction_path(xb_ctx *ctx, char out[XB_REPRODUCE_PATH], const char *dir,
                               const char *name);

#endif
