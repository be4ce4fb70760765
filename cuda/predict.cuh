/* predict.cuh: predictions of narrow nets in one launch (device_predict.cu);
 * device_many.cu calls it. */
#ifndef XBC_PREDICT_CUH
#define XBC_PREDICT_CUH

#include "launch.cuh"

/* The number of counters that one draw of all tensors takes. */
static inline int64_t counters_of(const xbc_many &job)
{
    int64_t sum = 0;
    for (int t = 0; t < job.tensors; t++) sum += (job.tensor[t].size + 63) / 64 * 16;
    return sum;
}

/* All draws of the job, at most 2^15; false if the net does not suit. */
bool xbc_predict_narrow(const xbc_many *job);

#endif
