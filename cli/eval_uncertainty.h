/* eval_uncertainty.h: tests of a model's uncertainty: `eval --ood FILE`, whether it
 * detects rows from another distribution, and `eval --selective`, the error that remains
 * when the least certain rows are left unanswered. */
#ifndef XB_CLI_EVAL_UNCERTAINTY_H
#define XB_CLI_EVAL_UNCERTAINTY_H

#include <jansson.h>

#include "session.h"

enum { CLI_MEASURES_MAX = 3, CLI_RISKS = 20 };

/* One measure of uncertainty. */
typedef struct cli_measure {
    const char *name;
    xb_score auroc;         /* for the rows of --ood */
    double risk[CLI_RISKS]; /* at coverages 1/CLI_RISKS, ..., 1 */
    double area;
} cli_measure;

typedef struct cli_uncertainty {
    int measures;
    cli_measure measure[CLI_MEASURES_MAX];
    int64_t ood_rows;
    double area_chance,
        area_best;       /* for a random order, and for the order by the loss itself */
    bool ood, selective; /* which tests the options request */
    bool classes;
} cli_uncertainty;

/* Runs the tests that the options ask for. `rows` and `scores` are those of the data,
 * under `law`. */
cli_exit cli_uncertainty_find(cli_session *s, cli_uncertainty *out, const xb_model *model,
                              const xb_rows *rows, const xb_scores *scores,
                              const xb_law *law);
void cli_uncertainty_json(json_t *root, const cli_uncertainty *u);
void cli_uncertainty_print(const cli_uncertainty *u, const char *ood);

#endif
