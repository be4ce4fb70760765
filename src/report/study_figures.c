/* study_figures.c: the studies' figures from their tables, one script each.
 * A table becomes a block of NAME.dat under its own name, so that a script line
 * reads like what it draws: index 'curves' using 1:3. A new study's figure is
 * one function and one row of the table at the end. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/figure.h"
#include "report/style.h"

typedef struct sketch {
    const xb_study *study;
    FILE *script;
    const char *data; /* quoted name of the data file */
} sketch;

static void write_table(FILE *data, const xb_table *t)
{
    fprintf(data, "# %s\n#", xb_table_name(t));
    for (int c = 0; c < xb_table_columns(t); c++)
        fprintf(data, " %s", xb_table_column_name(t, c));
    for (int64_t r = 0; r < xb_table_rows(t); r++) {
        fputc('\n', data);
        for (int c = 0; c < xb_table_columns(t); c++) {
            double value = xb_table_get(t, r, c);
            if (isnan(value))
                fprintf(data, "NaN ");
            else
                fprintf(data, "%.17g ", value);
        }
    }
    fprintf(data, "\n\n\n");
}

/* "index 'table' using x:y"; a column that is not there draws nothing. */
static void source(const sketch *k, const char *table, const char *x, const char *y)
{
    const xb_table *t = xb_study_table(k->study, table);
    int cx = t ? xb_table_find(t, x) : -1, cy = t ? xb_table_find(t, y) : -1;
    if (cx < 0 || cy < 0)
        fprintf(k->script, "NaN");
    else
        fprintf(k->script, "%s index '%s' using %d:%d", k->data, table, cx + 1, cy + 1);
}

static void line(const sketch *k, const char *table, const char *x, const char *y,
                 const char *style, const char *title)
{
    source(k, table, x, y);
    fprintf(k->script, " with lines %s linecolor '%s' ", style, xb_style_colour(y));
    if (title)
        fprintf(k->script, "title '%s'", title);
    else
        fprintf(k->script, "notitle");
}

static void next_line(const sketch *k) { fprintf(k->script, ", \\\n     "); }
static void end_plot(const sketch *k) { fprintf(k->script, "\n\n"); }

/* ---- laws: Fig. 1 */

static void draw_laws(const sketch *k)
{
    fprintf(k->script,
            "set multiplot layout 2,1 margins 0.11,0.97,0.08,0.98 spacing 0.11\n"
            "set key inside top right\n"
            "set style fill solid 1 noborder\n"
            "set ylabel 'density'\nset xlabel 'noise'\nset yrange [0:*]\n"
            "plot ");
    source(k, "histogram", "x", "density");
    fprintf(k->script, " with boxes linecolor '%s' title 'samples', \\\n     ",
            xb_style_colour("data"));
    source(k, "histogram", "x", "fit");
    fprintf(k->script, " with lines linewidth 2.2 linecolor '%s' title 'fitted law'",
            xb_style_colour("device"));
    end_plot(k);
    fprintf(k->script, "set xlabel 'noise, mean 0 and the same variance for all'\nplot ");
    line(k, "densities", "x", "gaussian", "linewidth 2", "Gaussian");
    next_line(k);
    line(k, "densities", "x", "device", "linewidth 2", "device");
    next_line(k);
    line(k, "densities", "x", "bimodal", "linewidth 2", "bimodal");
    end_plot(k);
}

/* ---- quantile: Fig. 3 */

static const char *const fits[] = {"direct", "corrected", "spectral"};

/* About four labels on the x axis, however small the range. */
static void few_tics(const sketch *k, const char *table)
{
    const xb_table *t = xb_study_table(k->study, table);
    if (!t || xb_table_rows(t) == 0) return;
    double step = xb_table_get(t, xb_table_rows(t) - 1, 0) / 4;
    double unit = pow(10, floor(log10(step)));
    double round = step / unit >= 5 ? 5 : step / unit >= 2 ? 2 : 1;
    fprintf(k->script, "set xtics %g\n", round * unit);
}

