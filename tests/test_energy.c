/* test_energy.c: the energy distance against mpmath and differences, nets trained with
 * it, and the studies built of them: numbers known exactly, the same bytes for any
 * number of threads and after a kill in the middle. */
#include "studytest.h"

#include <signal.h>
#include <dirent.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <jansson.h>

#include "failalloc.h"
#include "scratch.h"
#include "study/energy_cells.h"

/* ---- the loss */

static json_t *fixture(void)
{
    json_error_t error;
    json_t *root = json_load_file(XB_FIXTURES "/energy.json", 0, &error);
    if (!root) fail_msg("energy.json: %s", error.text);
    return root;
}

static double item(const json_t *list, size_t row, size_t column)
{
    return json_number_value(json_array_get(json_array_get(list, row), column));
}

/* Also from both sides of where the series takes over, and far out. */
static void distance_is_the_golden_one(void **state)
{
    (void)state;
    json_t *root = fixture(), *list = json_object_get(root, "distance");
    assert_true(json_array_size(list) > 4);
    for (size_t i = 0; i < json_array_size(list); i++) {
        double slope, f = item(list, i, 0);
        assert_close(xb_energy_normal(f, &slope), item(list, i, 1), 4e-15);
        assert_close(xb_energy_normal(-f, NULL), item(list, i, 1), 4e-15);
    }
    json_decref(root);
    double slope8, step = 2e-9;
    (void)xb_energy_normal(8, &slope8);
    assert_close(xb_energy_normal(8 + step, NULL) - xb_energy_normal(8, NULL),
                 step * slope8, 1e-5);
    assert_close(xb_energy_normal(1e8, NULL), 1e12, 1e-14);
    assert_true(isnan(xb_energy_normal(NAN, NULL)));
    for (double f = -9.9; f < 10; f += 0.37) {
        double slope, h = 1e-5;
        (void)xb_energy_normal(f, &slope);
        double by_difference =
            (xb_energy_normal(f + h, NULL) - xb_energy_normal(f - h, NULL)) / (2 * h);
        assert_close_floor(slope, by_difference, 1e-9, 0.1);
    }
}

/* In the mean over f ~ N(m, s^2): by the trapezoid rule, which converges faster than any
 * power for a smooth integrand, and E|f - f'|^1.5 = (s sqrt 2)^1.5 E|Y|^1.5. */
static void mean_loss_is_the_golden_one(void **state)
{
    (void)state;
    json_t *root = fixture(), *list = json_object_get(root, "loss");
    for (size_t i = 0; i < json_array_size(list); i++) {
        double m = item(list, i, 0), s = item(list, i, 1), sum = 0, h = 0.05;
        for (double z = -12; z <= 12; z += h)
            sum += h * exp(-0.5 * z * z) / sqrt(2 * M_PI) *
                   xb_energy_normal(m + s * z, NULL);
        double apart = pow(s * sqrt(2), 1.5) * xb_energy_normal(0, NULL);
        assert_close(2 * sum - apart, item(list, i, 2), 1e-13);
    }
    assert_close(XB_ENERGY_LEAST, item(list, 0, 2), 1e-15);
    json_decref(root);
}

/* n draws that are not drawn: exact quantiles of N(0.2, 1.1^2). */
static void fill_sample(float *f, int n)
{
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "gaussian");
    for (int i = 0; i < n; i++)
        f[(i * 37) % n] = (float)(0.2 + 1.1 * xb_law_quantile(law, (i + 0.5) / n));
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

static double plain_loss(const double *f, int n)
{
    double sum = 0, apart = 0;
    for (int i = 0; i < n; i++) {
        sum += xb_energy_normal(f[i], NULL);
        for (int j = 0; j < n; j++)
            if (i != j) apart += pow(fabs(f[i] - f[j]), 1.5);
    }
    return 2 * sum / n - apart / ((double)n * (n - 1));
}

