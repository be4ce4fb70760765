/* findings_nets.c: findings of the studies of trained nets: whether the shape of the
 * noise matters, and from which width on it does not. They cover all nets of a width;
 * each net is judged at three standard errors, because there are many. */
#include <math.h>
#include <stdio.h>

#include "study/findings.h"

static const double ERRORS = 3;
/* The KL of a shift by 0.045 standard deviations, which is hardly visible in 1000
 * outputs. */
static const double KL_MATTERS = 1e-3;
static const double TAIL_MATTERS = 0.05; /* relative */

static const xb_finding_words shape_words = {"shape does not matter", "shape matters"};

enum { DEVICE = 1, BIMODAL = 2 }; /* numbers of the laws in the tables */

/* ---- energy */

/* The nets of one width under one law. */
typedef struct width_state {
    xb_finding_kind kind;
    double width;
    int64_t worst; /* row of the largest KL; -1: no nets */
} width_state;

static width_state judge_width(const xb_table *t, int law, double width)
{
    width_state s = {XB_FINDING_AGREES, width, -1};
    for (int64_t r = 0; r < xb_table_length(t); r++) {
        if (xb_table_at(t, r, "law") != law || xb_table_at(t, r, "width") != width)
            continue;
        double kl = xb_table_at(t, r, "kl");
        s.kind = xb_judge_both(
            s.kind, xb_judge_kl(kl, xb_table_at(t, r, "kl_error"), KL_MATTERS, ERRORS));
        if (s.worst < 0 || !(fabs(kl) <= fabs(xb_table_at(t, s.worst, "kl"))))
            s.worst = r;
    }
    return s;
}

/* The largest width below `limit`; 0: none. */
static double width_below(const xb_table *t, double limit)
{
    double width = 0;
    for (int64_t r = 0; r < xb_table_length(t); r++) {
        double w = xb_table_at(t, r, "width");
        if (w < limit && w > width) width = w;
    }
    return width;
}

/* Goes from the widest nets down as long as the shape does not matter; returns the widest
 * if it matters there. */
static width_state judge_widths(const xb_table *t, int law)
{
    width_state best = judge_width(t, law, width_below(t, INFINITY));
    while (best.kind == XB_FINDING_AGREES) {
        double next = width_below(t, best.width);
        width_state s = judge_width(t, law, next);
        if (next == 0 || s.kind != XB_FINDING_AGREES) break;
        best = s;
    }
    return best;
}

/* The row of the largest KL from this width on. */
static int64_t worst_from(const xb_table *t, int law, double width)
{
    int64_t worst = -1;
    for (int64_t r = 0; r < xb_table_length(t); r++)
        if (xb_table_at(t, r, "law") == law && xb_table_at(t, r, "width") >= width &&
            (worst < 0 ||
             fabs(xb_table_at(t, r, "kl")) > fabs(xb_table_at(t, worst, "kl"))))
            worst = r;
    return worst;
}

static xb_shown kl_shown(const xb_table *t, int64_t row)
{
    return xb_show(xb_rounded_off(xb_table_at(t, row, "kl")),
                   xb_table_at(t, row, "kl_error"));
}

/* A remark on a negative estimate, which cannot be true. */
static const char *below_zero(const xb_table *t, int64_t row)
{
    double kl = xb_rounded_off(xb_table_at(t, row, "kl"));
    return kl + ERRORS * xb_table_at(t, row, "kl_error") < 0
               ? "; below 0 by more than its error, so the estimate's bias dominates"
               : "";
}

static void bimodal_clause(char *out, size_t size, const xb_table *t)
{
    width_state s = judge_widths(t, BIMODAL);
    *out = '\0';
    if (s.worst < 0) return;
    if (s.kind == XB_FINDING_AGREES)
        snprintf(out, size, " Bimodal noise, an extreme case, needs width %g.", s.width);
    else
        snprintf(out, size, " Bimodal noise, an extreme case, %s at width %g: KL is %s.",
                 s.kind == XB_FINDING_DIFFERS ? "still matters" : "is not resolved",
                 s.width, kl_shown(t, s.worst).text);
}

