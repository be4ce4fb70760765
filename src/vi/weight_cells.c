/* weight_cells.c: how a weight is made of cells, from a text or from measured widths;
 * maths V31. The arithmetic of one weight is in kernel/cells_kernel.h.
 *
 * The standard cell is the RRAM of Lin et al. 2023 (Nature Machine Intelligence): states
 * of 0.4 to 4 uA, read noise of Laplace's law with the scale b(I) = -0.0058 I^2 + 0.0324
 * I
 * + 0.0141 uA, so of standard deviation sqrt(2) b. */
#include "vi/weight_cells.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/number.h"
#include "data/settings.h"

enum { KIND_THREE, KIND_PAIR };
static const char *const kinds[] = {[KIND_THREE] = "three", [KIND_PAIR] = "pair", NULL};

enum { TEXT_MOST = 2 * XB_CELL_POINTS * XB_NUMBER_TEXT_MAX + 1024 };

/* A pair of cells spans as much as the three do: 1.03, around 0. */
static xb_cell_curve standard_curve(int kind)
{
    xb_cell_curve c = {.n = kind == KIND_PAIR ? 2 : 3,
                       .sign = {1, kind == KIND_PAIR ? -1 : 1, 1},
                       .low = 0.4,
                       .span = 3.6,
                       .offset = kind == KIND_PAIR ? 0 : 7.2,
                       .scale = kind == KIND_PAIR ? 7 : 10.5,
                       .terms = 3,
                       .term = {M_SQRT2 * 0.0141, M_SQRT2 * 0.0324, M_SQRT2 * -0.0058}};
    return c;
}

/* ---- text */

typedef struct lists {
    double sign[XB_CELLS_MOST], range[2], offset, scale;
    double width[XB_CELL_POINTS], at[XB_CELL_POINTS];
    int signs, ranges, offsets, scales, widths, ats;
} lists;

static xb_status refuse(xb_ctx *ctx, const char *text, const char *what)
{
    return xb_fail(ctx, XB_E_INPUT, "cells '%s': %s", text, what);
}

static xb_status take_signs(xb_ctx *ctx, xb_cell_curve *c, const lists *l,
                            const char *text)
{
    for (int k = 0; k < l->signs; k++) {
        if (fabs(l->sign[k]) != 1) return refuse(ctx, text, "a sign is not 1 or -1");
        c->sign[k] = l->sign[k];
    }
    if (l->signs > 0) c->n = l->signs;
    return XB_OK;
}

static xb_status take_width(xb_ctx *ctx, xb_cell_curve *c, const lists *l,
                            const char *text)
{
    if (l->ats > 0 && (l->ats < 2 || l->ats != l->widths))
        return refuse(ctx, text, "expected as many values of width as of at, 2 or more");
    for (int i = 1; i < l->ats; i++)
        if (!(l->at[i] > l->at[i - 1]))
            return refuse(ctx, text, "the values of at do not ascend");
    if (l->ats == 0 && l->widths > XB_CELL_TERMS)
        return refuse(ctx, text, "expected a polynomial of at most 8 coefficients");
    c->points = l->ats;
    memcpy(c->at, l->at, sizeof c->at);
    memcpy(c->width, l->width, sizeof c->width);
    if (l->ats > 0 || l->widths == 0) return XB_OK;
    c->terms = l->widths;
    memcpy(c->term, l->width, (size_t)l->widths * sizeof *c->term);
    return XB_OK;
}

static xb_status check_curve(xb_ctx *ctx, const xb_cell_curve *c, const char *text)
{
    enum { LOOKS = 4096 };
    if (!(c->span > 0)) return refuse(ctx, text, "the range is empty: expected LOW/HIGH");
    if (!(c->scale > 0)) return refuse(ctx, text, "the scale is not above 0");
    for (int i = 0; i <= LOOKS; i++) {
        const double g = c->low + c->span * i / LOOKS;
        const double width = xb_cell_width_at(c, g).value;
        if (width > 0 && isfinite(width / c->scale)) continue;
        return xb_fail(
            ctx, XB_E_INPUT,
            "cells '%s': the width is %g at state %g, expected above 0 in all of"
            " the range",
            text, width, g);
    }
    return XB_OK;
}

static void add_list(char *out, const char *name, const double *value, int n)
{
    char number[XB_NUMBER_TEXT_MAX];
    sprintf(out + strlen(out), "%s=", name);
    for (int i = 0; i < n; i++) {
        xb_number_format(number, value[i]);
        sprintf(out + strlen(out), "%s%s", i ? "/" : "", number);
    }
}

/* Writes all numbers in full, so that the text reads back the same for any default. */
static char *text_of(xb_ctx *ctx, const xb_cell_curve *c)
{
    char *out = xb_new(ctx, TEXT_MOST, 1);
    if (!out) return NULL;
    const double range[2] = {c->low, c->low + c->span};
    const bool pair = c->n == 2 && c->sign[1] < 0;
    snprintf(out, TEXT_MOST, "%s", pair ? "pair:" : "three:");
    add_list(out, "signs", c->sign, c->n);
    add_list(out, ",range", range, 2);
    add_list(out, ",offset", &c->offset, 1);
    add_list(out, ",scale", &c->scale, 1);
    add_list(out, ",width", c->points ? c->width : c->term,
             c->points ? c->points : c->terms);
    if (c->points) add_list(out, ",at", c->at, c->points);
    return out;
}

