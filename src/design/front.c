/* front.c: from scores on chips to the value of a design: its loss with an error over
 * chips, whether it meets the conditions, which designs no other design beats, and the
 * cheapest one that meets the conditions (maths X72-X74, X76). Everything here is
 * arithmetic on scores that were read before, except for the choice, which is confirmed
 * on further chips. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "design/search.h"

/* A mean and its standard error. */
typedef struct estimate {
    double mean, error;
} estimate;

/* ---- numbers over chips */

/* (X72) A score of one chip, in the same units as the digital model's with many draws. */
static double chip_score(const xb_design *d, int64_t i, int64_t k, int64_t chip, int q)
{
    const double own = d->candidate[i].score[(chip * d->n_draws + k) * XB_QUALITIES + q];
    const xb_variant *v = &d->variant[d->candidate[i].variant];
    return own - v->paired[chip * XB_QUALITIES + q] + v->offset[q] + v->digital[q];
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* One number for each chip; the worst of these are left out of the mean. */
typedef struct chip_row {
    double x[XB_CHIPS_MOST]; /* values that are left out are set to `edge` */
    int64_t n, out;
    double edge; /* the worst value that is kept */
} chip_row;

/* (X74) Leaves out the values that are largest after multiplication by `sign`. */
static void leave_out(chip_row *r, int sign, double share)
{
    double order[XB_CHIPS_MOST];
    for (int64_t c = 0; c < r->n; c++) order[c] = sign * r->x[c];
    qsort(order, (size_t)r->n, sizeof *order, ascending);
    /* 1e-9 is added because 1 - 0.9 is a little less than 0.1. */
    r->out = (int64_t)((1 - share) * (double)r->n + 1e-9);
    r->edge = sign * order[r->n - 1 - r->out];
    for (int64_t c = 0; c < r->n; c++)
        if (sign * r->x[c] > sign * r->edge) r->x[c] = r->edge;
}

static double mean_of(const chip_row *r)
{
    double sum = 0;
    for (int64_t c = 0; c < r->n; c++) sum += r->x[c];
    return (sum - (double)r->out * r->edge) / (double)(r->n - r->out);
}

/* (X74) The standard error of the difference between the means of two rows on the same
 * chips, or of the mean of a if b is NULL. */
static double error_of(const chip_row *a, const chip_row *b)
{
    const double n = (double)a->n, share = (n - (double)a->out) / n;
    double mean = 0, square = 0;
    if (a->n < 2) return NAN;
    for (int64_t c = 0; c < a->n; c++) mean += (a->x[c] - (b ? b->x[c] : 0)) / n;
    for (int64_t c = 0; c < a->n; c++) {
        const double off = a->x[c] - (b ? b->x[c] : 0) - mean;
        square += off * off;
    }
    return sqrt(square / (n * (n - 1))) / share;
}

/* (X73) An array that was dropped early was read on few chips, and these may be better
 * than average. This returns how far the arrays that were read on all chips score above
 * their mean on this chip. */
static double luck(const xb_design *d, int64_t i, int64_t k, int64_t chip, int q)
{
    if (d->candidate[i].alive || !d->luck) return 0;
    return d->luck[(chip * d->n_draws + k) * XB_QUALITIES + q];
}

/* The direction in which a score becomes worse: 1 upwards, -1 downwards, as its condition
 * says. */
static int worse(const xb_design *d, int q)
{
    for (int c = 0; c < d->conditions; c++)
        if (d->condition[c].quality == q) return d->condition[c].sign;
    return 1;
}

static void fill_row(chip_row *out, const xb_design *d, int64_t i, int64_t k, int q,
                     int64_t chips)
{
    out->n = chips;
    for (int64_t c = 0; c < chips; c++)
        out->x[c] = chip_score(d, i, k, c, q) - luck(d, i, k, c, q);
    leave_out(out, worse(d, q), d->opt.yield);
}

static estimate score_of(const xb_design *d, int64_t i, int64_t k, int q, int64_t chips)
{
    chip_row row;
    fill_row(&row, d, i, k, q, chips);
    return (estimate){mean_of(&row), error_of(&row, NULL)};
}

/* How much better b is than a, compared chip by chip with the score of the first
 * condition. */
static estimate advantage(const xb_design *d, const int64_t a[2], const int64_t b[2])
{
    const int q = d->condition[0].quality;
    chip_row first, second;
    fill_row(&first, d, a[0], a[1], q, d->opt.chips);
    fill_row(&second, d, b[0], b[1], q, d->opt.chips);
    return (estimate){d->condition[0].sign * (mean_of(&first) - mean_of(&second)),
                      error_of(&first, &second)};
}

/* (X74) Uses the expansion in 1/degrees (Abramowitz and Stegun 26.7.5), which is 1.2 %
 * too low at 2 degrees of freedom, 0.3 % at 3, and 0.01 % from 7 on. */
double xb_front_student(int64_t degrees)
{
    const double z = 1.6448536269514722, v = (double)degrees, z2 = z * z;
    const double a = z * (z2 + 1) / 4, b = z * ((5 * z2 + 16) * z2 + 3) / 96;
    const double c = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
    return z + a / v + b / (v * v) + c / (v * v * v);
}

/* ---- conditions */

static xb_kept keeps(const xb_condition *c, estimate score, int64_t chips)
{
    const double beyond = c->sign * (score.mean - c->limit);
    const double reach = chips > 1 ? xb_front_student(chips - 1) * score.error : INFINITY;
    return beyond + reach <= 0  ? XB_KEPT_YES
           : beyond - reach > 0 ? XB_KEPT_NO
                                : XB_KEPT_UNRESOLVED;
}

static xb_kept keeps_all(const xb_design *d, int64_t i, int64_t k, int64_t chips)
{
    xb_kept all = XB_KEPT_YES;
    for (int c = 0; c < d->conditions; c++) {
        const estimate score = score_of(d, i, k, d->condition[c].quality, chips);
        const xb_kept one = keeps(&d->condition[c], score, chips);
        if (one == XB_KEPT_NO) return XB_KEPT_NO;
        if (one == XB_KEPT_UNRESOLVED) all = one;
    }
    return all;
}

static double yield_of(const xb_design *d, int64_t i, int64_t k, int64_t chips)
{
    int64_t good = 0;
    for (int64_t chip = 0; chip < chips; chip++) {
        bool all = true;
        for (int c = 0; c < d->conditions; c++) {
            const xb_condition *one = &d->condition[c];
            const double score = chip_score(d, i, k, chip, one->quality);
            all = all && one->sign * (score - one->limit) <= 0;
        }
        good += all;
    }
    return (double)good / (double)chips;
}

/* The standard error of the loss over rows, from what each row contributes to the score.
 * A root mean square changes by half of the mean square's change, divided by itself. */
static double row_error(const xb_design *d, int64_t i, int64_t k, double score)
{
    const int64_t n = d->judge.n;
    const int q = d->condition[0].quality;
    const bool root = d->judge.classes == 0 && q == 1;
    const double *row = d->candidate[i].row + k * n,
                 *digital = d->variant[0].digital_row + q * n;
    const double chips = (double)d->candidate[i].chips;
    double mean = 0, square = 0;
    for (int64_t r = 0; r < n; r++) mean += (row[r] / chips - digital[r]) / (double)n;
    for (int64_t r = 0; r < n; r++) {
        const double off = row[r] / chips - digital[r] - mean;
        square += off * off;
    }
    if (n < 2) return NAN;
    return sqrt(square / (double)(n * (n - 1))) / (root ? 2 * score : 1);
}

/* ---- points */

static double middle_pj(xb_band pj) { return sqrt(pj.low * pj.high); }

static bool in_time(const xb_design *d, const xb_design_point *p)
{
    return !(d->opt.deadline_ns > 0) || p->time_ns <= d->opt.deadline_ns;
}

static xb_design_point point_of(const xb_design *d, int64_t i, int64_t k, int64_t chips)
{
    const xb_candidate *c = &d->candidate[i];
    const int q = d->condition[0].quality;
    const double draws = d->draws[k];
    xb_design_point p = {.array = i,
                         .draws = (int64_t)draws,
                         .chips = chips,
                         .energy_pj = {draws * c->draw_pj.low, draws * c->draw_pj.high},
                         .time_ns = draws * c->draw_ns,
                         .score = NAN,
                         .loss = NAN,
                         .error = NAN,
                         .row_error = NAN,
                         .yield = NAN,
                         .finalist = c->alive};
    p.kept = in_time(d, &p) ? XB_KEPT_UNRESOLVED : XB_KEPT_NO;
    if (chips == 0) return p;
    const estimate score = score_of(d, i, k, q, chips);
    p.score = score.mean;
    p.loss = d->condition[0].sign * (score.mean - d->variant[0].digital[q]);
    p.error = score.error;
    p.row_error = row_error(d, i, k, score.mean);
    p.yield = yield_of(d, i, k, chips);
    if (p.kept == XB_KEPT_UNRESOLVED) p.kept = keeps_all(d, i, k, chips);
    return p;
}

static void find_points(xb_design *d, int64_t i)
{
    const int64_t chips = d->candidate[i].chips;
    const int64_t shown = chips < d->opt.chips ? chips : d->opt.chips;
    for (int64_t k = 0; k < d->n_draws; k++) {
        xb_design_point p = point_of(d, i, k, shown);
        if (p.kept == XB_KEPT_YES && chips > shown &&
            keeps_all(d, i, k, chips) != XB_KEPT_YES) {
            p.kept = XB_KEPT_UNRESOLVED;
            p.refuted = true;
        }
        d->point[i * d->n_draws + k] = p;
    }
}

xb_design_point xb_design_confirmed(const xb_design *d)
{
    const int64_t at = d->chosen;
    if (at < 0)
        return (xb_design_point){.array = -1,
                                 .energy_pj = {NAN, NAN},
                                 .time_ns = NAN,
                                 .score = NAN,
                                 .loss = NAN,
                                 .error = NAN,
                                 .row_error = NAN,
                                 .yield = NAN,
                                 .kept = XB_KEPT_NO};
    const int64_t i = at / d->n_draws;
    return point_of(d, i, at % d->n_draws, d->candidate[i].chips);
}

static bool worth(const xb_design *d, const xb_design_point *p)
{
    return p->finalist && p->chips > 0 && in_time(d, p) && !isnan(p->loss);
}

/* Whether a is no worse than b in any respect and better in at least one. */
static bool beats(const xb_design_point *a, const xb_design_point *b)
{
    const double more[] = {middle_pj(b->energy_pj) - middle_pj(a->energy_pj),
                           b->time_ns - a->time_ns, b->loss - a->loss};
    bool better = false;
    for (int i = 0; i < XB_COUNT(more); i++) {
        if (!(more[i] >= 0)) return false;
        better = better || more[i] > 0;
    }
    return better;
}

/* ---- dropping arrays */

typedef struct standing {
    int64_t beaten, candidate; /* `beaten`: number of designs that beat the best design of
                                  this array */
} standing;

static int by_standing(const void *a, const void *b)
{
    const standing *x = a, *y = b;
    if (x->beaten != y->beaten) return x->beaten < y->beaten ? -1 : 1;
    return x->candidate < y->candidate ? -1 : 1;
}

static int64_t times_beaten(const xb_design *d, const xb_design_point *p)
{
    int64_t n = 0;
    for (int64_t j = 0; j < d->candidates * d->n_draws; j++)
        if (worth(d, &d->point[j]) && beats(&d->point[j], p)) n++;
    return n;
}

static int64_t best_standing(const xb_design *d, int64_t i)
{
    int64_t least = INT64_MAX;
    for (int64_t k = 0; k < d->n_draws && least > 0; k++) {
        const xb_design_point *p = &d->point[i * d->n_draws + k];
        if (!worth(d, p)) continue;
        const int64_t n = times_beaten(d, p);
        if (n < least) least = n;
    }
    return least;
}

xb_status xb_front_cull(xb_ctx *ctx, xb_design *d)
{
    standing *list = xb_new(ctx, d->candidates, sizeof *list);
    int64_t alive = 0;
    if (!list) return XB_E_MEMORY;
    for (int64_t i = 0; i < d->candidates; i++)
        if (d->candidate[i].alive) find_points(d, i);
    for (int64_t i = 0; i < d->candidates; i++)
        if (d->candidate[i].alive) list[alive++] = (standing){best_standing(d, i), i};
    qsort(list, (size_t)alive, sizeof *list, by_standing);
    for (int64_t i = (alive + 1) / 2; i < alive; i++)
        if (list[i].beaten > 0) {
            d->candidate[list[i].candidate].alive = false;
            find_points(d, list[i].candidate);
        }
    free(list);
    return XB_OK;
}

/* ---- the front */

typedef struct offer {
    double cost;
    int64_t point;
} offer;

static int by_cost(const void *a, const void *b)
{
    const offer *x = a, *y = b;
    if (x->cost != y->cost) return x->cost < y->cost ? -1 : 1;
    return x->point < y->point ? -1 : 1;
}

typedef enum price { MIDDLE, LOW, HIGH, TIME } price;

static double cost_of(const xb_design_point *p, price by)
{
    return by == TIME   ? p->time_ns
           : by == LOW  ? p->energy_pj.low
           : by == HIGH ? p->energy_pj.high
                        : middle_pj(p->energy_pj);
}

/* Lists the finalists that meet the deadline, the cheapest first. */
static int64_t list_offers(const xb_design *d, offer *out, price by)
{
    int64_t n = 0;
    for (int64_t j = 0; j < d->candidates * d->n_draws; j++)
        if (worth(d, &d->point[j])) out[n++] = (offer){cost_of(&d->point[j], by), j};
    qsort(out, (size_t)n, sizeof *out, by_cost);
    return n;
}

/* Whether no other design of the same cost is better; only the best of them can be on the
 * front. */
static bool last_of_cost(const xb_design *d, const offer *list, int64_t n, int64_t at)
{
    const double loss = d->point[list[at].point].loss;
    for (int64_t j = at + 1; j < n && list[j].cost == list[at].cost; j++)
        if (d->point[list[j].point].loss < loss) return false;
    return true;
}

/* (X76) Whether the design is tied with the last design on the front that was not a tie:
 * it is not better by more than the error. */
static bool is_tie(const xb_design *d, int64_t last, int64_t now)
{
    const int64_t a[2] = {last / d->n_draws, last % d->n_draws};
    const int64_t b[2] = {now / d->n_draws, now % d->n_draws};
    const estimate gain = advantage(d, a, b);
    return !(gain.mean > xb_front_student(d->opt.chips - 1) * gain.error);
}

static void walk(xb_design *d, const offer *list, int64_t n, price by)
{
    double least = INFINITY;
    int64_t last = -1;
    for (int64_t j = 0; j < n; j++) {
        xb_design_point *p = &d->point[list[j].point];
        if (!(p->loss < least) || !last_of_cost(d, list, n, j)) continue;
        least = p->loss;
        if (by == TIME) {
            p->time_front = true;
            continue;
        }
        p->energy_front = true;
        p->tie = last >= 0 && is_tie(d, last, list[j].point);
        if (!p->tie) last = list[j].point;
    }
}

/* For each chip: how much its score differs from the mean over chips, averaged over the
 * arrays that were read on all chips. */
static xb_status find_luck(xb_ctx *ctx, xb_design *d)
{
    const int64_t size = d->n_draws * XB_QUALITIES;
    double *luck_of = xb_new(ctx, d->opt.chips * size, sizeof *luck_of);
    if (!luck_of) return XB_E_MEMORY;
    for (int64_t i = 0; i < d->candidates; i++)
        for (int64_t at = 0; at < size && d->candidate[i].alive; at++) {
            const int64_t k = at / XB_QUALITIES;
            const int q = (int)(at % XB_QUALITIES);
            const double mean = score_of(d, i, k, q, d->opt.chips).mean;
            for (int64_t c = 0; c < d->opt.chips; c++)
                luck_of[c * size + at] +=
                    (chip_score(d, i, k, c, q) - mean) / (double)d->finalists;
        }
    d->luck = luck_of;
    return XB_OK;
}

xb_status xb_front_mark(xb_ctx *ctx, xb_design *d)
{
    d->finalists = 0;
    for (int64_t i = 0; i < d->candidates; i++) d->finalists += d->candidate[i].alive;
    XB_TRY(find_luck(ctx, d));
    offer *list = xb_new(ctx, d->candidates * d->n_draws, sizeof *list);
    if (!list) return XB_E_MEMORY;
    d->best = -1;
    for (int64_t i = 0; i < d->candidates; i++) find_points(d, i);
    walk(d, list, list_offers(d, list, MIDDLE), MIDDLE);
    const int64_t n = list_offers(d, list, TIME);
    walk(d, list, n, TIME);
    for (int64_t j = 0; j < n; j++)
        if (d->best < 0 || d->point[list[j].point].loss < d->point[d->best].loss)
            d->best = list[j].point;
    free(list);
    return XB_OK;
}

/* ---- the choice */

static int64_t first_kept(const xb_design *d, const offer *list, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        if (d->point[list[j].point].kept == XB_KEPT_YES) return list[j].point;
    return -1;
}

static int64_t count_undecided(const xb_design *d, const offer *list, int64_t n)
{
    int64_t count = 0;
    if (d->chosen < 0) return 0;
    for (int64_t j = 0; j < n && list[j].point != d->chosen; j++)
        count += d->point[list[j].point].kept == XB_KEPT_UNRESOLVED;
    return count;
}

/* Among many designs near the limit, some meet it by chance. So the first one must meet
 * it on twice the chips, or the next one is tried (X74). */
static xb_status confirm(xb_ctx *ctx, xb_design *d, const offer *list, int64_t n)
{
    for (;;) {
        d->chosen = first_kept(d, list, n);
        if (d->chosen < 0) return XB_OK;
        const int64_t i = d->chosen / d->n_draws;
        if (d->candidate[i].chips == d->chips_room) return XB_OK;
        XB_TRY(xb_trial_extend(ctx, d, i, d->chips_room));
        find_points(d, i);
    }
}

xb_status xb_front_choose(xb_ctx *ctx, xb_design *d)
{
    const price by = d->opt.fastest ? TIME : MIDDLE;
    offer *list = xb_new(ctx, d->candidates * d->n_draws, sizeof *list);
    if (!list) return XB_E_MEMORY;
    for (int64_t i = 0; i < d->candidates; i++) find_points(d, i);
    int64_t n = list_offers(d, list, by);
    xb_status status = confirm(ctx, d, list, n);
    d->undecided = count_undecided(d, list, n);
    n = list_offers(d, list, d->opt.fastest ? TIME : LOW);
    d->chosen_low = first_kept(d, list, n);
    n = list_offers(d, list, d->opt.fastest ? TIME : HIGH);
    d->chosen_high = first_kept(d, list, n);
    free(list);
    return status;
}
