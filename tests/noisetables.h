/* noisetables.h: tables with known noise, and a model's score on further rows, for the
 * tests of likelihoods. */
#ifndef NOISETABLES_H
#define NOISETABLES_H

#include <math.h>
#include <string.h>

#include "crossbayes/crossbayes.h"
#include "scratch.h"

enum { COLUMNS = 4, TEST_ROWS = 1000, MOST = 4000 };

typedef enum kind {
    CONSTANT, /* normal noise of one standard deviation */
    WHOLE,    /* the same, rounded to whole numbers */
    TWICE,    /* the same, each row two times */
    CUT,      /* the same, values below 0.5 reported as 0.5: about half of them */
    GROWING,  /* its standard deviation depends on the first column */
    WAVING,   /* it rises and falls three times along the first column */
    HEAVY     /* Student's t of 3 degrees of freedom */
} kind;

typedef struct table {
    int64_t n;
    double x[MOST * COLUMNS], y[MOST];
} table;

static inline double uniform(const xb_stream *s, int64_t i)
{
    return 2 * xb_stream_uniform(s, i) - 1;
}

/* Of mean 0 and variance 1 (Box and Muller). */
static inline double normal(const xb_stream *s, int64_t i)
{
    const double radius = sqrt(-2 * log(xb_stream_uniform(s, 2 * i)));
    return radius * cos(2 * M_PI * xb_stream_uniform(s, 2 * i + 1));
}

/* t = z / sqrt(c / 3), c of three squares. */
static inline double heavy(const xb_stream *s, int64_t i)
{
    double c = 0;
    for (int k = 1; k <= 3; k++) c += pow(normal(s, 4 * i + k), 2);
    return normal(s, 4 * i) / sqrt(c / 3);
}

static inline double noise_at(kind k, const double *x)
{
    return k == GROWING  ? exp(-1.2 + 1.2 * x[0])
           : k == WAVING ? exp(-1.2 + sin(3 * M_PI * x[0]))
           : k == WHOLE  ? 0.6
                         : 0.3;
}

/* Rows first .. first + n - 1 of an endless table. */
static inline void make(table *t, kind k, int64_t first, int64_t n, uint64_t seed)
{
    const xb_stream where = {.key = xb_key_make(seed, XB_PURPOSE_TEST), .tensor = 0};
    const xb_stream noise = {.key = xb_key_make(seed, XB_PURPOSE_TEST), .tensor = 1};
    t->n = n;
    for (int64_t i = 0; i < n; i++) {
        const int64_t from = first + (k == TWICE && first == 0 ? i / 2 : i);
        double *x = t->x + i * COLUMNS;
        for (int j = 0; j < COLUMNS; j++) x[j] = uniform(&where, COLUMNS * from + j);
        const double mean = sin(3 * x[0]) + x[1] * x[1] + 0.5 * x[2] * x[3];
        const double z = k == HEAVY ? heavy(&noise, from) : normal(&noise, from);
        t->y[i] = mean + noise_at(k, x) * z;
        if (k == WHOLE) t->y[i] = round(5 + t->y[i]);
        if (k == CUT) t->y[i] = fmax(0.5, t->y[i]);
    }
}

static inline xb_train_data data_of(const table *t)
{
    return (xb_train_data){.x = t->x, .y = t->y, .n = t->n, .features = COLUMNS};
}

typedef struct loss {
    double mean, error;
} loss;

static inline loss loss_of(const double *a, const double *b)
{
    double mean = 0, square = 0;
    for (int i = 0; i < TEST_ROWS; i++) mean += (a[i] - b[i]) / TEST_ROWS;
    for (int i = 0; i < TEST_ROWS; i++) square += pow(a[i] - b[i] - mean, 2);
    return (loss){mean, sqrt(square) / TEST_ROWS};
}

/* Minus the log density of each test row. */
static inline void test_nll(xb_ctx *ctx, double nll[TEST_ROWS], const xb_model *model,
                            const table *test)
{
    xb_scores *scores = NULL;
    xb_predict_options p = xb_predict_options_default();
    p.draws = 200;
    const xb_rows rows = {.x = test->x, .n = test->n, .features = COLUMNS};
    assert_ok(ctx, xb_score_model(ctx, &scores, model, &rows, test->y, &p));
    memcpy(nll, xb_scores_array_get(scores, "nll", NULL), TEST_ROWS * sizeof *nll);
    xb_scores_destroy(scores);
}

#endif
