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
     "Errors of quadrature rules against their number of points: solid lines are the "
     "true errors, thin lines the paper's own measure. With 128 points the smooth rule "
     "gives the law's KL of {device_kl} nats to within {smooth_kl_error}. This section "
     "judges rules of integration, not the device."},
    {NULL, NULL, "quantile", "", 0,
     "Quantile function of the law and the errors of ways to draw from it.",
     "From uniform numbers to noise: the law's quantile function and the errors of its "
     "approximations. The sampler's probabilities are wrong by at most "
     "{sampler_u_error_float}."},
    {"network", "A network trained", "scalar", "", 0,
     "A noisy sine, the net's mean and its two kinds of uncertainty under Gaussian, "
     "device and bimodal noise; below, the same with the truth subtracted.",
     "A net learns a noisy sine once and is evaluated with three kinds of noise in its "
     "weights: the epistemic standard deviation σ_e is {sigma_e} inside the training "
     "range and {sigma_e_out} outside; σ_a is the aleatoric one."},
    {"laws", "Three laws compared", "scalar", "_gaps", 1,
     "Change of the net's mean and standard deviation over x when device or bimodal noise"
     " replaces Gaussian noise, with error bars.",
     "What changes when the weights' noise is not Gaussian: the bands are two Monte "
     "Carlo errors wide on each side, and changes inside the grey band count as none. "
     "The "
     "largest change of a mean, in epistemic sds, is {gap_mean_device_largest} under the "
     "device's law and "
     "{gap_mean_bimodal_largest} under the bimodal law."},
    {"energy", "How wide is wide enough", "energy", "", 0,
     "KL(law‖Gaussian) of the output over the width of trained nets, a line for each"
     " depth, a panel for device and bimodal noise.",
     "How far each trained net's output is from that of the same net with Gaussian "
     "weights, with two standard errors. Dashed lines are the theory, which has no free "
     "parameter; the dotted line is the KL between two runs with Gaussian "
     "weights, which is chance alone. The device's law itself is {law_device} nats away, "
     "the widest nets {device_kl_widest}."},
    {NULL, NULL, "energy", "_n_eff", NO_FINDING,
     "The same KL divergences over the effective number of weights that share the"
     " output's variance, with the theory as a line.",
     "The same against n_eff, the number of weights that share the output: by the "
     "theory, KL is below 1e-4 from n_eff {device_n_eff_needed} on."},
    {"calibration", "Calibration", "utkface", "", 0,
     "Share of test ages inside central predictive intervals over the intervals' level,"
     " for three laws, with the diagonal.",
     "Are the intervals calibrated? A convolutional net predicts ages of synthetic "
     "faces: its RMSE is {rmse_gaussian} % of 116 years; predicting the mean age gives "
     "{rmse_mean} %."},
    {"array", "On an array, with its imperfections", "array", "", 0,
     "How far predictives move over six imperfections of an array, for two tasks, with "
     "the effect of the noise's shape as horizontal lines.",
     "One imperfection at a time on an otherwise ideal array, with two standard errors; "
     "horizontal lines show the effect of the noise's shape (dashed: the sine, dotted: "
     "the table). The device's shape moves predictives by {shape_device_scalar} and "
     "{shape_device_table} sd."},
    {"narrow", "Where shape matters", "narrow", "", 0,
     "Maps over width and depth of the change in the output's mean, spread and tails"
     " under device and bimodal noise.",
     "Change of the output's mean, spread and tails in nets of few weights (a dot marks "
     "changes within three standard errors): the largest KL under the device's law is "
     "{device_kl} nats."},
    {"retention", "How long predictions last", "retention", "", 0,
     "Growth of the NLL, RMSE and coverage over the age of an array, for"
     " three ways to use the states of its devices, and how far each state spreads.",
     "An array that relaxes as measured on its device, {chips} chips with one standard "
     "error; the grey part lies beyond the {measured_s} s that were measured and is "
     "extrapolated in the logarithm of time. Growth below 0.01 nats is drawn at 0.01."},
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
    const bool is_whole = fact.value == round(fact.value) && fabs(fact.value) < 1e9;
    char text[64];
    if (fact.std_error > 0)
        xb_number_with_error(text, sizeof text, fact.value, fact.std_error);
    else
        snprintf(text, sizeof text, is_whole ? "%.0f" : "%.3g", fact.value);
    fputs(isnan(fact.value) ? "(unknown)" : text, out);
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
