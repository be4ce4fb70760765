/* test_cli.c: the program as users meet it: bad input, wrong usage, JSON with golden
 * numbers, same bytes for any number of threads, full disks and signals. Its words are
 * in test_cli_words.c, commands around models in test_cli_model.c. */
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
    run_badly("fit dir.csv -o law.json", "this is a folder");
    run_badly("fit short.npy -o law.json", "short.npy");
    run_badly("fit cut.npy -o law.json", "cut.npy");
    run_badly("law negative.json", "A = -1");
    run_badly("law unknown.json", "'colour'");
    run_badly("law broken.json", "broken.json:2");
    run_badly("law array.json", "array.json");
    run_badly("law dir.csv", "this is a folder; a law file was expected");
    run_badly("law mtj:B=-1", "B = -1");
    run_badly("law mtj:B=x", "'x'");
    run_badly("law mtj:Q=1", "'Q'");
    run_badly("law mtj:w=2", "w = 2");
    run_badly("law empirical", "samples");
    run_badly("sample negative.json -n 10 -o z.npy", "A = -1");
    run_badly("study laws --noise text.csv -o d", "text.csv:4");
    run_badly("study laws --noise three.csv -o d", "3 ");
    run_badly("study quadrature --device-law nonsense -o d", "nonsense");
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
    run_badly("law", "crossbayes law: missing argument");
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
    run_badly("law gaussian --threads -1", "-1 is out of range, expected 0 to 1024");
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
    run_badly("fit x.csv --optimiser sgd", "'sgd' is not one of newton|adam");
    run_badly("study lwas", "did you mean 'laws'");
    run_badly("study laws --format svg,gif", "'gif' is not one of");
    run_badly("study quadrature --noise x.csv", "--noise");
    run_badly("study laws --column x", "--noise");
    run_badly("study laws --widths 1,2", "studies energy and narrow");
    run_badly("study energy --widths 1.5", "1.5 is not a whole number");
    run_badly("study energy --depths 0", "0 is not a whole number");
    run_badly("study narrow --widths 2,2", "width 2 is listed twice");
    run_badly("study energy --quick --full", "exclude each other");
    run_badly("study energy --law nonsense", "nonsense");
}

/* More draws than are made at a time. */
static void samples_are_as_long_as_asked(void **state)
{
    (void)state;
    run_well("sample mtj -n 1048579 -o long.csv");
    run_shell("test $(wc -l < long.csv) -eq 1048580 && rm long.csv");
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

/* Two columns, 2.5 ms apart, a jump after 3000 of 10000 rows. */
static void make_trace(const char *name, const char *time, double gap)
{
    enum { ROWS = 10000 };
    char path[512];
    in_folder(path, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "%s,current\n", time);
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < ROWS; i++) {
        double sum = 0;
        for (int k = 0; k < 12; k++) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            sum += (double)(state >> 11) / 9007199254740992.0;
        }
        fprintf(f, "%.1f,%.6f\n", 2.5 * i + (i > 700 ? gap : 0),
                sum - 6 + (i < 3000 ? 0 : 3));
    }
    fclose(f);
}

/* The time is found by its name, the law is of the longest part, and the file says so. */
static void fit_reads_a_time_series(void **state)
{
    (void)state;
    folder_empty(folder);
    make_trace("trace.csv", "time_ms", 0);
    run_well("fit trace.csv --unit A -o law.json");
    assert_non_null(strstr(out_text, "column 'time_ms' is taken as the time"));
    assert_non_null(strstr(out_text, "one every 2.5 ms"));
    assert_non_null(strstr(out_text, "segment 2 of 2"));
    assert_non_null(strstr(out_text, "The law of the whole trace would be"));
    json_t *law = run_json("fit trace.csv --json");
    const json_t *series = json_object_get(law, "series");
    assert_close(number(series, "interval_s"), 2.5e-3, 1e-6);
    assert_int_equal(json_array_size(json_object_get(series, "jumps")), 1);
    const json_t *jump = json_array_get(json_object_get(series, "jumps"), 0);
    assert_in_range((int)number(jump, "sample"), 2990, 3010);
    assert_string_equal(words(series, "usable"), "usable");
    assert_non_null(json_object_get(law, "whole"));
    json_decref(law);
    static const struct {
        const char *line;
        double rows;
    } parts[] = {
        {"fit trace.csv --segment 1 --json", 3000},
        {"fit trace.csv --segment all --json", 10000},
        {"fit trace.csv --skip 4000 --json", 6000},
        {"fit trace.csv --rows 4001:5000 --json", 1000}, /* also --sample-range */
        {"fit trace.csv --segment last --detrend linear --json", 7000},
        {"fit trace.csv --skip 4000 --difference --json", 5999},
        {"fit trace.csv -c current --sample-rate 400Hz --skip 4000 --json", 6000},
        {"fit trace.csv -c 2 --time time_ms --skip 4000 --json", 6000},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        law = run_json(parts[i].line);
        double n = number(json_object_get(law, "fit"), "n");
        assert_true(fabs(n - parts[i].rows) <=
                    (parts[i].rows == 3000 || parts[i].rows == 7000 ? 10 : 0));
        assert_close(number(json_object_get(law, "series"), "interval_s"), 2.5e-3, 1e-6);
        json_decref(law);
    }
}

