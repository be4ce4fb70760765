/* column.c: one column of numbers from a text table or an NPY file. This is the first
 * step of the whole chain: measured noise enters here. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbayes/data.h"
#include "data/csv.h"
#include "data/npy.h"

typedef struct column {
    const char *wanted;
    xb_ctx *ctx;
    int64_t index, columns;
    double *values; /* grows */
    int64_t n, capacity;
} column;

static xb_status choose(void *arg, const xb_csv_head *head)
{
    column *c = arg;
    c->columns = head->dialect.columns;
    return xb_csv_column(&c->index, head, c->wanted);
}

static bool is_only_column(const void *arg)
{
    const column *c = arg;
    return c->columns == 1;
}

static xb_status keep_numbers(void *arg, const double *value, int64_t n)
{
    column *c = arg;
    if (c->n + n > c->capacity)
        XB_TRY(xb_grow(c->ctx, (void **)&c->values, &c->capacity, c->n + n,
                       sizeof *c->values));
    memcpy(c->values + c->n, value, (size_t)n * sizeof *value);
    c->n += n;
    return XB_OK;
}

static xb_status keep(void *arg, const xb_csv_row *row)
{
    column *c = arg;
    double value;
    XB_TRY(xb_csv_number(&value, row, c->index));
    return keep_numbers(c, &value, 1);
}

/* Which column of an NPY array is wanted, and how many there are. */
static xb_status choose_npy(column *c, int64_t *columns, const xb_npy_head *head,
                            const xb_source *s)
{
    if (head->ndim > 2)
        return xb_fail(s->ctx, XB_E_INPUT,
                       "%s: an array of %d dimensions, expected 1 or 2", s->name,
                       head->ndim);
    *columns = head->ndim == 2 ? head->shape[1] : 1;
    if (c->n == 0 || *columns == 0)
        return xb_fail(s->ctx, XB_E_INPUT, "%s: an empty array", s->name);
    if (!c->wanted && *columns > 1)
        return xb_fail(s->ctx, XB_E_INPUT, "%s: %lld columns; choose one by number",
                       s->name, (long long)*columns);
    c->index = c->wanted ? xb_column_number(c->wanted, *columns) - 1 : 0;
    if (c->index < 0)
        return xb_fail(s->ctx, XB_E_INPUT,
                       "%s: no column '%s'; an NPY file has numbers only, here %lld",
                       s->name, c->wanted, (long long)*columns);
    return XB_OK;
}

/* Moves the column to the front of its array. */
static xb_status gather(column *c, int64_t columns, const xb_source *s)
{
    assert(columns > 0);
    c->n /= columns;
    for (int64_t i = 0; i < c->n; i++) {
        c->values[i] = c->values[i * columns + c->index];
        if (!isfinite(c->values[i]))
            return xb_fail(s->ctx, XB_E_INPUT,
                           "%s: value %lld is not a finite number: '%g'", s->name,
                           (long long)i + 1, c->values[i]);
    }
    return XB_OK;
}

static xb_status read_npy(column *c, xb_source *source)
{
    xb_npy_head head;
    int64_t columns = 0;
    XB_TRY(xb_npy_read_source(&c->values, &c->n, &head, source));
    XB_TRY(choose_npy(c, &columns, &head, source));
    return gather(c, columns, source);
}

static xb_status read_text(column *c, xb_source *source)
{
    xb_csv_visitor visitor = {.arg = c,
                              .head = choose,
                              .row = keep,
                              .plain = is_only_column,
                              .numbers = keep_numbers};
    return xb_csv_read(source, &visitor);
}

xb_status xb_column_read(xb_ctx *ctx, double **out, int64_t *n, const char *path,
                         const char *wanted)
{
    xb_source source;
    XB_TRY(xb_source_open(ctx, &source, path));
    column c = {.ctx = ctx, .wanted = wanted};
    bool npy = xb_source_starts(&source, XB_NPY_MAGIC, XB_NPY_MAGIC_SIZE);
    xb_status status = npy ? read_npy(&c, &source) : read_text(&c, &source);
    xb_source_close(&source);
    if (status != XB_OK) {
        free(c.values);
        return xb_source_explain(&source, status, XB_KIND_TABLE);
    }
    assert(c.n > 0); /* both readers fail if they find nothing */
    double *fitted = realloc(c.values, (size_t)c.n * sizeof *fitted);
    *out = fitted ? fitted : c.values; /* shrinking may fail: keep the larger block */
    *n = c.n;
    return XB_OK;
}