static void sample_loss_and_gradient(void **state)
{
    (void)state;
    enum { MOST = 101 };
    const int sizes[] = {2, 3, 17, 100, MOST};
    for (int s = 0; s < 5; s++) {
        int n = sizes[s];
        float f[MOST], df[MOST];
        double exact[MOST];
        fill_sample(f, n);
        for (int i = 0; i < n; i++) exact[i] = (double)f[i];
        assert_close(xb_energy_loss(df, f, n), plain_loss(exact, n), 1e-6);
        for (int i = 0; i < n; i += 1 + n / 7) {
            double h = 1e-5, at = exact[i];
            exact[i] = at + h;
            double up = plain_loss(exact, n);
            exact[i] = at - h;
            double down = plain_loss(exact, n);
            exact[i] = at;
            assert_close_floor((double)df[i], (up - down) / (2 * h), 1e-4, 1.0 / n);
        }
    }
}

/* ---- training */

static xb_model *train(xb_ctx *ctx, const xb_energy_options *o)
{
    xb_model *model = NULL;
    assert_ok(ctx, xb_energy_train(ctx, &model, o));
    return model;
}

/* Mean and sd of 2^14 outputs: their own errors are 0.008 and 0.006. */
static void assert_moments(xb_ctx *ctx, const xb_model *model, double sd_off)
{
    enum { N = 1 << 14 };
    static double y[N];
    double mean = 0, square = 0;
    assert_ok(ctx, xb_cell_outputs(ctx, y, model, xb_model_law(model), N, 5, 0, NULL));
    for (int i = 0; i < N; i++) mean += y[i] / N;
    for (int i = 0; i < N; i++) square += (y[i] - mean) * (y[i] - mean) / N;
    assert_at_most(fabs(mean), 0.06);
    assert_close(sqrt(square), 1.005, sd_off);
}

static void nets_learn_the_normal(void **state)
{
    (void)state;
    const struct {
        int64_t width, depth;
        bool kernels_only;
    } nets[] = {{1, 1, false}, {4, 2, false}, {8, 3, false},
                {2, 8, false}, {1, 1, true},  {4, 3, true}};
    const int count = SANITIZED ? 2 : 6;
    xb_ctx *ctx = test_ctx();
    for (int i = 0; i < count; i++) {
        xb_energy_options o = xb_energy_options_default();
        o.width = nets[i].width, o.depth = nets[i].depth;
        o.kernels_only = nets[i].kernels_only;
        xb_model *model = train(ctx, &o);
        assert_moments(ctx, model, 0.05);
        xb_model_destroy(model);
    }
    xb_ctx_destroy(ctx);
}

static void assert_same_weights(const xb_model *a, const xb_model *b)
{
    xb_weights x = xb_model_weights(a), y = xb_model_weights(b);
    size_t size = (size_t)xb_net_param_count(xb_model_net(a)) * sizeof(float);
    assert_memory_equal(x.mu, y.mu, size);
    assert_memory_equal(x.sigma, y.sigma, size);
}

/* Same seed, same bytes, whatever the context says of threads; a file keeps them. */
static void training_is_a_function_of_its_options(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_energy_options o = xb_energy_options_default();
    o.steps = 200;
    o.width = 40;
    xb_ctx_set_threads(ctx, 1);
    xb_model *one = train(ctx, &o);
    xb_ctx_set_threads(ctx, 3);
    xb_model *three = train(ctx, &o);
    assert_same_weights(one, three);
    scratch s = scratch_make();
    xb_model *read = NULL;
    assert_ok(ctx, xb_model_save(ctx, one, scratch_path(&s, "m.safetensors")));
    assert_ok(ctx, xb_model_load(ctx, &read, s.path));
    assert_same_weights(one, read);
    assert_int_equal(scratch_remove(&s), 1);
    xb_model_destroy(one);
    xb_model_destroy(three);
    xb_model_destroy(read);
    xb_ctx_destroy(ctx);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_energy_options o = xb_energy_options_default();
    o.width = 2, o.depth = 1, o.steps = 2;
    xb_model *model = train(ctx, &o);
    for (int k = 0; fail_alloc_after(k); k++) {
        xb_cell_slopes s = {0};
        xb_status status = xb_cell_slopes_find(ctx, &s, model, 3, 1);
        bool failed = fail_alloc_happened();
        assert_ran_out(ctx, failed, status, s.fourth > 0 ? model : NULL, k);
        if (!failed) break;
    }
    xb_model_destroy(model);
    xb_ctx_destroy(ctx);
}

