/* test_figures.c: what makes a figure good enough to print: SI prefixes, ticks at whole
 * numbers, data off the frame, narrow peaks on a log axis, panels that end with their
 * data. */
#include "scratch.h"
#include "unixtest.h"
#include "xmltest.h"

#include <math.h>

#include "base/ctx.h"
#include "crossbayes/studies.h"
#include "report/style.h"

enum { ROOM = 1 << 20 };

/* ---- units */

static void prefixes_suit_the_numbers(void **state)
{
    (void)state;
    static const struct {
        double largest;
        const char *unit, *text;
        double factor;
    } cases[] = {
        {2.25e-6, "S", "µS", 1e-6},
        {1.34e-4, "S", "µS", 1e-6},
        {9.99e-4, "S", "µS", 1e-6},
        {9.997e-4, "S", "mS", 1e-3},
        {1, "S", "S", 1},
        {999, "S", "S", 1},
        {0.5, "V", "mV", 1e-3},
        {4.7e4, "Ω", "kΩ", 1e3},
        {2e-3, "uS", "nS", 1e-3},
        {2e-3, "µS", "nS", 1e-3},
        {2000, "ns", "µs", 1e3},
        {5e-5, "m", "µm", 1e-6},
        {3e-12, "A/V", "pA/V", 1e-12},
        {1e-6, "counts", "counts", 1},
        {1e-6, "", "", 1},
        {0, "S", "S", 1},
        {NAN, "S", "S", 1},
        {1e-40, "S", "yS", 1e-24},
        {1e40, "S", "YS", 1e24},
        {1e-6, "%", "%", 1},
    };
    for (int i = 0; i < XB_COUNT(cases); i++) {
        xb_si_unit u = xb_si_unit_for(cases[i].largest, cases[i].unit);
        if (strcmp(u.text, cases[i].text) != 0 ||
            fabs(u.factor / cases[i].factor - 1) > 1e-12)
            fail_msg("%g %s: %g %s", cases[i].largest, cases[i].unit, u.factor, u.text);
    }
}

static void quantities_read_well(void **state)
{
    (void)state;
    static const struct {
        double value, error;
        const char *unit, *text;
    } cases[] = {
        {2.25e-6, 0.58e-6, "S", "2.25 ± 0.58 µS"},
        {1.3404e-4, 8.1e-7, "S", "134.04 ± 0.81 µS"},
        {8.6e-7, 1.7e-7, "S", "0.86 ± 0.17 µS"}, /* not 860 ± 170 nS */
        {8.6e-7, 1.7e-8, "S", "860 ± 17 nS"},
        {-2.5e-3, NAN, "V", "-2.5 mV"},
        {1e-9, 2e-6, "S", "0.0 ± 2.0 µS"},
        {3.14e-5, 1.2e-5, "", "(3.1 ± 1.2)e-05"},
        {0.5012, 0.0047, "nats", "0.5012 ± 0.0047 nats"},
        {0, NAN, "S", "0 S"},
    };
    for (int i = 0; i < XB_COUNT(cases); i++) {
        char text[96];
        xb_quantity_text(text, sizeof text, cases[i].value, cases[i].error,
                         cases[i].unit);
        assert_string_equal(text, cases[i].text);
    }
}

/* Without a unit that takes a prefix an axis has a power of ten. */
static void axes_have_units(void **state)
{
    (void)state;
    assert_string_equal(xb_style_unit(1.4e-4, "S").text, "µS");
    assert_string_equal(xb_style_unit(1.4e-4, "").text, "10⁻⁶");
    assert_string_equal(xb_style_unit(1.4e-4, "counts").text, "10⁻⁶ counts");
    assert_string_equal(xb_style_unit(0.3, "").text, "");
}

/* ---- axes */

static void whole_numbers_have_whole_ticks(void **state)
{
    (void)state;
    static const double cases[][3] = {{3, 8, 1},   {2, 12, 1},     {2, 13, 2},
                                      {0, 20, 2},  {0, 21, 5},     {1, 50, 5},
                                      {1, 52, 10}, {0, 1000, 100}, {4, 4, 1}};
    for (int i = 0; i < XB_COUNT(cases); i++)
        assert_true(xb_style_whole_step(cases[i][0], cases[i][1]) == cases[i][2]);
}

