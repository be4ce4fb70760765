/* test_cli.c: the program as users meet it: bad input, wrong usage, JSON with golden
 * numbers, same bytes for any number of threads, full disks and signals. Its words are
 * in test_cli_words.c. */
#include "clitest.h"

/* ---- bad input */

/* NPY that promises 1000 doubles and holds none; and one cut in its header. */
static void make_npy(void)
{
    static const char magic[] = "\x93NUMPY\x01\x00\x76\x00";
    static const char header[] =
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000,), }";
    char npy[128];
    memset(npy, ' ', sizeof npy);
    memcpy(npy, magic, sizeof magic - 1);
    memcpy(npy + sizeof magic - 1, header, sizeof header - 1);
    npy[sizeof npy - 1] = '\n';
    make_file("short.npy", npy, sizeof npy);
    make_file("cut.npy", npy, 40);
}

static void make_bad_files(void)
{
    make_text("empty.csv", "");
    make_text("blank.csv", "\n\n  \n");
    make_text("text.csv", "x\n1.5\n2.5\nabc\n3.5\n4\n5\n6\n7\n8\n9\n");
    make_text("nan.csv", "x\n1\n2\nnan\n4\n5\n6\n7\n8\n9\n10\n");
    make_text("inf.csv", "x\n1\n2\n3\ninf\n5\n6\n7\n8\n9\n10\n");
    make_text("one.csv", "x\n3\n3\n3\n3\n3\n3\n3\n3\n3\n3\n3\n3\n3\n3\n3\n3\n");
    make_text("three.csv", "x\n1\n2\n4\n");
    make_text("two.csv", "x,y\n1,2\n2,3\n3,4\n4,5\n5,6\n6,7\n7,8\n8,9\n9,1\n1,0\n");
    unsigned char binary[4096];
    for (size_t i = 0; i < sizeof binary; i++) binary[i] = (unsigned char)(i * 167 + 13);
    make_file("binary.csv", binary, sizeof binary);
    make_npy();
    char path[512];
    in_folder(path, "dir.csv");
    assert_int_equal(mkdir(path, 0700), 0);
    make_text("negative.json", "{\"crossbayes\": \"law\", \"family\": \"mtj\", "
                               "\"A\": -1, \"B\": 0.15, \"C\": 0.375}");
    make_text("unknown.json", "{\"crossbayes\": \"law\", \"family\": \"mtj\", "
                              "\"B\": 0.15, \"w\": 0.5, \"colour\": 3}");
    make_text("broken.json", "{\"crossbayes\": \"law\",\n \"family\": ");
    make_text("array.json", "[1, 2]");
}

static void bad_input_is_one_line(void **state)
{
    (void)state;
    folder_empty(folder);
    make_bad_files();
    run_badly("fit missing.csv -o law.json", "missing.csv");
    run_badly("fit empty.csv -o law.json --figure f", "empty.csv");
    run_badly("fit blank.csv -o law.json", "blank.csv");
    run_badly("fit text.csv -o law.json --figure f", "text.csv:4");
    run_badly("fit nan.csv -o law.json", "nan.csv:4");
    run_badly("fit inf.csv -o law.json", "inf.csv:5");
    run_badly("fit one.csv -o law.json --figure f", "distinct");
    run_badly("fit three.csv -o law.json --figure f", "3 ");
    run_badly("fit two.csv -o law.json", "column");
    run_badly("fit two.csv --column z -o law.json", "'z'");
    run_badly("fit two.csv --column 3 -o law.json", "3");
    run_badly("fit binary.csv -o law.json", "binary.csv");
    run_badly("fit dir.csv -o law.json", "directory");
    run_badly("fit short.npy -o law.json", "short.npy");
    run_badly("fit cut.npy -o law.json", "cut.npy");
    run_badly("law negative.json", "A = -1");
    run_badly("law unknown.json", "'colour'");
    run_badly("law broken.json", "broken.json:2");
    run_badly("law array.json", "array.json");
    run_badly("law dir.csv", "directory");
    run_badly("law mtj:B=-1", "B = -1");
    run_badly("law mtj:B=x", "'x'");
    run_badly("law mtj:Q=1", "'Q'");
    run_badly("law mtj:w=2", "w = 2");
    run_badly("law empirical", "samples");
    run_badly("sample negative.json -n 10 -o z.npy", "A = -1");
    run_badly("study laws --noise text.csv -o d", "text.csv:4");
    run_badly("study laws --noise three.csv -o d", "3 ");
    run_badly("study quadrature --device nonsense -o d", "nonsense");
    run_badly("demo --noise nan.csv -o d", "nan.csv:4");
    run_badly("demo --noise three.csv -o d", "3 ");
    run_badly("reproduce --data nowhere --only 6 -o d", "nowhere");
}

/* ---- usage */