static void bad_options_are_refused(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_energy_options o[6];
    for (int i = 0; i < 6; i++) o[i] = xb_energy_options_default();
    o[0].width = 0;
    o[1].depth = 65;
    o[2].draws = 1;
    o[3].rate = NAN;
    o[4].n_eff_penalty = -1;
    o[5].steps = -1;
    for (int i = 0; i < 6; i++) {
        xb_model *model = NULL;
        assert_int_equal(xb_energy_train(ctx, &model, &o[i]), XB_E_ARGUMENT);
        assert_null(model);
        assert_true(strlen(xb_ctx_message(ctx)) > 5);
    }
    xb_ctx_destroy(ctx);
}

/* ---- cells */

static const char *const texts[] = {"gaussian", "mtj:B=0.15,w=0.5", "bimodal"};

static xb_cell_plan small_plan(xb_ctx *ctx, xb_law *made[3])
{
    xb_cell_plan plan = {.laws = 3,
                         .steps = 10000,
                         .hidden_draws = 1 << 13,
                         .output_draws = 1 << 12,
                         .share_draws = 2000};
    for (int l = 0; l < 3; l++) plan.law[l] = made[l] = test_law(ctx, texts[l]);
    return plan;
}

static double mass_beyond(const xb_law *law, double sds)
{
    double edge = sds * xb_law_sd(law);
    return xb_law_cdf(law, xb_law_mean(law) - edge) +
           xb_law_survival(law, xb_law_mean(law) + edge);
}

/* A net of width 1, depth 1 and fixed biases has one weight that matters: its output is
 * that weight's noise, so every number is the law's own. */
static void one_weight_shows_the_law_itself(void **state)
{
    (void)state;
    static double values[4096];
    xb_ctx *ctx = test_ctx();
    xb_law *made[3];
    xb_cell_plan plan = small_plan(ctx, made);
    const xb_cell cell = {1, 1, 3};
    plan.kernels_only = true;
    assert_true(xb_cell_length(&plan) < 4096);
    xb_energy_options o = xb_cell_training(&plan, &cell);
    xb_model *model = train(ctx, &o);
    assert_ok(ctx, xb_cell_measure(ctx, values, &plan, &cell, model));
    assert_close(xb_cell_get(values, XB_CELL_N_EFF), 1, 1e-3);
    assert_close(xb_cell_get(values, XB_CELL_TOP_SHARE), 1, 1e-6);
    assert_close(xb_cell_get(values, XB_CELL_TAIL_2), mass_beyond(made[0], 2), 1e-3);
    for (int l = 1; l < 3; l++) {
        double kl = xb_law_kl_gaussian(made[l]);
        double kurtosis = xb_law_moments(made[l]).excess_kurtosis;
        assert_close(xb_cell_get_law(values, l, XB_CELL_KL), kl, 2e-3);
        assert_close(xb_cell_get_law(values, l, XB_CELL_THEORY), kurtosis * kurtosis / 48,
                     3e-3);
        assert_close(xb_cell_get_law(values, l, XB_CELL_KURTOSIS_GAP), kurtosis, 1e-2);
        assert_close(xb_cell_get_law(values, l, XB_CELL_TAIL_2_GAP),
                     mass_beyond(made[l], 2) - mass_beyond(made[0], 2), 1e-2);
        /* nearest neighbours: 5 standard errors, and the bias of a few per cent */
        double error = 5 * xb_cell_get_law(values, l, XB_CELL_KNN_ERROR) + 0.1 * kl;
        assert_close_floor(xb_cell_get_law(values, l, XB_CELL_KNN), kl, error, 1);
        xb_law_destroy(made[l]);
    }
    xb_law_destroy(made[0]);
    xb_model_destroy(model);
    xb_ctx_destroy(ctx);
}