static xb_status finish(xb_ctx *ctx, xb_weight_cells **out, const xb_cell_curve *c,
                        const char *text)
{
    XB_TRY(check_curve(ctx, c, text));
    xb_weight_cells *cells = xb_new(ctx, 1, sizeof *cells);
    if (!cells) return XB_E_MEMORY;
    cells->curve = *c;
    cells->text = text_of(ctx, c);
    if (!cells->text) {
        free(cells);
        return XB_E_MEMORY;
    }
    *out = cells;
    return XB_OK;
}

xb_status xb_weight_cells_parse(xb_ctx *ctx, xb_weight_cells **out, const char *text)
{
    lists l = {0};
    const xb_setting_list settings[] = {{"signs", l.sign, XB_CELLS_MOST, &l.signs},
                                        {"range", l.range, 2, &l.ranges},
                                        {"offset", &l.offset, 1, &l.offsets},
                                        {"scale", &l.scale, 1, &l.scales},
                                        {"width", l.width, XB_CELL_POINTS, &l.widths},
                                        {"at", l.at, XB_CELL_POINTS, &l.ats}};
    const char *rest = NULL;
    int kind = 0;
    XB_TRY(xb_settings_kind(ctx, &kind, &rest, "cells", text, kinds));
    XB_TRY(xb_settings_lists(ctx, "cells", text, rest, settings, XB_COUNT(settings)));
    xb_cell_curve c = standard_curve(kind);
    if (l.ranges == 1) return refuse(ctx, text, "a range is two values, LOW/HIGH");
    if (l.ranges) c.low = l.range[0], c.span = l.range[1] - l.range[0];
    if (l.offsets) c.offset = l.offset;
    if (l.scales) c.scale = l.scale;
    XB_TRY(take_signs(ctx, &c, &l, text));
    XB_TRY(take_width(ctx, &c, &l, text));
    return finish(ctx, out, &c, text);
}

/* States, offset and scale move with the range, so that a weight whose states are at the
 * same relative places stays the same. */
xb_status xb_weight_cells_measured(xb_ctx *ctx, xb_weight_cells **out,
                                   const xb_weight_cells *base, const double *g,
                                   const double *width, int64_t n)
{
    if (n < 2 || n > XB_CELL_POINTS)
        return xb_fail(ctx, XB_E_INPUT,
                       "widths at %lld %s: expected 2 to %d, from one end of the range to"
                       " the other",
                       (long long)n, xb_plural(n, "state", "states"), XB_CELL_POINTS);
    xb_cell_curve c = base->curve;
    double sum = 0;
    for (int k = 0; k < c.n; k++) sum += c.sign[k];
    const double factor = (g[n - 1] - g[0]) / c.span;
    c.offset = g[0] * sum + (c.offset - c.low * sum) * factor;
    c.scale *= factor;
    c.low = g[0];
    c.span = g[n - 1] - g[0];
    c.points = (int)n;
    for (int64_t i = 0; i < n; i++) {
        c.at[i] = g[i];
        c.width[i] = width[i];
        if (i > 0 && !(g[i] > g[i - 1]))
            return xb_fail(ctx, XB_E_INPUT,
                           "widths of cells: states do not ascend at %g, %g", g[i - 1],
                           g[i]);
    }
    return finish(ctx, out, &c, "measured");
}

xb_status xb_weight_cells_copy(xb_ctx *ctx, xb_weight_cells **out,
                               const xb_weight_cells *cells)
{
    return finish(ctx, out, &cells->curve, cells->text);
}

void xb_weight_cells_destroy(xb_weight_cells *cells)
{
    if (!cells) return;
    free(cells->text);
    free(cells);
}

/* ---- accessors */

const char *xb_weight_cells_text(const xb_weight_cells *c) { return c->text; }
int64_t xb_weight_cells_count(const xb_weight_cells *c) { return c->curve.n; }
double xb_weight_cells_low(const xb_weight_cells *c) { return c->curve.low; }
double xb_weight_cells_high(const xb_weight_cells *c)
{
    return c->curve.low + c->curve.span;
}

double xb_weight_cells_width(const xb_weight_cells *c, double g)
{
    return xb_cell_width_at(&c->curve, g).value;
}

void xb_weight_cells_weight(const xb_weight_cells *c, double *mu, double *sigma,
                            const double *g)
{
    double sum = -c->curve.offset, square = 0;
    for (int k = 0; k < c->curve.n; k++) { /* (V31) */
        const double width = xb_weight_cells_width(c, g[k]);
        sum += c->curve.sign[k] * g[k];
        square += width * width;
    }
    *mu = sum / c->curve.scale;
    *sigma = sqrt(square) / c->curve.scale;
}

void xb_weight_cells_start(const xb_weight_cells *cells, float *state, int64_t stride,
                           double mu)
{
    const xb_cell_curve *c = &cells->curve;
    double left = mu * c->scale + c->offset, which = 0;
    for (int k = 0; k < c->n; k++) left -= c->sign[k] * c->low;
    for (int k = 0; k < c->n; k++) which += c->sign[k] * left > 0;
    for (int k = 0; k < c->n; k++) {
        const bool moves = c->sign[k] * left > 0;
        state[k * stride] = moves ? (float)fmin(fabs(left) / which / c->span, 1) : 0;
    }
}
