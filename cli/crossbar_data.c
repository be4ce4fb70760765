/* crossbar_data.c: see crossbar_data.h. A pixel becomes byte / 255, as in `predict`. */
#include "crossbar_data.h"

#include <stdlib.h>
#include <string.h>

static void take_row(double *out, const xb_rows *rows, int64_t i)
{
    const int64_t at = (rows->select ? rows->select[i] : i) * rows->features;
    if (rows->x) {
        memcpy(out, rows->x + at, (size_t)rows->features * sizeof *out);
        return;
    }
    for (int64_t j = 0; j < rows->features; j++) out[j] = rows->bytes[at + j] / 255.0;
}

/* Copies n of the rows, evenly spread, with their targets. */
static cli_exit choose(cli_session *s, cli_array_data *d, const xb_rows *rows,
                       const double *target, int64_t targets, int64_t n)
{
    d->own_x = calloc((size_t)(n * rows->features) + 1, sizeof *d->own_x);
    d->own_y = calloc((size_t)(n * targets) + 1, sizeof *d->own_y);
    if (!d->own_x || !d->own_y) return cli_fail(s, CLI_FAILED, "not enough memory");
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = i * rows->n / n;
        take_row(d->own_x + i * rows->features, rows, row);
        for (int64_t k = 0; target && k < targets; k++)
            d->own_y[i * targets + k] = target[row * targets + k];
    }
    d->x = d->own_x;
    d->y = target ? d->own_y : NULL;
    d->n = n;
    return CLI_DONE;
}

cli_exit cli_array_data_read(cli_session *s, cli_array_data *d, const xb_model *model,
                             const char *path, bool target, int64_t most)
{
    const cli_exit code = cli_inputs_ask(s, &d->in, model, path, target);
    if (code != CLI_DONE) return code;
    const xb_rows rows = cli_inputs_rows(&d->in);
    const double *y = target ? cli_inputs_target(&d->in) : NULL;
    const int64_t n = most > 0 && most < rows.n ? most : rows.n;
    if (!rows.x || n < rows.n)
        return choose(s, d, &rows, y, xb_model_target_count(model), n);
    d->x = rows.x, d->y = y, d->n = n;
    return CLI_DONE;
}

void cli_array_data_free(cli_array_data *d)
{
    cli_inputs_free(&d->in);
    free(d->own_x);
    free(d->own_y);
}
