/* What the program says of its inputs: files of the wrong kind, numbers out of range,
 * lines that are passed over, settings that do not fit a checkpoint, and where it keeps
 * decoded images. */
#include "clitest.h"
#include "jpegtest.h"

#define SMALL " --net 'dense 3, relu, dense 1' --epochs 2 --mle-epochs 2"

/* ---- files of the wrong kind */

static void make_kinds(void)
{
    folder_empty(folder);
    make_line("line.csv", 40);
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    run_well("sample mtj -n 300 -o noise.csv");
    run_well("fit noise.csv -o law.json --figure noise.svg -q");
    run_well("train xy.csv -t y -o m.safetensors -q" SMALL);
    run_shell("gzip -c noise.csv > noise.csv.gz; head -c 99 noise.csv.gz > cut.csv.gz");
    run_well("fit noise.csv.gz -q");
    make_file("a.png", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
    make_text("a.pdf", "%PDF-1.5\n1 0 obj\n");
    make_text("page.html", "<!DOCTYPE html>\n<html><body>1,2</body></html>\n");
    make_file("a.h5", "\x89HDF\r\n\x1a\n\0\0\0\0", 12);
    make_file("a.parquet", "PAR1\x15\0\x15", 7);
    make_file("a.npz",
              "PK\3\4\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\5\0\0\0x.npy", 35);
}

static void a_wrong_kind_of_file_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *line, *says;
    } wrong[] = {
        {"law m.safetensors",
         "m.safetensors: this is a model file; a law file was expected"},
        {"law noise.csv",
         "noise.csv: this is a table of numbers; a law file was expected"},
        {"sample noise.svg -n 3 -o z.csv",
         "this is an SVG figure; a law file was expected"},
        {"fit law.json", "law.json: this is a law file; a table of numbers was expected"},
        {"fit m.safetensors", "this is a model file; a table of numbers was expected"},
        {"fit noise.svg", "this is an SVG figure; a table of numbers was expected"},
        {"fit cut.csv.gz", "cut.csv.gz: the gzip data ends early"},
        {"fit a.npz", "this is a NumPy archive (.npz); a table of numbers"},
        {"fit a.h5", "this is an HDF5 file; a table of numbers was expected"},
        {"fit a.parquet", "this is a Parquet file; a table of numbers was expected"},
        {"train noise.svg -t y -o t.safetensors", "this is an SVG figure; a table"},
        {"train a.png -t y -o t.safetensors", "this is a PNG image; a table of numbers"},
        {"train a.pdf -t y -o t.safetensors",
         "this is a PDF document; a table of numbers"},
        {"train page.html -t y -o t.safetensors", "this is an HTML page; a table"},
        {"train law.json -t B -o t.safetensors",
         "this is a law file; a table of numbers"},
        {"predict law.json xy.csv", "law.json: this is a law file; a model file was"},
        {"predict xy.csv m.safetensors",
         "xy.csv: this is a table of numbers; a model file"},
        {"predict m.safetensors m.safetensors",
         "this is a model file; a table of numbers"},
        {"predict m.safetensors xy.csv --law m.safetensors",
         "model file; a law file was"},
        {"eval noise.svg xy.csv", "this is an SVG figure; a model file was expected"},
        {"plan mtj --model law.json --data xy.csv",
         "law file; a model file was expected"},
        {"crossbar m.safetensors xy.csv --array ./law.json",
         "a law file; an array file was"},
        {"crossbar m.safetensors xy.csv --costs law.json",
         "a law file; a costs file was"},
        {"study laws --noise m.safetensors -o s", "a model file; a table of numbers was"},
    };
    make_kinds();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        run_badly(wrong[i].line, wrong[i].says);
}

/* A file of the right kind keeps the reader's own words. */
static void a_spoilt_file_is_not_called_another(void **state)
{
    (void)state;
    folder_empty(folder);
    make_text("bad.csv", "x,y\n1,2\n3,four\n");
    run_badly("fit bad.csv -c y", "bad.csv:3: not a number: 'four'");
    make_text("bad.json", "{\"crossbayes\": \"law\", \"family\": \"mtj\", \"B\": -1}");
    run_badly("law bad.json", "bad.json: ");
    assert_null(strstr(err_text, "this is"));
    make_text("broken.json", "{\"crossbayes\": \"law\",");
    run_badly("law broken.json", "broken.json:1: not JSON");
}

/* ---- ranges */