static void wrong_usage_is_one_line(void **state)
{
    (void)state;
    folder_empty(folder);
    run_badly("lwa", "did you mean 'law'");
    run_badly("zzzzzz", "unknown command 'zzzzzz'");
    run_badly("--verson", "unknown option '--verson'");
    run_badly("law", "crossbayes law: an argument is missing");
    run_badly("law gaussian mtj", "unexpected argument 'mtj'");
    run_badly("law gaussian --qantile 0.5", "did you mean '--quantile'");
    run_badly("law gaussian --xyzzy", "unknown option '--xyzzy'");
    run_badly("law gaussian -x", "unknown option '-x'");
    run_badly("law gaussian --quantile", "--quantile needs a value");
    run_badly("law gaussian --quantile --json", "--quantile needs a value");
    run_badly("law gaussian --quantile 0.5,x", "'x' is not a probability");
    run_badly("law gaussian --quantile 1.5", "'1.5' is not a probability");
    run_badly("law gaussian --cdf 1,,2", "'' is not a number");
    run_badly("law gaussian --pdf abc", "--pdf: 'abc' is not a number");
    run_badly("law gaussian --rule 2.5", "'2.5' is not a whole number");
    run_badly("law gaussian --rule 0", "out of range");
    run_badly("law gaussian --rule 99999", "out of range");
    run_badly("law gaussian --json --json", "--json is given twice");
    run_badly("law gaussian --json=1", "--json takes no value");
    run_badly("law gaussian --threads -1", "'-1' is not a whole number");
    run_badly("law gaussian --seed=", "is not a whole number");
    run_badly("sample mtj -n 10", "-o FILE");
    run_badly("sample mtj -o z.npy", "-n N");
    run_badly("sample mtj -n 10 -o z.txt", "z.txt");
    run_badly("sample mtj -n 10 -n 10 -o z.npy", "-n is given twice");
    run_badly("sample mtj -n many -o z.npy", "'many' is not a whole number");
    run_badly("sample mtj -n 1e12 -o z.npy", "out of range");
    run_badly("sample mtj -n 10 -o z.npy --dtype f2", "'f2' is not one of f4|f8");
    run_badly("fit x.csv --scale -3", "out of range");
    run_badly("fit x.csv --family normal", "'normal' is not one of");
    run_badly("fit x.csv --optimizer sgd", "'sgd' is not one of newton|adam");
    run_badly("study lwas", "did you mean 'laws'");
    run_badly("study laws --format svg,gif", "'gif' is not one of");
    run_badly("study quadrature --noise x.csv", "--noise");
    run_badly("study laws --column x", "--noise");
    run_badly("study laws --widths 1,2", "energy|narrow");
    run_badly("study energy --widths 1.5", "1.5 is not a whole number");
    run_badly("study energy --depths 0", "0 is not a whole number");
    run_badly("study narrow --widths 2,2", "width 2 is there twice");
    run_badly("study energy --quick --full", "not both");
    run_badly("study energy --law nonsense", "nonsense");
}

static void options_have_many_forms(void **state)
{
    (void)state;
    run_well("law mtj --quantile 0.25 --json");
    char *plain = strdup(out_text);
    run_well("law --quantile=0.25 --json mtj");
    assert_string_equal(out_text, plain);
    run_well("law --json --quantile=0.25 -- mtj");
    assert_string_equal(out_text, plain);
    free(plain);
    run_well("law mtj --cdf -0.5,-.25 --json"); /* a value that starts with a dash */
    assert_non_null(strstr(out_text, "\"cdf\""));
    run_well("sample mtj -n3 -o-");
    plain = strdup(out_text);
    run_well("sample mtj --count 3 --output -");
    assert_string_equal(out_text, plain);
    run_well("sample mtj -qn3 -o - --seed=1");
    assert_string_equal(out_text, plain);
    run_well("sample mtj -n 3 -o - --seed 2");
    assert_string_not_equal(out_text, plain);
    free(plain);
    run_badly("law -- --json", "--json");
    run_well("--version");
    assert_string_equal(out_text, "crossbayes " XB_VERSION_STRING "\n");
}

static void fit_leaves_its_files(void **state)
{
    (void)state;
    folder_empty(folder);
    run_well("sample mtj:B=0.15,w=0.5 -n 1e5 -o noise.csv");
    run_well("fit noise.csv -o law.json --figure noise");
    char path[512];
    static const char *const files[] = {"noise.csv", "law.json", "noise.svg", "noise.gp",
                                        "noise.dat"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        in_folder(path, files[i]);
        assert_int_equal(access(path, R_OK), 0);
    }
    assert_int_equal(folder_count(folder), 5); /* and nothing temporary */
    json_t *law = run_json("law law.json --json");
    assert_string_equal(words(law, "family"), "mtj");
    /* ten standard errors: SPEC 2 gives 0.005 and 0.002 at this n */
    assert_close(number(law, "w"), 0.5, 0.1);
    assert_close(number(law, "B"), 0.15, 0.13);
    json_decref(law);
    law = run_json("fit noise.csv --family gaussian --json");
    assert_string_equal(words(law, "family"), "gaussian");
    assert_non_null(json_object_get(law, "provenance"));
    json_decref(law);
}

/* ---- law --json */

