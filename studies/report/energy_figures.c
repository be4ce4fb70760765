/* energy_figures.c: figures of the studies of trained nets, `energy` and `narrow`.
 *
 * Tables are in long form, with one row per law, depth and width, and a curve is a
 * condition on the first columns. A law has the same colour everywhere; depths differ in
 * the shade of that colour and in the points. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "crossbayes/extend.h"
#include "report/sketch.h"
#include "report/style.h"

enum { LIST_MOST = 64, LAWS_MOST = 8 };

/* Different values of a column, in order of appearance. Returns how many. */
static int distinct(const xb_sketch *k, const char *table, const char *column,
                    double out[LIST_MOST])
{
    const xb_table *t = xb_study_table(k->study, table);
    int c = xb_sketch_column(k, table, column) - 1, n = 0;
    for (int64_t r = 0; t && c >= 0 && r < xb_table_row_count(t); r++) {
        double value = xb_table_get(t, r, c);
        int i = 0;
        while (i < n && out[i] != value) i++;
        if (i == n && n < LIST_MOST) out[n++] = value;
    }
    return n;
}

/* The role of a law in the palette, and its name in the legend: the text of its fact up
 * to the colon that ends the law's own text. */
static const char *law_role(int law)
{
    static const char *const roles[LAWS_MOST] = {"gaussian",  "device",       "bimodal",
                                                 "empirical", "ecram",        "corrected",
                                                 "trapezoid", "gauss_wheeler"};
    return roles[law < LAWS_MOST ? law : 0];
}

static void law_title(const xb_sketch *k, int law, char *out, size_t size)
{
    char name[32];
    const char *plain[] = {"Gaussian", "device", "bimodal"};
    if (law < XB_COUNT(plain))
        snprintf(out, size, "%s", plain[law]);
    else
        snprintf(out, size, "law %d", law);
    snprintf(name, sizeof name, "law_law%d", law);
    for (int i = 0; i < xb_study_fact_count(k->study); i++) {
        xb_fact fact = xb_study_fact_at(k->study, i);
        const char *end = strstr(fact.text, ": ");
        if (strcmp(fact.name, name) == 0 && end && (size_t)(end - fact.text) < size)
            snprintf(out, size, "%.*s", (int)(end - fact.text), fact.text);
    }
}

/* The colour and the point style of a depth, from dark to light. */
static const char *depth_colour(int i)
{
    static const char *const shades[] = {"#000000", "#0072B2", "#56B4E9", "#009E73",
                                         "#E69F00", "#D55E00", "#CC79A7", "#777777"};
    return shades[i % XB_COUNT(shades)];
}

static int depth_point(int i)
{
    static const int points[] = {7, 5, 9, 13, 11, 6, 4, 8};
    return points[i % XB_COUNT(points)];
}

/* Writes "column(c)", or NaN if the row belongs to another law or depth. */
static void pick(const xb_sketch *k, const char *table, const char *column, int law,
                 double depth)
{
    fprintf(k->script, "(column(%d)==%d && column(%d)==%g ? column(%d) : NaN)",
            xb_sketch_column(k, table, "law"), law, xb_sketch_column(k, table, "depth"),
            depth, xb_sketch_column(k, table, column));
}

/* A panel's title, in the law's colour, and the start of its plot. */
static void begin_panel(const xb_sketch *k, int law)
{
    char title[128];
    law_title(k, law, title, sizeof title);
    fprintf(k->script, "set title ");
    xb_style_quote(k->script, title);
    fprintf(k->script, " noenhanced textcolor '%s' offset 0,-0.5\nplot ",
            xb_style_colour(law_role(law)));
}

/* ---- KL against width */

/* Draws the measured KL with its error bars, and the theory, which follows it in the
 * legend. Bars of different depths at one width are drawn side by side. */
static void depth_line(const xb_sketch *k, int law, double depth, int i, int depths)
{
    const double apart = 0.05; /* shift relative to the width */
    double aside = 1 + apart * (i - (depths - 1) / 2.0);
    const char *plural = depth == 1 ? "" : "s";
    fprintf(k->script, "%s index 'lines' using (%.4g*", k->data, aside);
    pick(k, "lines", "width", law, depth);
    fprintf(k->script, "):");
    pick(k, "lines", "kl", law, depth);
    fprintf(k->script, ":(above(column(%d))):(column(%d))",
            xb_sketch_column(k, "lines", "low"), xb_sketch_column(k, "lines", "high"));
    fprintf(k->script,
            " with yerrorlines linewidth 1.8 pointtype %d pointsize 0.7 linecolor '%s'"
            " title '%g layer%s'",
            depth_point(i), depth_colour(i), depth, plural);
    xb_sketch_next(k);
    fprintf(k->script, "%s index 'lines' using ", k->data);
    pick(k, "lines", "width", law, depth);
    fprintf(k->script, ":");
    pick(k, "lines", "theory", law, depth);
    fprintf(k->script,
            " with lines dashtype (8,6) linewidth 1.2 linecolor '%s'"
            " title 'theory, %g layer%s'",
            depth_colour(i), depth, plural);
    xb_sketch_next(k);
}

