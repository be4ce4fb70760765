/* test_extremes.c: numbers at their ends. Training that leaves the finite numbers stops
 * with the step and the layer named and its last good state kept; extreme laws, nets and
 * data go through the commands without a NaN or an infinity in what they print or write,
 * and where a result is weak, a word says so. XB_LONG=1 runs the whole matrix. */
#include "traintest.h"

#include <sys/wait.h>

#include "base/ctx.h"

/* ---- training that goes wrong */

enum { STEPS_BEFORE = 7 };

typedef struct plant {
    float *where;
    float value;
    int64_t after; /* steps; 0: never */
} plant;

/* Once a step is told of, the number is there for the next. */
static bool plant_number(void *arg, const xb_progress *event)
{
    const plant *p = arg;
    if (p->after > 0 && event->done == p->after) *p->where = p->value;
    return true;
}

typedef struct scaled_rows {
    float x[ROWS * COLUMNS];
    double y[ROWS];
} scaled_rows;

static scaled_rows make_scaled(void)
{
    rows r = make_rows(false);
    scaled_rows s;
    for (int i = 0; i < ROWS; i++) {
        s.x[3 * i] = (float)r.x[3 * i];
        s.x[3 * i + 1] = (float)(r.x[3 * i + 1] / 100);
        s.x[3 * i + 2] = 1;
        s.y[i] = r.y[i];
    }
    return s;
}

static xb_train_data scaled_data(const scaled_rows *s)
{
    return (xb_train_data){.scaled = s->x, .y = s->y, .n = ROWS, .features = COLUMNS};
}

/* One batch an epoch: the number planted is met at the next step. */
static xb_train_options whole_batches(const char *checkpoint)
{
    xb_train_options opt = quick_options();
    opt.batch = ROWS;
    opt.mle_epochs = 5;
    opt.epochs = 10;
    opt.checkpoint = checkpoint;
    return opt;
}

static void said(xb_ctx *ctx, const char *part)
{
    if (!strstr(xb_ctx_message(ctx), part))
        fail_msg("'%s' is not in: %s", part, xb_ctx_message(ctx));
}

static void a_planted_nan_stops_and_the_run_can_go_on(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    char path[160];
    snprintf(path, sizeof path, "%s", scratch_path(&s, "c"));
    xb_train_options opt = whole_batches(NULL);
    scaled_rows good = make_scaled(), bad = good;
    xb_train_data data = scaled_data(&good), broken = scaled_data(&bad);
    xb_model *undisturbed = NULL, *resumed = NULL;
    xb_train_report *whole = NULL, *parts = NULL;
    assert_ok(ctx, xb_train(ctx, &undisturbed, &whole, &data, &opt));
    opt.checkpoint = path;
    plant p = {&bad.x[3 * 17], NAN, STEPS_BEFORE};
    xb_ctx_set_progress(ctx, plant_number, &p);
    assert_int_equal(xb_train(ctx, &resumed, NULL, &broken, &opt), XB_E_NUMERIC);
    assert_null(resumed);
    said(ctx, "at step 3 of phase 2"); /* five of the first phase before it */
    said(ctx, "in the output of layer 1 (dense)");
    said(ctx, "the last good state is in");
    p.after = 0;
    opt.resume = true;
    assert_ok(ctx, xb_train(ctx, &resumed, &parts, &data, &opt));
    assert_true(same_numbers(undisturbed, resumed));
    assert_same_table(xb_train_report_history(whole), xb_train_report_history(parts));
    xb_train_report_destroy(whole);
    xb_train_report_destroy(parts);
    xb_model_destroy(undisturbed);
    xb_model_destroy(resumed);
    assert_int_equal(scratch_remove(&s), 1);
    xb_ctx_destroy(ctx);
}

/* Finite, but Adam squares it: the sum would stand still for ever at infinity. */
static void a_gradient_too_large_to_square_stops(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scaled_rows r = make_scaled();
    xb_train_data data = scaled_data(&r);
    xb_train_options opt = whole_batches(NULL);
    xb_model *model = NULL;
    plant p = {&r.x[3 * 17], 1e14F, 2};
    xb_ctx_set_progress(ctx, plant_number, &p);
    assert_int_equal(xb_train(ctx, &model, NULL, &data, &opt), XB_E_NUMERIC);
    said(ctx, "at step 3 of phase 1");
    said(ctx, "in the gradient of layer 3 (dense)"); /* the highest */
    xb_ctx_destroy(ctx);
}

