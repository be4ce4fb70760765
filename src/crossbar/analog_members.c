/* analog_members.c: an ensemble on arrays: each member has its own set of tiles, with
 * their own errors and faults, and reads belong to the members in turn, as draws do
 * (maths P7). Read s is read number s / M of member s mod M. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crossbar/analog.h"
#include "vi/model.h"

xb_status xb_analog_make_others(xb_ctx *ctx, xb_analog *analog, const xb_model *ensemble,
                                const double *x, int64_t n, const xb_analog_options *opt)
{
    const int64_t members = xb_model_member_count(ensemble);
    if (members == 1) return XB_OK;
    analog->other = xb_new(ctx, members - 1, sizeof(xb_analog *));
    if (!analog->other) return XB_E_MEMORY;
    for (; analog->others < members - 1; analog->others++)
        XB_TRY(xb_analog_make(ctx, &analog->other[analog->others],
                              xb_model_member_at(ensemble, analog->others + 1),
                              &analog->array, x, n, opt, (uint32_t)analog->others + 1));
    return XB_OK;
}

void xb_analog_free_others(xb_analog *analog)
{
    for (int64_t i = 0; i < analog->others; i++) xb_analog_destroy(analog->other[i]);
    free(analog->other);
}

/* Computes the reads among [first, first + count) that belong to one member, and puts
 * them into their places. */
static xb_status read_one(xb_ctx *ctx, double *value, double *room,
                          const xb_analog *analog, int64_t i, const double *x, int64_t n,
                          int64_t first, int64_t count)
{
    const int64_t members = analog->others + 1,
                  wide = n * xb_model_outputs(analog->model);
    const xb_analog *own = i == 0 ? analog : analog->other[i - 1];
    const int64_t skip =
        (i - first % members + members) % members; /* index of its first read */
    const int64_t reads = skip < count ? (count - skip + members - 1) / members : 0;
    XB_TRY(xb_analog_read(ctx, room, own, x, n, (first + skip) / members, reads));
    for (int64_t k = 0; k < reads; k++)
        memcpy(value + (skip + k * members) * wide, room + k * wide,
               (size_t)wide * sizeof *value);
    return XB_OK;
}

xb_status xb_analog_read_members(xb_ctx *ctx, double *value, const xb_analog *analog,
                                 const double *x, int64_t n, int64_t first, int64_t count)
{
    const int64_t members = analog->others + 1, most = count / members + 1;
    double *room = xb_new(ctx, most * n * xb_model_outputs(analog->model), sizeof *room);
    xb_status status = room ? XB_OK : XB_E_MEMORY;
    for (int64_t i = 0; i < members && status == XB_OK; i++)
        status = read_one(ctx, value, room, analog, i, x, n, first, count);
    free(room);
    return status;
}
