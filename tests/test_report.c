/* test_report.c: figures appear whole with their script and data, are
 * well-formed, can be drawn again from what is kept, and leave nothing behind
 * where gnuplot is missing or fails. */
#include "devicetest.h"
#include "folder.h"
#include "xmltest.h"

#include <ctype.h>
#include <math.h>
#include <sys/stat.h>

#include "base/ctx.h"
#include "report/figure.h"
#include "report/style.h"

static char folder[64];

static void in_folder(char path[512], const char *name)
{
    snprintf(path, 512, "%s/%s", folder, name);
}

static char *read_whole(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("%s is not there", path);
    size_t room = 1 << 22;
    char *text = malloc(room);
    *size = fread(text, 1, room - 1, f);
    text[*size] = '\0';
    fclose(f);
    return text;
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/xb-report-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    folder_empty(folder);
    return rmdir(folder);
}

/* NAME.svg well-formed with at least `strokes` drawn paths, .gp and .dat kept. */
static void assert_figure(const char *name, int strokes)
{
    char path[512];
    size_t size = 0;
    char file[64];
    static const char *const kept[] = {"gp", "dat"};
    for (int i = 0; i < 2; i++) {
        snprintf(file, sizeof file, "%s.%s", name, kept[i]);
        in_folder(path, file);
        free(read_whole(path, &size));
        assert_true(size > 100);
    }
    snprintf(file, sizeof file, "%s.svg", name);
    in_folder(path, file);
    char *text = read_whole(path, &size);
    assert_well_formed(path, text);
    int paths = 0;
    for (const char *p = text; (p = strstr(p, "<path")); p++) paths++;
    if (paths < strokes) fail_msg("%s: %d paths, expected %d", path, paths, strokes);
    free(text);
}

static void assert_starts_with(const char *name, const char *magic)
{
    char path[512];
    size_t size = 0;
    in_folder(path, name);
    char *bytes = read_whole(path, &size);
    assert_true(size > 1000);
    assert_memory_equal(bytes, magic, strlen(magic));
    free(bytes);
}

static int count_of(const char *text, const char *part)
{
    int count = 0;
    for (const char *p = text; (p = strstr(p, part)); p++) count++;
    return count;
}

/* A legend names lines that are drawn, as they are drawn: no entry that stands for a line
 * of another colour, and every title of the script is in the picture. */
static void assert_legend(const char *name)
{
    char path[512], file[64];
    size_t size;
    snprintf(file, sizeof file, "%s.gp", name);
    in_folder(path, file);
    char *script = read_whole(path, &size);
    if (strstr(script, "NaN with")) fail_msg("%s: a legend entry without a line", name);
    snprintf(file, sizeof file, "%s.svg", name);
    in_folder(path, file);
    char *svg = read_whole(path, &size);
    for (const char *p = script; (p = strstr(p, " title '")); p++) {
        char title[128];
        p += strlen(" title '");
        snprintf(title, sizeof title, "%.*s", (int)strcspn(p, "'"), p);
        title[strcspn(title, "_")] = '\0'; /* a subscript begins */
        if (*title && !strstr(svg, title)) fail_msg("%s: no legend '%s'", name, title);
    }
    free(svg);
    free(script);
}

/* The panels of rules end within a decade of their data. */
static void assert_ranges_fit(const xb_study *study)
{
    static const char *const panels[] = {"device_variance", "bimodal_variance",
                                         "device_kl", "bimodal_kl"};
    char path[512];
    size_t size;
    in_folder(path, "quadrature.gp");
    char *script = read_whole(path, &size);
    const char *p = script;
    assert_int_equal(count_of(script, "set yrange ["), XB_COUNT(panels));
    for (int i = 0; i < XB_COUNT(panels); i++, p++) {
        double low = INFINITY, from, to;
        static const char *const kinds[] = {"error", "step"};
        for (int k = 0; k < 2; k++) {
            char name[64];
            snprintf(name, sizeof name, "%s_%s", panels[i], kinds[k]);
            const xb_table *t = xb_study_table(study, name);
            for (int64_t r = 0; r < xb_table_row_count(t); r++)
                for (int c = 1; c < xb_table_column_count(t); c++) {
                    double value = xb_table_get(t, r, c), floor_at = k ? 1e-33 : 1e-17;
                    if (isfinite(value)) low = fmin(low, fmax(value, floor_at));
                }
        }
        p = strstr(p, "set yrange [");
        assert_int_equal(sscanf(p, "set yrange [%lf:%lf]", &from, &to), 2);
        if (!(from < low && from > low / 10))
            fail_msg("%s: from %g, the data from %g", panels[i], from, low);
    }
    free(script);
}

