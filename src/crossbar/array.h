/* array.h: the table behind xb_array: it has each number once, with its range, its
 * meaning and the effect that it belongs to. Reading, writing, sweeps, help and "this
 * effect alone" all go through it. */
#ifndef XB_CROSSBAR_ARRAY_H
#define XB_CROSSBAR_ARRAY_H

#include "base/choice.h"
#include "crossbayes/crossbar.h"

/* (X20) The correlation of a measured trace at lags of 1, 2, 4, ... of its samples. */
enum { XB_MEMORY_LAGS = 31 };

typedef struct xb_trace_memory {
    double interval_ns; /* time from sample to sample */
    double correlation[XB_MEMORY_LAGS];
    int lags; /* 0: unknown */
} xb_trace_memory;

enum { XB_REDRAWS = 3 };  /* number of values of xb_redraw */
enum { XB_BITS_MIN = 2 }; /* smallest number of bits of a converter */
/* Largest number of inputs that calibration reads. */
enum { XB_KNOWN_MAX = 512 };

/* Energies and times are computed from these (X35-X39); no read depends on them. */
typedef struct xb_cost_numbers {
    double read_v, read_ns;         /* the pulse on a row */
    int64_t noise_cells;            /* noise devices of a random weight */
    double noise_g_us;              /* conductance of a noise device; 0: the middle of the
                                       range */
    double node_nm;                 /* process of the converters */
    double adc_clock_mhz;           /* a conversion takes bits + 1 periods */
    int64_t adc_share;              /* columns that share a converter */
    int64_t adc_per_output;         /* conversions of a tile's column if it is random */
    double adc_column_ohm;          /* column resistance that the circuit model assumes */
    double dac_pj_low, dac_pj_high; /* energy of one bit of an input */
    double add_pj;                  /* energy of the digital addition after a
                                       conversion */
    double mac_pj_low, mac_pj_high; /* energy of a digital multiplication and addition */
    double sample_fj_low, sample_fj_high; /* energy of a digital Gaussian sample */
    double sample_gsps;                   /* samples per nanosecond */
} xb_cost_numbers;

/* 0 turns an effect off; the table has each number's meaning in words. */
struct xb_array {
    char name[32];
    char law[256];    /* law of the noise devices, as LAW text or file; "": the model's */
    char device[256]; /* file of the mean devices' relaxation and read noise; "": none */

    int64_t rows, columns; /* size of a tile; 0: as large as the layer */

    double g_min_us, g_max_us; /* conductance range of a mean device, uS */
    int64_t mean_levels;       /* states of a mean device; 0: any */
    double program_error;      /* sd of a programmed conductance, as a share of the
                                  range */
    double program_by_state;   /* the same by state, as a multiple of the device file's */
    double age_s;              /* time since programming; 0: right after it */
    int64_t weight_slices;     /* digits of a weight, each on a pair of devices (X60); 0,
                                  1: one pair */
    int64_t offset_columns;    /* 1: one device for each weight, and a reference column
                                  (X62) */
    double heated_k;           /* how much warmer than when it was calibrated (X63) */
    double tc_low, tc_high;    /* coefficients of the lowest and the highest conductance,
                                  1/K */
    double tc_spread;          /* sd of these from device to device, 1/K */
    double read_noise;         /* of the mean devices, as a multiple of the device
                                  file's */
    double mean_noise_us;      /* sd of a mean device's read, the same in every state
                                  (X56) */
    double amp_noise;          /* sd of an amplifier's noise, as a share of the ADC's
                                  range (X57) */
    double adc_noise_lsb;      /* sd of the ADC's own noise, in its steps (X57) */
    double temperature_k;      /* thermal noise of the conductances (X58); 0: none */
    int64_t quiet_pairs;       /* 1: the quietest pair of states for each weight (X22) */

    double sigma_min_us, sigma_max_us; /* widths a noise device can have, uS; 0: any */
    int64_t sigma_levels;              /* number of widths; 0: any */
    double sigma_spread;               /* sd of log width from device to device */
    double shape_spread;               /* sd of the law's deformation (X8) */

