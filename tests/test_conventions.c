/* test_conventions.c: what docs/library.md promises of every header: read from the
 * headers themselves, and shown on the handles, names and callbacks. */
#include "scratch.h"

#include <ctype.h>
#include <dirent.h>

#include "crossbar/array.h"
#include "rule/standard.h"

enum { HEADER_SIZE = 1 << 16 };

static bool starts(const char *p, const char *word)
{
    return strncmp(p, word, strlen(word)) == 0;
}

/* By the header's first comment, the comment above `at`, or an earlier one that speaks of
 * what follows it. */
static bool called_frozen(const char *text, const char *at)
{
    const char *first = strstr(text, "frozen");
    if (first && first < strstr(text, "*/")) return true;
    enum { NEAR = 900 };
    char before[NEAR + 1] = "";
    size_t n = (size_t)(at - text) < NEAR ? (size_t)(at - text) : NEAR;
    memcpy(before, at - n, n);
    before[n] = '\0';
    return strstr(before, "frozen") || strstr(before, "Frozen");
}

/* A struct is an option, which knows its size, or says that it is frozen. */
static void check_structs(const char *file, const char *text)
{
    for (const char *p = text; (p = strstr(p, "typedef struct ")) != NULL; p++) {
        const char *brace = strpbrk(p, "{;");
        if (!brace || *brace == ';') continue;
        const char *field = brace + 1;
        while (isspace((unsigned char)*field)) field++;
        if (!starts(field, "size_t struct_size;") && !called_frozen(text, p))
            fail_msg("%s: %.*s is neither an option nor called frozen", file,
                     (int)(brace - p), p);
    }
}

/* Counts and indexes are int64_t, and no function finds by a bool. */
static void check_functions(const char *file, const char *text)
{
    for (const char *p = text; (p = strstr(p, "XB_API ")) != NULL; p++) {
        const char *end = strchr(p, ';');
        if (!end) continue;
        for (const char *q = p; q < end; q++) {
            bool word = (q[-1] == ' ' || q[-1] == '(') && starts(q, "int ");
            bool found = starts(q, "_find(") && starts(p, "XB_API bool");
            if (word || found) fail_msg("%s: %.*s", file, (int)(end - p), p);
        }
    }
}

static void check_folder(const char *folder, int least)
{
    char *text = malloc(HEADER_SIZE);
    int headers = 0;
    DIR *dir = opendir(folder);
    assert_true(text && dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        char path[512];
        if (!strstr(e->d_name, ".h")) continue;
        headers++;
        snprintf(path, sizeof path, "%s/%.200s", folder, e->d_name);
        scratch_read(path, text, HEADER_SIZE);
        check_structs(e->d_name, text);
        check_functions(e->d_name, text);
    }
    closedir(dir);
    free(text);
    assert_true(headers >= least);
}

static void headers_keep_the_conventions(void **state)
{
    (void)state;
    check_folder(XB_SOURCE_DIR "/include/crossbayes", 25);
    check_folder(XB_SOURCE_DIR "/studies/include/crossbayes", 5);
}

/* The header of all has each of them but json.h. */
static void one_header_has_all(void **state)
{
    (void)state;
    char *text = malloc(HEADER_SIZE);
    int headers = 0;
    assert_non_null(text);
    scratch_read(XB_SOURCE_DIR "/include/crossbayes/crossbayes.h", text, HEADER_SIZE);
    DIR *dir = opendir(XB_SOURCE_DIR "/include/crossbayes");
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        char line[300];
        if (!strstr(e->d_name, ".h")) continue;
        headers++;
        snprintf(line, sizeof line, "#include \"crossbayes/%s\"", e->d_name);
        bool other =
            strcmp(e->d_name, "json.h") == 0 || strcmp(e->d_name, "crossbayes.h") == 0;
        if (!strstr(text, line) && !other) fail_msg("%s is not included", e->d_name);
    }
    closedir(dir);
    free(text);
    assert_true(headers > 20);
}

/* ---- names */

