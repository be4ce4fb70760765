/* test_score_errors.c: what the scores of calibration say of themselves, against
 * simulation: Monte Carlo errors against the standard deviation over runs with weights of
 * their own, chance levels against data that a predictive drew itself. */
#include "comparetest.h"

#include "base/ctx.h"
#include "crossbayes/extend.h"
#include "compare/calibration.h"

enum { RUNS = SANITIZED ? 40 : 200, S = 60, N = 250, C = 3, FEATURES_MOST = 24 };

/* Outputs of a linear net at N points: x (mu + 0.5 w), w new in each draw. With 2
 * features the draws move all points together, with 24 nearly each on its own. */
typedef struct task {
    int features, outputs;
    double x[N][FEATURES_MOST], mu[C][FEATURES_MOST];
    double y[N];
    int64_t label[N];
} task;

static double output(const task *t, int i, int c, const double *w, double spread)
{
    double sum = 0;
    for (int k = 0; k < t->features; k++)
        sum += t->x[i][k] * (t->mu[c][k] + (w ? spread * w[c * t->features + k] : 0));
    return sum;
}

static task *new_task(int features, int outputs)
{
    task *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->features = features, t->outputs = outputs;
    double *z = new_normals(N * features + C * features + 4 * N, 900), *at = z;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < features; k++) t->x[i][k] = *at++ / sqrt(features);
    for (int c = 0; c < C; c++)
        for (int k = 0; k < features; k++) t->mu[c][k] = *at++;
    for (int i = 0; i < N; i++) {
        t->y[i] = output(t, i, 0, NULL, 0) + 0.9 * *at++;
        for (int c = 1; c < C; c++) /* noisy labels: some wrong, some nearly ties */
            if (output(t, i, c, NULL, 0) + *at++ >
                output(t, i, (int)t->label[i], NULL, 0))
                t->label[i] = c;
    }
    free(z);
    return t;
}

static void soften(double *p, int classes)
{
    double sum = 0;
    for (int c = 0; c < classes; c++) sum += p[c] = exp(p[c]);
    for (int c = 0; c < classes; c++) p[c] /= sum;
}

/* value [S][N][outputs] of one run. */
static void run_net(double *value, const task *t, int run)
{
    int weights = t->outputs * t->features;
    double *w = new_normals((int64_t)S * weights, 1000 + (uint32_t)run);
    for (int s = 0; s < S; s++)
        for (int i = 0; i < N; i++) {
            double *at = value + (s * N + i) * t->outputs;
            for (int c = 0; c < t->outputs; c++)
                at[c] = output(t, i, c, w + s * weights, 0.5);
            if (t->outputs > 1) soften(at, t->outputs);
        }
    free(w);
}

typedef struct errors {
    const char *name;
    double sum, square, claimed;
} errors;

static void add(errors *e, const char *name, const xb_score *score)
{
    e->name = name;
    e->sum += score->value / RUNS, e->square += score->value * score->value / RUNS;
    e->claimed += score->mc_error * score->mc_error / RUNS;
}

/* 200 runs: a ratio has a relative standard error of 5 %, and the band, a fifth down or a
 * quarter up, is 4.4 of them: with eight ratios that are 1 a false alarm in one of 15,000
 * seeds, with ratios 6 % off (what is left of jumps) in one of 250. The seeds are fixed.
 */
static void check(const errors *e, int count, int features)
{
    for (int j = 0; j < count; j++) {
        double sd = sqrt((e[j].square - e[j].sum * e[j].sum) * RUNS / (RUNS - 1.0));
        double ratio = sqrt(e[j].claimed) / sd;
        print_message("%2d features: %s %.4f, sd over runs %.5f, claimed / sd %.3f\n",
                      features, e[j].name, e[j].sum, sd, ratio);
        if (!SANITIZED) assert_true(ratio > 0.8 && ratio < 1.25);
    }
}

static void errors_of_classes(void **state)
{
    (void)state;
    static const int features[] = {2, FEATURES_MOST};
    xb_ctx *ctx = test_ctx();
    double *value = malloc(sizeof(double) * S * N * C);
    for (int f = test_long() ? 0 : 1; f < XB_COUNT(features); f++) {
        task *t = new_task(features[f], C);
        errors e[2] = {0};
        for (int r = 0; r < RUNS; r++) {
            run_net(value, t, r);
            const xb_class_draws p = {value, S, N, C};
            class_scores s;
            assert_ok(ctx, score_classes(ctx, &s, &p, t->label, NULL));
            add(&e[0], "accuracy", &s.accuracy);
            add(&e[1], "ECE", &s.ece);
        }
        check(e, XB_COUNT(e), features[f]);
        free(t);
    }
    free(value);
    xb_ctx_destroy(ctx);
}

static void errors_of_calibration(void **state)
{
    (void)state;
    static const int features[] = {2, FEATURES_MOST};
    xb_ctx *ctx = test_ctx();
    double *value = malloc(sizeof(double) * S * N), sd[N];
    for (int i = 0; i < N; i++) sd[i] = 0.6;
    for (int f = test_long() ? 0 : 1; f < XB_COUNT(features); f++) {
        task *t = new_task(features[f], 1);
        errors e[2] = {0};
        for (int r = 0; r < RUNS; r++) {
            run_net(value, t, r);
            const xb_mixture p = {value, sd, S, N, .sd_shared = true};
            number_scores s;
            assert_ok(ctx, score_numbers(ctx, &s, NULL, &p, t->y, NULL));
            add(&e[0], "coverage", &s.coverage);
            add(&e[1], "miscalibration area", &s.miscalibration_area);
        }
        check(e, XB_COUNT(e), features[f]);
        free(t);
    }
    free(value);
    xb_ctx_destroy(ctx);
}