/* A rate beyond float: the first step itself makes numbers that nothing can go on from.
 * What was saved earlier is not replaced by them. */
static void weights_that_are_lost_are_not_kept(void **state)
{
    (void)state;
    xb_ctx *ctx = test_ctx();
    scratch s = scratch_make();
    char path[160];
    snprintf(path, sizeof path, "%s", scratch_path(&s, "c"));
    scaled_rows r = make_scaled();
    xb_train_data data = scaled_data(&r);
    xb_train_options opt = whole_batches(path);
    opt.adam.rate = 1e45;
    scratch_write(&s, "c", "earlier", 7);
    xb_model *model = NULL;
    assert_int_equal(xb_train(ctx, &model, NULL, &data, &opt), XB_E_NUMERIC);
    said(ctx, "at step 2 of phase 1, in the output of layer 1 (dense)");
    assert_null(strstr(xb_ctx_message(ctx), "last good state"));
    char kept[16];
    assert_int_equal(scratch_read(path, kept, sizeof kept), 7);
    assert_string_equal(kept, "earlier");
    assert_int_equal(scratch_remove(&s), 1);
    xb_ctx_destroy(ctx);
}

/* ---- the program */

enum { TEXT_MAX = 1 << 20, LINE_MAX_LENGTH = 4096 };

static scratch place;
static char out_text[TEXT_MAX], err_text[TEXT_MAX];

static bool have_program(void)
{
    const char *path = getenv("XB_PROGRAM");
    return path && access(path, X_OK) == 0;
}

/* Exit code of the program run with these words in the scratch folder. */
__attribute__((format(printf, 1, 2))) static int run(const char *format, ...)
{
    char words[LINE_MAX_LENGTH], line[2 * LINE_MAX_LENGTH], path[128];
    va_list args;
    va_start(args, format);
    assert_true(vsnprintf(words, sizeof words, format, args) < (int)sizeof words);
    va_end(args);
    snprintf(line, sizeof line, "cd %s && exec \"$XB_PROGRAM\" %s > out 2> err",
             place.dir, words);
    int status = system(line);
    assert_true(status != -1 && WIFEXITED(status));
    snprintf(path, sizeof path, "%s/out", place.dir);
    scratch_read(path, out_text, sizeof out_text);
    snprintf(path, sizeof path, "%s/err", place.dir);
    scratch_read(path, err_text, sizeof err_text);
    return WEXITSTATUS(status);
}

/* The words nan and inf, by themselves. */
static bool has_no_number(const char *text)
{
    for (const char *p = text; *p;) {
        size_t letters =
            strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (letters == 3 && (!strncasecmp(p, "nan", 3) || !strncasecmp(p, "inf", 3)))
            return true;
        p += letters ? letters : 1;
    }
    return false;
}

#define RUN_WELL(...)                                                                    \
    do {                                                                                 \
        int code_ = run(__VA_ARGS__);                                                    \
        if (code_ != 0) fail_msg("line %d: exit %d: %s", __LINE__, code_, err_text);     \
        if (has_no_number(out_text) || has_no_number(err_text))                          \
            fail_msg("line %d: not a number in: %s%s", __LINE__, out_text, err_text);    \
    } while (0)

/* Refused by one line that holds `part`. */
#define RUN_BADLY(part, ...)                                                             \
    do {                                                                                 \
        assert_int_equal(run(__VA_ARGS__), 2);                                           \
        if (!strstr(err_text, part)) fail_msg("line %d: %s", __LINE__, err_text);        \
        assert_string_equal(out_text, "");                                               \
    } while (0)

/* Twenty rows x, c, y with x and y in other units; c never changes. */
static void write_data(const char *name, double x_unit, double y_unit, int n, bool same)
{
    FILE *f = fopen(scratch_path(&place, name), "w");
    assert_non_null(f);
    fprintf(f, "x,c,y\n");
    for (int i = 0; i < n; i++) {
        int k = same ? 3 : i;
        fprintf(f, "%.17g,3,%.17g\n", x_unit * (sin(2.5 * k) + 0.1),
                y_unit * (cos(2.5 * k) + 0.2 * sin(7.0 * k)));
    }
    assert_int_equal(fclose(f), 0);
}

