/* trace_panels.c: the trace against time with its jumps and the part that the law
 * describes, its spectrum with the fitted power law, and its autocorrelation. A long
 * trace is divided into a thousand parts, and the range of the values in each part is
 * drawn. */
#include "report/trace_panels.h"

#include <math.h>

#include "report/style.h"

enum { COLUMNS = 1000, LAGS = 240, JUMPS_SHOWN = 64 };

xb_trace_view xb_trace_view_make(const xb_series *series, const double *x, int64_t n,
                                 xb_si_unit unit)
{
    bool timed = xb_series_has_interval(series);
    double interval = xb_series_interval(series);
    return (xb_trace_view){series,
                           x,
                           n,
                           unit,
                           xb_si_unit_for((double)n * interval, timed ? "s" : ""),
                           xb_si_unit_for(0.5 / interval, timed ? "Hz" : "")};
}

static double time_at(const xb_trace_view *v, double sample)
{
    return sample * xb_series_interval(v->series) / v->time.factor;
}

static void write_trace(FILE *data, const xb_trace_view *v)
{
    int64_t columns = v->n < COLUMNS ? v->n : COLUMNS;
    fprintf(data, "\n\n# trace: time, least, largest\n");
    for (int64_t c = 0; c < columns; c++) {
        int64_t from = v->n * c / columns, to = v->n * (c + 1) / columns;
        double low = v->x[from], high = v->x[from];
        for (int64_t i = from; i < to; i++)
            low = fmin(low, v->x[i]), high = fmax(high, v->x[i]);
        fprintf(data, "%.8g %.8g %.8g\n", time_at(v, 0.5 * (double)(from + to)),
                low / v->unit.factor, high / v->unit.factor);
    }
}

static void write_spectrum(FILE *data, const xb_trace_view *v)
{
    double square = v->unit.factor * v->unit.factor;
    fprintf(data, "\n\n# spectrum: frequency, power, low, high, fitted\n");
    if (xb_series_spectrum_count(v->series) == 0) fprintf(data, "nan nan nan nan nan\n");
    for (int64_t i = 0; i < xb_series_spectrum_count(v->series); i++) {
        xb_spectrum_point p = xb_series_spectrum_at(v->series, i);
        fprintf(data, "%.8g %.8g %.8g %.8g %.8g\n", p.frequency / v->rate.factor,
                p.power / square, fmax(p.power - 2 * p.error, 0.05 * p.power) / square,
                (p.power + 2 * p.error) / square, p.fitted / square);
    }
}

/* Writes lags in even steps of their logarithm, as far as they are measured. */
static void write_memory(FILE *data, const xb_trace_view *v)
{
    double most = fmax(2, 0.25 * (double)xb_series_count(v->series));
    int64_t last = 0;
    fprintf(data, "\n\n# autocorrelation: lag, correlation\n");
    for (int i = 0; i < LAGS; i++) {
        int64_t lag = (int64_t)pow(most, (double)i / (LAGS - 1));
        double rho = xb_series_autocorrelation(v->series, lag);
        if (lag > last && isfinite(rho))
            fprintf(data, "%.8g %.8g\n", time_at(v, (double)lag), rho);
        last = lag;
    }
}

void xb_trace_write_data(FILE *data, const xb_trace_view *v)
{
    write_trace(data, v);
    write_spectrum(data, v);
    write_memory(data, v);
}

static void label_time(FILE *script, const xb_trace_view *v, const char *what)
{
    bool timed = xb_series_has_interval(v->series);
    xb_style_label(script, "x", what, "", timed ? v->time.text : "samples");
}

static void mark_parts(FILE *script, const xb_trace_view *v)
{
    xb_segment part =
        xb_series_segment_at(v->series, xb_series_segment_chosen(v->series));
    fprintf(
        script,
        "set object 1 rectangle from first %.8g, graph 0 to first %.8g, graph 1 behind"
        " fillcolor '#dcebdc' fillstyle solid 1 noborder\n",
        time_at(v, (double)part.first), time_at(v, (double)(part.first + part.count)));
    for (int64_t i = 0; i < xb_series_jump_count(v->series) && i < JUMPS_SHOWN; i++) {
        double at = time_at(v, (double)xb_series_jump_at(v->series, i).sample);
        fprintf(script,
                "set arrow %d from first %.8g, graph 0 to first %.8g, graph 1 nohead"
                " dashtype (4,4) linecolor '#444444'\n",
                (int)i + 1, at, at);
    }
}