xb_status xb_find_energy(xb_ctx *ctx, xb_study *study)
{
    static const struct {
        const char *claim, *on, *size;
    } says[] = {
        [XB_FINDING_AGREES] = {"does not matter from", " on", "at most"},
        [XB_FINDING_DIFFERS] = {"matters up to", "", "still"},
        [XB_FINDING_UNCLEAR] = {"may or may not matter at", "", "up to"},
    };
    const xb_table *t = xb_study_table(study, "kl");
    width_state s = judge_widths(t, DEVICE);
    int64_t worst = worst_from(t, DEVICE, s.width);
    if (worst < 0) return XB_OK;
    char bimodal[160];
    bimodal_clause(bimodal, sizeof bimodal, t);
    return xb_study_add_finding(
        ctx, study, s.kind, xb_finding_word(s.kind, shape_words),
        "In the nets trained here, the shape of the noise %s width %g%s: KL is %s %s "
        "nats (depth %g, n_eff %.2g; threshold %g%s).%s",
        says[s.kind].claim, s.width, says[s.kind].on, says[s.kind].size,
        kl_shown(t, worst).text, xb_table_at(t, worst, "depth"),
        xb_table_at(t, worst, "n_eff"), KL_MATTERS, below_zero(t, worst), bimodal);
}

/* ---- narrow */

/* The probability beyond two standard deviations, over the device's nets. */
typedef struct tail_state {
    xb_finding_kind kind;
    int64_t nets, matter;
    int64_t worst; /* row of the largest change beyond its errors, or of the largest
                      change */
    double n_eff;  /* largest n_eff among nets where it matters */
} tail_state;

static bool larger(const xb_table *t, int64_t r, int64_t than)
{
    if (than < 0) return true;
    double a = xb_table_at(t, r, "tail2"), b = xb_table_at(t, than, "tail2");
    bool sure_a = fabs(a) > ERRORS * xb_table_at(t, r, "tail2_error");
    bool sure_b = fabs(b) > ERRORS * xb_table_at(t, than, "tail2_error");
    return sure_a == sure_b ? fabs(a) > fabs(b) : sure_a;
}

static tail_state judge_tails(const xb_table *t)
{
    tail_state s = {XB_FINDING_AGREES, 0, 0, -1, 0};
    for (int64_t r = 0; r < xb_table_length(t); r++) {
        if (xb_table_at(t, r, "law") != DEVICE) continue;
        xb_finding_kind kind =
            xb_judge(xb_table_at(t, r, "tail2"), xb_table_at(t, r, "tail2_error"),
                     TAIL_MATTERS, ERRORS);
        s.kind = xb_judge_both(s.kind, kind);
        s.nets++;
        if (kind == XB_FINDING_DIFFERS) {
            s.matter++;
            s.n_eff = fmax(s.n_eff, xb_table_at(t, r, "n_eff"));
        }
        if (larger(t, r, s.worst)) s.worst = r;
    }
    return s;
}

xb_status xb_find_narrow(xb_ctx *ctx, xb_study *study)
{
    static const char *const says[] = {
        [XB_FINDING_AGREES] = "does not matter even in nets this narrow",
        [XB_FINDING_DIFFERS] = "matters in nets this narrow",
        [XB_FINDING_UNCLEAR] = "may or may not matter in nets this narrow",
    };
    const xb_table *t = xb_study_table(study, "gaps");
    tail_state s = judge_tails(t);
    if (s.worst < 0) return XB_OK;
    char where[64] = "";
    if (s.matter > 0) snprintf(where, sizeof where, " (n_eff up to %.2g)", s.n_eff);
    xb_shown change = xb_show(100 * xb_table_at(t, s.worst, "tail2"),
                              100 * xb_table_at(t, s.worst, "tail2_error"));
    return xb_study_add_finding(
        ctx, study, s.kind, xb_finding_word(s.kind, shape_words),
        "Shape %s: the largest change of the probability beyond 2 sd is %s %% (width %g, "
        "depth %g), and in %lld of %lld nets%s the change is significantly beyond %g %%.",
        says[s.kind], change.text, xb_table_at(t, s.worst, "width"),
        xb_table_at(t, s.worst, "depth"), (long long)s.matter, (long long)s.nets, where,
        100 * TAIL_MATTERS);
}
