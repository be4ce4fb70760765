/* demo.h: the state of `crossbayes demo` while it makes its page. */
#ifndef XB_CLI_DEMO_H
#define XB_CLI_DEMO_H

#include <jansson.h>

#include "crossbayes/studies.h"
#include "session.h"

typedef struct cli_demo {
    cli_session *s;
    const char *dir;
    xb_stage *stage;    /* where its files wait until all of them are made */
    const char *noise;  /* the file of the samples */
    bool kept;          /* whether the demo itself writes that file */
    const char *column; /* column of that file; NULL: it has only one */
    const char *law;    /* file of the fitted law, which is the device law of every study
                           ... */
    const char *staged; /* ... and its path in the stage */
    const char *source; /* what the page calls the samples */
    const char
        *device; /* device file of the study of retention; NULL: the study is left out */
    double *x;
    int64_t n;
    double interval;   /* seconds between samples; 0: unknown */
    xb_series *series; /* findings about the trace */
    xb_page *page;
    json_t *json;        /* what --json prints; NULL without it */
    json_t *findings;    /* list of findings inside `json` */
    const char *section; /* the latest section of the page */
} cli_demo;

/* Starts a section of the page; findings in --json name it. `id` is borrowed. */
void cli_demo_section(cli_demo *d, const char *id, const char *heading);

/* Adds a finding to the page (below its figure, if there is one) and to the terminal or
 * the JSON. */
void cli_demo_finding(cli_demo *d, xb_finding finding);

/* Formats of the figures; the page needs SVG. */
unsigned cli_demo_formats(const cli_session *s);

/* The figure DIR/NAME.svg with its command and finding. */
xb_status cli_demo_figure(cli_demo *d, const char *name, const char *alt,
                          const char *caption, const char *command, xb_finding finding);

/* demo_noise.c: the section of the samples and their law. */
xb_status cli_demo_noise(cli_demo *d, const xb_fit *fit);

/* demo_studies.c: plans the files of the studies; prints the reason on failure. */
cli_exit cli_demo_plan_studies(cli_session *s, const char *dir, unsigned formats,
                               const char *label);
/* Runs the studies under the fitted law, a section or two for each. */
xb_status cli_demo_studies(cli_demo *d);

#endif