void xb_trace_panel(FILE *script, const xb_trace_view *v, const char *data, int first)
{
    label_time(script, v, "time");
    xb_style_label(script, "y", "trace", "", v->unit.text);
    mark_parts(script, v);
    fprintf(
        script,
        "set autoscale fix\nset offsets 0, 0, graph 0.05, graph 0.05\n"
        "plot %s index %d using 1:2:3 with filledcurves fill solid 1 noborder linecolor"
        " '%s' title 'range of the samples', \\\n"
        "     '' index %d using 1:2 with lines linecolor '%s' notitle, \\\n"
        "     NaN with boxes fill solid 1 noborder linecolor '#dcebdc' title 'part that "
        "the law describes', \\\n"
        "     NaN with lines dashtype (4,4) linecolor '#444444' title 'jump'\n"
        "unset object 1\nunset arrow\nset offsets\n",
        data, first, xb_style_colour("data"), first, xb_style_colour("data"));
}

/* gnuplot refuses axes without a single point. */
static void empty_panel(FILE *script, const char *words)
{
    fprintf(script,
            "set label 1 '%s' at graph 0.5, graph 0.5 center\n"
            "set xrange [0:1]\nset yrange [0:1]\nplot NaN notitle\n"
            "unset label 1\nset autoscale\n",
            words);
}

void xb_spectrum_panel(FILE *script, const xb_trace_view *v, const char *data, int first)
{
    bool timed = xb_series_has_interval(v->series);
    xb_style_label(script, "x", "frequency", "",
                   timed ? v->rate.text : "cycles per sample");
    char power[96] = "";
    const char *unit = v->unit.text, *per = timed ? "/Hz" : " times samples";
    const bool ten = unit[0] == '1'; /* the unit is a power of ten, whose square would be
                                        written 10⁻⁶² and misread */
    if (*unit)
        snprintf(power, sizeof power, "%s%s%s\u00B2%s", ten ? "(" : "", unit,
                 ten ? ")" : "", per);
    else if (timed)
        snprintf(power, sizeof power, "1%s", per);
    xb_style_label(script, "y", "power density", "", power);
    if (xb_series_spectrum_count(v->series) < 2) {
        empty_panel(script, "too few samples for a spectrum");
        return;
    }
    fprintf(script,
            "set autoscale fix\nset logscale xy\nset format y '10^{%%L}'\n"
            "plot %s index %d using 1:3:4 with filledcurves fill solid 0.35 noborder"
            " linecolor '%s' title '95 %% band', \\\n"
            "     %s index %d using 1:2 with points pointtype 7 pointsize 0.4 linecolor"
            " '#444444' title 'stationary part', \\\n"
            "     %s index %d using 1:5 with lines linewidth 2 linecolor '%s' title"
            " 'fitted power law'\n"
            "unset logscale\nset format y '%%h'\n",
            data, first + 1, xb_style_colour("data"), data, first + 1, data, first + 1,
            xb_style_colour("gaussian"));
}

void xb_memory_panel(FILE *script, const xb_trace_view *v, const char *data, int first)
{
    label_time(script, v, "lag");
    xb_style_label(script, "y", "autocorrelation", "", "");
    fprintf(script,
            "set autoscale fix\nset logscale x\nset yrange [*<-0.1:1]\n"
            "plot 0 with lines linecolor '#aaaaaa' notitle, \\\n"
            "     %s index %d using 1:2 with lines linewidth 2 linecolor '%s' title"
            " 'stationary part'\n"
            "unset logscale\nset autoscale y\n",
            data, first + 2, xb_style_colour("gaussian"));
}