/* Golden values: mpmath, 60 digits. */
static void law_json_is_golden(void **state)
{
    (void)state;
    json_t *root = run_json("law mtj:B=0.15,w=0.5 --json --quantile 1e-12,0.25,1-1e-12"
                            " --cdf -0.999999,0.3 --pdf -0.99 --rule 4");
    assert_string_equal(words(root, "family"), "mtj");
    assert_close(number(root, "A"), 1.6830883223541226194786613312277, 1e-14);
    assert_close(number(root, "B"), 0.15, 0);
    assert_close(number(root, "C"), 0.375, 0);
    assert_close(number(root, "w"), 0.5, 0);
    assert_close_floor(number(root, "mean"), 0, 1e-15, 1);
    assert_close(number(root, "variance"), 0.12042944341332077116718328142491, 1e-14);
    assert_close_floor(number(root, "skewness"), 0, 1e-14, 1);
    assert_close(number(root, "excess_kurtosis"), 0.23194603267647179928320687, 1e-12);
    assert_close(number(root, "entropy"), 0.31248727231764884016675866275791, 1e-13);
    assert_close(number(root, "kl_gaussian"), 0.048105646196122854575850954752, 1e-12);
    static const char *const nulls[] = {"m", "s"};
    for (int i = 0; i < 2; i++)
        assert_true(json_is_null(json_object_get(root, nulls[i])));
    const json_t *support = json_object_get(root, "support");
    assert_close(json_number_value(json_array_get(support, 0)), -1, 0);
    assert_close(json_number_value(json_array_get(support, 1)), 1, 0);
    assert_close(number(root, "offset"), 0, 0);
    assert_close(number(root, "scale"), 1, 0);
    assert_string_equal(words(root, "unit"), "");
    assert_string_equal(words(root, "text"), "mtj:B=0.15,w=0.5");

    const json_t *q = json_object_get(root, "quantile");
    assert_int_equal(json_array_size(q), 3);
    const double edge = 1.6176662910342601896128688428419e-6;
    assert_close(number(json_array_get(q, 0), "u"), 1e-12, 0);
    assert_close(number(json_array_get(q, 0), "x"), -0.999998382333708965739810387,
                 1e-15);
    assert_close(number(json_array_get(q, 0), "x_from_edge"), edge, 1e-13);
    assert_close(number(json_array_get(q, 1), "x"), -0.188430318999055148903345, 1e-14);
    assert_close(number(json_array_get(q, 1), "x_from_edge"), 0.811569681000944851,
                 1e-14);
    assert_close(number(json_array_get(q, 2), "x"), 0.999998382333708965739810387, 1e-15);
    assert_close(number(json_array_get(q, 2), "x_from_edge"), edge, 1e-13);
    const json_t *cdf = json_object_get(root, "cdf");
    assert_close(number(json_array_get(cdf, 0), "x"), -0.999999, 0);
    /* x rounds by 1e-17, 1e-11 of its distance to the edge, twice that in the mass */
    assert_close(number(json_array_get(cdf, 0), "value"), 3.8213974116525433399e-13,
                 1e-9);
    assert_close(number(json_array_get(cdf, 1), "value"), 0.82677847660351337216, 1e-13);
    const json_t *pdf = json_object_get(root, "pdf");
    assert_close(number(json_array_get(pdf, 0), "value"), 0.00761016446843248626, 1e-13);
    const json_t *rule = json_object_get(root, "rule");
    const json_t *nodes = json_object_get(rule, "nodes");
    const json_t *weights = json_object_get(rule, "weights");
    assert_int_equal(json_array_size(nodes), 4);
    assert_int_equal(json_array_size(weights), 4);
    assert_close(json_number_value(json_array_get(nodes, 0)), -0.747962687904667112525,
                 1e-14);
    assert_close(json_number_value(json_array_get(nodes, 2)), 0.216091993957259585438,
                 1e-14);
    assert_close(json_number_value(json_array_get(weights, 3)), 0.0718998963891057671055,
                 2e-12);
    json_decref(root);
}

static void law_json_of_the_real_line(void **state)
{
    (void)state;
    json_t *root = run_json("law gaussian --json --quantile 0,0.5,1-1e-20");
    static const char *const nulls[] = {"A", "B", "C", "w"};
    for (int i = 0; i < 4; i++)
        assert_true(json_is_null(json_object_get(root, nulls[i])));
    assert_true(json_is_null(json_array_get(json_object_get(root, "support"), 0)));
    assert_null(json_object_get(root, "cdf"));
    const json_t *q = json_object_get(root, "quantile");
    assert_true(json_is_null(json_object_get(json_array_get(q, 0), "x")));
    assert_true(json_is_null(json_object_get(json_array_get(q, 1), "x_from_edge")));
    assert_close(number(json_array_get(q, 2), "x"), 9.2623400897984075796, 1e-14);
    assert_close(number(json_array_get(q, 2), "one_minus_u"), 1e-20, 0);
    json_decref(root);
    root = run_json("law bimodal:m=0.6 --json");
    assert_close(number(root, "m"), 0.6, 0);
    assert_close(number(root, "s"), 0.8, 1e-15);
    json_decref(root);
}

/* ---- sample */

static size_t sample_bytes(char *out, size_t size, const char *options)
{
    char line[256], path[512];
    snprintf(line, sizeof line, "sample mtj -o z.npy %s", options);
    run_well(line);
    in_folder(path, "z.npy");
    return read_file(out, size, path);
}

static void sample_is_the_same_for_any_threads(void **state)
{
    (void)state;
    folder_empty(folder);
    size_t size = 1 << 20;
    char *first = malloc(size), *other = malloc(size);
    static const char *const dtypes[] = {"f4", "f8"};
    for (int t = 0; t < 2; t++) {
        size_t n = 0;
        static const int threads[] = {1, 2, 3, 8};
        for (int i = 0; i < 4; i++) {
            char options[80];
            snprintf(options, sizeof options, "-n 100001 --dtype %s --threads %d",
                     dtypes[t], threads[i]);
            size_t m = sample_bytes(i ? other : first, size, options);
            if (i == 0) n = m;
            assert_int_equal(m, n);
            if (i > 0) assert_memory_equal(first, other, n);
        }
        assert_int_equal(n, 128 + 100001u * (t ? 8 : 4));
    }
    /* fewer draws are the first of many */
    sample_bytes(first, size, "-n 1000");
    sample_bytes(other, size, "-n 5000");
    assert_memory_equal(first + 128, other + 128, 4000);
    sample_bytes(other, size, "-n 1000 --seed 2");
    assert_true(memcmp(first + 128, other + 128, 4000) != 0);
    free(first);
    free(other);
}

