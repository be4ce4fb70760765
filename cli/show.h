/* show.h: prints a fit, a study or a verdict, for `fit`, `study` and `demo`. */
#ifndef XB_CLI_SHOW_H
#define XB_CLI_SHOW_H

#include "crossbayes/studies.h"
#include "session.h"

/* `criterion` is the one that chose the family; the families' distances to the best are
 * given in it. */
void cli_show_fit(const xb_fit *fit, const char *source, xb_criterion criterion);
/* The number of levels of the family `levels`, whose parameters are three lists of that
 * many, one after the other; 0: another family. */
int cli_level_count(const xb_fit_family *f);
/* Whether the family fits; if not, and skewness or kurtosis show it most clearly, which
 * one: the tables have the p-values of KS and AD only. */
const char *cli_decision_text(const xb_fit_family *f);
/* Describes the trace, before the fit of its stationary part. */
void cli_show_series(const xb_series *series, const char *source, int64_t samples,
                     const char *found, const char *unit);
/* One paragraph on the law of the whole trace, if the fit is of a part of it. */
void cli_show_whole(const xb_fit *whole);
/* The samples' unit for the parameters that have it, scale and offset; "" for the others.
 */
const char *cli_parameter_unit(const char *name, const char *unit);
void cli_show_finding(xb_finding finding); /* the word, then the sentence */
void cli_show_study(const xb_study *study);
/* The scores of `utkface`, one line for each law of training and of evaluation. */
void cli_show_scores(const xb_table *scores);

/* The bitwise or of the figure formats named in "svg,png,pdf". */
unsigned cli_formats(const char *list);
#define CLI_FORMATS "svg,png,pdf"

/* DIR/NAME.EXT; free() it. NULL when memory has run out. */
char *cli_join(const char *dir, const char *name, const char *extension);

#endif