/* The penalty lets more weights share the output, and the KL falls with it. */
static void keeping_n_eff_makes_shape_matter_less(void **state)
{
    (void)state;
    OPTIMISED_ONLY();
    static double free_net[4096], kept[4096];
    xb_ctx *ctx = test_ctx();
    xb_law *made[3];
    xb_cell_plan plan = small_plan(ctx, made);
    const xb_cell cell = {8, 3, 1};
    plan.output_draws = 0;
    for (int k = 0; k < 2; k++) {
        plan.n_eff_penalty = 0.01 * k;
        xb_energy_options o = xb_cell_training(&plan, &cell);
        xb_model *model = train(ctx, &o);
        assert_ok(ctx, xb_cell_measure(ctx, k ? kept : free_net, &plan, &cell, model));
        assert_moments(ctx, model, 0.1);
        xb_model_destroy(model);
    }
    assert_true(xb_cell_get(kept, XB_CELL_N_EFF) >
                2 * xb_cell_get(free_net, XB_CELL_N_EFF));
    assert_true(xb_cell_get_law(kept, 2, XB_CELL_KL) <
                0.5 * xb_cell_get_law(free_net, 2, XB_CELL_KL));
    for (int l = 0; l < 3; l++) xb_law_destroy(made[l]);
    xb_ctx_destroy(ctx);
}

/* ---- studies */

static const int64_t some_widths[] = {1, 3}, some_depths[] = {2, 1};

static xb_study_options small_study(const char *dir)
{
    xb_study_options o = xb_study_options_default();
    o.quick = true;
    o.width = some_widths, o.widths = 2;
    o.depth = some_depths, o.depths = 2;
    o.cells = dir;
    return o;
}

/* The study as JSON and all its tables, one text; free() it. */
static char *whole_text(xb_ctx *ctx, const char *name, const xb_study_options *o)
{
    xb_study *study = NULL;
    char *text = NULL;
    assert_ok(ctx, xb_study_run(ctx, &study, name, o));
    assert_ok(ctx, xb_study_json(ctx, &text, study));
    size_t used = strlen(text), room = used + (1 << 20);
    char *larger = realloc(text, room);
    assert_non_null(larger);
    text = larger;
    for (int t = 0; t < xb_study_table_count(study); t++) {
        const xb_table *table = xb_study_table_at(study, t);
        for (int64_t r = 0; r < xb_table_row_count(table); r++)
            for (int c = 0; c < xb_table_column_count(table); c++)
                used += (size_t)snprintf(text + used, room - used, " %.17g",
                                         xb_table_get(table, r, c));
    }
    assert_true(used < room - 1);
    xb_study_destroy(study);
    return text;
}

/* Residual of log KL about its best power of `column`, two numbers fitted, as a factor.
 */
static double scatter_about(const xb_table *t, int law, const char *column)
{
    int n = 0;
    double u[64], v[64], mean_u = 0, mean_v = 0, uu = 0, uv = 0, rest = 0;
    for (int64_t r = 0; r < xb_table_row_count(t); r++) {
        double kl = xb_table_get(t, r, xb_table_column_find(t, "kl"));
        double error = xb_table_get(t, r, xb_table_column_find(t, "kl_error"));
        if ((int)xb_table_get(t, r, xb_table_column_find(t, "law")) != law) continue;
        if (!(kl > 3 * error)) continue;
        u[n] = log(xb_table_get(t, r, xb_table_column_find(t, column)));
        v[n++] = log(kl);
    }
    assert_true(n >= 4);
    for (int i = 0; i < n; i++) mean_u += u[i] / n, mean_v += v[i] / n;
    for (int i = 0; i < n; i++) {
        uu += (u[i] - mean_u) * (u[i] - mean_u);
        uv += (u[i] - mean_u) * (v[i] - mean_v);
    }
    for (int i = 0; i < n; i++) {
        double off = v[i] - mean_v - uv / uu * (u[i] - mean_u);
        rest += off * off;
    }
    return exp(sqrt(rest / (n - 2)));
}