/* More draws than the program takes at a time are the library's, one by one. */
static void sample_is_the_librarys(void **state)
{
    (void)state;
    enum { N = (1 << 20) + 12345, HEADER = 128 };
    folder_empty(folder);
    xb_ctx *ctx = test_ctx();
    xb_law *law = test_law(ctx, "mtj");
    xb_sampler *sampler = NULL;
    const xb_sampler_options own_support = {.standardise = false};
    assert_ok(ctx, xb_sampler_create(ctx, &sampler, law, &own_support));
    xb_stream where = {xb_key_make(7, XB_PURPOSE_SAMPLE), 0, 0, 0};
    size_t size = HEADER + N * sizeof(double) + 1;
    char *bytes = malloc(size), options[80];
    double *d = malloc(N * sizeof *d);
    float *f = malloc(N * sizeof *f);
    xb_sampler_fill_double(sampler, d, N, &where, 0);
    xb_sampler_fill(sampler, f, N, &where, 0);
    snprintf(options, sizeof options, "-n %d --seed 7 --dtype f8", N);
    assert_int_equal(sample_bytes(bytes, size, options), HEADER + N * sizeof *d);
    assert_memory_equal(bytes + HEADER, d, N * sizeof *d);
    snprintf(options, sizeof options, "-n %d --seed 7", N);
    assert_int_equal(sample_bytes(bytes, size, options), HEADER + N * sizeof *f);
    assert_memory_equal(bytes + HEADER, f, N * sizeof *f);
    free(bytes);
    free(d);
    free(f);
    xb_sampler_destroy(sampler);
    xb_law_destroy(law);
    xb_ctx_destroy(ctx);
}

static void sample_standardises(void **state)
{
    (void)state;
    folder_empty(folder);
    json_t *root = run_json("sample mtj -n 1e5 -o z.npy --standardise --json");
    assert_close(number(root, "law_sd"), 1, 0);
    assert_close(number(root, "sd"), 1, 0.012); /* five standard errors */
    assert_close(number(root, "n"), 100000, 0);
    json_decref(root);
    root = run_json("sample mtj -n 1e5 -o z.csv --json");
    assert_close(number(root, "law_sd"), 0.34702945611766268502772106754099, 1e-14);
    assert_close(number(root, "sd"), 0.34702945611766268502772106754099, 0.012);
    assert_at_most(fabs(number(root, "mean")), 0.0055);
    json_decref(root);
}

/* ---- the outside world */

static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0) skip();
    char law[] = "law", mtj[] = "mtj", *args[] = {law, mtj, NULL};
    assert_int_equal(finish(start(args, "/dev/full")), 1);
    assert_non_null(strstr(err_text, "standard output"));
    char *nothing[] = {NULL};
    assert_int_equal(finish(start(nothing, "/dev/full")), 1);
}

static void unwritable_places_are_errors(void **state)
{
    (void)state;
    folder_empty(folder);
    assert_int_equal(run("sample mtj -n 10 -o no/such/dir/z.npy"), 1);
    assert_non_null(strstr(err_text, "no/such/dir/z.npy"));
    assert_int_equal(run("sample mtj -n 10 -o no/such/dir/z.csv"), 1);
    assert_non_null(strstr(err_text, "no/such/dir/z.csv"));
    assert_int_equal(folder_count(folder), 0);
}

/* A signal in the middle: exit 1, nothing left behind. */
static void a_signal_stops_cleanly(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM};
    for (int i = 0; i < 2; i++) {
        folder_empty(folder);
        char sample[] = "sample", mtj[] = "mtj", n[] = "-n", many[] = "1e9", o[] = "-o",
             file[] = "z.csv", *args[] = {sample, mtj, n, many, o, file, NULL};
        pid_t pid = start(args, NULL);
        for (int wait = 0; wait < 500 && folder_count(folder) == 0; wait++) usleep(10000);
        assert_int_equal(kill(pid, signals[i]), 0);
        assert_int_equal(finish(pid), 1);
        assert_non_null(strstr(err_text, "stopped on request"));
        assert_int_equal(folder_count(folder), 0);
    }
}

/* ---- train, predict, eval */

static bool same_files(const char *a, const char *b)
{
    char path[512];
    static char first[1 << 16], second[1 << 16];
    in_folder(path, a);
    size_t n = read_file(first, sizeof first, path);
    in_folder(path, b);
    return n == read_file(second, sizeof second, path) && memcmp(first, second, n) == 0;
}

#define QUICK " --epochs 60 --mle-epochs 60 --rate 0.01 "

static void a_model_predicts_and_is_scored(void **state)
{
    (void)state;
    static const char *const keys[] = {"rmse",       "mae",         "nll",
                                       "crps",       "coverage95",  "miscalibration_area",
                                       "rmse_error", "nll_mc_error"};
    folder_empty(folder);
    make_line("line.csv", 200);
    run_badly("train line.csv --target y -o m.safetensors", "minus");
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    json_t *root = run_json("train xy.csv --target y -o m.safetensors --trace t.csv"
                            " --gradient-noise --json" QUICK);
    assert_close(number(root, "noise_sd"), 1 / sqrt(12), 0.2);
    const json_t *noise = json_object_get(root, "gradient_noise");
    assert_int_equal(json_array_size(noise), 8);
    assert_string_equal(words(json_array_get(noise, 6), "estimator"), "local");
    assert_true(number(json_array_get(noise, 6), "variance_mean") <
                number(json_array_get(noise, 0), "variance_mean"));
    json_decref(root);
    assert_int_equal(folder_count(folder), 4); /* no checkpoint is left */
    run_well("predict m.safetensors xy.csv -o p.csv --samples auto");
    root = run_json("eval m.safetensors xy.csv --law gaussian --law mtj --json");
    assert_int_equal(json_array_size(root), 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *law = json_array_get(root, i);
        assert_int_equal((int)number(law, "n"), 200);
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            assert_true(isfinite(number(law, keys[k])));
        assert_close(number(law, "rmse"), 1 / sqrt(12), 0.2);
    }
    assert_string_equal(words(json_array_get(root, 1), "law"), "mtj:B=0.15,w=0.5");
    assert_non_null(json_object_get(json_array_get(root, 1), "distance"));
    json_decref(root);
    run_well("eval m.safetensors xy.csv --law gaussian --law mtj --law bimodal");
    assert_non_null(strstr(out_text, "bimodal:m=0.9"));
}

