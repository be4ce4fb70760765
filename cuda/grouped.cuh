/* grouped.cuh: dense layers in which groups of examples have a draw each, in three ways:
 * few examples of a group (device_few.cu), any number (device_grouped.cu, which chooses
 * and adds the sums), and any number by instructions of Hopper GPUs (device_wide.cu). */
#ifndef XBC_GROUPED_CUH
#define XBC_GROUPED_CUH

#include "table.cuh"

/* Calls f(Shape) for the table's shape, one of those that xbc_grouped_suits() allows. */
template <class F> static void for_grouped_shape(const xbc_source &source, F f)
{
    if (source.halves == 2)
        f(Shape<XB_COLUMNS, 3, 2>());
    else if (source.degree == 3)
        f(Shape<XB_COLUMNS, 3, 1>());
    else
        f(Shape<XB_COLUMNS, 4, 1>());
}

/* ---- groups of up to XBC_FEW_MOST examples */

enum { XBC_FEW_MOST = 32 };
/* Whether this takes less time than the Hopper kernel, which starts with a launch more.
 */
bool xbc_few_is_faster(const xbc_grouped *job);
int64_t xbc_few_slices(const xbc_grouped *job);
/* The number of floats of room for this number of rows and any smaller one. */
int64_t xbc_few_room(int64_t rows, int64_t out);
/* Writes the sums of the slices [slices][rows][out] to the job's room. */
const float *xbc_few_product(const xbc_grouped *job, int64_t slices);

/* ---- on Hopper GPUs, the same for any group */

/* Whether this device and this job allow it. */
bool xbc_wide_suits(const xbc_grouped *job);
int64_t xbc_wide_slices(const xbc_grouped *job);
int64_t xbc_wide_room(int64_t groups, int64_t rows, int64_t group, int64_t in,
                      int64_t out);
const float *xbc_wide_product(const xbc_grouped *job, int64_t slices);

#endif
