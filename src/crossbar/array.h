/* array.h: the table behind xb_array: each number once, with its range, its meaning and
 * the effect it belongs to. Reading, writing, sweeps, help and "this effect alone" all
 * go through it. */
#ifndef XB_CROSSBAR_ARRAY_H
#define XB_CROSSBAR_ARRAY_H

#include "base/choice.h"
#include "crossbayes/crossbar.h"

/* (X20) The correlation of a measured trace at lags of 1, 2, 4, ... of its samples. */
enum { XB_MEMORY_LAGS = 31 };

typedef struct xb_trace_memory {
    double interval_ns; /* from sample to sample */
    double correlation[XB_MEMORY_LAGS];
    int lags; /* 0: not known */
} xb_trace_memory;

/* Inputs that calibration reads at most. */
enum { XB_KNOWN_MAX = 512 };

/* Energies and times are computed from these (X35-X39); no read depends on them. */
typedef struct xb_cost_numbers {
    double read_v, read_ns;         /* the pulse on a row */
    int64_t noise_cells;            /* noise devices of a random weight */
    double noise_g_us;              /* conductance of one; 0: the middle of the range */
    double node_nm;                 /* process of the converters */
    double adc_clock_mhz;           /* a conversion takes bits + 1 of its periods */
    int64_t adc_share;              /* columns that share a converter */
    int64_t adc_per_output;         /* conversions of a tile's column, where random */
    double adc_column_ohm;          /* column that the circuit model's converter sees */
    double dac_pj_low, dac_pj_high; /* of a bit of an input */
    double add_pj;                  /* of the digital addition after a conversion */
    double mac_pj_low, mac_pj_high; /* of a digital multiplication and addition */
    double sample_fj_low, sample_fj_high; /* of a digital Gaussian sample */
    double sample_gsps;                   /* samples in a nanosecond */
} xb_cost_numbers;

/* 0 turns an effect off; the table has each number's meaning in words. */
struct xb_array {
    char name[32];
    char law[256];    /* of the noise devices: LAW text or file; "": the model's */
    char device[256]; /* file of the mean devices' relaxation and read noise; "": none */

    int64_t rows, columns; /* of a tile; 0: as large as the layer */

    double g_min_us, g_max_us; /* conductance range of a mean device, uS */
    int64_t mean_levels;       /* states of a mean device; 0: any */
    double program_error;      /* sd of a written conductance, in parts of the range */
    double program_by_state;   /* the same by state, in parts of the device file's */
    double age_s;              /* since programming; 0: right after it */
    double read_noise;         /* of the mean devices, in parts of the device file's */
    double mean_noise_us;      /* sd of a mean device's read, whatever its state (X56) */
    double amp_noise;          /* sd of an amplifier, in parts of the ADC's range (X57) */
    double adc_noise_lsb;      /* sd of the ADC's own noise, in its steps (X57) */
    double temperature_k;      /* thermal noise of the conductances (X58); 0: none */
    int64_t quiet_pairs;       /* 1: the quietest pair of states for each weight (X22) */

    double sigma_min_us, sigma_max_us; /* widths a noise device can have, uS; 0: any */
    int64_t sigma_levels;              /* of them; 0: any */
    double sigma_spread;               /* sd of log width from device to device */
    double shape_spread;               /* sd of the law's deformation (X8) */

    double stuck_low, stuck_high; /* shares of devices stuck at their range's ends */
    double line_ohm;              /* of a wire from one cell to the next */
    double current_limit_ua;      /* of a column's wire; 0: not looked at */

    int64_t dac_bits, adc_bits; /* 0: no converter; else 2 to 20 */
    double dac_range;           /* largest input, in the layer's units; 0: calibrated */
    double adc_range; /* full scale in parts of what a column can carry; 0: calibrated */
    double coverage;  /* share of calibration values inside a calibrated range */
    int64_t adc_range_per;      /* whose calibrated ranges: an xb_range_scope (X51) */
    int64_t column_calibration; /* known inputs of gains and offsets (X50); 0: none */
    int64_t stuck_repair;       /* 1: a stuck device's partner makes up for it (X52) */
    int64_t spare_columns;      /* of a tile, for those with the worst faults (X53) */

    double read_interval_ns;    /* from one read of a device to the next */
    double correlation_time_ns; /* of its noise; 0: none */
    xb_trace_memory memory;     /* of the law's trace: counts instead of that time */
    xb_redraw redraw;
    xb_cost_numbers cost;
};

typedef enum xb_range_scope {
    XB_RANGE_LAYER,
    XB_RANGE_TILE,
    XB_RANGE_COLUMN
} xb_range_scope;

typedef enum xb_effect {
    XB_EFFECT_NONE, /* a size or a unit that does nothing by itself */
    XB_EFFECT_LAW,
    XB_EFFECT_MEAN_LEVELS,
    XB_EFFECT_PROGRAM,
    XB_EFFECT_RELAX,
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
    size_t offset;            /* of a double, or of an int64_t where whole */
    const char *label, *unit; /* of an axis; "": a number without a unit */
    const char *about;
} xb_array_row;

extern const xb_array_row xb_array_rows[];
extern const int xb_array_row_count;

/* The row of a key (dashes for underscores will do); NULL after saying that there is
 * none, `where` before the message. */
const xb_array_row *xb_array_row_find(xb_ctx *ctx, const char *key, const char *where);
double xb_array_value(const xb_array *array, const xb_array_row *row);
/* Arrays by value, for this folder and its tests: a preset, and a file. */
xb_status xb_array_fill(xb_ctx *ctx, xb_array *out, const char *preset);
xb_status xb_array_read(xb_ctx *ctx, xb_array *out, const char *path);
/* (X20) Correlation of reads 1, 2, 4, ... intervals apart, XB_MEMORY_LAGS of them. */
void xb_array_memory(const xb_array *array, double *correlation);
/* What a noise device conducts on average, uS. */
double xb_array_noise_us(const xb_array *array);
/* The array with this effect alone. */
xb_array xb_array_alone(const xb_array *array, int64_t effect);
xb_status xb_array_put(xb_ctx *ctx, xb_array *array, const xb_array_row *row,
                       double value, const char *where);

#endif