static void classes_are_learned_from_text(void **state)
{
    (void)state;
    folder_empty(folder);
    make_line("line.csv", 100);
    run_well("train line.csv -t sign -o m.safetensors -q" QUICK);
    run_well("predict m.safetensors line.csv -o p.csv");
    char path[512], text[256];
    in_folder(path, "p.csv");
    read_file(text, sizeof text, path);
    assert_memory_equal(text, "class,p_minus,p_plus,entropy,information\nminus,", 47);
    json_t *root = run_json("eval m.safetensors line.csv --json");
    assert_true(number(json_array_get(root, 0), "accuracy") > 0.95);
    json_decref(root);
}

/* One weight: a bimodal law shows in the outputs, hardly behind the data's noise. */
static void eval_sees_shape(void **state)
{
    (void)state;
    folder_empty(folder);
    make_line("line.csv", 200);
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    run_well("train xy.csv -t y -o m.safetensors -q --net 'dense 1'" QUICK);
    json_t *root = run_json("eval m.safetensors xy.csv --law gaussian --json"
                            " --law bimodal:m=0.99 --law gaussian --samples 2000");
    json_t *distance = json_object_get(json_array_get(root, 1), "distance");
    assert_string_equal(words(distance, "verdict"), "different");
    assert_string_equal(words(json_object_get(distance, "whole"), "verdict"),
                        "different");
    assert_int_equal((int)number(distance, "points"), 200);
    assert_string_not_equal(words(json_object_get(distance, "predictive"), "verdict"),
                            "different");
    distance = json_object_get(json_array_get(root, 2), "distance");
    assert_string_equal(words(distance, "verdict"), "same"); /* as with itself */
    json_decref(root);
    run_well("eval m.safetensors xy.csv --law gaussian --law mtj --samples 2");
    assert_non_null(strstr(out_text, "mtj:B=0.15,w=0.5: unresolved"));
    assert_non_null(strstr(out_text, "fewer than 20 draws cannot tell"));
    assert_null(strstr(out_text, "nan"));
}

/* auto takes more draws where the laws are harder to tell apart. */
static void eval_takes_as_many_draws_as_needed(void **state)
{
    (void)state;
    folder_empty(folder);
    make_line("line.csv", 20);
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    run_well("train xy.csv -t y -o m.safetensors -q --net 'dense 1'" QUICK);
    static const char *const tolerance[] = {"1", "0.105"};
    double draws[2];
    for (int i = 0; i < 2; i++) {
        char line[256];
        snprintf(line, sizeof line,
                 "eval m.safetensors xy.csv --law gaussian --law mtj --samples auto"
                 " --tolerance %s --json",
                 tolerance[i]);
        json_t *root = run_json(line);
        json_t *law = json_array_get(root, 1);
        draws[i] = number(law, "draws");
        assert_string_not_equal(words(json_object_get(law, "distance"), "verdict"),
                                "different"); /* 0.099 is the truth */
        json_decref(root);
    }
    assert_true(draws[0] == 1000 && draws[1] > 1000);
}

/* Every class of every row that is compared. */
static void eval_compares_all_classes(void **state)
{
    (void)state;
    folder_empty(folder);
    make_line("line.csv", 60);
    run_shell("awk -F, 'NR==1 {print \"x,c\"} NR>1 {print $1 \",c\" NR%3}' line.csv"
              " > three.csv");
    run_well("train three.csv -t c -o m.safetensors -q" QUICK);
    json_t *root = run_json("eval m.safetensors three.csv --law gaussian --law bimodal"
                            " --samples 100 --json");
    const json_t *distance = json_object_get(json_array_get(root, 1), "distance");
    assert_int_equal((int)number(distance, "rows"), 60);
    assert_int_equal((int)number(distance, "points"), 180);
    assert_true(number(distance, "probability_gap") > 0);
    json_decref(root);
}

static void eval_stops_on_request(void **state)
{
    (void)state;
    folder_empty(folder);
    make_line("line.csv", 1000);
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    run_well("train xy.csv -t y -o m.safetensors -q --epochs 1 --mle-epochs 1");
    pid_t pid = start_line("eval m.safetensors xy.csv --samples 1000000");
    usleep(300000);
    assert_int_equal(kill(pid, SIGINT), 0);
    assert_int_equal(finish(pid), 1);
    assert_non_null(strstr(err_text, "stopped on request"));
}

static void training_is_the_same_for_any_threads(void **state)
{
    (void)state;
    folder_empty(folder);
    make_line("line.csv", 100);
    run_well("train line.csv -t sign -o a.safetensors -q --threads 1" QUICK);
    run_well("predict a.safetensors line.csv -o a.csv --threads 1");
    run_well("predict a.safetensors line.csv -o b.csv --threads 3");
    assert_true(same_files("a.csv", "b.csv"));
}

