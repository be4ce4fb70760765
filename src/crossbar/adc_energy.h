/* adc_energy.h: energy of one analog-to-digital conversion by two published models. */
#ifndef XB_CROSSBAR_ADC_ENERGY_H
#define XB_CROSSBAR_ADC_ENERGY_H

#include "crossbar/array.h"

/* In pJ; the clock is in MHz, and a conversion takes bits + 1 of its periods. */
double xb_adc_survey_pj(int64_t bits, double clock_mhz, double node_nm);   /* (X36) */
double xb_adc_circuit_pj(int64_t bits, double column_ohm, double node_nm); /* (X37) */
xb_band xb_adc_band_pj(const xb_array *array); /* the lower and the higher of the two */

#endif
