/* crossbar_cases.h: the list of arrays that `crossbar` assays. The list is complete
 * before any of them is read.
 */
#ifndef XB_CLI_CROSSBAR_CASES_H
#define XB_CLI_CROSSBAR_CASES_H

#include "crossbar_show.h"

typedef struct cli_case_list {
    xb_array **array; /* [n], owned by the list */
    int64_t *chips;   /* [n] */
    cli_case **to;    /* [n], where the results go */
    int64_t n, capacity;
} cli_case_list;

/* Adds an array with this number of chips, or with one if its chips do not differ. The
 * list owns the array, even if memory runs out. */
xb_status cli_cases_add(xb_ctx *ctx, cli_case_list *list, cli_case *to, xb_array *array,
                        int64_t chips);
/* Reads all arrays; afterwards each case has its chips. */
xb_status cli_cases_run(xb_ctx *ctx, const cli_case_list *list, xb_assay *assay);
void cli_cases_free(cli_case_list *list);

#endif