#define ROUND_TRIP(ctx, type, count)                                                     \
    for (int i = 0; i < (count); i++) {                                                  \
        xb_##type back;                                                                  \
        assert_ok(ctx, xb_##type##_parse(ctx, &back, xb_##type##_name((xb_##type)i)));   \
        assert_int_equal(back, i);                                                       \
    }                                                                                    \
    do {                                                                                 \
        xb_##type kept = (xb_##type)1;                                                   \
        assert_int_equal(xb_##type##_parse(ctx, &kept, "nonsense"), XB_E_INPUT);         \
        assert_int_equal(kept, 1);                                                       \
        assert_non_null(strstr(xb_ctx_message(ctx), "'nonsense': expected "));           \
    } while (0)

static void enums_have_names(void **state)
{
    xb_ctx *ctx = *state;
    ROUND_TRIP(ctx, estimator, XB_ESTIMATOR_LOCAL + 1);
    ROUND_TRIP(ctx, stochastic, XB_STOCHASTIC_NONE + 1);
    ROUND_TRIP(ctx, part, XB_PART_TEST + 1);
    ROUND_TRIP(ctx, redraw, XB_REDRAW_OPERATION + 1);
    ROUND_TRIP(ctx, optimiser, XB_OPTIMISER_ADAM + 1);
    ROUND_TRIP(ctx, criterion, XB_CRITERION_BIC + 1);
    ROUND_TRIP(ctx, recurrence_method, XB_RECURRENCE_WHEELER + 1);
    ROUND_TRIP(ctx, composite, XB_COMPOSITE_SMOOTH + 1);
    xb_part part;
    assert_int_equal(xb_part_parse(ctx, &part, "tran"), XB_E_INPUT);
    assert_string_equal(xb_ctx_message(ctx),
                        "unknown part 'tran': expected all, train, validation"
                        " or test; did you mean 'train'?");
}

static void items_are_found(void **state)
{
    xb_ctx *ctx = *state;
    for (int64_t i = 0; i < xb_law_family_count(); i++)
        assert_int_equal(xb_law_family_find(xb_law_family_name(i)), i);
    for (int64_t i = 0; i < xb_array_preset_count(); i++)
        assert_int_equal(xb_array_preset_find(xb_array_preset_name(i)), i);
    for (int64_t i = 0; i < xb_array_effect_count(); i++)
        assert_int_equal(xb_array_effect_find(xb_array_effect_name(i)), i);
    for (int64_t i = 0; i < xb_array_field_count(); i++)
        assert_int_equal(xb_array_field_find(xb_array_field_at(i).key), i);
    xb_law *law = test_law(ctx, "mtj:B=0.2,w=0.4");
    assert_int_equal(xb_law_param_count(law), 2);
    assert_true(xb_law_param_value(law, xb_law_param_find(law, "B")) == 0.2);
    assert_true(xb_law_param_value(law, xb_law_param_find(law, "w")) == 0.4);
    assert_int_equal(xb_law_param_find(law, "A"), -1); /* it follows from the others */
    assert_true(xb_law_number(law, "A") > 0 && isnan(xb_law_number(law, "q")));
    assert_int_equal(xb_law_family_find("cauchy"), -1);
    assert_int_equal(xb_array_preset_find("sram"), -1);
    assert_int_equal(xb_array_effect_find("rust"), -1);
    assert_int_equal(xb_array_field_find("rust"), -1);
    xb_law_destroy(law);
}

/* ---- handles */

static void rules_are_the_same(void **state)
{
    xb_ctx *ctx = *state;
    xb_law *law = test_law(ctx, "ecram");
    xb_rule *rule = NULL, by_value = {0};
    assert_ok(ctx, xb_rule_gauss(ctx, &rule, law, 7, XB_RECURRENCE_STABLE));
    assert_ok(ctx, xb_rule_fill_gauss(ctx, &by_value, law, 7, XB_RECURRENCE_STABLE));
    assert_int_equal(xb_rule_count(rule), 7);
    assert_memory_equal(xb_rule_nodes(rule), by_value.nodes, 7 * sizeof(double));
    assert_memory_equal(xb_rule_weights(rule), by_value.weights, 7 * sizeof(double));
    xb_rule_free(&by_value);
    xb_rule_destroy(rule);
    xb_rule_destroy(NULL);
    rule = NULL;
    assert_int_equal(xb_rule_legendre(ctx, &rule, 0), XB_E_ARGUMENT);
    assert_null(rule);
    xb_status (*const standard[])(xb_ctx *, xb_rule **, int64_t) = {
        xb_rule_legendre, xb_rule_lobatto, xb_rule_laguerre, xb_rule_hermite};
    static const double mass[] = {2, 2, 1, 1};
    for (int i = 0; i < XB_COUNT(standard); i++) {
        double sum = 0;
        assert_ok(ctx, standard[i](ctx, &rule, 5));
        for (int j = 0; j < 5; j++) sum += xb_rule_weights(rule)[j];
        assert_close(sum, mass[i], 1e-13);
        xb_rule_destroy(rule);
    }
    xb_law_destroy(law);
}

static void arrays_change_by_name(void **state)
{
    xb_ctx *ctx = *state;
    xb_array *array = NULL, *copy = NULL, *alone = NULL;
    double value = 0;
    char text[300];
    assert_ok(ctx, xb_array_preset(ctx, &array, "mtj"));
    assert_ok(ctx, xb_array_set(ctx, array, "adc-bits", 6));
    assert_ok(ctx, xb_array_set_name(ctx, array, "mine"));
    assert_ok(ctx, xb_array_set_law(ctx, array, "ecram"));
    xb_array_set_redraw(array, XB_REDRAW_INPUT);
    assert_ok(ctx, xb_array_copy(ctx, &copy, array));
    assert_ok(ctx, xb_array_set(ctx, array, "adc_bits", 7));
    assert_ok(ctx, xb_array_get(ctx, &value, copy, "adc_bits"));
    assert_true(value == 6);
    assert_string_equal(xb_array_name(copy), "mine");
    assert_string_equal(xb_array_law(copy), "ecram");
    assert_int_equal(xb_array_redraw(copy), XB_REDRAW_INPUT);
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(xb_array_set_law(ctx, copy, text), XB_E_ARGUMENT);
    assert_int_equal(xb_array_set_name(ctx, copy, text), XB_E_ARGUMENT);
    assert_string_equal(xb_array_law(copy), "ecram");
    int64_t adc = xb_array_effect_find("adc");
    assert_ok(ctx, xb_array_only(ctx, &alone, array, adc));
    for (int64_t i = 0; i < xb_array_effect_count(); i++)
        assert_int_equal(xb_array_has_effect(alone, i), i == adc);
    xb_array_destroy(array);
    xb_array_destroy(copy);
    xb_array_destroy(alone);
    array = NULL;
    assert_int_equal(xb_array_parse(ctx, &array, "mjt"), XB_E_INPUT);
    assert_null(array);
}

static void a_fit_is_read_by_functions(void **state)
{
    enum { N = 2000 };
    xb_ctx *ctx = *state;
    double *x = NULL;
    xb_fit *fit = NULL;
    assert_ok(ctx, xb_builtin_noise(ctx, &x, N, 1));
    assert_ok(ctx, xb_fit_run(ctx, &fit, x, N, NULL));
    int64_t mtj = xb_fit_family_find(fit, "mtj");
    const xb_fit_family *f = xb_fit_family_at(fit, mtj);
    assert_int_equal(xb_fit_family_find(fit, "cauchy"), -1);
    assert_string_equal(xb_fit_family_name(f), "mtj");
    assert_int_equal(xb_fit_family_param_count(f), 4);
    int64_t b = xb_fit_family_param_find(f, "B");
    assert_string_equal(xb_fit_family_param_name(f, b), "B");
    assert_true(fabs(xb_fit_family_param_value(f, b) - 0.15) <
                5 * xb_fit_family_param_error(f, b));
    assert_int_equal(xb_fit_family_param_find(f, "m"), -1);
    assert_true(xb_fit_family_converged(f) && xb_fit_family_iterations(f) > 0);
    assert_true(xb_fit_family_gradient_norm(f) < 1e-6);
    /* (F5) the criteria are of the same likelihood */
    double k = (double)xb_fit_family_free_count(f);
    const xb_fit_sample *s = xb_fit_sample_info(fit);
    double n = xb_fit_sample_effective(s), count = (double)xb_fit_sample_count(s);
    double deviance = -2 * xb_fit_family_log_likelihood(f) * n / count;
    assert_close(xb_fit_family_aic(f), deviance + 2 * k, 1e-12);
    assert_close(xb_fit_family_bic(f), deviance + k * log(n), 1e-12);
    assert_true(xb_fit_sample_min(s) < xb_fit_sample_mean(s));
    assert_true(xb_fit_sample_mean(s) < xb_fit_sample_max(s));
    assert_int_equal(xb_fit_sample_distinct(s), N);
    assert_close(n, fmin(count, count / xb_fit_sample_tau(s)), 1e-12);
    xb_fit_destroy(fit);
    xb_free(x);
}

/* ---- callbacks */

static bool stop_at_once(void *arg, xb_real *dy, const xb_real *y, int64_t batch)
{
    (void)y;
    for (int64_t i = 0; i < batch; i++) dy[i] = 0;
    ++*(int *)arg;
    return false;
}

/* A small dense net takes a way of its own: both. */
static void a_loss_can_stop(void **state)
{
    xb_ctx *ctx = *state;
    static const char *const nets[] = {"dense 3, elu, dense 1",
                                       "conv 2, relu, flatten, dense 1"};
    for (int i = 0; i < 2; i++) {
        xb_net *net = NULL;
        xb_pass *pass = NULL;
        int calls = 0;
        const xb_shape shape = i ? (xb_shape){4, 4, 1} : (xb_shape){1, 1, 2};
        assert_ok(ctx, xb_net_parse(ctx, &net, nets[i], shape, NULL));
        assert_ok(ctx, xb_pass_create(ctx, &pass, net, NULL));
        int64_t n = xb_net_param_count(net);
        float *room = calloc((size_t)(4 * n + 64), sizeof *room);
        assert_non_null(room);
        const xb_weights w = {room, room + n, NULL, NULL};
        const xb_gradient g = {room + 2 * n, room + 3 * n, NULL};
        assert_int_equal(xb_pass_step(ctx, pass, &g, true, room + 4 * n, 2, &w, NULL,
                                      stop_at_once, &calls),
                         XB_E_CANCELLED);
        assert_string_equal(xb_ctx_message(ctx), "the loss function asked to stop");
        assert_int_equal(calls, 1);
        free(room);
        xb_pass_destroy(pass);
        xb_net_destroy(net);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_keep_the_conventions),
        cmocka_unit_test(one_header_has_all),
        cmocka_unit_test(enums_have_names),
        cmocka_unit_test(items_are_found),
        cmocka_unit_test(rules_are_the_same),
        cmocka_unit_test(arrays_change_by_name),
        cmocka_unit_test(a_fit_is_read_by_functions),
        cmocka_unit_test(a_loss_can_stop),
    };
    return cmocka_run_group_tests(tests, make_ctx, free_ctx);
}