/* Every command on a model of this data, net and law. */
static void use_all(const char *data, const char *net, const char *law)
{
    RUN_WELL("train %s --target y -o m.safetensors --net '%s' --law %s --mle-epochs 3"
             " --epochs 3 -q --history t.csv",
             data, net, law);
    RUN_WELL("predict m.safetensors %s --draws 24 -o -", data);
    RUN_WELL("eval m.safetensors %s --draws 24 --law gaussian --law %s", data, law);
    RUN_WELL("plan %s --model m.safetensors --data %s --draws 256", law, data);
    RUN_WELL("crossbar m.safetensors %s --reads 24 --law %s --json", data, law);
}

static const char small[] = "dense 4, elu, dense 1";

static int place_make(void **state)
{
    (void)state;
    place = scratch_make();
    write_data("d.csv", 1, 1, 20, false);
    return 0;
}

static int place_remove(void **state)
{
    (void)state;
    scratch_remove(&place);
    return 0;
}

/* A law file of n samples by `value`. */
static void fit_law(const char *name, int n, double (*value)(int))
{
    FILE *f = fopen(scratch_path(&place, "noise.csv"), "w");
    assert_non_null(f);
    for (int i = 0; i < n; i++) fprintf(f, "%.17g\n", value(i));
    assert_int_equal(fclose(f), 0);
    RUN_WELL("fit noise.csv --family empirical -o %s", name);
}

static double two_points(int i) { return i % 2 ? 1 : -1; }
static double few_points(int i) { return sin(3.0 * i) + 0.2 * i; }

static void extreme_laws(void **state)
{
    (void)state;
    static const char *const laws[] = {
        "two.json",          "mtj:B=1e-3,w=1", "ten.json",
        "mtj:B=1e6,w=0.5",   "mtj:B=0.15,w=0", "mtj:B=0.15,w=1",
        "mtj:B=1e-3,w=0.5",  "mtj:B=1e6,w=1",  "ecram:B=1e-3,w=1",
        "ecram:B=1e6,w=0.5", "bimodal:m=0",    "bimodal:m=0.999999"};
    if (!have_program()) skip();
    fit_law("two.json", 100, two_points);
    fit_law("ten.json", 10, few_points);
    if (!strstr(out_text, "are few: the tests have little power"))
        fail_msg("no doubt in: %s", out_text);
    int count = test_long() ? XB_COUNT(laws) : 1;
    for (int i = 0; i < count; i++) {
        use_all("d.csv", small, laws[i]);
        RUN_WELL("sample %s -n 500 -o -", laws[i]);
        RUN_WELL("law %s --quantile 1e-12,0.5 --rule 8 --json", laws[i]);
    }
}

static void repeat(char out[LINE_MAX_LENGTH / 2], const char *layers, int times)
{
    out[0] = '\0';
    for (int i = 0; i < times; i++) strcat(out, layers);
    strcat(out, "dense 1");
}

static void extreme_nets(void **state)
{
    (void)state;
    char net[LINE_MAX_LENGTH / 2];
    if (!have_program()) skip();
    use_all("d.csv", "dense 1, elu, dense 1", "mtj");
    if (SANITIZED) return;
    repeat(net, "dense 3, elu, ", 63);
    use_all("d.csv", net, "mtj");
    if (!test_long()) return;
    use_all("d.csv", "dense 4096, elu, dense 1", "mtj");
    repeat(net, "dense 3, relu, ", 63);
    use_all("d.csv", net, "mtj");
    repeat(net, "dense 3, tanh, ", 63);
    use_all("d.csv", net, "mtj");
}

