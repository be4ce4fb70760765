/* sweep_figure.c: what happens to a model's scores while one number of its arrays is
 * swept: a panel for each score, the Monte Carlo error as bars, the digital model's level
 * beside it. */
#include <math.h>
#include <string.h>

#include "report/figure.h"
#include "report/style.h"

enum { SCORES_MOST = 6, FIRST = 1, EACH = 3, PANEL_WIDTH = 460, PANEL_HEIGHT = 330 };

static void write_rows(FILE *data, const xb_table *t)
{
    for (int c = 0; c < xb_table_columns(t); c++)
        fprintf(data, "%s%s", c ? " " : "# ", xb_table_column_name(t, c));
    fputc('\n', data);
    for (int64_t r = 0; r < xb_table_rows(t); r++) {
        for (int c = 0; c < xb_table_columns(t); c++) {
            double value = xb_table_get(t, r, c);
            if (isfinite(value))
                fprintf(data, "%.17g ", value);
            else
                fprintf(data, "NaN ");
        }
        fputc('\n', data);
    }
}

/* Numbers over more than two decades, all above 0, are seen on a log axis. */
static bool wide(const xb_table *t)
{
    double low = INFINITY, high = 0;
    for (int64_t r = 0; r < xb_table_rows(t); r++) {
        low = fmin(low, xb_table_get(t, r, 0));
        high = fmax(high, xb_table_get(t, r, 0));
    }
    return low > 0 && high / low >= 100;
}

static void draw_panel(FILE *script, const char *data, const xb_table *t, int column)
{
    int from = column + 1; /* gnuplot counts from 1 */
    fprintf(script, "set ylabel ");
    xb_style_quote(script, xb_table_column_name(t, column));
    fprintf(script,
            "\nplot %s using 1:%d with lines dashtype (12,6) linewidth 1.6 linecolor '%s'"
            " title 'digital', \\\n     '' using 1:%d:%d with yerrorlines pointtype 7"
            " pointsize 0.5 linewidth 1.8 linecolor '%s' title 'array'\n",
            data, from + 2, xb_style_colour("gaussian"), from, from + 1,
            xb_style_colour("device"));
}

xb_status xb_report_sweep(xb_ctx *ctx, const xb_table *table, const char *path,
                          unsigned formats)
{
    int scores = (xb_table_columns(table) - FIRST) / EACH;
    if (scores < 1 || xb_table_columns(table) != FIRST + EACH * scores)
        return xb_fail(ctx, XB_E_ARGUMENT, "a sweep of %d columns: expected 1 + 3 k",
                       xb_table_columns(table));
    if (scores > SCORES_MOST) scores = SCORES_MOST;
    int across = scores < 2 ? 1 : 2, down = (scores + across - 1) / across;
    xb_figure *f = NULL;
    XB_TRY(xb_figure_open(ctx, &f, path, across * PANEL_WIDTH, down * PANEL_HEIGHT));
    FILE *script = xb_figure_script(f);
    write_rows(xb_figure_data(f), table);
    fprintf(script, "set multiplot layout %d,%d\nset key top right\n%sset xlabel ", down,
            across, wide(table) ? "set logscale x\n" : "");
    xb_style_quote(script, xb_table_column_name(table, 0));
    fputc('\n', script);
    for (int k = 0; k < scores; k++)
        draw_panel(script, xb_figure_data_name(f), table, FIRST + EACH * k);
    fprintf(script, "unset multiplot\n");
    return xb_figure_draw(ctx, f, formats);
}