/* Ended by SIGKILL or asked to stop, then resumed: the predictions of a whole run. */
static void training_survives_its_end(void **state)
{
    (void)state;
    folder_empty(folder);
    make_line("line.csv", 100);
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    run_well("train xy.csv -t y -o whole.safetensors -q --epochs 3000");
    static const char line[] = "train xy.csv -t y -o m.safetensors -q --epochs 3000"
                               " --resume --checkpoint-seconds 0.01";
    char path[512];
    in_folder(path, "m.safetensors.checkpoint");
    for (int i = 0; i < 2; i++) {
        pid_t pid = start_line(line);
        for (int wait = 0; wait < 500 && access(path, R_OK) != 0; wait++) usleep(2000);
        assert_int_equal(kill(pid, i == 0 ? SIGKILL : SIGINT), 0);
        int status = 0;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(access(path, R_OK), 0);
    }
    assert_int_equal(finish(start_line(line)), 0);
    run_well("predict whole.safetensors xy.csv -o a.csv");
    run_well("predict m.safetensors xy.csv -o b.csv");
    assert_true(same_files("a.csv", "b.csv"));
}

/* Of the trace t.csv, by epoch of the second phase. */
static double trace_cell(int epoch, const char *column)
{
    static char text[1 << 16];
    char path[512], start[32];
    in_folder(path, "t.csv");
    text[read_file(text, sizeof text - 1, path)] = '\0';
    snprintf(start, sizeof start, "\n2,%d,", epoch);
    const char *head = strstr(text, column), *row = strstr(text, start);
    assert_true(head && row);
    int commas = 0;
    for (const char *p = text; p < head; p++) commas += *p == ',';
    for (row++; commas > 0; commas--) row = strchr(row, ',') + 1;
    return strtod(row, NULL);
}

/* With rows held out the summary is that of the epoch kept, whose weights are in the
 * file, per row learnt from; without, that of the last. */
static void the_epoch_kept_is_told(void **state)
{
    (void)state;
    folder_empty(folder);
    make_line("line.csv", 100);
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    json_t *root = run_json("train xy.csv -t y -o m.safetensors --json --trace t.csv"
                            " --validation 0.3 --rate 0.1 --epochs 100 --mle-epochs 5");
    double best = -INFINITY, sigma = NAN;
    int epoch = 0;
    for (int i = 1; i <= 100; i++) {
        double score = trace_cell(i, "validation");
        if (!(score > best)) continue;
        best = score;
        epoch = i;
        sigma = trace_cell(i, "sigma_median");
    }
    assert_in_range(epoch, 1, 99); /* the last would prove nothing */
    assert_int_equal((int)number(root, "epoch_kept"), epoch);
    assert_close(number(root, "validation"), best, 1e-12);
    assert_close(number(root, "sigma_median"), sigma, 1e-12);
    assert_true(number(root, "f_error") > 0);
    json_decref(root);
    run_well("train xy.csv -t y -o m.safetensors --validation 0.3 --epochs 9");
    assert_non_null(strstr(out_text, "y from 70 rows"));
    assert_non_null(strstr(out_text, " of 9, the best by 30 rows held out"));
    run_well("train xy.csv -t y -o m.safetensors --epochs 9");
    assert_null(strstr(out_text, "kept"));
}

/* Of one and two hidden layers the one of less F is kept, by rows held out the one that
 * scores better there; a net that is asked for is the only one. */
static void the_better_net_is_kept(void **state)
{
    (void)state;
    folder_empty(folder);
    make_line("line.csv", 100);
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    json_t *root = run_json("train xy.csv -t y -o m.safetensors --json" QUICK);
    const json_t *left = json_object_get(root, "net_left");
    assert_string_not_equal(words(root, "net"), words(left, "net"));
    assert_true(number(root, "f") < number(left, "f"));
    json_decref(root);
    root = run_json("train xy.csv -t y -o m.safetensors --json --validation 0.3" QUICK);
    left = json_object_get(root, "net_left");
    assert_true(number(root, "validation") > number(left, "validation"));
    json_decref(root);
    root =
        run_json("train xy.csv -t y -o m.safetensors --json --epochs 1 --net 'dense 1'");
    assert_null(json_object_get(root, "net_left"));
    json_decref(root);
}

/* Places that cannot be written, or hold what is read, are named before the work. */
static void outputs_are_checked_first(void **state)
{
    (void)state;
    folder_empty(folder);
    make_line("line.csv", 50);
    run_shell("cut -d, -f1,2 line.csv > xy.csv; ln -s xy.csv link.csv");
    static const char *const lost[] = {
        "train xy.csv -t y -o xy.csv", "train xy.csv -t y -o link.csv",
        "train xy.csv -t y -o m.st --trace xy.csv", "train xy.csv -t y -o m --trace m"};
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++)
        run_badly(lost[i], "would be lost");
    assert_int_equal(run("train xy.csv -t y -o no/m.safetensors --epochs 1000000"), 1);
    assert_non_null(strstr(err_text, "no/m.safetensors: cannot write"));
    assert_int_equal(run("train xy.csv -t y -o m --trace no/t --epochs 1000000"), 1);
    assert_non_null(strstr(err_text, "no/t: cannot write"));
    assert_int_equal(folder_count(folder), 3);
    run_well("train xy.csv -t y -o m.safetensors -q --epochs 1 --mle-epochs 1");
    run_badly("predict m.safetensors xy.csv -o xy.csv", "would be lost");
    run_badly("predict m.safetensors xy.csv -o m.safetensors", "would be lost");
    run_badly("train xy.csv -t y -o m.safetensors --patience 3", "--validation");
}

