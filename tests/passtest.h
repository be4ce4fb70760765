/* passtest.h: choices for the tests of passes: an estimator, and a law that suits it. */
#ifndef PASSTEST_H
#define PASSTEST_H

#include "nettest.h"

static const xb_shape features3 = {1, 1, 3};
static const char mtj[] = "mtj:B=0.15,w=0.5";

static inline xb_pass_options options_of(xb_estimator e, int64_t batch,
                                         const char *backend)
{
    xb_pass_options opt = xb_pass_options_default();
    opt.estimator = e;
    opt.batch = batch;
    opt.backend = backend;
    return opt;
}

static inline const char *law_for(xb_estimator e)
{
    return e == XB_ESTIMATOR_LOCAL ? "gaussian" : mtj;
}

#endif
