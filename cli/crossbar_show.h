/* crossbar_show.h: prints the results of `crossbar` as text, as JSON and as a table. */
#ifndef XB_CLI_CROSSBAR_SHOW_H
#define XB_CLI_CROSSBAR_SHOW_H

#include "scores.h"

enum { CLI_CASES_MOST = 64 };

/* One array that was assayed. */
typedef struct cli_case {
    const char *name; /* name of the effect; NULL: a sweep, see `value` */
    double value;     /* value of the swept number */
    xb_chips *chips;
    const xb_assay_result *result; /* result of the first chip */
} cli_case;

/* The number of scores in a line, and score number k. */
int cli_shown_count(const xb_assay_result *r);
cli_score cli_shown_at(const xb_assay_result *r, int k);

/* Prints `digital` above the cases, for comparison. */
void cli_show_cases(const cli_case *cases, int count, const xb_assay_result *digital,
                    const char *head);
/* If name is NULL, the case is identified by the swept value. */
json_t *cli_case_json(const char *name, double value, const xb_assay_result *r);

/* Makes the table of a sweep. Column 0 is the swept number. For each score, and for each
 * distance by which the predictive moved, there are NAME (the mean over chips),
 * NAME_error (of reads and chips), NAME_digital or NAME_tolerance, NAME_q05 and NAME_q95
 * (over chips); the shares of verdicts and the number of chips follow. The caller
 * destroys it. */
xb_status cli_cases_table(xb_ctx *ctx, xb_table **out, const char *key,
                          const cli_case *cases, int count,
                          const xb_assay_result *digital, double tolerance);

/* Prints the currents and conductances that the array's circuits must handle, with a
 * warning if they are too large. */
void cli_show_limits(xb_ctx *ctx, const xb_analog *analog);
json_t *cli_limits_json(const xb_analog *analog);

void cli_show_costs(const xb_analog *analog, int64_t reads, const xb_costs *costs);
json_t *cli_costs_json(const xb_analog *analog, int64_t reads, const xb_costs *costs);

#endif