/* Facts against the table they come from, and (G6) solved by hand: with n_eff weights the
 * leading order is skewness^2 / (12 n) + kurtosis^2 / (48 n^2). */
static void facts_follow_from_the_table(void **state)
{
    (void)state;
    OPTIMISED_ONLY();
    static const int64_t widths[] = {1, 2, 3, 4}, depths[] = {1};
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_law *law = test_skewed_law(ctx);
    xb_moments m = xb_law_moments(law);
    assert_ok(ctx, xb_law_save(ctx, law, scratch_path(&s, "skewed.json")));
    xb_study_options o = small_study(NULL);
    o.width = widths, o.widths = 4;
    o.depth = depths, o.depths = 1;
    o.device_law = scratch_path(&s, "skewed.json");
    xb_study *study = NULL;
    assert_ok(ctx, xb_study_run(ctx, &study, "energy", &o));
    double n = fact(study, "device_n_eff_needed");
    double skewness = m.skewness * m.skewness / 12;
    double kurtosis = m.excess_kurtosis * m.excess_kurtosis / 48;
    assert_close(skewness / n + kurtosis / (n * n), 1e-4, 1e-9);
    const xb_table *kl = xb_study_table(study, "kl");
    assert_close(fact(study, "bimodal_scatter_width"), scatter_about(kl, 2, "width"),
                 1e-9);
    assert_close(fact(study, "bimodal_scatter_n_eff"), scatter_about(kl, 2, "n_eff"),
                 1e-9);
    xb_study_destroy(study);
    xb_law_destroy(law);
    assert_int_equal(scratch_remove(&s), 1);
    xb_ctx_destroy(ctx);
}

static void spoil(const char *path, long at)
{
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, at, SEEK_SET), 0);
    fputc('#', f);
    fclose(f);
}

/* Any number of threads, with and without files, files missing, cut short, spoilt or of
 * other settings: the same bytes. */
static void studies_come_out_the_same(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    xb_study_options o = small_study(NULL);
    xb_ctx_set_threads(ctx, 1);
    char *want = whole_text(ctx, "energy", &o);
    o.cells = s.dir;
    o.n_eff_penalty = 0.01; /* leaves files that must not be taken */
    xb_ctx_set_threads(ctx, 3);
    char *other = whole_text(ctx, "energy", &o);
    assert_true(strcmp(want, other) != 0);
    free(other);
    o.n_eff_penalty = 0;
    for (int round = 0; round < 5; round++) {
        char *got = whole_text(ctx, "energy", &o);
        assert_string_equal(got, want);
        free(got);
        if (round == 0)
            assert_int_equal(
                unlink(scratch_path(&s, "width3_depth2_seed1_numbers.safetensors")), 0);
        if (round == 1)
            assert_int_equal(
                truncate(scratch_path(&s, "width1_depth1_seed1_numbers.safetensors"), 99),
                0);
        if (round == 2) {
            spoil(scratch_path(&s, "width3_depth1_seed1.safetensors"), 12);
            unlink(scratch_path(&s, "width3_depth1_seed1_numbers.safetensors"));
        }
        if (round == 3)
            spoil(scratch_path(&s, "width1_depth2_seed1_numbers.safetensors"), 30);
    }
    assert_int_equal(scratch_remove(&s), 8);
    free(want);
    xb_ctx_destroy(ctx);
}

static int count_numbers(const char *dir)
{
    int n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;)
        n += strstr(e->d_name, "_numbers.safetensors") != NULL && e->d_name[0] != '.';
    if (d) closedir(d);
    return n;
}

