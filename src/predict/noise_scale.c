/* noise_scale.c: Student's t as an equal mixture of normals over the draws (maths P9).
 *
 * t with nu degrees of freedom is a normal whose variance is nu over a chi-square of nu
 * degrees. Draw s takes that chi-square's quantile at a point of a golden-ratio sequence,
 * so that any run of draws, also of a single member, covers it evenly; everything that
 * predicts, scores and compares mixtures of normals then handles the heavy tails.  The
 * quantile: bisection of the incomplete gamma function on a logarithmic scale, to 1e-12;
 * some microseconds. */
#include <math.h>

#include "predict/predict.h"
#include "vi/model.h"

/* (P9) P(a, x), the regularised lower incomplete gamma function: its series below a + 1,
 * a continued fraction (Lentz) above. */
static double gamma_share(double a, double x)
{
    enum { TERMS = 1000 };
    const double front = exp(a * log(x) - x - lgamma(a)), tiny = 1e-300, close = 1e-15;
    if (x < a + 1) {
        double term = 1 / a, sum = term;
        for (int k = 1; k < TERMS && term > close * sum; k++) sum += term *= x / (a + k);
        return front * sum;
    }
    double b = x + 1 - a, c = 1 / tiny, d = 1 / b, h = d;
    for (int k = 1; k < TERMS; k++) {
        const double an = -k * (k - a);
        b += 2;
        d = 1 / fmax(fabs(an * d + b), tiny) * copysign(1, an * d + b);
        c = b + an / c;
        h *= d * c;
        if (fabs(d * c - 1) < close) break;
    }
    return 1 - front * h;
}

/* The u-quantile of a chi-square with nu degrees of freedom. */
static double chi_square_quantile(double nu, double u)
{
    enum { HALVINGS = 60 };
    double low = log(nu) - 60, high = log(nu) + 8;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = 0.5 * (low + high);
        *(gamma_share(0.5 * nu, 0.5 * exp(middle)) < u ? &low : &high) = middle;
    }
    return exp(0.5 * (low + high));
}

bool xb_noise_varies(const xb_model *m) { return m->likelihood == XB_LIKELIHOOD_STUDENT; }

double xb_noise_scale(const xb_model *m, int64_t draw)
{
    const double golden = 0.61803398874989484820;
    const double normal = 1000; /* with more degrees of freedom the noise is normal */
    const double nu = xb_model_member_at(m, xb_member_of(m, draw))->noise_degrees;
    if (!xb_noise_varies(m) || !(nu < normal)) return 1;
    const double u = fmod(((double)draw + 0.5) * golden, 1);
    return sqrt((nu - 2) / chi_square_quantile(nu, u)); /* (P9) */
}