/* Draws one line: the mean over depths. */
static void floor_line(const xb_sketch *k)
{
    int law = xb_sketch_column(k, "lines", "law");
    fprintf(k->script,
            "%s index 'lines' using (column(%d)==1 ? column(%d) : NaN):%d smooth unique"
            " with lines dashtype (2,4) linewidth 1.8 linecolor '#888888'"
            " title 'noise of two runs'",
            k->data, law, xb_sketch_column(k, "lines", "width"),
            xb_sketch_column(k, "lines", "floor"));
}

static void draw_widths(const xb_sketch *k, int law)
{
    double depth[LIST_MOST];
    int depths = distinct(k, "lines", "depth", depth);
    begin_panel(k, law);
    for (int i = 0; i < depths; i++) depth_line(k, law, depth[i], i, depths);
    floor_line(k);
    xb_sketch_end(k);
}

/* Smallest and largest KL of all laws, as whole decades. */
static void kl_range(const xb_sketch *k, const char *table, double out[2])
{
    const xb_table *t = xb_study_table(k->study, table);
    int kl = xb_sketch_column(k, table, "kl") - 1;
    out[0] = 1, out[1] = 1e-12;
    for (int64_t r = 0; t && kl >= 0 && r < xb_table_row_count(t); r++) {
        double value = xb_table_get(t, r, kl);
        if (value > 0) out[0] = fmin(out[0], value), out[1] = fmax(out[1], value);
    }
    out[0] = pow(10, floor(log10(out[0]) - 0.3));
    out[1] = pow(10, ceil(log10(out[1]) + 0.1));
}

static int law_count(const xb_sketch *k, const char *table)
{
    double law[LIST_MOST];
    int laws = distinct(k, table, "law", law);
    return laws < LAWS_MOST - 1 ? laws : LAWS_MOST - 1;
}

int xb_energy_panel_rows(const xb_study *study)
{
    const xb_sketch k = {.study = study};
    int laws = law_count(&k, "kl");
    return laws > 2 ? (laws + 1) / 2 : 1;
}

/* Panels are two to a row and have the same size whatever their number. */
static void log_axes(const xb_sketch *k, const char *table, int laws)
{
    double range[2], rows = xb_energy_panel_rows(k->study);
    kl_range(k, table, range);
    fprintf(k->script,
            "above(x) = x > %g ? x : %g\n"
            "set multiplot layout %g,%d margins 0.085,0.985,%g,%g spacing 0.06,%g\n"
            "set logscale xy\nset format y '10^{%%L}'\nset yrange [%g:%g]\n",
            range[0], range[0], rows, laws < 2 ? 1 : 2, 0.14 / rows, 1 - 0.17 / rows,
            0.24 / rows, 0.7 * range[0], range[1]);
}

/* One panel per law; legend and y label appear once. */
static void draw_panels(const xb_sketch *k, int laws,
                        void (*draw)(const xb_sketch *k, int law))
{
    fprintf(k->script,
            "set key at screen 0.535, screen 0.985 center top vertical maxrows 2\n"
            "set autoscale xfix\nset offsets graph 0.03,graph 0.03,0,0\n"
            "set ylabel 'KL(law‖Gaussian) (nats)'\n");
    for (int l = 1; l <= laws; l++) {
        draw(k, l);
        fprintf(k->script, "unset key\nunset ylabel\n");
    }
}

void xb_draw_energy(const xb_sketch *k)
{
    int laws = law_count(k, "lines");
    log_axes(k, "lines", laws);
    fprintf(k->script, "set logscale x 2\nset xlabel 'width'\n");
    draw_panels(k, laws, draw_widths);
}

/* ---- KL against n_eff */

static void n_eff_points(const xb_sketch *k, int law, double depth, int i)
{
    fprintf(k->script, "%s index 'kl' using ", k->data);
    pick(k, "kl", "n_eff", law, depth);
    fprintf(k->script, ":");
    pick(k, "kl", "kl", law, depth);
    int kl = xb_sketch_column(k, "kl", "kl"),
        error = xb_sketch_column(k, "kl", "kl_error");
    fprintf(k->script,
            ":(above(column(%d)-2*column(%d))):(column(%d)+2*column(%d)) with yerrorbars"
            " linewidth 1.4 pointtype %d pointsize 0.8 linecolor '%s'"
            " title '%g layer%s'",
            kl, error, kl, error, depth_point(i), depth_colour(i), depth,
            depth == 1 ? "" : "s");
    xb_sketch_next(k);
}

