/* test_cli_model.c: train, predict, eval and plan as users meet them: what they
 * learn and say, what they leave, how they are stopped, what they refuse. */
#include "clitest.h"

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

/* Law i of what `eval --json` printed. */
static json_t *law_at(const json_t *root, int i)
{
    return json_array_get(json_object_get(root, "laws"), (size_t)i);
}

static void a_model_predicts_and_is_scored(void **state)
{
    (void)state;
    static const char *const keys[] = {"rmse",       "mae",         "nll",
                                       "crps",       "coverage95",  "miscalibration_area",
                                       "rmse_error", "nll_mc_error"};
    folder_empty(folder);
    make_line("line.csv", 200);
    run_badly("train line.csv --target y --drop sign,nothing -o m.safetensors",
              "no column 'nothing'");
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    json_t *root = run_json("train xy.csv --target y -o m.safetensors --history t.csv"
                            " --gradient-noise --json" QUICK);
    assert_close(number(root, "noise_sd"), 1 / sqrt(12), 0.2);
    const json_t *noise = json_object_get(root, "gradient_noise");
    assert_int_equal(json_array_size(noise), 8);
    assert_string_equal(words(json_array_get(noise, 6), "estimator"), "local");
    assert_true(number(json_array_get(noise, 6), "variance_mean") <
                number(json_array_get(noise, 0), "variance_mean"));
    json_decref(root);
    assert_int_equal(folder_count(folder), 4); /* no checkpoint is left */
    run_well("predict m.safetensors xy.csv -o p.csv --draws auto");
    root = run_json("eval m.safetensors xy.csv --law gaussian --law mtj --json");
    assert_string_equal(words(root, "model"), "m.safetensors");
    assert_string_equal(words(root, "data"), "xy.csv");
    assert_int_equal((int)number(root, "rows"), 200);
    assert_int_equal((int)number(root, "draws"), 1000);
    assert_int_equal((int)number(root, "seed"), 1);
    assert_int_equal(json_array_size(json_object_get(root, "laws")), 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *law = law_at(root, i);
        assert_int_equal((int)number(law, "n"), 200);
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            assert_true(isfinite(number(law, keys[k])));
        assert_close(number(law, "rmse"), 1 / sqrt(12), 0.2);
    }
    assert_string_equal(words(law_at(root, 1), "law"), "mtj:B=0.15,w=0.5");
    assert_non_null(json_object_get(law_at(root, 1), "distance"));
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
    assert_true(number(law_at(root, 0), "accuracy") > 0.95);
    assert_true(number(law_at(root, 0), "accuracy_error") > 0);
    assert_true(number(law_at(root, 0), "ece_chance") > 0);
    assert_int_equal((int)number(law_at(root, 0), "ece_bins"), 15);
    json_decref(root);
    run_well("train line.csv -t sign -o m.safetensors --epochs 9 --net 'dense 2'");
    assert_non_null(strstr(out_text, " nats\n")); /* classes have no scale */
    assert_null(strstr(out_text, "standardised"));
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
                            " --law bimodal:m=0.99 --law gaussian --draws 2000");
    json_t *distance = json_object_get(law_at(root, 1), "distance");
    assert_string_equal(words(distance, "verdict"), "different");
    assert_string_equal(words(json_object_get(distance, "whole"), "verdict"),
                        "different");
    assert_int_equal((int)number(distance, "points"), 200);
    assert_string_not_equal(words(json_object_get(distance, "predictive"), "verdict"),
                            "different");
    const double truth = 1.26537; /* KL(bimodal || Gaussian) of one weight, by SciPy */
    assert_true(number(distance, "kl_at_least") > 0.8 * truth);
    assert_at_most(number(distance, "kl_at_least"), truth);
    distance = json_object_get(law_at(root, 2), "distance");
    assert_string_equal(words(distance, "verdict"), "same"); /* as with itself */
    assert_true(number(distance, "kl_at_least") == 0);
    json_decref(root);
    run_well("eval m.safetensors xy.csv --law gaussian --law bimodal:m=0.99");
    assert_non_null(
        strstr(out_text, "KL(bimodal:m=0.99‖gaussian), mean over rows, is at least "));
    assert_non_null(strstr(out_text, ", chance 0.022")); /* 0.3133 / sqrt(200) */
    run_well("eval m.safetensors xy.csv --law gaussian --law mtj --draws 2");
    assert_non_null(strstr(out_text, "mtj:B=0.15,w=0.5: cannot tell"));
    assert_non_null(strstr(out_text, "fewer than 20 draws cannot decide"));
    assert_non_null(strstr(out_text, "is unknown: fewer than 200 draws"));
    assert_null(strstr(out_text, "nan"));
    run_well("eval m.safetensors xy.csv --law gaussian --law mtj --draws 1");
    assert_non_null(strstr(out_text, "fewer than 20 draws cannot decide"));
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
                 "eval m.safetensors xy.csv --law gaussian --law mtj --draws auto"
                 " --tolerance %s --json",
                 tolerance[i]);
        json_t *root = run_json(line);
        json_t *law = law_at(root, 1);
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
                            " --draws 100 --json");
    const json_t *distance = json_object_get(law_at(root, 1), "distance");
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
    pid_t pid = start_line("eval m.safetensors xy.csv --draws 1000000");
    usleep(300000);
    assert_int_equal(kill(pid, SIGINT), 0);
    assert_int_equal(finish(pid), 130);
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
        for (int wait = 0; wait < 10000 && access(path, R_OK) != 0; wait++) usleep(2000);
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
    json_t *root = run_json("train xy.csv -t y -o m.safetensors --json --history t.csv"
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
    assert_non_null(strstr(out_text, " of 9, the best on 30 rows held out"));
    assert_non_null(strstr(out_text, " nats, standardised target\n"));
    assert_non_null(
        strstr(out_text, "log density per held-out row, standardised target"));
    run_well("train xy.csv -t y -o m.safetensors --epochs 9");
    assert_null(strstr(out_text, "kept"));
}