static void bad_series_are_one_line(void **state)
{
    (void)state;
    folder_empty(folder);
    make_trace("trace.csv", "t", 0);
    make_trace("gap.csv", "t", 40);
    make_trace("back.csv", "t", -4);
    run_badly("fit trace.csv -c t", "only increase");
    run_badly("fit gap.csv", "expected regular times");
    run_badly("fit back.csv", "expected times that increase");
    run_badly("fit back.csv --sample-rate 1ms", "with the unit Hz, such as 400Hz");
    run_badly("fit trace.csv --sample-interval 0", "expected more than 0");
    run_badly("fit trace.csv --interval 2parsec", "with the unit s");
    run_badly("fit trace.csv --sample-rate 400Hz --sample-interval 1s",
              "exclude each other");
    run_badly("fit trace.csv --sample-range 9:2",
              "expected A:B with 1 <= A <= B <= 10000");
    run_badly("fit trace.csv --sample-range 5", "expected A:B");
    run_badly("fit trace.csv --skip 3 --sample-range 1:9", "exclude each other");
    run_badly("fit trace.csv --skip 10000", "leaves none");
    run_badly("fit trace.csv --segment 3", "no segment 3: the trace has 2 segments");
    run_badly("fit trace.csv --segment first", "expected longest, last, all");
    run_badly("fit trace.csv --detrend window", "window:TIME");
    run_badly("fit trace.csv --detrend window:1h", "with the unit s");
    run_badly("fit trace.csv --detrend window:1ms", "a window of 0 samples");
    run_badly("fit trace.csv --sample-range 1:2", "2 samples: at least 8");
    run_well("sample mtj -n 2000 -o bare.csv -q");
    run_badly("fit bare.csv --detrend window:1s", "interval between samples is unknown");
    run_badly("fit bare.csv --read-interval 50ms", "interval between samples is unknown");
    run_well("fit bare.csv --detrend window:200 --read-interval 5");
}

/* What the law's trace was like is said where the law is used. */
static void laws_carry_their_warning(void **state)
{
    (void)state;
    folder_empty(folder);
    make_text("few.json", "{\"crossbayes\": \"law\", \"family\": \"gaussian\","
                          " \"series\": {\"independent_samples\": 7.7, \"usable\":"
                          " \"measure longer\", \"correlation_time\": 13000}}");
    make_text("odd.json", "{\"crossbayes\": \"law\", \"family\": \"gaussian\","
                          " \"series\": 3}");
    assert_int_equal(run("sample few.json -n 3 -o -"), 0);
    assert_non_null(strstr(err_text, "only 7.7 independent samples"));
    assert_non_null(strstr(err_text, "not independent draws (measure longer)"));
    run_well("sample few.json -n 3 -o - -q");
    assert_string_equal(err_text, "");
    run_badly("law odd.json", "'series' is not an object");
}

/* The samples are not overwritten by their law; a law goes to stdout too. */
static void fit_keeps_its_samples(void **state)
{
    (void)state;
    folder_empty(folder);
    run_well("sample mtj -n 100 -o noise.csv");
    run_shell("ln -s noise.csv link.csv");
    run_badly("fit noise.csv -o noise.csv", "would overwrite an input");
    run_badly("fit noise.csv -o link.csv", "would overwrite the input noise.csv");
    json_t *law = run_json("fit noise.csv -o -");
    assert_string_equal(words(law, "crossbayes"), "law");
    json_decref(law);
    assert_int_equal(folder_count(folder), 2);
}