static void draw_n_eff(const xb_sketch *k, int law)
{
    double depth[LIST_MOST];
    int depths = distinct(k, "kl", "depth", depth);
    begin_panel(k, law);
    for (int i = 0; i < depths; i++) n_eff_points(k, law, depth[i], i);
    fprintf(k->script,
            "%s index 'kl' using ((column(%d)==%d) ? column(%d) : NaN):%d"
            " smooth unique with lines dashtype (8,6) linewidth 1.4 linecolor"
            " 'black' title 'theory'",
            k->data, xb_sketch_column(k, "kl", "law"), law,
            xb_sketch_column(k, "kl", "n_eff"), xb_sketch_column(k, "kl", "theory"));
    xb_sketch_end(k);
}

void xb_draw_energy_n_eff(const xb_sketch *k)
{
    int laws = law_count(k, "kl");
    log_axes(k, "kl", laws);
    fprintf(k->script, "set xlabel 'n_{eff}: weights that share the output'\n"
                       "set xtics (1,2,5,10,20,50,100,200,500,1000)\n");
    draw_panels(k, laws, draw_n_eff);
}

/* ---- densities */

typedef struct shown_net {
    double depth, width;
} shown_net;

static int shown_nets(const xb_sketch *k, shown_net out[LIST_MOST])
{
    const xb_table *t = xb_study_table(k->study, "densities");
    int n = 0;
    for (int64_t r = 0; t && r < xb_table_row_count(t); r++) {
        shown_net net = {xb_table_get(t, r, 0), xb_table_get(t, r, 1)};
        bool new =
            n == 0 || net.depth != out[n - 1].depth || net.width != out[n - 1].width;
        if (new &&n < LIST_MOST) out[n++] = net;
    }
    return n;
}

static void density_line(const xb_sketch *k, shown_net net, const char *column,
                         const char *style, const char *colour, const char *title)
{
    fprintf(
        k->script,
        "%s index 'densities' using (column(1)==%g && column(2)==%g ? column(3) : NaN)"
        ":%d with %s linecolor '%s' title ",
        k->data, net.depth, net.width, xb_sketch_column(k, "densities", column), style,
        colour);
    xb_style_quote(k->script, title);
    fprintf(k->script, " noenhanced");
}

static void draw_net(const xb_sketch *k, shown_net net, int laws)
{
    static const char *const dash[] = {"", "dashtype (10,5)", "dashtype (3,4)"};
    fprintf(k->script, "set title '%g hidden layer%s of width %g' offset 0,-0.7\nplot ",
            net.depth, net.depth == 1 ? "" : "s", net.width);
    density_line(k, net, "target", "filledcurves y1=0 fillstyle solid 1 noborder",
                 "#dddddd", "target");
    for (int l = 0; l <= laws; l++) {
        char style[64], title[128], name[32];
        const char *plain[] = {"gaussian", "device", "bimodal"};
        snprintf(style, sizeof style, "lines linewidth 2 %s", dash[l % XB_COUNT(dash)]);
        snprintf(name, sizeof name, "law%d", l);
        law_title(k, l, title, sizeof title);
        xb_sketch_next(k);
        density_line(k, net, l < XB_COUNT(plain) ? plain[l] : name, style,
                     xb_style_colour(law_role(l)), title);
    }
    xb_sketch_end(k);
}

void xb_draw_energy_densities(const xb_sketch *k)
{
    enum { COLUMNS = 3 };
    shown_net net[LIST_MOST];
    int nets = shown_nets(k, net), laws = law_count(k, "kl");
    fprintf(k->script,
            "set multiplot layout %d,%d margins 0.075,0.985,0.1,0.87 spacing 0.05,0.13\n"
            "set key at screen 0.52, screen 0.985 center top vertical maxrows 1\n"
            "set xrange [-4:4]\nset yrange [0:0.55]\nset ytics 0.1\nset ylabel 'density "
            "of the output'\n",
            (nets + COLUMNS - 1) / COLUMNS, COLUMNS);
    for (int i = 0; i < nets; i++) {
        if (i % COLUMNS == 1) fprintf(k->script, "unset ylabel\n");
        if (i == 1) fprintf(k->script, "unset key\n");
        if (i > 0 && i % COLUMNS == 0)
            fprintf(k->script,
                    "set ylabel 'density of the output'\nset xlabel 'output y'\n");
        draw_net(k, net[i], laws);
    }
}