/* Of one and two hidden layers the one of less F is kept, by rows held out the one that
 * scores better there; two layers that are far behind halfway are given up; a net that is
 * asked for is the only one. */
static void the_better_net_is_kept(void **state)
{
    (void)state;
    folder_empty(folder);
    make_line("line.csv", 100);
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    json_t *root = run_json("train xy.csv -t y -o m.safetensors --json" QUICK);
    const json_t *left = json_object_get(root, "net_left");
    assert_string_not_equal(words(root, "net"), words(left, "net"));
    assert_true(number(left, "behind_halfway") > 0);
    assert_true(json_is_null(json_object_get(left, "f")));
    json_decref(root);
    root =
        run_json("train xy.csv -t y -o m.safetensors --json --mle-epochs 5 --epochs 5");
    left = json_object_get(root, "net_left");
    assert_true(json_is_null(json_object_get(left, "behind_halfway"))); /* too few */
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
    static const char *const lost[] = {"train xy.csv -t y -o xy.csv",
                                       "train xy.csv -t y -o link.csv",
                                       "train xy.csv -t y -o m.st --history xy.csv"};
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++)
        run_badly(lost[i], "would overwrite");
    run_badly("train xy.csv -t y -o m --history m", "would both write m");
    run_badly("train xy.csv -t y -o -", "'-' is not a file name");
    run_badly("train xy.csv -t y -o m --history -", "'-' is not a file name");
    run_badly("train xy.csv -t y -o no/m.safetensors --epochs 1000000",
              "the folder no does not exist");
    run_badly("train xy.csv -t y -o m --history no/t --epochs 1000000",
              "the folder no does not exist");
    assert_int_equal(folder_count(folder), 3);
    run_well("train xy.csv -t y -o m.safetensors -q --epochs 1 --mle-epochs 1");
    run_badly("predict m.safetensors xy.csv -o xy.csv", "would overwrite an input");
    run_badly("predict m.safetensors xy.csv -o m.safetensors",
              "would overwrite an input");
    run_badly("train xy.csv -t y -o m.safetensors --patience 3", "held out");
}