    double stuck_low, stuck_high; /* shares of devices stuck at the ends of their range */
    double line_ohm;              /* resistance of a wire from one cell to the next */
    double current_limit_ua;      /* limit of the current of a column's wire; 0: not
                                     checked */

    int64_t dac_bits, adc_bits; /* 0: no converter; else 2 to 20 */
    int64_t input_slice_bits;   /* bits of an input in one pulse (X61); 0: all */
    double dac_range;           /* largest input, in the layer's units; 0: calibrated */
    double adc_range; /* full scale as a share of the largest column sum; 0: calibrated */
    double coverage;  /* share of calibration values inside a calibrated range */
    int64_t adc_range_per;      /* what a calibrated range is for: an xb_range_scope
                                   (X51) */
    int64_t column_calibration; /* number of known inputs for gains and offsets (X50); 0:
                                   none */
    int64_t stuck_repair;       /* 1: the partner of a stuck device compensates for it
                                   (X52) */
    int64_t spare_columns;      /* spare columns of a tile, for those with the worst
                                   faults (X53) */

    double read_interval_ns;    /* time from one read of a device to the next */
    double correlation_time_ns; /* correlation time of its noise; 0: none */
    xb_trace_memory memory;     /* memory of the law's trace; if it is known, it replaces
                                   that time */
    xb_redraw redraw;
    xb_cost_numbers cost;
};

typedef enum xb_range_scope {
    XB_RANGE_LAYER,
    XB_RANGE_TILE,
    XB_RANGE_COLUMN
} xb_range_scope;

typedef enum xb_effect {
    XB_EFFECT_NONE, /* a size or a unit that has no effect by itself */
    XB_EFFECT_LAW,
    XB_EFFECT_MEAN_LEVELS,
    XB_EFFECT_PROGRAM,
    XB_EFFECT_RELAX,
    XB_EFFECT_HEAT,
    XB_EFFECT_READ_NOISE,
    XB_EFFECT_MEAN_NOISE,
    XB_EFFECT_AMPLIFIER,
    XB_EFFECT_THERMAL,
    XB_EFFECT_SIGMA_RANGE,
    XB_EFFECT_SIGMA_LEVELS,
    XB_EFFECT_SIGMA_SPREAD,
    XB_EFFECT_SHAPE_SPREAD,
    XB_EFFECT_STUCK,
    XB_EFFECT_LINE,
    XB_EFFECT_DAC,
    XB_EFFECT_ADC,
    XB_EFFECT_CORRELATION,
    XB_EFFECT_REDRAW,
    XB_EFFECTS
} xb_effect;

typedef struct xb_array_row {
    const char *key;
    bool whole;
    double min, max;
    xb_effect effect;
    size_t offset;            /* offset of a double, or of an int64_t if whole */
    const char *label, *unit; /* for an axis; unit "": the number has no unit */
    const char *about;
} xb_array_row;

extern const xb_array_row xb_array_rows[];
extern const int xb_array_row_count;

/* Finds the row of a key, in which dashes may replace underscores. NULL: there is none,
 * and the message, which starts with `where`, says so. */
const xb_array_row *xb_array_row_find(xb_ctx *ctx, const char *key, const char *where);
double xb_array_value(const xb_array *array, const xb_array_row *row);
/* Arrays by value, for this folder and its tests: a preset, and a file. */
xb_status xb_array_fill(xb_ctx *ctx, xb_array *out, const char *preset);
xb_status xb_array_read(xb_ctx *ctx, xb_array *out, const char *path);
/* (X20) Correlation of reads 1, 2, 4, ... intervals apart, XB_MEMORY_LAGS of them. */
void xb_array_memory(const xb_array *array, double *correlation);
/* (X60) The number of digits of a weight; one if its devices can have any state. */
int64_t xb_array_slices(const xb_array *array);
/* (X61) The number of pulses of an input of `bits`, without its sign. */
int64_t xb_array_pulses(const xb_array *array, int64_t bits);
/* The mean conductance of a noise device, uS. */
double xb_array_noise_us(const xb_array *array);
/* The array with this effect alone. */
xb_array xb_array_alone(const xb_array *array, int64_t effect);
xb_status xb_array_put(xb_ctx *ctx, xb_array *array, const xb_array_row *row,
                       double value, const char *where);

#endif