static void narrow_peaks_are_noticed(void **state)
{
    (void)state;
    enum { N = 2001 };
    double x[N], density[N];
    static const double width[] = {0.3, 0.05, 0.01, 0.003};
    for (int w = 0; w < XB_COUNT(width); w++) {
        for (int i = 0; i < N; i++) {
            x[i] = -1 + 2.0 * i / (N - 1);
            density[i] = 0.4 + exp(-fabs(x[i]) / width[w]) / width[w];
        }
        assert_int_equal(xb_style_narrow_peak(x, density, N), width[w] < 0.02);
    }
    assert_false(xb_style_narrow_peak(x, density, 0));
}

/* ---- a sweep */

static void make_sweep(xb_ctx *ctx, scratch *s, const char *key, double from,
                       double ratio, double step, char *svg, char *script)
{
    const char *const names[] = {key,        "rmse",     "rmse_error", "rmse_digital",
                                 "rmse_q05", "rmse_q95", "chips"};
    enum { ROWS = 6 };
    xb_table *t = NULL;
    assert_ok(ctx, xb_table_create(ctx, &t, key, ROWS, XB_COUNT(names), names));
    for (int r = 0; r < ROWS; r++) {
        xb_table_set(t, r, 0, from * pow(ratio, r) + step * r);
        xb_table_set(t, r, 1, 0.2 + 1.0 / (r + 1));
        xb_table_set(t, r, 2, 0.01);
        xb_table_set(t, r, 3, 0.2);
        xb_table_set(t, r, 4, 0.2 + 0.9 / (r + 1)); /* chips spread */
        xb_table_set(t, r, 5, 0.2 + 1.2 / (r + 1));
        xb_table_set(t, r, 6, 8);
    }
    char path[128], file[160];
    snprintf(path, sizeof path, "%s", scratch_path(s, "sweep"));
    assert_ok(ctx, xb_report_sweep(ctx, t, path, XB_FIGURE_SVG));
    snprintf(file, sizeof file, "%s.svg", path);
    assert_true(scratch_read(file, svg, ROOM) < ROOM - 1);
    assert_well_formed(file, svg);
    snprintf(file, sizeof file, "%s.gp", path);
    assert_true(scratch_read(file, script, ROOM) < ROOM - 1);
    xb_table_destroy(t);
}

static bool has_text(const char *svg, const char *text)
{
    char inside[128];
    snprintf(inside, sizeof inside, ">%s<", text);
    return strstr(svg, inside) != NULL;
}

/* Points and the reference line keep away from the frame; the frame is two strokes. */
static void assert_margins(const char *svg)
{
    const double least = 8; /* pixels */
    double left = 0, top = 0, low = 0, right = 0, same;
    const char *frame = svg;
    do {
        frame = strstr(frame + 1, "stroke='rgb( 68,  68,  68)'  d='M");
        assert_non_null(frame);
    } while (sscanf(strstr(frame, "d='M"), "d='M%lf,%lf L%lf,%lf L%lf,", &left, &top,
                    &same, &low, &right) != 5);
    int points = 0;
    for (const char *p = svg; (p = strstr(p, "<use xlink:href='#gpPt6' transform='"));
         points++) {
        double x, y;
        p = strstr(p, "translate(");
        assert_int_equal(sscanf(p, "translate(%lf,%lf)", &x, &y), 2);
        if (y < top) continue; /* the legend's */
        if (x < left + least || x > right - least || y > low - least || y < top + least)
            fail_msg("a point at %g, %g in a frame of %g to %g, %g to %g", x, y, left,
                     right, top, low);
    }
    assert_int_equal(points, 6 + 1);
}

static void sweeps_have_names_and_margins(void **state)
{
    (void)state;
    UNIX_ONLY("it starts gnuplot");
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    char *svg = malloc(ROOM), *script = malloc(ROOM);
    make_sweep(ctx, &s, "adc-bits", 3, 1, 1, svg, script);
    assert_margins(svg);
    assert_true(has_text(svg, "resolution of the ADC (bits)"));
    assert_true(has_text(svg, "RMSE (target's unit)") ||
                has_text(svg, "RMSE (target&#39;s unit)"));
    assert_true(has_text(svg, "digital model"));
    assert_true(has_text(svg, "5 to 95 % of chips"));
    assert_non_null(strstr(script, "filledcurves"));
    assert_true(has_text(svg, " 3") || has_text(svg, "3"));
    assert_false(has_text(svg, " 3.5") || has_text(svg, "3.5"));
    assert_null(strstr(svg, "adc-bits"));
    /* whole numbers over decades are their own ticks */
    make_sweep(ctx, &s, "mean_levels", 4, 4, 0, svg, script);
    assert_non_null(strstr(script, "set xtics (4,16,64,256,1024,4096)"));
    assert_margins(svg);
    make_sweep(ctx, &s, "correlation-time-ns", 1000, 1, 500, svg, script);
    assert_true(has_text(svg, "correlation time of the noise (µs)"));
    assert_margins(svg);
    make_sweep(ctx, &s, "something else", 1, 1, 1, svg, script);
    assert_true(has_text(svg, "something else"));
    free(svg);
    free(script);
    xb_ctx_destroy(ctx);
    scratch_remove(&s);
}