/* Without names: all columns but the target, in order, with it or without it. */
static void nameless_columns_are_found_by_order(void **state)
{
    (void)state;
    folder_empty(folder);
    make_line("line.csv", 50);
    run_shell("tail -n +2 line.csv | awk -F, '{print $2 \",\" $1 \",\" 7}' > all.csv;"
              "cut -d, -f2,3 all.csv > inputs.csv; cut -d, -f2 all.csv > short.csv;"
              "sed 's/$/,1/' all.csv > long.csv");
    run_well("train all.csv -t 1 -o m.safetensors -q --epochs 2 --mle-epochs 20");
    run_well("predict m.safetensors all.csv -o a.csv -q");
    run_well("predict m.safetensors inputs.csv -o b.csv -q");
    assert_true(same_files("a.csv", "b.csv"));
    run_well("eval m.safetensors all.csv");
    run_badly("predict m.safetensors short.csv", "short.csv:1: 1 column, expected 2");
    run_badly("predict m.safetensors long.csv", "long.csv:1: 4 columns, expected 2");
    run_badly("eval m.safetensors inputs.csv", "inputs.csv:1: 2 columns, expected 3");
}

static void predictions_come_as_json(void **state)
{
    (void)state;
    folder_empty(folder);
    make_line("line.csv", 50);
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    run_well("train xy.csv -t y -o m.safetensors -q --epochs 1 --mle-epochs 1");
    json_t *root = run_json("predict m.safetensors xy.csv --json --samples 10");
    static const char *const columns[] = {"mean",      "sd",     "epistemic",
                                          "aleatoric", "q0.025", "q0.975"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        assert_int_equal(json_array_size(json_object_get(root, columns[i])), 50);
    assert_int_equal((int)number(root, "draws"), 10);
    json_decref(root);
    run_well("train line.csv -t sign -o m.safetensors -q --epochs 1 --mle-epochs 1");
    root = run_json("predict m.safetensors line.csv --json --samples 10");
    assert_int_equal(json_array_size(json_object_get(root, "class")), 50);
    const json_t *plus = json_object_get(json_object_get(root, "probability"), "plus");
    assert_int_equal(json_array_size(plus), 50);
    json_decref(root);
}

/* What may surprise is said, on stderr, and trained all the same. */
static void doubts_are_told(void **state)
{
    (void)state;
    folder_empty(folder);
    make_text("few.csv", "x,y\n0,0\n1,1\n2,1\n3,0\n");
    assert_int_equal(run("train few.csv -t y -o m.safetensors --epochs 1"), 0);
    assert_non_null(strstr(err_text, "--classes"));
    assert_non_null(strstr(out_text, "4 rows are few"));
    assert_int_equal(run("train few.csv -t y -o m.safetensors --epochs 1 --classes"), 0);
    assert_null(strstr(err_text, "learns classes"));
    make_text("one.csv", "x,y\n0,0\n");
    run_badly("train one.csv -t y -o m.safetensors", "1 row:");
    make_text("huge.csv", "x\n1\n1e39\n");
    run_badly("predict m.safetensors huge.csv", "row 2, column 'x'");
}

static void bad_models_and_tables_are_one_line(void **state)
{
    (void)state;
    folder_empty(folder);
    make_line("line.csv", 50);
    make_text("not.safetensors", "hello");
    make_text("other.csv", "a,b\n1,2\n");
    run_well("train line.csv -t sign -o m.safetensors -q --epochs 1 --mle-epochs 1");
    run_badly("train line.csv -t y", "-o MODEL");
    run_badly("train line.csv -o m2", "--target");
    run_badly("train line.csv -t z -o m2", "z");
    run_badly("train no.csv -t y -o m2", "no.csv");
    run_badly("train line.csv -t sign -o m2 --net dense", "dense");
    run_badly("train line.csv -t sign -o m2 --law no", "no");
    run_badly("predict not.safetensors line.csv", "not.safetensors");
    run_badly("predict m.safetensors other.csv", "other.csv");
    run_badly("predict m.safetensors line.csv --samples some", "--samples");
    run_badly("eval m.safetensors other.csv", "other.csv");
    run_badly("eval m.safetensors line.csv --law gaussian --law no", "no");
}

/* ---- plan */

static void a_plan_predicts_and_measures(void **state)
{
    (void)state;
    folder_empty(folder);
    json_t *root = run_json("plan bimodal --net 'dense 4, elu, dense 1' --inputs 2"
                            " --draws 4096 --tolerance 0.02 --json");
    json_t *at = json_array_get(json_object_get(root, "at"), 0);
    double predicted = number(at, "predicted"), measured = number(at, "measured");
    assert_true(predicted > measured / 2 && predicted < 2 * measured);
    assert_true(number(root, "width_needed") >= 1);
    assert_int_equal(json_array_size(json_object_get(at, "layers")), 2);
    json_decref(root);
    make_line("line.csv", 50);
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    run_well("train xy.csv -t y -o m.safetensors -q --epochs 1 --mle-epochs 1");
    run_well("plan mtj --model m.safetensors --data xy.csv --rows 2 --draws 1024");
    assert_non_null(strstr(out_text, "measured KL"));
    assert_non_null(strstr(out_text, "tolerance of 0.001 nats: "));
    run_well("plan mtj --tolerance 1e-4");
    assert_non_null(strstr(out_text, "5 equal weights"));
}

static void a_crossbar_scores_and_sweeps(void **state)
{
    (void)state;
    folder_empty(folder);
    make_line("line.csv", 60);
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    make_text("costs.json", "{\"crossbayes\": \"costs\", \"adc_pj\": 2}");
    run_well("train xy.csv -t y -o m.safetensors -q --epochs 2 --mle-epochs 2");
    json_t *root =
        run_json("crossbar m.safetensors xy.csv --samples 50 --costs costs.json"
                 " --sweep adc-bits=4:8:2 -o sweeps --export chip --threads 1"
                 " --json");
    json_t *cases = json_object_get(root, "cases");
    json_t *sweep = json_array_get(json_object_get(root, "sweeps"), 0);
    /* digital, the mtj's twelve effects, all together */
    assert_int_equal(json_array_size(cases), 14);
    assert_string_equal(
        json_string_value(json_object_get(json_array_get(cases, 13), "array")),
        "all together");
    assert_true(number(json_array_get(cases, 13), "nll_mc_error") > 0);
    assert_int_equal(json_array_size(json_object_get(sweep, "cases")), 3);
    assert_close(number(json_array_get(json_object_get(sweep, "cases"), 1), "value"), 6,
                 0);
    json_t *costs = json_object_get(root, "costs");
    assert_close(number(costs, "total_pj"), 2 * number(costs, "adc_conversions"), 1e-12);
    json_decref(root);
    run_shell("test -s sweeps/adc-bits.csv -a -s sweeps/adc-bits.svg");
    run_shell("test -s chip/array.json -a -s chip/crosssim/layer0.json");
    run_well("crossbar m.safetensors xy.csv --array ideal --samples 20 --threads 1");
    assert_non_null(strstr(out_text, "same"));
}

static void bad_crossbars_are_one_line(void **state)
{
    (void)state;
    folder_empty(folder);
    make_line("line.csv", 60);
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    make_text("bad.json", "{\"crossbayes\": \"array\", \"adc_bit\": 3}");
    run_well("train xy.csv -t y -o m.safetensors -q --epochs 1 --mle-epochs 1");
    run_badly("crossbar m.safetensors xy.csv --array mjt", "did you mean 'mtj'");
    run_badly("crossbar m.safetensors xy.csv --array bad.json", "bad.json: unknown key");
    run_badly("crossbar m.safetensors xy.csv --set adc_bits=4:5", "KEY=NUMBER");
    run_badly("crossbar m.safetensors xy.csv --set adc_bits=1", "2 and more");
    run_badly("crossbar m.safetensors xy.csv --sweep adc_bits", "KEY=FROM:TO");
    run_badly("crossbar m.safetensors xy.csv --sweep adc_bits=9:3", "FROM:TO:STEP");
    run_badly("crossbar m.safetensors xy.csv --sweep adc_bits=0:99", "more than 64");
    run_badly("crossbar m.safetensors xy.csv --sweep noise=1:2", "unknown key");
    run_badly("crossbar m.safetensors xy.csv --redraw never", "never");
    run_badly("crossbar m.safetensors missing.csv", "missing.csv");
    run_badly("crossbar m.safetensors xy.csv --costs bad.json --export chip",
              "not a file of costs");
    run_badly("crossbar m.safetensors xy.csv --calibration bad.json", "bad.json");
    run_shell("test ! -e chip"); /* nothing half-written */
}

static void bad_plans_are_one_line(void **state)
{
    (void)state;
    folder_empty(folder);
    make_text("not.safetensors", "hello");
    run_badly("plan no", "no");
    run_badly("plan mtj --net 'dense 3'", "dense 1");
    run_badly("plan mtj --net 'dense 3, batchnorm, dense 1'", "batchnorm");
    run_badly("plan mtj --model not.safetensors", "not.safetensors");
    run_badly("plan mtj --net 'dense 1' --model m", "not both");
    run_badly("plan mtj --net 'dense 1' --data d.csv", "--model");
    run_badly("plan mtj --tolerance 0", "--tolerance");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_predicts_and_is_scored),
        cmocka_unit_test(classes_are_learned_from_text),
        cmocka_unit_test(eval_sees_shape),
        cmocka_unit_test(eval_takes_as_many_draws_as_needed),
        cmocka_unit_test(eval_compares_all_classes),
        cmocka_unit_test(eval_stops_on_request),
        cmocka_unit_test(training_is_the_same_for_any_threads),
        cmocka_unit_test(training_survives_its_end),
        cmocka_unit_test(the_epoch_kept_is_told),
        cmocka_unit_test(the_better_net_is_kept),
        cmocka_unit_test(outputs_are_checked_first),
        cmocka_unit_test(nameless_columns_are_found_by_order),
        cmocka_unit_test(predictions_come_as_json),
        cmocka_unit_test(doubts_are_told),
        cmocka_unit_test(bad_models_and_tables_are_one_line),
        cmocka_unit_test(a_plan_predicts_and_measures),
        cmocka_unit_test(a_crossbar_scores_and_sweeps),
        cmocka_unit_test(bad_crossbars_are_one_line),
        cmocka_unit_test(bad_plans_are_one_line),
        cmocka_unit_test(bad_input_is_one_line),
        cmocka_unit_test(wrong_usage_is_one_line),
        cmocka_unit_test(options_have_many_forms),
        cmocka_unit_test(fit_leaves_its_files),
        cmocka_unit_test(law_json_is_golden),
        cmocka_unit_test(law_json_of_the_real_line),
        cmocka_unit_test(sample_is_the_same_for_any_threads),
        cmocka_unit_test(sample_is_the_librarys),
        cmocka_unit_test(sample_standardises),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(unwritable_places_are_errors),
        cmocka_unit_test(a_signal_stops_cleanly),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
