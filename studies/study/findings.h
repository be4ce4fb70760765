/* findings.h: how studies reach a verdict. A number counts as below a limit if it is
 * below with its errors added, and as above if it is above with them subtracted; in
 * between the verdict is "cannot tell".
 *
 * A finding is decided once, as an xb_finding_kind. Its label (xb_finding_word), its
 * sentence (a text for each kind, or xb_finding_side) and its name in files
 * (xb_finding_name) follow from that decision; none compares the numbers again. */
#ifndef XB_STUDY_FINDINGS_H
#define XB_STUDY_FINDINGS_H

#include "study/study.h"

/* AGREES: |value| + errors * error <= limit; DIFFERS: |value| - errors * error > limit;
 * UNCLEAR: neither, or the value or its error is NAN. An exact number has error 0. */
xb_finding_kind xb_judge(double value, double error, double limit, double errors);

/* The same for a KL divergence: an estimate below 0 can agree, but it cannot show a
 * distance beyond the limit, because only bias makes it negative. */
xb_finding_kind xb_judge_kl(double kl, double error, double limit, double errors);

/* The same for an excess over a limit, with its sign. */
xb_finding_kind xb_judge_excess(double excess, double error, double errors);

/* For two parts of one claim: it differs if one part differs, and agrees if both
 * agree. */
xb_finding_kind xb_judge_both(xb_finding_kind a, xb_finding_kind b);

/* The words for each verdict. */
typedef struct xb_finding_words {
    const char *agrees, *differs;
} xb_finding_words;
const char *xb_finding_word(xb_finding_kind kind, xb_finding_words words);

/* On which side of its limit the number lies: "within", "beyond", "neither clearly within
 * nor clearly beyond". */
const char *xb_finding_side(xb_finding_kind kind);

/* 0 if a number in units of about 1, such as a KL in nats, is only rounding. */
double xb_rounded_off(double value);
/* A number to two digits if it is above 0; with %g, 2458 is 2500 and not 2.5e+03. */
double xb_two_digits(double value);

/* A number with its error, as text. Error 0: exact; numbers that are not finite are
 * called unknown. */
typedef struct xb_shown {
    char text[64];
} xb_shown;
xb_shown xb_show(double value, double error);
xb_shown xb_show_fact(const xb_study *study, const char *name);

/* A cell by its column's name; NAN if the table or the column does not exist. */
double xb_table_at(const xb_table *t, int64_t row, const char *column);
int64_t xb_table_length(const xb_table *t); /* 0 for NULL */

#endif
