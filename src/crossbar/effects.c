/* effects.c: the effects of an array by name, and an array with only one of them. An
 * effect is on if any of its numbers differs from the ideal array's. */
#include <string.h>

#include "crossbar/array.h"

static const struct effect {
    const char *name, *about;
} effects[XB_EFFECTS] = {
    [XB_EFFECT_LAW] = {"law", "the noise devices' law instead of the model's"},
    [XB_EFFECT_MEAN_LEVELS] = {"mean levels", "few states of the mean devices"},
    [XB_EFFECT_PROGRAM] = {"program error",
                           "programmed conductances differ from their targets"},
    [XB_EFFECT_RELAX] = {"relaxation", "conductances move after programming"},
    [XB_EFFECT_HEAT] = {"heat", "conductances change with the temperature"},
    [XB_EFFECT_READ_NOISE] = {"read noise",
                              "read noise of the mean devices, by their state"},
    [XB_EFFECT_MEAN_NOISE] = {"mean noise",
                              "read noise of the mean devices, the same in every state"},
    [XB_EFFECT_AMPLIFIER] = {"amplifier", "noise of the columns' amplifiers"},
    [XB_EFFECT_THERMAL] = {"thermal", "thermal noise of the conductances"},
    [XB_EFFECT_SIGMA_RANGE] = {"sigma range", "a smallest width of the noise devices"},
    [XB_EFFECT_SIGMA_LEVELS] = {"sigma levels", "few widths of the noise devices"},
    [XB_EFFECT_SIGMA_SPREAD] = {"sigma spread",
                                "widths that differ from device to device"},
    [XB_EFFECT_SHAPE_SPREAD] = {"shape spread",
                                "shapes that differ from device to device"},
    [XB_EFFECT_STUCK] = {"stuck", "devices that cannot be programmed"},
    [XB_EFFECT_LINE] = {"line", "resistance of the wires"},
    [XB_EFFECT_DAC] = {"dac", "quantised inputs"},
    [XB_EFFECT_ADC] = {"adc", "quantised column sums, tile by tile"},
    [XB_EFFECT_CORRELATION] = {"correlation",
                               "noise that is correlated from read to read"},
    [XB_EFFECT_REDRAW] = {"redraw", "when weights are redrawn"},
};

/* XB_EFFECT_NONE is no effect: the public numbers start after it. */
int64_t xb_array_effect_count(void) { return XB_EFFECTS - 1; }
const char *xb_array_effect_name(int64_t i) { return effects[i + 1].name; }
const char *xb_array_effect_about(int64_t i) { return effects[i + 1].about; }

int64_t xb_array_effect_find(const char *name)
{
    for (int64_t i = 0; i < xb_array_effect_count(); i++)
        if (strcmp(xb_array_effect_name(i), name) == 0) return i;
    return -1;
}

static xb_array ideal(void)
{
    xb_array array = {0};
    (void)xb_array_fill(NULL, &array, "ideal");
    return array;
}

bool xb_array_has_effect(const xb_array *array, int64_t i)
{
    const xb_array base = ideal();
    xb_effect effect = (xb_effect)(i + 1);
    if (effect == XB_EFFECT_LAW) return array->law[0] != '\0';
    if (effect == XB_EFFECT_REDRAW) return array->redraw != base.redraw;
    if (effect == XB_EFFECT_HEAT) return array->heated_k != 0;
    if (effect == XB_EFFECT_DAC) return array->dac_bits > 0;
    if (effect == XB_EFFECT_ADC) return array->adc_bits > 0;
    if (effect == XB_EFFECT_SIGMA_RANGE) return array->sigma_min_us > 0;
    if (effect == XB_EFFECT_CORRELATION) return array->correlation_time_ns > 0;
    for (int r = 0; r < xb_array_row_count; r++) {
        const xb_array_row *row = &xb_array_rows[r];
        if (row->effect == effect &&
            xb_array_value(array, row) != xb_array_value(&base, row))
            return true;
    }
    return false;
}

bool xb_array_differs(const xb_array *array)
{
    static const xb_effect by_chip[] = {XB_EFFECT_PROGRAM, XB_EFFECT_RELAX,
                                        XB_EFFECT_SIGMA_SPREAD, XB_EFFECT_SHAPE_SPREAD,
                                        XB_EFFECT_STUCK};
    for (int k = 0; k < XB_COUNT(by_chip); k++)
        if (xb_array_has_effect(array, by_chip[k] - 1)) return true;
    return array->heated_k != 0 && array->tc_spread > 0;
}

xb_array xb_array_alone(const xb_array *array, int64_t i)
{
    const xb_array base = ideal();
    xb_effect effect = (xb_effect)(i + 1);
    xb_array out = *array;
    for (int r = 0; r < xb_array_row_count; r++) {
        const xb_array_row *row = &xb_array_rows[r];
        if (row->effect != XB_EFFECT_NONE && row->effect != effect)
            (void)xb_array_put(NULL, &out, row, xb_array_value(&base, row), "");
    }
    if (effect != XB_EFFECT_LAW) out.law[0] = '\0';
    if (effect == XB_EFFECT_CORRELATION) out.memory = array->memory;
    if (effect != XB_EFFECT_REDRAW) out.redraw = base.redraw;
    return out;
}