/* Without names: all columns but the target, in order, with it or without it. */
/* Files that nobody named as an output: a checkpoint's place, a figure's data. */
static void nobody_elses_file_is_replaced(void **state)
{
    (void)state;
    char before[8192], after[8192], path[PATH_MAX];
    run_shell("cp xy.csv k.safetensors.checkpoint && cp xy.csv pic.dat");
    run_badly("train xy.csv -t y -o k.safetensors --epochs 1 --mle-epochs 1",
              "k.safetensors.checkpoint, which is a table of numbers");
    run_badly("fit xy.csv --column y --figure pic",
              "pic.dat, which crossbayes did not write");
    snprintf(path, sizeof path, "%s/xy.csv", folder);
    read_file(before, sizeof before, path);
    snprintf(path, sizeof path, "%s/pic.dat", folder);
    read_file(after, sizeof after, path);
    assert_string_equal(before, after);
    run_shell("rm k.safetensors.checkpoint pic.dat");
    run_well("fit xy.csv --column y --figure pic");
    run_well("fit xy.csv --column y --figure pic"); /* over its own */
    run_shell("rm pic.svg pic.dat pic.gp");
}

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
    json_t *root = run_json("predict m.safetensors xy.csv --json --draws 10");
    static const char *const columns[] = {"mean",      "sd",     "epistemic",
                                          "aleatoric", "q0.025", "q0.975"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        assert_int_equal(json_array_size(json_object_get(root, columns[i])), 50);
    assert_int_equal((int)number(root, "draws"), 10);
    json_decref(root);
    root = run_json("predict m.safetensors xy.csv --json --draws 10 --interval 0.999999");
    assert_non_null(json_object_get(root, "q0.9999995")); /* no level is cut short */
    json_decref(root);
    root = run_json("predict m.safetensors xy.csv --json --draws 10 -o p\xff.csv");
    assert_string_equal(words(root, "file"), "p?.csv");
    json_decref(root);
    run_well("train line.csv -t sign -o m.safetensors -q --epochs 1 --mle-epochs 1");
    root = run_json("predict m.safetensors line.csv --json --draws 10");
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
    assert_null(strstr(err_text, "would learn classes"));
    make_text("one.csv", "x,y\n0,0\n");
    run_badly("train one.csv -t y -o m.safetensors", "1 training row:");
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
    run_badly("train line.csv -t sign -o m2 --prior fited", "auto, standard or fitted");
    run_badly("predict not.safetensors line.csv", "not.safetensors");
    run_badly("predict m.safetensors other.csv", "other.csv");
    run_badly("predict m.safetensors line.csv --draws some", "--draws");
    run_badly("predict m.safetensors line.csv --labels line.csv",
              "--labels is for images");
    run_badly("eval m.safetensors line.csv --part test", "--part is for images");
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
    run_well("plan bimodal --net 'dense 8, elu, dense 1' --tolerance 1 --draws 1024");
    assert_non_null(strstr(out_text, "tolerance of 1 nats: shape does not matter"));
    assert_null(strstr(out_text, "More --draws"));
}

static void bad_plans_are_one_line(void **state)
{
    (void)state;
    folder_empty(folder);
    make_text("not.safetensors", "hello");
    run_badly("plan no", "no");
    run_well("plan mtj --net 'dense 3' --draws 1024");
    run_badly("plan mtj --net 'dense 3, relu'", "dense 1");
    run_badly("plan mtj --read-interval 1ms", "not a law file of a trace");
    run_badly("plan mtj --read-interval 0s", "expected more than 0");
    run_badly("plan mtj --net 'dense 3, batchnorm, dense 1'", "batchnorm");
    run_badly("plan mtj --model not.safetensors", "not.safetensors");
    run_badly("plan mtj --net 'dense 1' --model m", "exclude each other");
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
        cmocka_unit_test(nobody_elses_file_is_replaced),
        cmocka_unit_test(nameless_columns_are_found_by_order),
        cmocka_unit_test(predictions_come_as_json),
        cmocka_unit_test(doubts_are_told),
        cmocka_unit_test(bad_models_and_tables_are_one_line),
        cmocka_unit_test(a_plan_predicts_and_measures),
        cmocka_unit_test(bad_plans_are_one_line),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
