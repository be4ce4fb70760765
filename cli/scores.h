/* scores.h: scores and gaps as rows and as JSON, for `eval` and `crossbar` alike. */
#ifndef XB_CLI_SCORES_H
#define XB_CLI_SCORES_H

#include "print.h"

typedef struct cli_score {
    const char *name, *item, *key; /* in tables, in the library, and in JSON */
    xb_score score;
    double chance; /* its mean under perfect calibration; NAN: does not apply */
    int64_t bins;  /* number of bins that it depends on, or 0 */
} cli_score;

/* The scores that are shown, in order. */
int cli_score_count(const xb_scores *s);
cli_score cli_score_at(const xb_scores *s, int i);
cli_score cli_score_get(const xb_scores *s, const char *key);

/* KEY, KEY_error and KEY_mc_error of each, and KEY_chance and KEY_bins if they exist. */
void cli_scores_json(json_t *root, const xb_scores *s);

/* {"rms", "noise", "excess", "lower", "upper", "draws_needed", "verdict"} of each gap by
 * its name, and the "verdict" of all. */
void cli_gaps_json(json_t *root, const xb_distances *d);

/* Explains the names of the scores that do not explain themselves, one in a line. */
void cli_print_score_words(const xb_scores *s, const char *indent);

/* Prints one line for each reason why the scores may be unreliable. */
void cli_print_doubts(const xb_scores *s);

#endif
