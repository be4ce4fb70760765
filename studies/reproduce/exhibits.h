/* exhibits.h: the paper's figures: which study makes each, with which options, and what
 * the page says beside it. */
#ifndef XB_REPRODUCE_EXHIBITS_H
#define XB_REPRODUCE_EXHIBITS_H

#include "crossbayes/reproduce.h"

enum { XB_PICTURES_MAX = 3, XB_EFFORTS = 3, XB_COMMAND_TEXT = 1024 };

/* A picture of a study: STUDY + part + ".svg". */
typedef struct xb_picture {
    const char *part; /* NULL: no more pictures */
    const char *alt;  /* description of what the figure shows */
    const char *says; /* first half of the caption; the second half is the number of
                         ... */
    const char *by;   /* ... this claim */
} xb_picture;

typedef struct xb_exhibit {
    const char *study;
    const char *device; /* LAW text */
    const char *heading;
    const char *about; /* what the paper does there, in our words */
    const char *work;  /* folder from which a stopped study continues; NULL: none */
    xb_picture picture[XB_PICTURES_MAX];
    bool steady;             /* whether its progress events cover the whole study */
    double cost[XB_EFFORTS]; /* rough cost in seconds, for the time left */
} xb_exhibit;

/* 1 <= figure <= XB_PAPER_FIGURES. */
const xb_exhibit *xb_exhibit_at(int figure);

/* Whether the data behind the figure are synthetic; see claims_laws.c. */
bool xb_exhibit_made_up(int figure, const xb_reproduce_options *opt);

/* The options of the study; `work` is the folder for unfinished work, borrowed. */
xb_study_options xb_exhibit_options(int figure, const xb_reproduce_options *opt,
                                    const char *work);

/* The command that makes the figure alone. */
void xb_exhibit_command(char out[XB_COMMAND_TEXT], int figure,
                        const xb_reproduce_options *opt);
const char *xb_effort_name(xb_effort effort); /* "default", "quick", "full" */

#endif