/* Names with quotes and blanks can be typed again, names that are not UTF-8 are told. */
static void odd_names_are_told(void **state)
{
    (void)state;
    folder_empty(folder);
    run_well("sample mtj -n 100 -o it's.csv");
    json_t *law = run_json("fit it's.csv --json --unit 'a b'");
    const json_t *from = json_object_get(law, "provenance");
    assert_string_equal(words(from, "command"),
                        "crossbayes fit 'it'\\''s.csv' --json --unit 'a b'");
    json_decref(law);
    json_t *said = run_json("sample mtj -n 10 -o z\xff.csv --json");
    assert_string_equal(words(said, "file"), "z?.csv");
    json_decref(said);
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
    xb_sampler_options own_support = xb_sampler_options_default();
    own_support.standardise = false;
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
    run_badly("sample mtj -n 10 -o no/such/dir/z.npy",
              "the folder no/such/dir does not exist");
    run_badly("sample mtj -n 10 -o no/such/dir/z.csv",
              "the folder no/such/dir does not exist");
    if (geteuid() == 0) return; /* who may write anywhere */
    assert_int_equal(run("sample mtj -n 10 -o /proc/z.csv"), 1);
    assert_non_null(strstr(err_text, "/proc/z.csv: cannot write"));
}

/* A signal in the middle: exit 128 and its number, nothing left behind. */
static void a_signal_stops_cleanly(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM, SIGUSR1};
    for (int i = 0; i < 3; i++) {
        folder_empty(folder);
        char sample[] = "sample", mtj[] = "mtj", n[] = "-n", many[] = "1e9", o[] = "-o",
             file[] = "z.csv", *args[] = {sample, mtj, n, many, o, file, NULL};
        pid_t pid = start(args, NULL);
        for (int wait = 0; wait < 500 && folder_count(folder) == 0; wait++) usleep(10000);
        assert_int_equal(kill(pid, signals[i]), 0);
        assert_int_equal(finish(pid), 128 + signals[i]);
        assert_non_null(strstr(err_text, "stopped on request"));
        assert_int_equal(folder_count(folder), 0);
    }
}

/* The law that the samples are of fits, another does not; mistakes are one line. */
static void law_against_samples(void **state)
{
    (void)state;
    run_well("sample mtj:B=0.15,w=0.5 -n 5000 -o own.csv");
    json_t *root = run_json("law mtj:B=0.15,w=0.5 --samples own.csv --json");
    const json_t *g = json_object_get(root, "goodness");
    assert_true(json_is_true(json_object_get(g, "fits")));
    assert_close(number(g, "n"), 5000, 0);
    assert_close(number(g, "outside"), 0, 0);
    assert_true(number(g, "ks_p") > 0.01 && number(g, "ad_p") > 0.01);
    json_decref(root);
    root = run_json("law ecram:B=0.1,w=0.6 --samples own.csv --json");
    assert_true(
        json_is_false(json_object_get(json_object_get(root, "goodness"), "fits")));
    json_decref(root);
    root = run_json("law mtj --json");
    assert_null(json_object_get(root, "goodness"));
    json_decref(root);
    run_well("law mtj:B=0.15,w=0.5 --samples own.csv");
    run_badly("law mtj --samples none.csv", "none.csv");
    run_badly("law mtj --samples own.csv --column 2", "own.csv");
    run_badly("law mtj --samples own.csv --level 2", "--level");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_input_is_one_line),
        cmocka_unit_test(wrong_usage_is_one_line),
        cmocka_unit_test(samples_are_as_long_as_asked),
        cmocka_unit_test(options_have_many_forms),
        cmocka_unit_test(fit_leaves_its_files),
        cmocka_unit_test(fit_reads_a_time_series),
        cmocka_unit_test(bad_series_are_one_line),
        cmocka_unit_test(laws_carry_their_warning),
        cmocka_unit_test(fit_keeps_its_samples),
        cmocka_unit_test(odd_names_are_told),
        cmocka_unit_test(law_json_is_golden),
        cmocka_unit_test(law_json_of_the_real_line),
        cmocka_unit_test(law_against_samples),
        cmocka_unit_test(sample_is_the_same_for_any_threads),
        cmocka_unit_test(sample_is_the_librarys),
        cmocka_unit_test(sample_standardises),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(unwritable_places_are_errors),
        cmocka_unit_test(a_signal_stops_cleanly),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
