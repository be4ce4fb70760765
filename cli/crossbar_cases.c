/* crossbar_cases.c: see crossbar_cases.h. All arrays go to the library in one call, so
 * that it can distribute their chips over several processes. */
#include "crossbar_cases.h"

#include <stdlib.h>

static xb_status make_room(xb_ctx *ctx, cli_case_list *list)
{
    int64_t capacity = list->capacity;
    void *array = list->array, *chips = list->chips, *to = list->to;
    xb_status status = xb_grow(ctx, &array, &capacity, list->n + 1, sizeof *list->array);
    list->array = array;
    capacity = list->capacity;
    if (status == XB_OK)
        status = xb_grow(ctx, &chips, &capacity, list->n + 1, sizeof *list->chips);
    list->chips = chips;
    capacity = list->capacity;
    if (status == XB_OK)
        status = xb_grow(ctx, &to, &capacity, list->n + 1, sizeof *list->to);
    list->to = to;
    if (status == XB_OK) list->capacity = capacity;
    return status;
}

xb_status cli_cases_add(xb_ctx *ctx, cli_case_list *list, cli_case *to, xb_array *array,
                        int64_t chips)
{
    const xb_status status = make_room(ctx, list);
    if (status != XB_OK) {
        xb_array_destroy(array);
        return status;
    }
    list->array[list->n] = array;
    list->chips[list->n] = xb_array_differs(array) ? chips : 1;
    list->to[list->n++] = to;
    return XB_OK;
}

xb_status cli_cases_run(xb_ctx *ctx, const cli_case_list *list, xb_assay *assay)
{
    xb_chips **made = xb_new(ctx, list->n, sizeof *made);
    if (!made) return XB_E_MEMORY;
    const xb_status status = xb_chips_create_all(
        ctx, made, assay, (const xb_array *const *)list->array, list->chips, list->n);
    for (int64_t i = 0; i < list->n && status == XB_OK; i++) {
        list->to[i]->chips = made[i];
        list->to[i]->result = xb_chips_at(made[i], 0);
    }
    xb_free(made);
    return status;
}

void cli_cases_free(cli_case_list *list)
{
    for (int64_t i = 0; i < list->n; i++) xb_array_destroy(list->array[i]);
    xb_free(list->array);
    xb_free(list->chips);
    xb_free(list->to);
    *list = (cli_case_list){0};
}
