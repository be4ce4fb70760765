/* crossbar_cases.h: the arrays that `crossbar` assays, gathered first and read together.
 */
#ifndef XB_CLI_CROSSBAR_CASES_H
#define XB_CLI_CROSSBAR_CASES_H

#include "crossbar_show.h"

typedef struct cli_case_list {
    xb_array **array; /* [n], ours */
    int64_t *chips;   /* [n] */
    cli_case **to;    /* [n], where the results go */
    int64_t n, capacity;
} cli_case_list;

/* Takes the array, also where memory has run out. `chips` of it, or one where chips do
 * not differ. */
xb_status cli_cases_add(xb_ctx *ctx, cli_case_list *list, cli_case *to, xb_array *array,
                        int64_t chips);
/* Reads all; each case has its chips then. */
xb_status cli_cases_run(xb_ctx *ctx, const cli_case_list *list, xb_assay *assay);
void cli_cases_free(cli_case_list *list);

#endif