/* Four scores of one size and one spread around it; the digital level is the array's. */
static void make_scores(xb_ctx *ctx, scratch *s, double size, double spread, char *svg,
                        char *script)
{
    static const char *const names[] = {
        "line_ohm",           "rmse",       "rmse_error",
        "rmse_digital",       "nll",        "nll_error",
        "nll_digital",        "coverage95", "coverage95_error",
        "coverage95_digital", "epistemic",  "epistemic_error",
        "epistemic_digital"};
    enum { ROWS = 4 };
    xb_table *t = NULL;
    assert_ok(ctx, xb_table_create(ctx, &t, "line_ohm", ROWS, XB_COUNT(names), names));
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < XB_COUNT(names); c++) {
            double level = c == 0 ? 1 : c >= 7 && c <= 9 ? 0.9825 : size;
            double value = c % 3 == 2 ? spread / 9 : level + (c % 3 == 1) * spread * r;
            xb_table_set(t, r, c, c == 0 ? r + 1 : value);
        }
    char path[128], file[160];
    snprintf(path, sizeof path, "%s", scratch_path(s, "scores"));
    assert_ok(ctx, xb_report_sweep(ctx, t, path, XB_FIGURE_SVG));
    snprintf(file, sizeof file, "%s.svg", path);
    assert_true(scratch_read(file, svg, ROOM) < ROOM - 1);
    snprintf(file, sizeof file, "%s.gp", path);
    assert_true(scratch_read(file, script, ROOM) < ROOM - 1);
    xb_table_destroy(t);
}

/* Where the text at `text` is put. */
static bool place_before(const char *svg, const char *text, double *x, double *y)
{
    const char *at = NULL;
    for (const char *p = svg; (p = strstr(p, "translate(")) && p < text; p++) at = p;
    return at && sscanf(at, "translate(%lf,%lf)", x, y) == 2;
}

/* Arrays that cover every row: the axis shows nothing beyond 1, where no score can be. */
static void axes_end_at_the_limits_of_scores(void **state)
{
    (void)state;
    UNIX_ONLY("it starts gnuplot");
    static const char *const names[] = {"line_ohm", "coverage95", "coverage95_error",
                                        "coverage95_digital"};
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    xb_table *t = NULL;
    char *svg = malloc(ROOM), path[128], file[160];
    assert_ok(ctx, xb_table_create(ctx, &t, "line_ohm", 3, XB_COUNT(names), names));
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < XB_COUNT(names); c++)
            xb_table_set(t, r, c, c == 0 ? r + 1 : c == 2 ? 0.001 : 1);
    snprintf(path, sizeof path, "%s", scratch_path(&s, "cover"));
    assert_ok(ctx, xb_report_sweep(ctx, t, path, XB_FIGURE_SVG));
    snprintf(file, sizeof file, "%s.svg", path);
    assert_true(scratch_read(file, svg, ROOM) < ROOM - 1);
    assert_true(has_text(svg, " 0.990") || has_text(svg, "0.990"));
    assert_true(has_text(svg, " 1.000") || has_text(svg, "1.000"));
    assert_false(has_text(svg, " 1.005") || has_text(svg, "1.005"));
    xb_table_destroy(t);
    free(svg);
    xb_ctx_destroy(ctx);
    scratch_remove(&s);
}

