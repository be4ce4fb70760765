/* crossbar_show.h: what `crossbar` found, as text, as JSON and as a table. */
#ifndef XB_CLI_CROSSBAR_SHOW_H
#define XB_CLI_CROSSBAR_SHOW_H

#include "scores.h"

enum { CLI_CASES_MOST = 64 };

/* One array that was assayed. */
typedef struct cli_case {
    const char *name; /* of the effect; NULL: see value */
    double value;     /* of the number that was swept */
    xb_chips *chips;
    const xb_assay_result *result; /* of the first chip */
} cli_case;

/* The scores of a line: how many, and number k. */
int cli_shown_count(const xb_assay_result *r);
cli_score cli_shown_at(const xb_assay_result *r, int k);

/* `digital` above them, for comparison. */
void cli_show_cases(const cli_case *cases, int count, const xb_assay_result *digital,
                    const char *head);
/* name NULL: the value that was swept. */
json_t *cli_case_json(const char *name, double value, const xb_assay_result *r);

/* Column 0 the number swept, then, of the scores and of how far the predictive moved,
 * NAME (a mean over chips), NAME_error (of reads and chips), NAME_digital or
 * NAME_tolerance, NAME_q05 and NAME_q95 (over chips); shares of verdicts and the number
 * of chips; destroy it. */
xb_status cli_cases_table(xb_ctx *ctx, xb_table **out, const char *key,
                          const cli_case *cases, int count,
                          const xb_assay_result *digital, double tolerance);

/* What the array's circuits would have to bear, with a warning where that is too much. */
void cli_show_limits(xb_ctx *ctx, const xb_analog *analog);
json_t *cli_limits_json(const xb_analog *analog);

void cli_show_costs(const xb_analog *analog, int64_t reads, const xb_costs *costs);
json_t *cli_costs_json(const xb_analog *analog, int64_t reads, const xb_costs *costs);

#endif
