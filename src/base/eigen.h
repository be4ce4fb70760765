/* eigen.h: eigenvalues of small symmetric matrices. */
#ifndef XB_BASE_EIGEN_H
#define XB_BASE_EIGEN_H

#include <stdbool.h>
#include <stdint.h>

/* Of the symmetric tridiagonal matrix with diagonal[n] and off[n - 1] beside it,
 * ascending into `diagonal`; `off` is used up. False: no convergence, as where something
 * is not finite. */
bool xb_eigen_tridiagonal(double *diagonal, double *off, int64_t n);

/* Of the symmetric matrix [n][n], ascending; `matrix` is used up. vectors[n][n]: row k is
 * the unit eigenvector of values[k]; NULL: not wanted. False: no convergence. */
bool xb_eigen_symmetric(double *values, double *vectors, double *matrix, int n);

#endif
