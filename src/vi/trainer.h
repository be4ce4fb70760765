/* trainer.h: a training run between two steps, as xb_trainer of crossbayes/train.h hides
 * it. Everything a step touches is here,
 * allocated once; everything that must survive a stop is in `live`, `place`, `sums`
 * and `trace`, which is what a checkpoint holds.
 *
 * The parameters are one vector theta = [mu P][rho P][noise Q], each padded by zeros to
 * whole cache lines; gradients and both moments of Adam are laid out the same. noise is
 * the logarithm of one standard deviation for each target, the parameters of the noise
 * net, or nothing; a noise net with a posterior has its own rho after it.
 *
 * What steps work on are buffers of the backend, marked B: only its operations read or
 * write them. */
#ifndef XB_VI_TRAINER_H
#define XB_VI_TRAINER_H

#include "crossbayes/train.h"
#include "vi/adam.h"
#include "vi/model.h"
#include "vi/noise_posterior.h"

enum { XB_PHASE_MLE = 0, XB_PHASE_VI = 1, XB_PHASES = 2 };

/* The position of a run. All fields are int64_t, because they are written to a checkpoint
 * unchanged. */
typedef struct xb_train_place {
    int64_t phase; /* XB_PHASES: done */
    int64_t epoch; /* number in the phase */
    int64_t batch; /* number in the epoch */
    int64_t step;  /* number in the phase */
    int64_t rows;  /* number of rows of the trace */
    int64_t best_epoch;
} xb_train_place;

/* Sums over the steps of an epoch, and the best score so far. */
typedef struct xb_train_sums {
    double nll, kl, f, temperature;
    double best_score;
} xb_train_sums;

enum { XB_TRACE_COLUMNS = XB_HISTORY_VALIDATION + 1 };

/* The host's copies of buffers, of the same size; NULL if buffers are the host's. */
typedef struct xb_train_rooms {
    float *live, *bx, *by, *out, *raw;
    int32_t *order, *turned, *blabel;
} xb_train_rooms;

enum { XB_TRAIN_BUFFERS = 20 }; /* largest number of buffers */

typedef struct xb_leap xb_leap; /* train_leap.c */

struct xb_trainer {
    xb_ctx *ctx; /* context of the current call */
    const xb_backend *backend;
    void *buffer[XB_TRAIN_BUFFERS]; /* all of them, to be released */
    int buffers;
    xb_train_rooms room;
    xb_train_options opt;
    const xb_model *model;
    xb_model
        *own; /* the same where the trainer made it; its blocks are room for results */
    int64_t features, outputs, targets;
    /* examples, those to learn from first, then those held out. Inputs are a copy in
     * `x`, scaled, or stay where they are, example i in row select[i] */
    xb_rows rows;
    float *x, *y;    /* B [n][features], or NULL; [n][targets] */
    uint8_t *pixels; /* B [n][features], images where the backend reads them; or NULL */
    int32_t *label;  /* B [n] */
    int64_t *select; /* [n] */
    int64_t n, held;
    uint64_t checksum; /* checksum of the data as given */
    /* the run's plan */
    int64_t batches; /* batches per epoch */
    int64_t epochs[XB_PHASES];
    xb_adam_block *block[XB_PHASES];
    int blocks[XB_PHASES];
    /* the state */
    int64_t p, q;           /* sizes: mu, noise */
    int64_t rho, noise;     /* positions where these begin */
    int64_t cells, n_cells; /* position and number of the states (V31); 0: none */
    int64_t n_theta;
    int64_t states, net_states; /* states of batchnorm, of both nets and of the first */
    int64_t n_live;
    float *live;                                                     /* B */
    float *theta, *first, *second, *state, *best_theta, *best_state; /* within live */
    float *noise_state;                                              /* within state */
    xb_train_place place;
    xb_train_sums sums;
    double *trace;                 /* [epochs][XB_TRACE_COLUMNS] */
    double last[XB_TRACE_COLUMNS]; /* values of the last step; NAN: does not apply */
    bool unscored; /* rows held out are scored after the last epoch only */
    bool stopped;  /* stopped by on_epoch, which keeps the model */
    bool traced;   /* whether anyone will read the trace: computing sigma's median for it
                      takes a per cent of a small step */
    /* what can be made again */
    float *sigma;      /* B [p], 0 where fixed */
    float *gradient;   /* B [n_theta] */
    int32_t *bits;     /* [p], sigma's, for the median */
    float *kept_state; /* B [states], before the step */
    xb_sampler *sampler;
    xb_kl **kl; /* [tensors], NULL where fixed */
    xb_pass *pass, *noise_pass;
    xb_noise_posterior noise_posterior;
    xb_key noise_key, data_key;
    int64_t draw;         /* number of the weight draws; by default that of the step */
    int32_t *order;       /* B [n], order of this epoch */
    int32_t *turned;      /* B [n], the same for `pixels`: ~row if the image is flipped */
    bool ordered;         /* whether `order` is that of the current epoch */
    float *bx, *by, *out; /* B a batch */
    float *raw, *d_raw;   /* B of the noise net */
    int32_t *blabel;      /* B */
    float *link;          /* B [2][targets], of counts (V40) */
    double *peak, *mass;  /* [held]: log-sum-exp over draws */
    double *log_sd;       /* [targets], used for these scores */
    xb_leap *leap;        /* NULL: the backend does steps one by one */
    const float *seen;    /* the noise, then sigma, of an epoch's end that is past; NULL:
                             they are in the buffers */
    double saved_at;      /* time of the last checkpoint, s */
    bool dealt;           /* ranks run its passes together, each on its own rows */
    char *fingerprint;
    /* for an array (V60, V61); NULL where there is none, or nothing of that kind */
    xb_net *rounded;         /* the net of `pass` */
    float *written;          /* B [mu][sigma], as theta has mu and rho */
    xb_sampler *write_error; /* sampler of the programming errors of means */
    xb_key write_key;
    struct xb_sharing *sharing; /* sharing.c; NULL: there is no penalty on n_eff */
    float *shares;              /* within live: [p] running means of the penalty; NULL:
                                   none */
};

