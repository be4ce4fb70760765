/* exhibits.c: see exhibits.h. The words about the paper are ours. */
#include "reproduce/exhibits.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "crossbayes/extend.h"

#define MTJ "mtj:B=0.15,w=0.5"
#define ECRAM "ecram:B=0.1,w=0.6"

/* The order of the costs is normal, quick, full. */
static const xb_exhibit exhibits[XB_PAPER_FIGURES] = {
    {.study = "laws",
     .device = MTJ,
     .heading = "Fig. 1: the device's noise and three laws",
     .about =
         "The paper fits a density with three parameters to the noise of a magnetic "
         "tunnel junction, simulated and not published, and continues with three laws of "
         "the same mean and variance: the fitted one, a Gaussian, and a mixture of two "
         "Gaussians. Our samples are draws from a law of that family.",
     .picture =
         {{"",
           "Histogram of noise samples with the fitted density; below it the densities "
           "of the Gaussian, the device's and the bimodal law",
           "Samples with the law fitted to them, and three laws of the same variance",
           "bimodal-further"}},
     .cost = {1, 0.4, 1}},
    {.study = "quadrature",
     .device = MTJ,
     .heading = "Fig. 2: quadrature for a density with a peak",
     .about = "Variance and KL are integrals over the device's law. The paper splits off "
              "the peak: it uses the trapezoid rule there and Gauss-Legendre on either "
              "side, and measures convergence by the change from one order to the next. "
              "We plot the true error beside that change.",
     .picture = {{"",
                  "Errors of quadrature rules against their number of points, for "
                  "variance and KL of the device and of the mixture",
                  "Error and change of each rule against its number of points",
                  "true-error"}},
     .cost = {7, 0.8, 7}},
    {.study = "quantile",
     .device = MTJ,
     .heading = "Fig. 3: draws from the device's law",
     .about =
         "Draws are quantiles of uniform numbers. The paper subtracts the square root at "
         "the edge from the quantile, fits a polynomial to the rest, and compares Monte "
         "Carlo estimates of KL made with this fit and with a polynomial alone.",
     .picture =
         {{"",
           "Quantile fits over all u and near zero; error of the Monte Carlo "
           "KL against the number of draws; exact bias against the degree",
           "Three fits of the quantile, and the effect of each on a Monte Carlo KL",
           "direct-bias"}},
     .cost = {8, 0.5, 8}},
    {.study = "energy",
     .device = MTJ,
     .heading = "Fig. 4: does the shape of the noise matter?",
     .about =
         "This is the paper's main experiment: nets of several widths and depths are "
         "trained with Gaussian weights until their output is a standard normal; then "
         "the law of the weights is swapped, with means and variances kept.",
     .work = "nets",
     .picture = {{"_densities",
                  "Densities of the output under three laws and the target, by width and "
                  "depth",
                  "Output of narrow and wide, shallow and deep nets under three laws",
                  "to-target"},
                 {"",
                  "KL of device and bimodal weights from Gaussian ones against the "
                  "width, a line for each depth",
                  "KL(law‖Gaussian) of the output against the width, with its errors",
                  "bimodal-falls"},
                 {"_n_eff", "The same KL against the effective number of weights",
                  "The same against n_eff, the number of weights that share the output; "
                  "the line is the theory, which has no free parameter",
                  "width-does-it"}},
     .steady = true,
     .cost = {40, 4, 1500}},
    {.study = "scalar",
     .device = MTJ,
     .heading = "Fig. 5: a noisy sine",
     .about = "A net with Bayesian kernels learns a sine in [-1, 1], and a second net "
              "learns its noise; then the law of the weights is swapped.",
     .picture = {{"",
                  "Predictive mean, epistemic and aleatoric bands of three laws over x, "
                  "and the same with the truth subtracted",
                  "Predictions under three laws, with bands of two epistemic (σ_e) and "
                  "two aleatoric sds (σ_a), and below them the same with the truth "
                  "subtracted",
                  "outside-range"},
                 {"_gaps",
                  "Differences of mean and spread between the laws over x, with their "
                  "Monte Carlo errors",
                  "How far device and mixture are from the Gaussian, in epistemic sds "
                  "(σ_e)",
                  "bimodal-same"}},
     .cost = {75, 2.5, 75}},
    {.study = "utkface",
     .device = MTJ,
     .heading = "Fig. 6: the age of a face",
     .about = "A convolutional net predicts ages from photographs (UTKFace), and its "
              "calibration is compared under three laws.",
     .work = "faces",
     .picture = {{"",
                  "Calibration curves under three laws, of a net trained with "
                  "Gaussian and of one trained with device weights",
                  "Calibration under three laws, for nets trained with two of them",
                  "calibration"}},
     .cost = {75, 5, 75}},
    {.study = "laws",
     .device = ECRAM,
     .heading = "Fig. 7: a second device, ECRAM",
     .about = "The same as Fig. 1 for an electrochemical memory, whose peak is round. "
              "Again our samples are draws from a law of the paper's family.",
     .picture = {{"",
                  "Histogram of noise samples with the fitted density; below it the "
                  "densities of three laws",
                  "Samples with the law fitted to them, and laws of the same variance",
                  "ecram-near-gaussian"}},
     .cost = {1, 0.4, 1}},
    {.study = "energy",
     .device = ECRAM,
     .heading = "Fig. 8: the main experiment with ECRAM",
     .about = "The nets of Fig. 4, evaluated under the ECRAM's law.",
     .work = "nets",
     .picture = {{"_densities",
                  "Densities of the output under three laws and the target, by width and "
                  "depth",
                  "Output of narrow and wide, shallow and deep nets under three laws",
                  "ecram-to-target"},
                 {"",
                  "KL of ECRAM and bimodal weights from Gaussian ones against the "
                  "width, a line for each depth",
                  "KL(law‖Gaussian) of the output against the width, with its errors",
                  "ecram-narrow"}},
     .steady = true,
     .cost = {25, 3, 1200}},
};