static void ranges_are_said(void **state)
{
    (void)state;
    static const char seeds[] = "expected 0 to 9223372036854775807";
    static const char *const bad[] = {
        "-1",  "18446744073709551616", "9223372036854775808", "1e19", "1.5", "abc",
        "-1.5"};
    char line[128];
    folder_empty(folder);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(line, sizeof line, "sample mtj -n 2 -o z.csv --seed %s", bad[i]);
        run_badly(line, seeds);
        const bool whole = i < 4;
        assert_non_null(
            strstr(err_text, whole ? "is out of range" : "is not a whole number"));
    }
    json_t *root = run_json("sample mtj -n 2 -o - --json --seed 9223372036854775807");
    assert_true(json_integer_value(json_object_get(root, "seed")) == INT64_MAX);
    json_decref(root);
    run_badly("sample mtj -n 2 -o z.csv --threads 1025", "expected 0 to 1024");
    run_badly("train x.csv -t y -o m.safetensors --epochs -3", "expected 0 to 1e+09");
}

/* The library asks for a column, the program says how one is given. */
static void a_column_is_asked_for(void **state)
{
    (void)state;
    folder_empty(folder);
    make_text("two.csv", "a,b\n1,2\n3,4\n");
    run_badly("fit two.csv", "2 columns: a, b; choose one by name or number: --column");
    run_badly("demo --noise two.csv", "choose one by name or number: --column");
    run_badly("fit two.csv --column c", "no column 'c'");
}

static void no_epochs_are_refused_or_said(void **state)
{
    (void)state;
    folder_empty(folder);
    make_line("line.csv", 40);
    run_badly("train line.csv -t y -o m.safetensors --epochs 0 --mle-epochs 0",
              "nothing would be learnt; expected 1 or more of one of them");
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    assert_int_equal(run("train xy.csv -t y -o m.safetensors --epochs 0 --mle-epochs 3"
                         " --net 'dense 1'"),
                     0);
    assert_non_null(strstr(err_text, "--epochs 0 runs ordinary training alone"));
    assert_null(strstr(out_text, "none"));
}

/* ---- hints */

static bool hints(const char *rows)
{
    make_text("t.csv", rows);
    assert_int_equal(run("train t.csv -t y -o m.safetensors --net 'dense 1' --epochs 1"
                         " --mle-epochs 1"),
                     0);
    return strstr(err_text, "--classes would learn classes") != NULL;
}

static void few_whole_numbers_may_be_classes(void **state)
{
    (void)state;
    folder_empty(folder);
    assert_true(hints("x,y\n1,0\n2,1\n3,2\n4,0\n5,1\n6,2\n7,0\n8,1\n9,2\n"));
    assert_non_null(
        strstr(err_text, "the target is a whole number from 0 to 2 in every"));
    assert_true(hints("x,y\n1,3\n2,4\n3,3\n4,4\n5,3\n6,4\n"));
    assert_true(hints("x,y\n1,0\n2,1\n3,1\n"));
    assert_false(hints("x,y\n0,0\n1,1\n2,4\n3,9\n4,16\n5,25\n")); /* a square */
    assert_false(hints("x,y\n1,0\n2,1\n3,2\n4,0\n5,1\n6,2.5\n7,0\n8,1\n9,2\n"));
    assert_false(hints("x,y\n1,0\n2,1\n3,2\n4,3\n5,4\n")); /* few of each */
    assert_false(hints("x,y\n1,0\n2,5\n3,9\n4,0\n5,5\n6,9\n7,0\n8,5\n9,9\n")); /* gaps */
    assert_false(hints("x,y\n1,-1e30\n2,1e30\n3,0\n4,0\n5,0\n6,0\n7,0\n8,0\n"));
}

static void one_is_singular(void **state)
{
    (void)state;
    folder_empty(folder);
    make_text("t.csv", "x,y\n1,0\n2,1.5\n3,2\n");
    make_text("one.csv", "x,y\n1,0.5\n");
    assert_int_equal(run("train t.csv -t y -o m.safetensors --net 'dense 1' --epochs 1"
                         " --mle-epochs 1"),
                     0);
    assert_non_null(strstr(out_text, "from 3 rows, 1 column\n"));
    run_well("predict m.safetensors one.csv --draws 1 -o p.csv");
    assert_non_null(strstr(out_text, "for 1 row, 1 weight draw, law"));
    run_well("eval m.safetensors one.csv --draws 20");
    assert_non_null(strstr(out_text, "one.csv: 1 row, 20 weight draws\n"));
    run_well("sample mtj -n 1 -o z.csv");
    assert_non_null(strstr(out_text, "z.csv: 1 draw of mtj"));
    run_badly("train one.csv -t y -o n.safetensors", "1 training row: expected 2");
    run_badly("fit one.csv -c x", "1 sample: at least 8 are needed");
}

