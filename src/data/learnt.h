/* learnt.h: what is known about a column while its table is read: features.c fills it,
 * and choose_features.c decides by it. */
#ifndef XB_DATA_LEARNT_H
#define XB_DATA_LEARNT_H

#include "data/features.h"

typedef enum xb_learnt_state {
    XB_LEARNT_NUMBERS,
    XB_LEARNT_WORDS, /* cells hold numbers of words */
    XB_LEARNT_DAYS,  /* dates, too many to be words */
    XB_LEARNT_MANY,  /* more than XB_CLASSES_MAX words */
    XB_LEARNT_BYTES  /* text that is not UTF-8 */
} xb_learnt_state;

typedef struct xb_learnt_column {
    xb_learnt_state state;
    xb_classes words;
    int64_t missing, texts, dates;
    int64_t numbers; /* number of numbers beside texts; not counted before the first
                        text */
    bool twofold;    /* some dates can be read in two ways */
    int64_t first_line;
    char first_text[44]; /* the first text, cut short */
    int64_t *rank;       /* WORDS: [words] position among the recipe's words; -1: none */
    double *day;         /* WORDS that are dates: [words] days */
} xb_learnt_column;

/* [words->count] the days of words that all are dates, by their numbers. */
void xb_learnt_days(double *day, const xb_classes *words);

#endif