static xb_fit *quick_fit(xb_ctx *ctx, double **x, int64_t n, const char *unit)
{
    assert_ok(ctx, xb_builtin_noise(ctx, x, n, 3));
    xb_fit_options options = xb_fit_options_default();
    options.unit = unit;
    xb_fit *fit = NULL;
    assert_ok(ctx, xb_fit_run(ctx, &fit, *x, n, &options));
    return fit;
}

static void fit_figure_is_drawn(void **state)
{
    (void)state;
    folder_empty(folder);
    xb_ctx *ctx = test_ctx();
    double *x = NULL;
    xb_fit *fit = quick_fit(ctx, &x, 3000, "\xc2\xb5S_{a}'&<");
    char path[512];
    in_folder(path, "new/fit");
    assert_int_equal(xb_report_fit(ctx, fit, x, 3000, path, XB_FIGURE_SVG), XB_E_IO);
    assert_non_null(strstr(xb_ctx_message(ctx), "No such file or directory"));
    in_folder(path, "new");
    assert_int_equal(mkdir(path, 0777), 0);
    in_folder(path, "new/fit");
    assert_ok(ctx, xb_report_fit(ctx, fit, x, 3000, path,
                                 XB_FIGURE_SVG | XB_FIGURE_PNG | XB_FIGURE_PDF));
    assert_figure("new/fit", 40);
    assert_starts_with("new/fit.png", "\x89PNG");
    assert_starts_with("new/fit.pdf", "%PDF");
    in_folder(path, "new");
    assert_int_equal(folder_count(path), 5); /* nothing temporary */
    /* what is kept draws the same figure again */
    size_t before, after;
    in_folder(path, "new/fit.svg");
    char *first = read_whole(path, &before);
    assert_int_equal(unlink(path), 0);
    char dir[512];
    in_folder(dir, "new");
    assert_ok(ctx, xb_gnuplot_run(ctx, dir, "fit.gp", "svg"));
    char *again = read_whole(path, &after);
    assert_string_equal(first, again);
    free(first);
    free(again);
    xb_fit_destroy(fit);
    free(x);
    xb_ctx_destroy(ctx);
}

static void study_figures_are_drawn(void **state)
{
    (void)state;
    folder_empty(folder);
    xb_ctx *ctx = test_ctx();
    const int64_t widths[] = {1, 2};
    int figures = 0;
    scratch s = scratch_make();
    const char *device = device_file(ctx, &s, "S");
    for (int i = 0; i < xb_study_count(); i++) {
        xb_study_options options = xb_study_options_default();
        const char *name = xb_study_name_at(i);
        static const char slow[] = " scalar energy narrow array retention ";
        if (SANITIZED && strstr(slow, name)) {
            print_message("skipped: the %s study's figures under sanitizers\n", name);
            continue;
        }
        options.quick = true;
        options.width = options.depth = widths;
        options.widths = options.depths = 2;
        if (strcmp(name, "utkface") == 0) options.data = "synthetic", options.size = 12;
        if (strcmp(name, "retention") == 0) options.device = device;
        xb_study *study = NULL;
        assert_ok(ctx, xb_study_run(ctx, &study, name, &options));
        assert_ok(ctx, xb_report_study(ctx, study, folder, XB_FIGURE_SVG));
        assert_figure(name, 20);
        assert_legend(name);
        if (strcmp(name, "quadrature") == 0) assert_ranges_fit(study);
        figures++;
        if (strcmp(name, "energy") == 0) {
            assert_figure("energy_densities", 20);
            assert_figure("energy_n_eff", 20);
            assert_legend("energy_densities");
            assert_legend("energy_n_eff");
            figures += 2;
        }
        if (strcmp(name, "scalar") == 0) {
            assert_figure("scalar_gaps", 20);
            assert_legend("scalar_gaps");
            figures++;
        }
        assert_int_equal(folder_count(folder), 3 * figures);
        xb_study_destroy(study);
    }
    scratch_remove(&s);
    xb_ctx_destroy(ctx);
}

static void no_gnuplot_is_a_clear_error(void **state)
{
    (void)state;
    folder_empty(folder);
    xb_ctx *ctx = test_ctx();
    double *x = NULL;
    xb_fit *fit = quick_fit(ctx, &x, 500, NULL);
    char *old = strdup(getenv("PATH")), path[512];
    setenv("PATH", "/nonexistent", 1);
    in_folder(path, "fit");
    assert_int_equal(xb_report_fit(ctx, fit, x, 500, path, XB_FIGURE_SVG), XB_E_IO);
    assert_non_null(strstr(xb_ctx_message(ctx), "gnuplot was not found"));
    assert_int_equal(folder_count(folder), 0);
    setenv("PATH", old, 1);
    free(old);
    xb_fit_destroy(fit);
    free(x);
    xb_ctx_destroy(ctx);
}

