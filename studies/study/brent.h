/* brent.h: Brent's root finder, as the paper uses it. */
#ifndef XB_STUDY_BRENT_H
#define XB_STUDY_BRENT_H

/* Returns a zero of f in [a, b], where f(a) and f(b) differ in sign (or one is zero), to
 * about `tolerance`. */
double xb_brent(double (*f)(const void *arg, double x), const void *arg, double a,
                double b, double tolerance);

#endif