/* trainer.c. The model is borrowed; its nets, law and scales are set. */
xb_status xb_trainer_build(xb_ctx *ctx, xb_trainer **out, const xb_model *model,
                           const xb_train_data *data, const xb_train_options *opt);
/* train.c: xb_trainer_create() without its first part, which may read all rows: nothing
 * is loaded or trained, and only what was planned can be asked for. */
xb_status xb_trainer_make(xb_ctx *ctx, xb_trainer **out, const xb_train_data *data,
                          const xb_train_options *opt);
/* Checks that the estimator suits the model's law and net. */
bool xb_model_allows(const xb_model *m, xb_estimator e);

/* shuffle.c: the order of an epoch, a function of (seed, phase, epoch) alone. */
void xb_shuffle(int32_t *order, int64_t n, xb_key key, uint32_t what, uint32_t epoch);
/* Writes the order of this epoch to the trainer. */
void xb_trainer_shuffle(xb_trainer *t);
/* Copies the rows of batch k to bx, and to by or blabel; returns their number. */
int64_t xb_trainer_gather(xb_trainer *t, int64_t k);
/* (V17) Flips the rows of batch k that this epoch flips. */
void xb_trainer_mirror(xb_trainer *t, int64_t k, int64_t batch);
/* Copies examples first .. first + rows - 1 to the batch. */
void xb_trainer_take(xb_trainer *t, int64_t first, int64_t rows);

/* initial.c */
void xb_trainer_start_weights(xb_trainer *t); /* before phase 1 */
xb_status xb_trainer_start_vi(xb_trainer *t); /* between the phases */
void xb_trainer_fill_sigma(xb_trainer *t);    /* sigma from rho */

/* tied.c (V31): brings states into their range, computes mu and sigma from them;
 * gradients with respect to states; the states that a run starts from, theta on the host;
 * whether the backend can; states as a model keeps them. */
void xb_tied_fill(xb_trainer *t);
void xb_tied_chain(xb_trainer *t);
void xb_tied_start(const xb_trainer *t, float *theta);
xb_status xb_tied_check(const xb_trainer *t);
void xb_tied_fetch(const xb_trainer *t, float *out);

/* array_aware.c: the net and the errors of an array; the weights of draw number `draw` of
 * this step as it would have them, with widths or without. */
xb_status xb_aware_make(xb_trainer *t);
xb_weights xb_aware_weights(xb_trainer *t, bool spread, int64_t draw);

/* sharing.c: (V62) the penalty on few weights that make all of the output's variance.
 * _add adds it to the gradient of this step, whose batch was passed; _keep, called if the
 * step is taken, updates its running means. */
xb_status xb_sharing_make(xb_trainer *t);
void xb_sharing_free(struct xb_sharing *sharing);
xb_status xb_sharing_add(xb_trainer *t, int64_t batch);
void xb_sharing_keep(xb_trainer *t);
/* n_eff of widths sigma [n] at v [n], and the gradient of -weight log n_eff by them;
 * NULL: not wanted. NAN: nothing varies, and no gradient. */
double xb_sharing_gradient(float *d_sigma, const float *sigma, const double *v, int64_t n,
                           double weight);

/* train_step.c: the gradient at `place`, checked, and one step; no allocation.
 * XB_E_NUMERIC before anything is changed. */