/* ---- blank lines */

static void blank_lines_are_counted(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int rows, blank;
    } files[] = {
        {"x\n1\n\n2\n \t\r\n3\n\n\n", 3, 2}, /* those at the end move no row */
        {"x\n1\n# why\n2\n", 2, 0},          /* a comment says that it is none */
        {"\n\nx\n1\n2\n", 2, 0},             /* before the table */
        {"x\n\n1\n2\n", 2, 1},
        {"x\n1\n2\n3", 3, 0},
    };
    folder_empty(folder);
    make_line("line.csv", 40);
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    run_well("train xy.csv -t y -o m.safetensors -q" SMALL);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        make_text("x.csv", files[i].text);
        json_t *root = NULL;
        assert_int_equal(run("predict m.safetensors x.csv --draws 5 --json"), 0);
        root = json_loads(out_text, 0, NULL);
        assert_int_equal((int)number(root, "n"), files[i].rows);
        assert_int_equal((int)number(root, "blank_lines"), files[i].blank);
        json_decref(root);
        char says[64];
        snprintf(says, sizeof says, "x.csv: %d blank line%s skipped", files[i].blank,
                 files[i].blank == 1 ? " was" : "s were");
        assert_true((strstr(err_text, says) != NULL) == (files[i].blank > 0));
    }
    make_text("x.csv", files[0].text);
    run_well("predict m.safetensors x.csv --draws 5 -q"); /* and is silent */
    /* beyond the reader's buffer: counted all the same */
    run_shell("{ echo x; for i in 1 2 3; do yes 0.5 | head -n 300000; echo; done; echo "
              "1; echo; }"
              " > many.csv");
    assert_int_equal(run("predict m.safetensors many.csv --draws 1 -o p.csv"), 0);
    assert_non_null(strstr(err_text, "many.csv: 3 blank lines were skipped; there is one"
                                     " prediction per row"));
}

/* ---- checkpoints */

static void resume_names_what_differs(void **state)
{
    (void)state;
    folder_empty(folder);
    make_line("line.csv", 40);
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    pid_t pid = start_line("train xy.csv -t y -o m.safetensors -q --epochs 1000000"
                           " --net 'dense 3, relu, dense 1' --checkpoint-seconds 0.01");
    char path[512];
    in_folder(path, "m.safetensors.checkpoint");
    for (int wait = 0; wait < 500 && access(path, R_OK) != 0; wait++) usleep(10000);
    assert_int_equal(kill(pid, SIGTERM), 0);
    assert_int_equal(finish(pid), 143);
    run_badly(
        "train xy.csv -t y -o m.safetensors --resume --epochs 40 --net"
        " 'dense 3, relu, dense 1'",
        "m.safetensors.checkpoint: left by another run: epochs was 1000000 and is 40\n");
    run_badly(
        "train xy.csv -t y -o m.safetensors --resume --epochs 1000000 --net"
        " 'dense 4, relu, dense 1' --seed 7",
        "net was 'dense 3, relu, dense 1' and is 'dense 4, relu, dense 1'; seed was 1"
        " and is 7\n");
    run_badly("train xy.csv -t y -o m.safetensors --resume --epochs 1000000 --net"
              " 'dense 3, relu, dense 1' --law mtj --estimator local",
              "law was gaussian and is mtj:B=0.15,w=0.5");
}

/* ---- decoded images */

static char home[64];

static int make_home(void **state)
{
    (void)state;
    snprintf(home, sizeof home, "/tmp/xb-cache-XXXXXX");
    return mkdtemp(home) && setenv("XDG_CACHE_HOME", home, 1) == 0 ? 0 : -1;
}

static int remove_home(void **state)
{
    (void)state;
    folder_empty(home);
    return rmdir(home);
}

static void make_faces(int n)
{
    scratch faces = {{0}, {0}};
    char name[64];
    snprintf(faces.dir, sizeof faces.dir, "%.40s/faces", folder);
    assert_int_equal(mkdir(faces.dir, 0700), 0);
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%d_0_0_%d.jpg", 20 + i % 50, i);
        jpeg_write(&faces, name, 8, 5 * (i % 50));
    }
}