/* Two panels with bands: all entries of the legend are within the figure. */
static void legends_fit(void **state)
{
    (void)state;
    UNIX_ONLY("it starts gnuplot");
    static const char *const names[] = {
        "line_ohm",         "rmse",       "rmse_error", "rmse_digital",
        "rmse_q05",         "rmse_q95",   "sd_off",     "sd_off_error",
        "sd_off_tolerance", "sd_off_q05", "sd_off_q95"};
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    xb_table *t = NULL;
    char *svg = malloc(ROOM), path[128], file[160];
    double x = -1, y = -1;
    assert_ok(ctx, xb_table_create(ctx, &t, "line_ohm", 3, XB_COUNT(names), names));
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < XB_COUNT(names); c++)
            xb_table_set(t, r, c, c == 0 ? r : c % 5 == 0 ? 2 : c % 5 == 4 ? 0.5 : 1);
    snprintf(path, sizeof path, "%s", scratch_path(&s, "sweep"));
    assert_ok(ctx, xb_report_sweep(ctx, t, path, XB_FIGURE_SVG));
    snprintf(file, sizeof file, "%s.svg", path);
    assert_true(scratch_read(file, svg, ROOM) < ROOM - 1);
    const char *const entries[] = {"5 to 95 % of chips", "digital model", "tolerance"};
    for (int i = 0; i < XB_COUNT(entries); i++) {
        char inside[64]; /* not the name of the plot, which is there in any case */
        snprintf(inside, sizeof inside, "%s</tspan>", entries[i]);
        const char *text = strstr(svg, inside);
        assert_true(text && place_before(svg, text, &x, &y));
        assert_true(x > 20 && x < 800 && y > 0 && y < 60);
    }
    xb_table_destroy(t);
    free(svg);
    xb_ctx_destroy(ctx);
    scratch_remove(&s);
}

/* The left end of the tick labels that end between two x, as wide as they are drawn:
 * digits of DejaVu Sans are 0.64 of its size, other characters of numbers are narrower.
 */
static double ticks_left(const char *svg, double from, double to)
{
    const double digit = 0.64 * 13;
    double left = to;
    for (const char *p = svg; (p = strstr(p, "text-anchor=\"end\"")); p++) {
        double x = 0, y = 0;
        char label[64];
        const char *text = strstr(p, "<text>");
        assert_true(text && place_before(svg, text, &x, &y));
        if (x < from || x > to) continue;
        while (*text == '<') text = strchr(text, '>') + 1; /* <text>, or a <tspan>, too */
        assert_int_equal(sscanf(text, "%63[^<]", label), 1);
        const char *first = label + strspn(label, " ");
        left = fmin(left, x - digit * (double)strlen(first));
    }
    return left;
}

static void assert_titles_inside(const char *svg)
{
    static const char *const titles[] = {"RMSE (target", "NLL (nats per row)",
                                         "coverage of 95 % intervals", "epistemic sd"};
    enum { HALF = 8 }; /* pixels: of a line of text */
    double width = 0, height = 0;
    const char *box = strstr(svg, "viewBox=");
    assert_true(box && sscanf(box, "viewBox=\"0 0 %lf %lf\"", &width, &height) == 2);
    for (int i = 0; i < XB_COUNT(titles); i++) {
        double x = 0, y = 0,
               half = 0.3 * 13 * (double)strlen("epistemic sd (target's unit)");
        const char *text = strstr(svg, titles[i]);
        assert_true(text && place_before(svg, text, &x, &y));
        double start = i % 2 ? width / 2 - 20 : 0;
        double ticks = ticks_left(svg, x, i % 2 ? width : width / 2 - 20);
        if (x - 2 * HALF < start || x + HALF / 2 > ticks || y < half || y > height - half)
            fail_msg("%s at %g, %g: ticks from %g", titles[i], x, y, ticks);
    }
}

static void titles_of_scores_are_inside(void **state)
{
    (void)state;
    UNIX_ONLY("it starts gnuplot");
    static const double cases[][2] = {{0.2, 1e-5},   {0.2, 0.003}, {0.2, 20},
                                      {-0.25, 0.01}, {0, 0},       {1234, 0.1},
                                      {-9.9e6, 1e5}, {3e-9, 1e-9}, {-1e-4, 3e-5}};
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    char *svg = malloc(ROOM), *script = malloc(ROOM);
    for (int i = 0; i < XB_COUNT(cases); i++) {
        make_scores(ctx, &s, cases[i][0], cases[i][1], svg, script);
        assert_titles_inside(svg);
    }
    free(svg);
    free(script);
    xb_ctx_destroy(ctx);
    scratch_remove(&s);
}

/* A change of coverage by 0.0006 is no cliff, the digital level is drawn last. */
static void levels_that_agree_are_seen(void **state)
{
    (void)state;
    UNIX_ONLY("it starts gnuplot");
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    char *svg = malloc(ROOM), *script = malloc(ROOM);
    make_scores(ctx, &s, 0.2, 0.0002, svg, script);
    int panels = 0;
    double low, high, least[] = {0.004, 0.02, 0.02, 0.004};
    for (const char *p = script; (p = strstr(p, "set yrange [")); p++, panels++) {
        assert_int_equal(sscanf(p, "set yrange [%lf:%lf]", &low, &high), 2);
        assert_true(panels < XB_COUNT(least) && high - low >= least[panels]);
        const char *array = strstr(p, "yerrorlines"), *digital = strstr(p, "dashtype");
        assert_true(array && digital && array < digital);
    }
    assert_int_equal(panels, XB_COUNT(least));
    free(svg);
    free(script);
    xb_ctx_destroy(ctx);
    scratch_remove(&s);
}