const xb_exhibit *xb_exhibit_at(int figure)
{
    assert(figure >= 1 && figure <= XB_PAPER_FIGURES);
    return &exhibits[figure - 1];
}

const char *xb_paper_figure_study(int64_t figure) { return xb_exhibit_at(figure)->study; }

static bool of_study(int figure, const char *study)
{
    return strcmp(xb_exhibit_at(figure)->study, study) == 0;
}

bool xb_exhibit_made_up(int figure, const xb_reproduce_options *opt)
{
    return of_study(figure, "laws") || (of_study(figure, "utkface") && !opt->faces);
}

static const char *faces_of(const xb_reproduce_options *opt)
{
    return opt->faces ? opt->faces : "synthetic";
}

xb_study_options xb_exhibit_options(int figure, const xb_reproduce_options *opt,
                                    const char *work)
{
    xb_study_options o = xb_study_options_default();
    o.device_law = xb_exhibit_at(figure)->device;
    o.seed = opt->seed;
    o.quick = opt->effort == XB_EFFORT_QUICK;
    if (of_study(figure, "energy")) {
        o.full = opt->effort == XB_EFFORT_FULL;
        o.cells = work;
    }
    if (of_study(figure, "utkface")) {
        o.data = faces_of(opt);
        o.work = work;
        o.resume = true;
    }
    return o;
}

void xb_exhibit_command(char out[XB_COMMAND_TEXT], int figure,
                        const xb_reproduce_options *opt)
{
    const xb_exhibit *x = xb_exhibit_at(figure);
    char data[XB_COMMAND_TEXT / 2] = "";
    if (of_study(figure, "utkface"))
        snprintf(data, sizeof data, " --data '%s'", faces_of(opt));
    const char *effort = opt->effort == XB_EFFORT_QUICK ? " --quick" : "";
    if (opt->effort == XB_EFFORT_FULL && of_study(figure, "energy")) effort = " --full";
    snprintf(out, XB_COMMAND_TEXT,
             "crossbayes study %s --device-law %s%s%s --seed %llu -o fig%d", x->study,
             x->device, data, effort, (unsigned long long)opt->seed, figure);
}

const char *xb_effort_name(xb_effort effort)
{
    static const char *const names[XB_EFFORTS] = {"default", "quick", "full"};
    return names[effort];
}