#define FACES                                                                            \
    "train faces -t age --size 8 --net 'flatten, dense 1' --epochs 1"                    \
    " --mle-epochs 1 -o m.safetensors"

/* An ideal array of images has the digital model's draws; converters are calibrated on
 * images too. */
static void images_go_on_arrays(void **state)
{
    (void)state;
    folder_empty(folder);
    make_faces(30);
    run_badly("train faces -t age --size 16385 -o m.safetensors", "16384");
    run_well("train faces -t age --size 8 --no-cache -q --epochs 1 --mle-epochs 1"
             " --net 'conv 2 3x3, relu, flatten, dense 1' -o m.safetensors");
    json_t *eval = run_json("eval m.safetensors faces --draws 30 --no-cache --json -q");
    json_t *root = run_json("crossbar m.safetensors faces --reads 30 --array ideal"
                            " --no-cache --json -q");
    json_t *cases = json_object_get(root, "cases");
    const double nll = number(json_array_get(cases, 0), "nll");
    assert_close(number(root, "rows"), 30, 0);
    assert_close(number(json_array_get(cases, 1), "nll"), nll, 1e-6);
    json_t *law = json_array_get(json_object_get(eval, "laws"), 0);
    assert_close(number(law, "nll"), nll, 1e-6);
    json_decref(eval);
    json_decref(root);
    root = run_json("crossbar m.safetensors faces --reads 10 --rows 7 --calibration"
                    " faces --no-cache --chips 1 --json -q");
    assert_close(number(root, "rows"), 7, 0);
    json_decref(root);
}

static void images_are_cached_out_of_their_folder(void **state)
{
    (void)state;
    char faces[128], cache[128], line[256];
    folder_empty(folder);
    make_faces(30);
    snprintf(faces, sizeof faces, "%s/faces", folder);
    snprintf(cache, sizeof cache, "%s/crossbayes", home);
    assert_int_equal(run(FACES), 0);
    snprintf(line, sizeof line, "the decoded images are kept in %s/faces-8-3-", cache);
    assert_non_null(strstr(err_text, line));
    assert_int_equal(run("predict m.safetensors faces --draws 2"), 0);
    snprintf(line, sizeof line, "the decoded images are read from %s/faces-8-3-", cache);
    assert_non_null(strstr(err_text, line));
    assert_int_equal(folder_count(cache), 1);
    folder_empty(home);
    run_well("predict m.safetensors faces --draws 2 --no-cache -q");
    assert_int_equal(folder_count(home), 0);
    assert_int_equal(run("predict m.safetensors faces --draws 2 --cache mine.images"), 0);
    assert_non_null(strstr(err_text, "the decoded images are kept in mine.images ("));
    assert_int_equal(folder_count(home), 0);
    assert_int_equal(folder_count(faces), 30);
    run_badly("predict m.safetensors faces --cache a --no-cache", "exclude each other");
    run_badly("predict m.safetensors faces --cache m.safetensors",
              "--cache m.safetensors would overwrite an input");
    run_well("sample mtj -n 10 -o other.csv");
    run_badly("predict m.safetensors faces --cache other.csv",
              "other.csv: this is a table of numbers; an image cache was expected");
}

static void a_study_names_its_cache(void **state)
{
    (void)state;
    char faces[128], line[256];
    folder_empty(folder);
    make_faces(120);
    snprintf(faces, sizeof faces, "%s/faces", folder);
    assert_int_equal(run("study utkface --data faces --size 8 --quick --format svg -o r"),
                     0);
    snprintf(line, sizeof line, "the decoded images are kept in %s/crossbayes/faces-8-3-",
             home);
    assert_non_null(strstr(err_text, line));
    assert_int_equal(folder_count(faces), 120);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_kind_of_file_is_named),
        cmocka_unit_test(a_spoilt_file_is_not_called_another),
        cmocka_unit_test(ranges_are_said),
        cmocka_unit_test(a_column_is_asked_for),
        cmocka_unit_test(no_epochs_are_refused_or_said),
        cmocka_unit_test(few_whole_numbers_may_be_classes),
        cmocka_unit_test(one_is_singular),
        cmocka_unit_test(blank_lines_are_counted),
        cmocka_unit_test(resume_names_what_differs),
        cmocka_unit_test(images_go_on_arrays),
        cmocka_unit_test_setup_teardown(images_are_cached_out_of_their_folder, make_home,
                                        remove_home),
        cmocka_unit_test_setup_teardown(a_study_names_its_cache, make_home, remove_home),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