/* ---- a fit */

enum { N = 4000 };

/* The script of a fit to samples of a law, x[N] siemens; the law goes to law.json. */
static void fit_script(xb_ctx *ctx, scratch *s, const char *text, double *x, char *script)
{
    xb_law *law = NULL;
    assert_ok(ctx, xb_law_parse(ctx, &law, text));
    for (int i = 0; i < N; i++) x[i] = 1e-6 * xb_law_quantile(law, (i + 0.5) / N);
    xb_fit_options options = xb_fit_options_default();
    options.family = xb_law_family(law);
    options.unit = "S";
    xb_fit *fit = NULL;
    assert_ok(ctx, xb_fit_run(ctx, &fit, x, N, &options));
    char path[128], file[160];
    snprintf(path, sizeof path, "%s", scratch_path(s, "fit"));
    assert_ok(ctx, xb_report_fit(ctx, fit, x, N, path, XB_FIGURE_SVG));
    snprintf(file, sizeof file, "%s.gp", path);
    assert_true(scratch_read(file, script, ROOM) < ROOM - 1);
    assert_ok(ctx, xb_fit_save(ctx, fit, scratch_path(s, "law.json")));
    xb_fit_destroy(fit);
    xb_law_destroy(law);
}

static void fits_show_narrow_peaks(void **state)
{
    (void)state;
    UNIX_ONLY("it starts gnuplot");
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    char *script = malloc(ROOM);
    double x[N];
    fit_script(ctx, &s, "mtj:B=0.15,w=0.5", x, script);
    assert_null(strstr(script, "\nset logscale y"));
    assert_non_null(strstr(script, "noise (nS)"));
    assert_non_null(strstr(script, "density (per nS)"));
    fit_script(ctx, &s, "mtj:B=0.003,w=0.5", x, script);
    assert_non_null(strstr(script, "\nset logscale y"));
    free(script);
    xb_ctx_destroy(ctx);
    scratch_remove(&s);
}

/* Samples have the unit of the law file that they go with, and a narrow peak in both
 * panels. */
static void laws_have_the_unit_of_their_file(void **state)
{
    (void)state;
    UNIX_ONLY("it starts gnuplot");
    static const char *const laws[] = {"mtj:B=0.15,w=0.5", "mtj:B=0.003,w=0.5"};
    scratch s = scratch_make();
    xb_ctx *ctx = test_ctx();
    char *script = malloc(ROOM);
    double x[N];
    for (int i = 0; i < XB_COUNT(laws); i++) {
        fit_script(ctx, &s, laws[i], x, script);
        char law[128];
        snprintf(law, sizeof law, "%s", scratch_path(&s, "law.json"));
        xb_study_options o = xb_study_options_default();
        o.quick = true, o.device_law = law, o.noise = x, o.noise_n = N;
        xb_study *study = NULL;
        assert_ok(ctx, xb_study_run(ctx, &study, "laws", &o));
        assert_ok(ctx, xb_report_study(ctx, study, s.dir, XB_FIGURE_SVG));
        assert_true(scratch_read(scratch_path(&s, "laws.gp"), script, ROOM) < ROOM - 1);
        assert_non_null(strstr(script, "noise (nS)"));
        assert_non_null(strstr(script, "density (per nS)"));
        const char *peak = strstr(script, "\nset logscale y");
        assert_int_equal(peak && strstr(peak + 1, "\nset logscale y"), i);
        xb_study_destroy(study);
    }
    free(script);
    xb_ctx_destroy(ctx);
    scratch_remove(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prefixes_suit_the_numbers),
        cmocka_unit_test(quantities_read_well),
        cmocka_unit_test(axes_have_units),
        cmocka_unit_test(whole_numbers_have_whole_ticks),
        cmocka_unit_test(narrow_peaks_are_noticed),
        cmocka_unit_test(sweeps_have_names_and_margins),
        cmocka_unit_test(axes_end_at_the_limits_of_scores),
        cmocka_unit_test(legends_fit),
        cmocka_unit_test(titles_of_scores_are_inside),
        cmocka_unit_test(levels_that_agree_are_seen),
        cmocka_unit_test(fits_show_narrow_peaks),
        cmocka_unit_test(laws_have_the_unit_of_their_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