static void inputs_of_any_size(void **state)
{
    (void)state;
    static const double units[] = {1e300, 1e-300, 1e30, 1e-30, 5e307, 1e-310};
    if (!have_program()) skip();
    int count = test_long() ? XB_COUNT(units) : 1;
    for (int i = 0; i < count; i++) {
        write_data("x.csv", units[i], 1, 20, false);
        use_all("x.csv", small, "mtj");
    }
    /* a column that is tiny still tells: as much as in its own units, to rounding */
    write_data("x.csv", 0x1p-1000, 1, 20, false);
    RUN_WELL("train d.csv --target y -o a.safetensors --net '%s' --epochs 2 -q", small);
    RUN_WELL("train x.csv --target y -o b.safetensors --net '%s' --epochs 2 -q", small);
    static char first[TEXT_MAX];
    RUN_WELL("predict a.safetensors d.csv --draws 8 -o -");
    memcpy(first, out_text, sizeof first);
    RUN_WELL("predict b.safetensors x.csv --draws 8 -o -");
    assert_string_equal(first, out_text);
    write_data("x.csv", 1e300, 1, 20, false);
    RUN_BADLY("standard deviations from", "predict a.safetensors x.csv -o -");
    RUN_BADLY("standard deviations from", "eval a.safetensors x.csv");
    RUN_BADLY("of the net is", "plan mtj --model a.safetensors --data x.csv");
}

static void targets_of_any_size(void **state)
{
    (void)state;
    static const double units[] = {1e30, 1e-30, 1e55, 1e-55};
    static const double beyond[] = {1e300, 1e-300, 1e62, 1e-62};
    if (!have_program()) skip();
    for (int i = 0; i < (test_long() ? XB_COUNT(units) : 0); i++) {
        write_data("y.csv", 1, units[i], 20, false);
        use_all("y.csv", small, "mtj");
    }
    for (int i = 0; i < XB_COUNT(beyond); i++) {
        write_data("y.csv", 1, beyond[i], 20, false);
        RUN_BADLY("use other units",
                  "train y.csv --target y -o no.safetensors --net '%s' -q", small);
    }
    write_data("y.csv", 1, 1e300, 20, false);
    RUN_WELL("train d.csv --target y -o a.safetensors --net '%s' --epochs 2 -q", small);
    RUN_BADLY("in size up to", "eval a.safetensors y.csv --draws 8");
    RUN_BADLY("in size up to", "crossbar a.safetensors y.csv --reads 8");
}

#define TRAIN_WEAK "train %s --target y -o m.safetensors --net 'dense 1' --epochs 2"

static void weak_data_is_told_of(void **state)
{
    (void)state;
    if (!have_program()) skip();
    RUN_WELL(TRAIN_WEAK, "d.csv");
    assert_non_null(strstr(err_text, "left out (the same in every row): c"));
    write_data("w.csv", 1, 0, 20, false);
    RUN_WELL(TRAIN_WEAK, "w.csv");
    assert_non_null(strstr(err_text, "the target is 0 in every row"));
    write_data("w.csv", 1, 1, 20, true); /* duplicates */
    RUN_WELL(TRAIN_WEAK, "w.csv");
    assert_non_null(strstr(err_text, "no column ever changes"));
    use_all("w.csv", small, "mtj");
    write_data("w.csv", 1, 1, 2, false);
    RUN_WELL(TRAIN_WEAK, "w.csv");
    assert_non_null(strstr(out_text, "2 rows are few"));
    RUN_WELL("eval m.safetensors w.csv --draws 8");
    assert_non_null(strstr(out_text, "2 rows: too few to judge"));
    RUN_WELL("crossbar m.safetensors w.csv --reads 8");
    assert_non_null(strstr(out_text, "2 rows: too few to judge"));
    write_data("w.csv", 1, 1, 1, false);
    RUN_BADLY("1 training row: expected 2",
              "train w.csv --target y -o no.safetensors -q");
    RUN_WELL("predict m.safetensors w.csv --draws 8 -o -");
    RUN_WELL("eval m.safetensors w.csv --draws 8 --law gaussian --law mtj");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_planted_nan_stops_and_the_run_can_go_on),
        cmocka_unit_test(a_gradient_too_large_to_square_stops),
        cmocka_unit_test(weights_that_are_lost_are_not_kept),
        cmocka_unit_test(extreme_laws),
        cmocka_unit_test(extreme_nets),
        cmocka_unit_test(inputs_of_any_size),
        cmocka_unit_test(targets_of_any_size),
        cmocka_unit_test(weak_data_is_told_of),
    };
    return cmocka_run_group_tests(tests, place_make, place_remove);
}