/* Dashes, so that curves on top of each other are all seen. */
static void draw_curves(const sketch *k, const char *table)
{
    static const char *const style[] = {"linewidth 1.6", "linewidth 2.4 dashtype (12,6)",
                                        "linewidth 2.4 dashtype (4,8)"};
    few_tics(k, table);
    fprintf(k->script, "plot ");
    line(k, table, "u", "exact", "linewidth 4", "exact");
    for (int i = 0; i < XB_COUNT(fits); i++) {
        next_line(k);
        line(k, table, "u", fits[i], style[i], fits[i]);
    }
    end_plot(k);
}

/* The bias of each fit at the last degree of the table, a level line. */
static void draw_bias(const sketch *k)
{
    const xb_table *t = xb_study_table(k->study, "bias");
    if (!t || xb_table_rows(t) == 0) return;
    int64_t row = xb_table_rows(t) - 1;
    for (int i = 0; i < XB_COUNT(fits); i++) {
        int column = xb_table_find(t, fits[i]);
        double bias = column < 0 ? NAN : fabs(xb_table_get(t, row, column));
        if (!(bias > 0)) continue;
        next_line(k);
        fprintf(k->script,
                "%.6g with lines dashtype 2 linewidth 1.6 linecolor '%s' notitle", bias,
                xb_style_colour(fits[i]));
    }
}

static void draw_quantile(const sketch *k)
{
    fprintf(k->script,
            "set multiplot layout 1,3 margins 0.06,0.985,0.14,0.86 spacing 0.075\n"
            "set key tmargin center horizontal\n"
            "set xlabel 'u'\nset ylabel 'quantile G(u)'\n");
    draw_curves(k, "curves");
    fprintf(k->script, "set xlabel 'u, near 0'\n");
    draw_curves(k, "near_zero");
    fprintf(k->script, "set logscale xy\nset format xy '10^{%%L}'\nset xtics autofreq\n"
                       "set xlabel 'draws'\nset ylabel '|KL error| (nats)'\nplot ");
    line(k, "kl_error", "draws", "std_error", "linewidth 2 dashtype 3", "std. error");
    fprintf(k->script, ", \\\n     NaN with linespoints pointtype 7 pointsize 0.4"
                       " linecolor 'black' title 'Monte Carlo'"
                       ", \\\n     NaN with lines dashtype 2 linewidth 1.6"
                       " linecolor 'black' title 'exact bias'");
    for (int i = 0; i < XB_COUNT(fits); i++) {
        next_line(k);
        source(k, "kl_error", "draws", fits[i]);
        fprintf(k->script,
                " with linespoints pointtype 7 pointsize 0.4 linecolor '%s' notitle",
                xb_style_colour(fits[i]));
    }
    draw_bias(k);
    end_plot(k);
}

/* ---- the table */

static const struct study_figure {
    const char *study;
    int width, height;
    void (*draw)(const sketch *k);
} figures[] = {
    {"laws", 700, 720, draw_laws},
    {"quantile", 1200, 420, draw_quantile},
};

static const struct study_figure *find_figure(const char *study)
{
    for (int i = 0; i < XB_COUNT(figures); i++)
        if (strcmp(figures[i].study, study) == 0) return &figures[i];
    return NULL;
}

xb_status xb_report_study(xb_ctx *ctx, const xb_study *study, const char *dir,
                          unsigned formats)
{
    const char *name = xb_study_name(study);
    const struct study_figure *figure = find_figure(name);
    if (!figure)
        return xb_fail(ctx, XB_E_ARGUMENT, "there is no figure of the study '%s'", name);
    size_t size = strlen(dir) + strlen(name) + 2;
    char *path = xb_new(ctx, (int64_t)size, 1);
    if (!path) return XB_E_MEMORY;
    snprintf(path, size, "%s/%s", dir, name);
    xb_figure *f = NULL;
    xb_status status = xb_figure_open(ctx, &f, path, figure->width, figure->height);
    free(path);
    XB_TRY(status);
    for (int i = 0; i < xb_study_table_count(study); i++)
        write_table(xb_figure_data(f), xb_study_table_at(study, i));
    sketch k = {study, xb_figure_script(f), xb_figure_data_name(f)};
    figure->draw(&k);
    fprintf(k.script, "unset multiplot\n");
    return xb_figure_draw(ctx, f, formats);
}