xb_status xb_trainer_batch_gradient(xb_trainer *t, double *loss);
xb_status xb_trainer_move(xb_trainer *t);
/* The same for `batch` rows that are in bx, and in by or blabel. */
xb_status xb_trainer_gradient_of(xb_trainer *t, int64_t batch, double *loss);
xb_loss xb_trainer_loss(const xb_trainer *t, double scale);
/* The temperature of step number `step` of phase 2. */
double xb_trainer_temperature(const xb_trainer *t, int64_t step);
/* Adds a step of phase 2 to the epoch's sums; returns F (V1). */
double xb_trainer_note(xb_trainer *t, int64_t batch, double temperature, double nll,
                       double kl);

/* train_leap.c: steps of small nets many at a time, where the backend has `steps`. */
xb_status xb_leap_create(xb_trainer *t); /* t->leap, or NULL */
void xb_leap_destroy(xb_leap *leap);
/* Does one step or more of this epoch, at most `most`, and advances `place`. */
xb_status xb_leap_within(xb_trainer *t, int64_t most);
/* The number of whole epochs that can be done at once from here: 0 or more than 1. */
int64_t xb_leap_reach(const xb_trainer *t);
/* Does them; then xb_leap_epoch(), epoch by epoch, makes the trainer what it was at its
 * end; false: that epoch was not finished, and place is where it broke off. */
xb_status xb_leap_epochs(xb_trainer *t, int64_t epochs);
bool xb_leap_epoch(xb_trainer *t, int64_t epoch);
void xb_leap_done(xb_trainer *t);

/* train.c: as xb_trainer_step, but as many steps as the backend does at a time. */
xb_status xb_trainer_advance(xb_ctx *ctx, xb_trainer *t);

/* train_fault.c: after a step that was not finite, where that began: "in the output of
 * layer 2 (batchnorm)". */
enum { XB_FAULT_TEXT = 96 };
void xb_trainer_fault(char out[XB_FAULT_TEXT], const xb_trainer *t);
/* Whether everything that a checkpoint would keep is finite. */
bool xb_trainer_is_sound(const xb_trainer *t);

/* train_score.c */
xb_status xb_trainer_validate(xb_trainer *t, double *score);
double xb_trainer_held_score(const xb_trainer *t, int64_t i); /* of a row, after that */
float xb_trainer_sigma_median(const xb_trainer *t);
double xb_trainer_noise_sd(const xb_trainer *t);
/* For a gaussian likelihood: the log sd of target k. */
double xb_trainer_log_sd(const xb_trainer *t, int64_t k);
double xb_trainer_shape(const xb_trainer *t); /* for a student likelihood (N20) */

/* train_crew.c: ranks that train together. Joins them if they can share the rows of
 * a step; the rows of a batch whose inputs this rank needs. */
xb_status xb_trainer_join(xb_trainer *t);
void xb_trainer_rows(const xb_trainer *t, int64_t batch, int64_t *begin, int64_t *end);
/* A run's state, as in a checkpoint, as one block: its size in bytes; pack; unpack. */
int64_t xb_trainer_packed(const xb_trainer *t);
void xb_trainer_pack(const xb_trainer *t, void *to);
xb_status xb_trainer_unpack(xb_trainer *t, const void *from, int64_t bytes);
/* Copies the state of rank 0 to all ranks; `there`: rank 0 has loaded a checkpoint. */
xb_status xb_trainer_share_state(xb_trainer *t, bool there);

/* train_by_ranks.c: trainings that do not depend on each other, one or several for each
 * rank. Each has its data, options and result; the first may have a checkpoint, which is
 * rank 0's. A training that diverged leaves its status and line. */
typedef struct xb_train_item {
    xb_train_data data;
    xb_train_options opt;
    bool traced;
    xb_status status; /* XB_E_NUMERIC: it diverged */
    char why[256];
    struct xb_trained *out; /* model and report */
} xb_train_item;
xb_status xb_train_items(xb_ctx *ctx, xb_train_item *item, int64_t n);
/* Whether ranks could share the steps of this training. */
xb_status xb_train_divides(xb_ctx *ctx, bool *out, const xb_train_data *data,
                           const xb_train_options *opt);

/* checkpoint.c */
xb_status xb_checkpoint_save(xb_trainer *t, const char *path);
xb_status xb_checkpoint_load(xb_trainer *t, const char *path);

/* train_model.c: n numbers from one of its buffers to another; the model without its
 * numbers, and what a checkpoint must agree with. */
void xb_trainer_copy(const xb_trainer *t, float *to, const float *from, int64_t n);
xb_status xb_train_model_make(xb_ctx *ctx, xb_model *m, const xb_train_data *data,
                              const xb_train_options *opt);