static double uniform(int run, int64_t i)
{
    const xb_stream where = {xb_key_make(21, XB_PURPOSE_TEST), 0, (uint32_t)run, 0};
    return xb_stream_uniform(&where, i);
}

typedef struct mean_error {
    double sum, square;
    int n;
} mean_error;

static void add_value(mean_error *m, double x)
{
    m->sum += x, m->square += x * x, m->n++;
}

/* Within four standard errors of the simulation and a relative `slack`: 1 in 16,000. */
static void check_floor(const char *name, const mean_error *m, double floor, double slack)
{
    double mean = m->sum / m->n, variance = m->square / m->n - mean * mean;
    print_message("%s: floor %.5f, simulated %.5f\n", name, floor, mean);
    assert_at_most(fabs(mean - floor), 4 * sqrt(variance / (m->n - 1)) + slack * floor);
}

/* Two classes whose labels are drawn from the predictive itself. Confidences from 1/2, or
 * from nearly 1 (few misses), of few points and of many. */
static void ece_by_chance(void **state)
{
    (void)state;
    enum { SETS = SANITIZED ? 60 : 600, MOST = 4000 };
    static const struct {
        const char *name;
        int n, bins;
        double least, most;
    } cases[] = {{"360 points, 15 bins", 360, 15, 0.5, 1},
                 {"360 points, nearly sure", 360, 15, 0.985, 1},
                 {"20 points", 20, 15, 0.5, 1},
                 {"4000 points, 8 bins filled", MOST, 15, 0.5, 1},
                 {"4000 points in one bin", MOST, 15, 0.9355, 0.995},
                 {"60 points, the only bin", 60, 1, 0.5, 1}};
    xb_ctx *ctx = test_ctx();
    static double p[MOST][2], confidence[MOST];
    static int64_t label[MOST];
    xb_score_options opt = xb_score_options_default();
    for (int c = 0; c < XB_COUNT(cases); c++) {
        mean_error m = {0};
        class_scores s = {0};
        for (int i = 0; i < cases[c].n; i++) {
            confidence[i] =
                cases[c].least + (cases[c].most - cases[c].least) * uniform(SETS, i);
            p[i][0] = confidence[i], p[i][1] = 1 - confidence[i];
        }
        for (int r = 0; r < SETS; r++) {
            for (int i = 0; i < cases[c].n; i++) label[i] = uniform(r, i) > confidence[i];
            const xb_class_draws draws = {&p[0][0], 1, cases[c].n, 2};
            opt.bins = cases[c].bins;
            assert_ok(ctx, score_classes(ctx, &s, &draws, label, &opt));
            add_value(&m, s.ece.value);
        }
        check_floor(cases[c].name, &m, s.ece_floor, 1e-3);
    }
    xb_ctx_destroy(ctx);
}

/* Confidences of many classes, below 1/2 and above in one bin: by all 2^n outcomes. */
static void ece_by_enumeration(void **state)
{
    (void)state;
    enum { N_ALL = 12 };
    static const double p[N_ALL] = {0.999, 0.98, 0.02, 0.3,  0.5, 0.97,
                                    0.11,  0.9,  0.05, 0.25, 1,   0.62};
    double mean = 0, expected = 0;
    for (int i = 0; i < N_ALL; i++) mean += p[i];
    for (int set = 0; set < 1 << N_ALL; set++) {
        double chance = 1, hits = 0;
        for (int i = 0; i < N_ALL; i++) {
            bool hit = set >> i & 1;
            chance *= hit ? p[i] : 1 - p[i], hits += hit;
        }
        expected += chance * fabs(hits - mean) / N_ALL;
    }
    assert_close(xb_ece_floor(p, N_ALL, 1), expected, 1e-13);
    static double many[3000]; /* sure of nearly all, wrong of many: few surprises */
    for (int i = 0; i < 3000; i++) many[i] = i % 3 ? 0.999 : 0.001;
    double variance = 3000 * 0.999 * 0.001; /* a Poisson number less another, nearly */
    assert_close(xb_ece_floor(many, 3000, 1), sqrt(2 / M_PI * variance) / 3000, 0.05);
}

/* Uniform masses. The floor is that of many points, 6 % low for a single one. */
static void area_by_chance(void **state)
{
    (void)state;
    enum { SETS = SANITIZED ? 400 : 4000 };
    static const int n[] = {1, 10, 61, 360};
    xb_ctx *ctx = test_ctx();
    double mass[360];
    for (int c = 0; c < XB_COUNT(n); c++) {
        mean_error m = {0};
        char name[32];
        for (int r = 0; r < SETS; r++) {
            for (int i = 0; i < n[c]; i++) mass[i] = uniform(r, i);
            assert_ok(ctx, xb_sort_doubles(ctx, mass, n[c]));
            add_value(&m, xb_miscalibration_area(NULL, mass, n[c]));
        }
        snprintf(name, sizeof name, "area, %d points", n[c]);
        check_floor(name, &m, xb_miscalibration_floor(n[c]), 0.07 / n[c]);
    }
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_of_classes), cmocka_unit_test(errors_of_calibration),
        cmocka_unit_test(ece_by_chance),     cmocka_unit_test(ece_by_enumeration),
        cmocka_unit_test(area_by_chance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
