/* study_words.c: see study_words.h. Numbers in a caption are facts, by name: "{rmse}"
 * becomes "0.0585", with its error if it has one. */
#include "study_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "print.h"

enum { NO_FINDING = -1 };

static const cli_study_figure figures[] = {
    {NULL, NULL, "laws", "", 0,
     "Above: histogram of the samples with the fitted density. Below: the densities of"
     " the Gaussian, the device and a bimodal law of the same variance.",
     "The law beside two others of the same variance: KL(law‖Gaussian) is {kl_device} "
     "nats"
     " for the device, {kl_bimodal} for the bimodal law."},
    {"rule", "Its quadrature rule and its draws", "quadrature", "", 0,
     "Error of the variance and of the KL divergence over the number of points, for the"
     " device's law and a mixture, a curve for each rule.",
     "Errors of rules over their points, solid, and the paper's own measure of them,"
     " thin: with 128 points the smooth rule has the law's KL of {device_kl} nats to"
     " {smooth_kl_error}."},
    {NULL, NULL, "quantile", "", 0,
     "Quantile function of the law and the errors of ways to draw from it.",
     "From uniform numbers to noise: the quantile of the law and what approximating it"
     " costs; the sampler's mass is off by at most {sampler_u_error_float}."},
    {"network", "A network trained", "scalar", "", 0,
     "A noisy sine, the net's mean and its two kinds of uncertainty under Gaussian,"
     " device and bimodal noise; below the same less the truth.",
     "A noisy sine learnt once and asked with three kinds of noise in the weights: the"
     " epistemic spread is {sigma_e} where it learnt and {sigma_e_out} outside."},
    {"laws", "Three laws compared", "scalar", "_gaps", 1,
     "Change of the net's mean and standard deviation over x when device or bimodal noise"
     " replaces Gaussian noise, with error bars.",
     "What changes when the weights' noise is not Gaussian, with two Monte Carlo errors"
     " (grey counts as the same): a mean by at most {gap_mean_device_largest} of σ_e with"
     " the device's law, by {gap_mean_bimodal_largest} with the bimodal."},
    {"energy", "How wide is wide enough", "energy", "", 0,
     "KL(law‖Gaussian) of the output over the width of trained nets, a line for each"
     " depth, a panel for device and bimodal noise.",
     "How far each trained net's output is from that of its twin with Gaussian weights,"
     " with two errors; dashed the theory, which has no free number. The device's law"
     " alone is {law_device} nats away, the widest nets {device_kl_widest}."},
    {NULL, NULL, "energy", "_n_eff", NO_FINDING,
     "The same KL divergences over the effective number of weights that share the"
     " output's variance, with the theory as a line.",
     "The same over n_eff, the number of weights that share the output: the theory asks"
     " for {device_n_eff_needed} of them to bring KL below 1e-4."},
    {"calibration", "Calibration", "utkface", "", 0,
     "Share of test ages inside central predictive intervals over the intervals' level,"
     " for three laws, with the diagonal.",
     "Do intervals hold what they promise? Ages of synthetic faces by a convolutional"
     " net: RMSE {rmse_gaussian} % of 116 years, {rmse_mean} % for the mean age alone."},
    {"array", "On an array, with its imperfections", "array", "", 0,
     "How far predictives move over six imperfections of an array, for two tasks, with"
     " the effect of the noise's shape as level lines.",
     "One imperfection at a time on an otherwise ideal array, with two errors; level"
     " lines are what the noise's shape does (dashed the sine, dotted the table): the"
     " device's moves predictives by {shape_device_scalar} and {shape_device_table} sd."},
    {"narrow", "Where shape matters", "narrow", "", 0,
     "Maps over width and depth of the change in the output's mean, spread and tails"
     " under device and bimodal noise.",
     "Change of the output's mean, spread and tails in nets of few weights (a dot: within"
     " three errors): the largest KL under the device's law is {device_kl} nats."},
    {"retention", "How long predictions last", "retention", "", 0,
     "Log density lost, negative log density and coverage over the age of an array, for"
     " three ways to use the states of its devices, and how far each state spreads.",
     "An array that relaxes as its device was measured, {chips} chips with one standard"
     " error; grey: later than the {measured_s} s that were measured, extrapolated on"
     " the logarithm of time."},
};

int cli_study_figure_count(void) { return CLI_COUNT_OF(figures); }
const cli_study_figure *cli_study_figure_at(int i) { return &figures[i]; }

/* ---- captions */

xb_fact cli_study_fact(const xb_study *study, const char *name, size_t size)
{
    for (int i = 0; i < xb_study_fact_count(study); i++) {
        xb_fact f = xb_study_fact_at(study, i);
        if (strlen(f.name) == size && strncmp(f.name, name, size) == 0) return f;
    }
    return (xb_fact){"", NAN, NAN, ""};
}

static void put_fact(FILE *out, xb_fact fact)
{
    char text[64];
    if (fact.std_error > 0)
        xb_number_with_error(text, sizeof text, fact.value, fact.std_error);
    else
        snprintf(text, sizeof text, "%.3g", fact.value);
    fputs(isnan(fact.value) ? "(not known)" : text, out);
}

char *cli_study_caption(const char *caption, const xb_study *study)
{
    char *text = NULL;
    FILE *out = cli_memory_open(&text);
    if (!out) return NULL;
    for (const char *p = caption; *p;) {
        size_t plain = strcspn(p, "{"), name = strcspn(p + plain, "}");
        fwrite(p, 1, plain, out);
        p += plain;
        if (!*p) break;
        put_fact(out, cli_study_fact(study, p + 1, name - 1));
        p += name + 1;
    }
    return cli_memory_close(out, text);
}