static pid_t start_program(const char *dir)
{
    const char *program = getenv("XB_PROGRAM");
    pid_t pid = fork();
    if (pid != 0) return pid;
    (void)!freopen("/dev/null", "w", stdout);
    execl(program, program, "study", "narrow", "--quick", "--widths=1,2", "--depths=1,2",
          "--threads=1", "--format=svg", "-o", dir, (char *)NULL);
    _exit(127);
}

/* The program, killed when its first net is done, then run again to the end. */
static void killed_studies_go_on(void **state)
{
    (void)state;
    if (!getenv("XB_PROGRAM") || access(getenv("XB_PROGRAM"), X_OK) != 0) skip();
    if (SANITIZED) {
        print_message("skipped: killed studies under sanitizers\n");
        return;
    }
    scratch s = scratch_make();
    char dir[2][96], nets[160], a[256], b[256], command[640];
    for (int k = 0; k < 2; k++) {
        int status = 0, done = 0;
        snprintf(dir[k], sizeof dir[k], "%s/run", s.dir); /* the command is in the JSON */
        snprintf(nets, sizeof nets, "%s/nets", dir[k]);
        pid_t pid = start_program(dir[k]);
        while (k == 1 && (done = count_numbers(nets)) < 1 &&
               waitpid(pid, &status, WNOHANG) == 0)
            usleep(1000);
        if (k == 1) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            assert_true(WIFSIGNALED(status));
            assert_in_range(done, 1, 3);
            pid = start_program(dir[k]);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        if (k == 0) {
            snprintf(command, sizeof command, "mv %s %s/first", dir[k], s.dir);
            assert_int_equal(system(command), 0);
        }
    }
    static const char *const files[] = {"narrow.json", "narrow_gaps.csv",
                                        "narrow_kl.csv"};
    for (int i = 0; i < 3; i++) {
        snprintf(a, sizeof a, "%s/first/%s", s.dir, files[i]);
        snprintf(b, sizeof b, "%s/run/%s", s.dir, files[i]);
        snprintf(command, sizeof command, "cmp %s %s", a, b);
        assert_int_equal(system(command), 0);
    }
    snprintf(command, sizeof command, "rm -r %s", s.dir);
    assert_int_equal(system(command), 0);
}

static void studies_refuse_nonsense(void **state)
{
    (void)state;
    static const int64_t twice[] = {2, 2}, none[] = {0};
    static const char *const law[] = {"nonsense"};
    xb_ctx *ctx = test_ctx();
    xb_study_options o[4];
    for (int i = 0; i < 4; i++) o[i] = small_study(NULL);
    o[0].width = twice, o[0].widths = 2;
    o[1].depth = none, o[1].depths = 1;
    o[2].law = law, o[2].laws = 1;
    o[3].seeds = -1;
    for (int i = 0; i < 4; i++) {
        xb_study *study = NULL;
        assert_true(xb_study_run(ctx, &study, "energy", &o[i]) != XB_OK);
        assert_null(study);
    }
    xb_ctx_destroy(ctx);
}

static bool stop_at_once(void *arg, const xb_progress *event)
{
    (void)arg, (void)event;
    return false;
}

static void studies_stop_when_asked(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    xb_study *study = NULL;
    xb_study_options o = small_study(NULL);
    xb_ctx_set_progress(ctx, stop_at_once, NULL);
    assert_int_equal(xb_study_run(ctx, &study, "narrow", &o), XB_E_CANCELLED);
    assert_null(study);
    xb_ctx_destroy(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distance_is_the_golden_one),
        cmocka_unit_test(mean_loss_is_the_golden_one),
        cmocka_unit_test(sample_loss_and_gradient),
        cmocka_unit_test(nets_learn_the_normal),
        cmocka_unit_test(training_is_a_function_of_its_options),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(one_weight_shows_the_law_itself),
        cmocka_unit_test(keeping_n_eff_makes_shape_matter_less),
        cmocka_unit_test(facts_follow_from_the_table),
        cmocka_unit_test(studies_come_out_the_same),
        cmocka_unit_test(killed_studies_go_on),
        cmocka_unit_test(studies_refuse_nonsense),
        cmocka_unit_test(studies_stop_when_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