/* One of the figure's files was read: none of them is placed. */
static void a_figure_spares_what_was_read(void **state)
{
    (void)state;
    folder_empty(folder);
    xb_ctx *ctx = test_ctx();
    double *x = NULL, *y = NULL;
    int64_t n = 0;
    xb_fit *fit = quick_fit(ctx, &x, 500, NULL);
    char path[512], input[512];
    in_folder(input, "fit.dat");
    FILE *f = fopen(input, "w");
    assert_non_null(f);
    fputs("1\n2\n3\n", f);
    fclose(f);
    assert_ok(ctx, xb_column_read(ctx, &y, &n, input, NULL));
    in_folder(path, "fit");
    assert_int_equal(xb_report_fit(ctx, fit, x, 500, path, XB_FIGURE_SVG), XB_E_ARGUMENT);
    assert_non_null(strstr(xb_ctx_message(ctx), "would overwrite the input"));
    assert_int_equal(folder_count(folder), 1);
    xb_fit_destroy(fit);
    free(x);
    free(y);
    xb_ctx_destroy(ctx);
}

static void a_failing_script_leaves_the_old_figure(void **state)
{
    (void)state;
    folder_empty(folder);
    xb_ctx *ctx = test_ctx();
    char path[512];
    size_t size;
    in_folder(path, "a");
    for (int round = 0; round < 2; round++) {
        xb_figure *f = NULL;
        assert_ok(ctx, xb_figure_open(ctx, &f, path, 300, 200));
        fprintf(xb_figure_data(f), "# block\n1 2\n2 3\n");
        fprintf(xb_figure_script(f), "plot %s index 'block' with lines%s\n",
                xb_figure_data_name(f), round ? "\nplot nonsense_here" : "");
        assert_int_equal(xb_figure_draw(ctx, f, XB_FIGURE_SVG), round ? XB_E_IO : XB_OK);
    }
    assert_non_null(strstr(xb_ctx_message(ctx), "gnuplot failed:"));
    assert_non_null(strstr(xb_ctx_message(ctx), "nonsense_here"));
    assert_int_equal(folder_count(folder), 3);
    in_folder(path, "a.gp");
    char *script = read_whole(path, &size);
    assert_null(strstr(script, "nonsense_here"));
    free(script);
    xb_ctx_destroy(ctx);
}

/* Names that gnuplot or a shell could take for something else. */
static void odd_names_are_only_names(void **state)
{
    (void)state;
    static const char *const names[] = {"|touch x", "<touch x",   "it's",     "-e",
                                        "a b",      "$(touch x)", "`touch x`"};
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < XB_COUNT(names); i++) {
        folder_empty(folder);
        char path[512];
        in_folder(path, names[i]);
        xb_figure *f = NULL;
        assert_ok(ctx, xb_figure_open(ctx, &f, path, 300, 200));
        fprintf(xb_figure_data(f), "1 2\n2 3\n");
        for (int c = 0; c < 100; c++) fprintf(xb_figure_data(f), "%d %d\n", c, c);
        fprintf(xb_figure_script(f), "plot %s with lines\n", xb_figure_data_name(f));
        assert_ok(ctx, xb_figure_draw(ctx, f, XB_FIGURE_SVG));
        assert_figure(names[i], 1);
        assert_int_equal(folder_count(folder), 3);
    }
    xb_figure *f = NULL;
    assert_int_equal(xb_figure_open(ctx, &f, "/nowhere/at/all/", 1, 1), XB_E_ARGUMENT);
    assert_int_equal(xb_figure_open(ctx, &f, "/proc/no/figure", 1, 1), XB_E_IO);
    xb_ctx_destroy(ctx);
}

static void laws_have_their_colours(void **state)
{
    (void)state;
    static const char *const roles[] = {"gaussian", "device", "bimodal", "data"};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(xb_style_colour(roles[i]), xb_style_colour(roles[j]));
    assert_string_equal(xb_style_colour("mtj"), xb_style_colour("device"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fit_figure_is_drawn),
        cmocka_unit_test(study_figures_are_drawn),
        cmocka_unit_test(no_gnuplot_is_a_clear_error),
        cmocka_unit_test(a_figure_spares_what_was_read),
        cmocka_unit_test(a_failing_script_leaves_the_old_figure),
        cmocka_unit_test(odd_names_are_only_names),
        cmocka_unit_test(laws_have_their_colours),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
