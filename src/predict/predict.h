/* predict.h: the contents of a prediction. */
#ifndef XB_PREDICT_PREDICT_H
#define XB_PREDICT_PREDICT_H

#include "base/ctx.h"
#include "crossbayes/predict.h"
#include "law/student_table.h"

struct xb_prediction {
    int64_t n, draws, classes, quantiles;
    int64_t targets; /* 1 for classes */
    double error;
    double *mean, *epistemic, *aleatoric, *sd; /* [n][targets] */
    double *between;               /* the same shape, for an ensemble; else NULL */
    double *quantile;              /* [n][targets][quantiles] */
    double *probability;           /* [n][classes] */
    int64_t *class;                /* [n] */
    double *entropy, *information; /* [n] */
    double *needed, *error_of; /* [n], where asked for (P31), room for all targets; else
                                  NULL */
    int64_t *used;             /* [n], adaptive; else NULL */
};

/* Training counts its steps from 0; predictions draw at a step that it never reaches. */
#define XB_PREDICT_STEP UINT32_MAX

/* draws.c: (P2) the net's outputs [rows][outputs] to the target's units, to rates of
 * counts, or to probabilities. */
void xb_predict_values(const xb_model *model, double *value, const float *out,
                       int64_t rows);

/* The same as xb_predict_draws_rows, but the outputs are those of the net, unscaled. */
xb_status xb_predict_raw_rows(xb_ctx *ctx, float *raw, const xb_model *model,
                              const xb_rows *rows, int64_t first, int64_t count,
                              const xb_predict_options *opt);

/* Values of draws that are in memory at a time: 32 MB, or 64 of probabilities. */
enum { XB_PREDICT_VALUES = 1 << 23 };

/* Room for the predictions of n rows under opt->draws draws. */
xb_status xb_prediction_room(xb_ctx *ctx, xb_prediction **out, const xb_model *model,
                             int64_t n, const xb_predict_options *opt);
/* (P5) The largest error so far of some of its rows. */
void xb_prediction_take_error(xb_prediction *p, double error);

/* xb_predict_rows by this process alone, and by all that the context deals to: rows where
 * there are many (rows_by_processes.c), else draws (draws_by_processes.c). The options
 * are checked and opt->draws is not 0. `given` are the outputs of all draws, as
 * xb_predict_raw_rows has them for numbers, for classes as xb_predict_draws_rows; NULL:
 * they are made. */
xb_status xb_predict_rows_here(xb_ctx *ctx, xb_prediction **out, const xb_model *model,
                               const xb_rows *rows, const xb_predict_options *opt,
                               const void *given);
xb_status xb_predict_rows_by_processes(xb_ctx *ctx, xb_prediction **out,
                                       const xb_model *model, const xb_rows *rows,
                                       const xb_predict_options *opt);
xb_status xb_predict_draws_by_processes(xb_ctx *ctx, xb_prediction *p,
                                        const xb_model *model, const xb_rows *rows,
                                        const xb_predict_options *opt);
/* The rows of `part` from row `first` on. */
void xb_prediction_place(xb_prediction *p, int64_t first, const xb_prediction *part);

/* Fails if a member would have no draw. */
xb_status xb_predict_check_draws(xb_ctx *ctx, const xb_model *model, int64_t draws);

/* (P3) The aleatoric standard deviations, sd [members][n][targets] of the rows; and (P7)
 * one for all members, their root mean square, out [n]. Numbers.
 */
xb_status xb_predict_noise_rows(xb_ctx *ctx, double *sd, const xb_model *model,
                                const xb_rows *rows, const char *backend);
void xb_noise_of_members(double *out, const double *sd, int64_t members, int64_t n);

/* Monte Carlo error of the mean of value[s * stride], from neighbouring pairs, which
 * may depend on each other; and mean and standard deviation. */
typedef struct xb_draw_summary {
    double mean, sd, error;
} xb_draw_summary;

/* count_summary.c: (P21) the aleatoric standard deviation of counts, root mean square
 * over draws first .. first + count - 1 of rates [count][n]; sd [n]. And mean, both
 * uncertainties and quantiles (levels `level`) of one target, input number `at` of the
 * prediction, from the rates of all its draws; size [members]. room: that of a grid. */
void xb_count_sds(const xb_model *model, double *sd, const double *rate, int64_t n,
                  int64_t first, int64_t count);
xb_draw_summary xb_count_summarise(xb_prediction *p, int64_t at, const double *rate,
                                   const double *size, int64_t members,
                                   const double *level, double *room);

/* heavy_noise.c: (P9) whether the data's noise is Student's t; and the tables of its law,
 * [members], draw s having that of member s mod members. NULL if it is not; the caller
 * frees them. */
bool xb_noise_is_heavy(const xb_model *model);
xb_status xb_noise_tables(xb_ctx *ctx, xb_student_table **out, const xb_model *model);

/* quantiles.c: (P4) the level-quantile of an equal mixture of N(mean[s], sd^2), draw s
 * having the sd of number s mod members. z is the standard normal's quantile of the same
 * level. */
double xb_predictive_quantile(const double *mean, int64_t draws, const double *sd,
                              int64_t members, double level, double z);
double xb_normal_quantile(double level);
/* (P9) The same of mean[s] plus a t with the standard deviation sd and the law heavy,
 * both of number s mod members. */
double xb_heavy_quantile(const double *mean, int64_t draws, const double *sd,
                         const xb_student_table *heavy, int64_t members, double level);

xb_draw_summary xb_draws_summarise(const double *value, int64_t draws, int64_t stride);

/* stopping.c: (P30) the Monte Carlo error of the quantile q of that mixture, draw s
 * having the sd of number s mod widths, dealt over members; room [draws]. (P31) The
 * number of draws at which this error, in units of sd, is within the tolerance. (P32) The
 * number of draws at which the next check is due. */
double xb_quantile_error(const double *mean, int64_t draws, const double *sd,
                         int64_t widths, int64_t members, double q, double *room);
/* (P9) The same of heavy noise, as in xb_heavy_quantile. */
double xb_heavy_quantile_error(const double *mean, int64_t draws, const double *sd,
                               const xb_student_table *heavy, int64_t members, double q,
                               double *room);
double xb_draws_needed(double error, double sd, double tolerance, int64_t draws);
int64_t xb_next_look(int64_t draws, int64_t members, int64_t most);

/* adaptive.c: predicts all rows of `out`, whose memory the caller has allocated. */
xb_status xb_predict_adaptive(xb_ctx *ctx, xb_prediction *out, const xb_model *model,
                              const xb_rows *rows, const xb_predict_options *opt);

/* member_spread.c: (P7) the same of draws dealt over members, and the standard deviation
 * between their means, with the noise subtracted. One member: 0. */
xb_draw_summary xb_members_summarise(double *between, const double *value, int64_t draws,
                                     int64_t stride, int64_t members);
/* The entropy of a distribution over classes. */
double xb_class_entropy(const double *p, int64_t classes);
/* (P7) The information between member and class, of probabilities [draws][stride] by
 * class: the entropy of their mean less the mean entropy of the members' means. `room`
 * [classes]. */
double xb_members_information(const double *value, int64_t draws, int64_t stride,
                              int64_t members, int64_t classes, double *room);

#endif
