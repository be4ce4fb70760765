/* adc_energy.c: see adc_energy.h. The survey's fit (X36) is that of Accelergy's ADC
 * plug-in to Murmann's survey of converters, the circuit model (X37) NeuroSim 1.4's of a
 * successive-approximation converter. At 32 nm they are a factor of 7 to 11 apart for 8
 * to 10 bits, so both are shown. Against the published values at 32 nm the first is
 * within 0.3 % (4 to 12 bits), the second within 0.9 % (8 and 10 bits). */
#include "crossbar/adc_energy.h"

#include <math.h>

enum { BITS_MOST = 20 }; /* largest number of bits of any array */

/* (X36) The fit as published: it rises again below 4 bits, where the survey has few
 * converters. */
static double survey_fit_pj(double bits, double rate_hz, double node_nm)
{
    const double fom = fmin(213.78 - 2.872 * log(rate_hz), 128.32 + 3.22 * bits);
    const double sndr = 6.02 * bits + 1.76;
    return exp(26.05 + 1.880 * log(node_nm) - 2.829 * log(bits) - 1.470) /
           (2 * pow(10, (fom - sndr) / 10));
}

/* (X36) A converter of more bits can do the work of one with fewer. */
double xb_adc_survey_pj(int64_t bits, double clock_mhz, double node_nm)
{
    double least = INFINITY;
    for (int64_t b = bits; b <= BITS_MOST; b++) {
        const double rate_hz = 1e6 * clock_mhz / (double)(b + 1);
        least = fmin(least, survey_fit_pj((double)b, rate_hz, node_nm));
    }
    return least;
}

double xb_adc_circuit_pj(int64_t bits, double column_ohm, double node_nm)
{
    const double b = (double)bits; /* (X37) */
    const double watt =
        (0.538 * b + 4.375) * 1e-6 + 0.0723 * exp(-2.303 * log10(column_ohm));
    return 1e3 * watt * (b + 1) * pow(node_nm / 22, 1.33);
}

xb_band xb_adc_band_pj(const xb_array *array)
{
    const xb_cost_numbers *c = &array->cost;
    const double survey = xb_adc_survey_pj(array->adc_bits, c->adc_clock_mhz, c->node_nm);
    const double circuit =
        xb_adc_circuit_pj(array->adc_bits, c->adc_column_ohm, c->node_nm);
    return (xb_band){fmin(survey, circuit), fmax(survey, circuit)};
}
