/* adaptive.c: predictions in which each input takes as many draws as its interval needs
 * (maths P32). Draws are a function of their number, so an input that takes S of them has
 * exactly the prediction of S draws. Rows that are not settled yet are predicted again
 * with 1.5 times as many draws, which costs three times the draws in total but needs no
 * memory for them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "predict/predict.h"
#include "vi/model.h"

enum { FIRST = 32 }; /* draws of each member before the first look */

/* Row `from` of one prediction to row `to` of another. */
static void copy_row(xb_prediction *out, int64_t to, const xb_prediction *p, int64_t from)
{
    const int64_t targets = p->targets, quantiles = targets * p->quantiles;
    const struct {
        double *out;
        const double *in;
        int64_t size;
    } part[] = {{out->mean, p->mean, targets},
                {out->epistemic, p->epistemic, targets},
                {out->aleatoric, p->aleatoric, targets},
                {out->sd, p->sd, targets},
                {out->quantile, p->quantile, quantiles},
                {out->probability, p->probability, p->classes},
                {out->entropy, p->entropy, 1},
                {out->information, p->information, 1},
                {out->between, p->between, targets},
                {out->needed, p->needed, 1},
                {out->error_of, p->error_of, 1}};
    const bool classes = p->classes > 0;
    for (int i = 0; i < XB_COUNT(part); i++) {
        const bool here = part[i].out == out->between || i > 8 ? part[i].out != NULL
                          : classes                            ? i >= 5
                                                               : i < 5;
        if (here)
            memcpy(part[i].out + to * part[i].size, part[i].in + from * part[i].size,
                   (size_t)part[i].size * sizeof(double));
    }
    if (classes) out->class[to] = p->class[from];
}

/* Keeps the rows among select [n] that need more than `draws`, and returns their number.
 */
static int64_t take_settled(xb_prediction *out, const xb_prediction *p, int64_t *select,
                            int64_t n, bool last)
{
    int64_t left = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = select[i];
        if (!last && !(p->needed[i] <= (double)p->draws)) {
            select[left++] = row;
            continue;
        }
        copy_row(out, row, p, i);
        out->used[row] = p->draws;
        xb_prediction_take_error(out, p->error_of[i]);
    }
    return left;
}

static xb_status look_on(xb_ctx *ctx, xb_prediction *out, const xb_model *model,
                         const xb_rows *rows, xb_predict_options *opt, int64_t *select,
                         int64_t *place, int64_t most)
{
    const int64_t members = xb_model_member_count(model);
    int64_t n = rows->n;
    for (int64_t i = 0; i < n; i++) select[i] = i;
    opt->draws = FIRST * members < most ? FIRST * members : most;
    for (;;) {
        xb_rows part = *rows;
        for (int64_t i = 0; i < n; i++)
            place[i] = rows->select ? rows->select[select[i]] : select[i];
        part.select = place;
        part.n = n;
        xb_prediction *p = NULL;
        XB_TRY(xb_predict_rows_here(ctx, &p, model, &part, opt, NULL));
        out->draws = opt->draws;
        n = take_settled(out, p, select, n, opt->draws == most);
        xb_prediction_destroy(p);
        if (n == 0) return XB_OK;
        opt->draws = xb_next_look(opt->draws, members, most);
    }
}

xb_status xb_predict_adaptive(xb_ctx *ctx, xb_prediction *out, const xb_model *model,
                              const xb_rows *rows, const xb_predict_options *opt)
{
    xb_predict_options each = *opt;
    const int64_t most = opt->draws;
    each.adaptive = false;
    each.draws_needed = true;
    int64_t *select = xb_new(ctx, 2 * rows->n, sizeof *select);
    if (!select) return XB_E_MEMORY;
    xb_status status =
        look_on(ctx, out, model, rows, &each, select, select + rows->n, most);
    free(select);
    return status;
}
