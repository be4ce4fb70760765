/* xbtest.h: included by every test: cmocka, comparisons that print their operands, and
 * the path of data that is not in the repository. */
#ifndef XBTEST_H
#define XBTEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "crossbayes/crossbayes.h"

/* A stream of their own for tests; the library leaves this number free. */
#define XB_PURPOSE_TEST ((xb_purpose)6)

/* |a - b| <= tol * max(|b|, floor); prints both and the error otherwise. */
#define assert_close(a, b, tol) assert_close_floor(a, b, tol, 0)
#define assert_close_floor(a, b, tol, floor)                                             \
    do {                                                                                 \
        double xa_ = (a), xb_ = (b), xt_ = (tol)*fmax(fabs(xb_), (floor));               \
        if (!(fabs(xa_ - xb_) <= xt_))                                                   \
            fail_msg("%s = %.17g, expected %s = %.17g, off by %.3g > %.3g", #a, xa_, #b, \
                     xb_, fabs(xa_ - xb_), xt_);                                         \
    } while (0)

/* Sanitised or emulated code is many times slower, so a test that also runs optimised may
 * do less there. */
#if !defined(__has_feature)
#define __has_feature(name) 0 /* clang's way of telling */
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer) ||                 \
    __has_feature(thread_sanitizer) || defined(XB_EMULATED)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* First line of a test of statistics, accuracy or a whole study: the optimised build runs
 * it, and smaller tests take the same paths under AddressSanitizer. ThreadSanitizer runs
 * it too. */
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define OPTIMISED_ONLY()                                                                 \
    do {                                                                                 \
        print_message("skipped: %s under AddressSanitizer\n", __func__);                 \
        return;                                                                          \
    } while (0)
#else
#define OPTIMISED_ONLY() ((void)0)
#endif

/* A test that compares with a library (tests/CMakeLists.txt) which is not there. */
#define SKIP_WITHOUT(library)                                                            \
    do {                                                                                 \
        print_message("skipped: %s: it compares with %s\n", __func__, library);          \
        skip();                                                                          \
    } while (0)

/* At most `limit`, printed otherwise. */
#define assert_at_most(a, limit)                                                         \
    do {                                                                                 \
        double xa_ = (a), xl_ = (limit);                                                 \
        if (!(xa_ <= xl_)) fail_msg("%s = %.6g, expected at most %.6g", #a, xa_, xl_);   \
    } while (0)

#define assert_ok(ctx, call)                                                             \
    do {                                                                                 \
        xb_status xs_ = (call);                                                          \
        if (xs_ != XB_OK)                                                                \
            fail_msg("%s: %s: %s", #call, xb_status_text(xs_), xb_ctx_message(ctx));     \
    } while (0)

static inline xb_ctx *test_ctx(void)
{
    xb_ctx *ctx = NULL;
    assert_int_equal(xb_ctx_create(&ctx), XB_OK);
    return ctx;
}

static inline xb_law *test_law(xb_ctx *ctx, const char *text)
{
    xb_law *law = NULL;
    assert_ok(ctx, xb_law_parse(ctx, &law, text));
    return law;
}

/* Skewness about 1.2: an exponential law, cut off. */
static inline xb_law *test_skewed_law(xb_ctx *ctx)
{
    enum { N = 2000 };
    double x[N];
    for (int i = 0; i < N; i++) /* not in order: the smoothing looks at blocks */
        x[i] = -log((i * 773 % N + 0.5) / N * 0.98 + 0.02);
    xb_law *law = NULL;
    assert_ok(ctx, xb_law_from_samples(ctx, &law, x, N));
    return law;
}

/* For cmocka_run_group_tests(): all tests of a file share the context *state. */
static inline int make_ctx(void **state)
{
    *state = test_ctx();
    return 0;
}
static inline int free_ctx(void **state)
{
    xb_ctx_destroy(*state);
    return 0;
}

/* XB_LONG=1 (make check-long): the heavy form of a test. */
static inline bool test_long(void)
{
    const char *v = getenv("XB_LONG");
    return v && *v && strcmp(v, "0") != 0;
}

/* XB_LONG=2 (make check-exhaustive): the form that takes many minutes. */
static inline bool test_exhaustive(void)
{
    return test_long() && strcmp(getenv("XB_LONG"), "2") == 0;
}

/* main() returns this if no test of a file can run, and CTest shows it as skipped. */
static inline int test_skipped(const char *what)
{
    printf("skipped: %s\n", what);
    return 77; /* SKIP_RETURN_CODE in tests/CMakeLists.txt */
}

/* The folder of measured data, or NULL after printing that the test is skipped.
 * Found at $CROSSBAYES_DATA, else ../shared/data beside the source tree. */
static inline const char *test_data_dir(void)
{
    static char path[4096];
    const char *set = getenv("CROSSBAYES_DATA");
    snprintf(path, sizeof path, "%s", set ? set : XB_SOURCE_DIR "/../shared/data");
    if (access(path, R_OK) == 0) return path;
    print_message("skipped: no measured data at $CROSSBAYES_DATA or %s\n", path);
    return NULL;
}

#endif
