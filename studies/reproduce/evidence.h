/* evidence.h: the evidence for a claim, and how a judgement is made. A judge is a
 * function of one study's facts and tables; it gives a number with its error, its
 * meaning, a finding and a reason:
 *
 *     static void judge_two_points(xb_judgement *j, const xb_evidence *e)
 *     {
 *         xb_judge_at_most(j, xb_evidence_fact(e, "two_point_error"), 1e-13);
 *         xb_say(j->number, sizeof j->number, "largest relative error %.2g", j->value);
 *     }
 *
 * A missing number is a NAN, and a NAN always gives "cannot tell". */
#ifndef XB_REPRODUCE_EVIDENCE_H
#define XB_REPRODUCE_EVIDENCE_H

#include "crossbayes/density.h"
#include "crossbayes/extend.h"
#include "crossbayes/report.h"
#include "crossbayes/study.h"
#include "study/findings.h"

typedef struct xb_evidence {
    const xb_study *study;
    const xb_law *device;
    const xb_law *mtj; /* Fig. 1's device, to compare others with */
    bool made_up; /* the study's data are synthetic and say nothing about the real ones */
} xb_evidence;

enum { XB_NUMBER_WORDS = 240, XB_WHY_WORDS = 720 };

typedef struct xb_judgement {
    double value, std_error; /* NAN: none */
    xb_finding_kind finding;
    char number[XB_NUMBER_WORDS];
    char why[XB_WHY_WORDS];
} xb_judgement;

typedef void xb_judge_fn(xb_judgement *j, const xb_evidence *e);

/* The value is NAN if the study has no such fact; an error of NAN counts as 0. */
xb_estimate xb_evidence_fact(const xb_evidence *e, const char *name);

/* Returns NULL if there is no such table, if it has no rows, or if one of the columns
 * ("a,b,c") is missing.
 */
const xb_table *xb_evidence_table(const xb_evidence *e, const char *name,
                                  const char *columns);

/* (H1) Agrees if x lies below the limit by two standard errors, differs if it lies above
 * by as much (false alarm 2.3 %), else cannot tell. Sets value, std_error and finding. */
void xb_judge_at_most(xb_judgement *j, xb_estimate x, double limit);
void xb_judge_at_least(xb_judgement *j, xb_estimate x, double limit);

/* Withdraws a finding, because synthetic data say nothing about the real data. */
void xb_judge_unclear_if_made_up(xb_judgement *j, const xb_evidence *e);

void xb_say(char *out, size_t size, const char *format, ...) XB_PRINTF(3, 4);
xb_shown xb_show_estimate(xb_estimate x);

#endif