xb_status xb_trainer_fingerprint(xb_trainer *t);

/* train_members.c: (V50) members 2 .. opt->members beside the one in *model, which they
 * share the settings of; *model becomes the ensemble. `open`: the net was left to the
 * data. */
xb_status xb_train_members(xb_ctx *ctx, xb_model **model, const xb_train_data *data,
                           const xb_train_options *opt, bool open);
/* The number of members to be trained. */
int64_t xb_train_member_count(const xb_train_options *opt, bool open);
/* The same, each member trained by one rank; with `first` the one in *model is still to
 * be trained too, and its report is wanted. */
xb_status xb_train_members_by_ranks(xb_ctx *ctx, struct xb_trained *first, bool traced,
                                    const xb_train_data *data,
                                    const xb_train_options *opt, int64_t members);

/* train_report.c: how far a net is behind another one at half of the second phase, in
 * nats of F, if it cannot be expected to make up for it (V18); else NAN. */
double xb_train_report_behind(const xb_train_report *report,
                              const xb_train_report *first);
/* Records a net that was tried and rejected; `behind` NAN: trained to its end. */
xb_status xb_train_report_left(xb_ctx *ctx, xb_train_report *report,
                               const xb_train_report *other, const char *net,
                               double behind);

/* (V23) A scale of the prior, its log density per row, and those of the standard one. */
typedef struct xb_fitted_prior {
    double sd, score, standard_sd, standard_score;
} xb_fitted_prior;
/* Records the scale that was fitted. */
void xb_train_report_prior(xb_train_report *report, const xb_fitted_prior *fitted);

/* A likelihood that was tried. */
typedef struct xb_tried_likelihood {
    xb_likelihood likelihood;
    xb_estimate f;
    double score; /* score of the rows held out; NAN: none */
} xb_tried_likelihood;
enum { XB_TRIED_MOST = 6 };
/* Records all that were tried; `kept` is the one of this report. */
void xb_train_report_tried(xb_train_report *report, const xb_tried_likelihood *tried,
                           int count, int kept);
/* Records the number of rows that repeat another row. */
void xb_train_report_copies(xb_train_report *report, int64_t count);
/* Moves the record of rejected nets from `from` to `to`, unless `to` has its own. */
void xb_train_report_inherit(xb_train_report *to, xb_train_report *from);
/* Copies the record of the likelihoods that were tried. */
void xb_train_report_repeat(xb_train_report *to, const xb_train_report *from);

/* resume_difference.c: "epochs was 40 and is 80; ...", from two fingerprints that differ.
 */
void xb_resume_difference(char *out, size_t size, const char *was, const char *is);

/* train_settings.c: JSON texts; free() them. */
xb_status xb_train_settings(xb_ctx *ctx, char **out, const xb_trainer *t);
xb_status xb_train_provenance(xb_ctx *ctx, char **out, const xb_trainer *t);
/* The prior that is given, or the one that is chosen (V14). */
xb_prior xb_train_prior(const xb_train_options *opt, xb_likelihood likelihood);
xb_status xb_train_check(xb_ctx *ctx, const xb_train_data *data,
                         const xb_train_options *opt);
/* Checks that inputs and targets are valid numbers and classes. */
xb_status xb_train_check_values(xb_ctx *ctx, const xb_train_data *data, int64_t targets);
/* Of a model of counts: targets are whole numbers that a float has. */
bool xb_is_count(double y);
xb_status xb_train_check_counts(xb_ctx *ctx, const xb_train_data *data,
                                const xb_model *model);

/* train_data.c. Which rows are learnt from, and which held out. */
typedef struct xb_holdout {
    int64_t *row; /* [n + held] rows of the inputs, training rows first */
    int64_t n, held;
} xb_holdout;
int64_t xb_train_held(const xb_train_data *data, const xb_train_options *opt);
xb_status xb_holdout_make(xb_ctx *ctx, xb_holdout *out, const xb_train_data *data,
                          const xb_train_options *opt);
void xb_holdout_free(xb_holdout *holdout);
/* Copies the scales of the training rows, and the names, to the model. */
xb_status xb_model_fit_columns(xb_ctx *ctx, xb_model *model, const xb_train_data *data,
                               const xb_train_options *opt);
xb_rows xb_train_rows(const xb_train_data *data);
/* The number of targets per row. */
int64_t xb_train_targets(const xb_train_data *data, const xb_train_options *opt);
/* The targets [targets] of example i, in their own units. */
const double *xb_train_target(const xb_train_data *data, int64_t targets, int64_t i);
uint64_t xb_train_checksum(const xb_train_data *data, int64_t targets);
uint64_t xb_model_checksum(const xb_model *model); /* checksum of means and state */

#endif
