/* study_words.h: texts about the studies' figures: what they show and what it means, for
 * the demo's page and for the page of a study. */
#ifndef XB_CLI_STUDY_WORDS_H
#define XB_CLI_STUDY_WORDS_H

#include "crossbayes/studies.h"
#include "session.h"

typedef struct cli_study_figure {
    const char *id, *heading; /* a new section of the demo; NULL: the figure belongs to
                                 the last one */
    const char *study, *part; /* both make up the name of the file */
    int finding;              /* its number in the study; -1: none */
    const char *alt, *caption;
} cli_study_figure;

/* The figures of each study are next to each other. */
int cli_study_figure_count(void);
const cli_study_figure *cli_study_figure_at(int i);

/* The fact whose name is the first `size` characters of `name`; NAN: there is none. */
xb_fact cli_study_fact(const xb_study *study, const char *name, size_t size);

/* The caption with its facts in it; free() it. NULL: memory has run out. */
char *cli_study_caption(const char *caption, const xb_study *study);

/* study_page.c: DIR/NAME.html: the headline, the findings, the figures of the study that
 * lie in DIR as SVG, and its facts. */
xb_status cli_study_page(xb_ctx *ctx, const xb_study *study, const char *dir);

#endif
