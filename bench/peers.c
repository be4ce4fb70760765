/* peers.c: GSL and UNU.RAN as the benchmarks call them: one function to make a
 * generator, one to fill an array, one to free it; and the judge that both sides
 * must pass before they are timed.
 *
 * Each peer in its best form: UNU.RAN gets a fast uniform generator (its default
 * costs more than the inversion), density, distribution function, domain and a
 * centre where the density is high. A peer that was not compiled in is NULL. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "crossbayes/crossbayes.h"

#if defined(PEER_GSL)
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#endif
#if defined(PEER_UNURAN)
#include <unuran.h>
#endif

#ifndef PEER_GSL
#define PEER_GSL 0
#endif
#ifndef PEER_UNURAN
#define PEER_UNURAN 0
#endif
#define PEER_API __attribute__((visibility("default")))

PEER_API int peer_has_gsl(void);
PEER_API int peer_has_unuran(void);
int peer_has_gsl(void) { return PEER_GSL; }
int peer_has_unuran(void) { return PEER_UNURAN; }

/* ---- the judge */
PEER_API double judge_ks(const xb_law *law, const float *z, int64_t n, double shift,
                         double scale);

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Kolmogorov-Smirnov distance times sqrt(n) of x = shift + scale z to the law. */
double judge_ks(const xb_law *law, const float *z, int64_t n, double shift, double scale)
{
    double *u = malloc((size_t)n * sizeof *u), distance = 0;
    if (!u) return NAN;
    for (int64_t i = 0; i < n; i++) u[i] = xb_law_cdf(law, shift + scale * (double)z[i]);
    qsort(u, (size_t)n, sizeof *u, ascending);
    for (int64_t i = 0; i < n; i++) {
        double below = (double)i / (double)n, upto = (double)(i + 1) / (double)n;
        distance = fmax(distance, fmax(u[i] - below, upto - u[i]));
    }
    free(u);
    return distance * sqrt((double)n);
}

/* ---- GSL: Gaussian draws by the ziggurat */
PEER_API void *gsl_peer_new(void);
PEER_API void gsl_peer_fill(void *peer, float *z, int64_t n);
PEER_API void gsl_peer_free(void *peer);

#if PEER_GSL
void *gsl_peer_new(void) { return gsl_rng_alloc(gsl_rng_taus2); }
void gsl_peer_fill(void *peer, float *z, int64_t n)
{
    for (int64_t i = 0; i < n; i++) z[i] = (float)gsl_ran_gaussian_ziggurat(peer, 1);
}
void gsl_peer_free(void *peer) { gsl_rng_free(peer); }
#else
void *gsl_peer_new(void) { return NULL; }
void gsl_peer_fill(void *peer, float *z, int64_t n) { (void)peer, (void)z, (void)n; }
void gsl_peer_free(void *peer) { (void)peer; }
#endif

/* ---- UNU.RAN: numerical inversion (PINV) of any of our laws */
PEER_API void *pinv_peer_new(const xb_law *law, double u_resolution, int from_cdf);
PEER_API void pinv_peer_fill(void *peer, float *z, int64_t n);
PEER_API void pinv_peer_free(void *peer);

#if PEER_UNURAN
typedef struct pinv_peer {
    UNUR_GEN *generator;
    UNUR_URNG *uniform;
    uint64_t state[4];
} pinv_peer;

/* xoshiro256+ (Blackman and Vigna): the fastest good uniform there is. */
static double next_uniform(void *arg)
{
    uint64_t *s = arg, sum = s[0] + s[3], t = s[1] << 17;
    s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3], s[2] ^= t;
    s[3] = s[3] << 45 | s[3] >> 19;
    return ((double)(sum >> 12) + 0.5) * 0x1p-52;
}

static const xb_law *law_of(const UNUR_DISTR *distr)
{
    return unur_distr_get_extobj(distr);
}
static double density(double x, const UNUR_DISTR *distr)
{
    return xb_law_pdf(law_of(distr), x);
}
static double distribution(double x, const UNUR_DISTR *distr)
{
    return xb_law_cdf(law_of(distr), x);
}

/* The highest density on a grid of quantiles: inside a mode, whatever the law. */
static double centre_of(const xb_law *law)
{
    enum { GRID = 40 };
    double best = xb_law_quantile(law, 0.5);
    for (int i = 1; i < GRID; i++) {
        double x = xb_law_quantile(law, (double)i / GRID);
        if (xb_law_pdf(law, x) > xb_law_pdf(law, best)) best = x;
    }
    return best;
}

static UNUR_DISTR *distr_of(const xb_law *law)
{
    UNUR_DISTR *distr = unur_distr_cont_new();
    unur_distr_set_extobj(distr, law);
    unur_distr_cont_set_pdf(distr, density);
    unur_distr_cont_set_cdf(distr, distribution);
    unur_distr_cont_set_domain(distr, xb_law_lower(law), xb_law_upper(law));
    unur_distr_cont_set_center(distr, centre_of(law));
    return distr;
}

void *pinv_peer_new(const xb_law *law, double u_resolution, int from_cdf)
{
    static const uint64_t seed[4] = {0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9,
                                     0x94D049BB133111EB, 0x2545F4914F6CDD1D};
    unur_set_default_debug(UNUR_DEBUG_OFF);
    unur_set_error_handler_off();
    pinv_peer *peer = calloc(1, sizeof *peer);
    if (!peer) return NULL;
    memcpy(peer->state, seed, sizeof seed);
    peer->uniform = unur_urng_new(next_uniform, peer->state);
    UNUR_DISTR *distr = distr_of(law);
    UNUR_PAR *par = unur_pinv_new(distr);
    unur_pinv_set_u_resolution(par, u_resolution);
    if (from_cdf) unur_pinv_set_usecdf(par);
    unur_set_urng(par, peer->uniform);
    peer->generator = unur_init(par);
    unur_distr_free(distr);
    if (!peer->generator) {
        pinv_peer_free(peer);
        return NULL;
    }
    return peer;
}

void pinv_peer_fill(void *arg, float *z, int64_t n)
{
    pinv_peer *peer = arg;
    for (int64_t i = 0; i < n; i++) z[i] = (float)unur_sample_cont(peer->generator);
}

void pinv_peer_free(void *arg)
{
    pinv_peer *peer = arg;
    if (!peer) return;
    if (peer->generator) unur_free(peer->generator);
    unur_urng_free(peer->uniform);
    free(peer);
}

#else
void *pinv_peer_new(const xb_law *law, double u_resolution, int from_cdf)
{
    (void)law, (void)u_resolution, (void)from_cdf;
    return NULL;
}
void pinv_peer_fill(void *peer, float *z, int64_t n) { (void)peer, (void)z, (void)n; }
void pinv_peer_free(void *peer) { (void)peer; }
#endif