/* ---- narrow: maps of width by depth */

typedef struct map_kind {
    const char *column, *title;
    double end; /* end of the colour scale */
} map_kind;

static const map_kind maps[] = {
    {"mean", "change of the mean (sd)", 0.3},
    {"sd", "change of the sd (relative)", 0.3},
    {"tail2", "of the probability beyond 2 sd (relative)", 1},
    {"tail3", "of the probability beyond 3 sd (relative)", 1}};

/* Ranks along the axes carry the widths and depths as labels. */
static void rank_tics(const xb_sketch *k, const char *axis, const char *column,
                      bool labelled)
{
    double value[LIST_MOST];
    int n = distinct(k, "gaps", column, value);
    fprintf(k->script, "set %stics scale 0 (", axis);
    for (int i = 0; i < n; i++)
        if (labelled)
            fprintf(k->script, "%s'%g' %d", i ? ", " : "", value[i], i);
        else
            fprintf(k->script, "%s'' %d", i ? ", " : "", i);
    fprintf(k->script, ")\n");
}

/* Draws the cells of the first seed. Numbers within three standard errors are not
 * written; those on strong colours are white. */
static void draw_map(const xb_sketch *k, int law, const map_kind *map, int64_t each,
                     int64_t per_law)
{
    int64_t first = (law - 1) * per_law;
    int x = xb_sketch_column(k, "gaps", "width_rank");
    int y = xb_sketch_column(k, "gaps", "depth_rank");
    int c = xb_sketch_column(k, "gaps", map->column);
    fprintf(k->script, "set cbrange [%g:%g]\nplot ", -map->end, map->end);
    fprintf(k->script,
            "%s index 'gaps' every ::%lld::%lld using %d:%d:%d with image"
            " pixels notitle",
            k->data, (long long)first, (long long)(first + each - 1), x, y, c);
    xb_sketch_next(k);
    fprintf(
        k->script,
        "%s index 'gaps' every ::%lld::%lld using %d:%d:(abs(column(%d)) >"
        " 3*column(%d) ? shown(column(%d)) : '·'):(abs(column(%d)) > %g ? 0xffffff : 0)"
        " with labels font small textcolor rgb variable notitle",
        k->data, (long long)first, (long long)(first + each - 1), x, y, c, c + 1, c, c,
        0.6 * map->end);
    xb_sketch_end(k);
}

void xb_draw_narrow(const xb_sketch *k)
{
    double width[LIST_MOST], depth[LIST_MOST], law[LIST_MOST];
    int laws = distinct(k, "gaps", "law", law);
    int64_t each = (int64_t)distinct(k, "gaps", "width", width) *
                   distinct(k, "gaps", "depth", depth);
    const xb_table *t = xb_study_table(k->study, "gaps");
    int64_t per_law = laws > 0 ? xb_table_row_count(t) / laws : 0;
    fprintf(k->script,
            "set multiplot layout %d,%d margins 0.085,0.985,0.15,0.93 spacing 0.025,%g\n"
            "set palette defined (-1 '#0072B2', 0 '#ffffff', 1 '#D55E00')\n"
            "unset colorbox\nunset grid\nset autoscale fix\n"
            "small = format eq 'png' ? ',17' : format eq 'pdf' ? ',8' : ',11'\n"
            "shown(x) = abs(x) < 0.0095 ? sprintf('%%+.1g', x) : sprintf('%%+.2f', x)\n",
            laws, XB_COUNT(maps), 0.16 / laws);
    rank_tics(k, "x", "width", true);
    fprintf(k->script, "set label 1 '·  within three standard errors of no change' at"
                       " screen 0.985, screen 0.02 right font small\n");
    for (int l = 1; l <= laws; l++)
        for (int m = 0; m < XB_COUNT(maps); m++) {
            char title[128];
            law_title(k, l, title, sizeof title);
            if (m < 2) rank_tics(k, "y", "depth", m == 0);
            fprintf(k->script, "set title '%s' offset 0,-0.6\n",
                    l == 1 ? maps[m].title : "");
            fprintf(k->script, "set xlabel '%s'\nset ylabel ", l == laws ? "width" : "");
            if (m == 0) strncat(title, ": depth", sizeof title - strlen(title) - 1);
            xb_style_quote(k->script, m == 0 ? title : "");
            fprintf(k->script, " noenhanced textcolor '%s'\n",
                    xb_style_colour(law_role(l)));
            draw_map(k, l, &maps[m], each, per_law);
            fprintf(k->script, "unset label 1\n");
        }
}
