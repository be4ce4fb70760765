/* eigen.h: eigenvalues of small symmetric matrices. */
#ifndef XB_BASE_EIGEN_H
#define XB_BASE_EIGEN_H

#include <stdbool.h>
#include <stdint.h>

/* Eigenvalues of the symmetric tridiagonal matrix with diagonal[n] and off[n - 1] beside
 * it, written to `diagonal` in ascending order; `off` is overwritten. False: no
 * convergence, e.g. because a number is not finite. */
bool xb_eigen_tridiagonal(double *diagonal, double *off, int64_t n);

/* Eigenvalues of the symmetric matrix [n][n], ascending; `matrix` is overwritten.
 * vectors[n][n]: row k is the unit eigenvector of values[k]; NULL: not wanted. False: no
 * convergence. */
bool xb_eigen_symmetric(double *values, double *vectors, double *matrix, int n);

#endif
