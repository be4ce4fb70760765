/* evaluation.h: the numbers of `eval`: a model's scores under laws, and the laws'
 * predictives compared with the first one's. */
#ifndef XB_CLI_EVALUATION_H
#define XB_CLI_EVALUATION_H

#include "inputs.h"

enum { CLI_LAWS_MAX = CLI_REPEAT_MAX };

typedef struct cli_law_scores {
    xb_law *law; /* NULL: the model's */
    xb_model_scores scores;
    double *nll; /* [n], numbers */
    /* From the first law, not for the first itself: */
    xb_distances outputs;    /* the net's outputs or class probabilities over the weights'
                                draws: the epistemic part alone */
    xb_distances predictive; /* outputs with the data's noise; numbers */
    double kl_at_least;      /* KL(outputs || the first law's), a bound; NAN: few draws */
    double probability_gap;  /* of mean probabilities, root mean square; classes */
    xb_score nll_difference; /* row by row; numbers */
} cli_law_scores;

typedef struct cli_evaluation {
    cli_session *s;
    const xb_model *model;
    cli_inputs in;
    int64_t draws; /* 0: as many as the verdicts ask for */
    double tolerance;
    cli_law_scores law[CLI_LAWS_MAX];
    int laws;
    int64_t n, outputs;             /* rows; numbers a row */
    int64_t compared_rows, *select; /* [compared_rows] where predictives are compared */
} cli_evaluation;

bool cli_evaluation_classes(const cli_evaluation *e);

/* After s, model, in, draws, tolerance and the laws are set; fills the rest. */
xb_status cli_evaluate(cli_evaluation *e);

/* All but s and model. */
void cli_evaluation_free(cli_evaluation *e);

#endif
