/* test_cli_words.c: what the program says: help that lists every command and whose
 * examples run as printed, the nearest name for a mistyped one, numbers rounded to their
 * error, JSON whose keys stay (fixtures/json_keys.txt) and are documented
 * (docs/formats.md), and terminals that want no escape codes. */
#include "clitest.h"
#include "xmltest.h"

#include <pty.h>

enum { COMMANDS_MAX = 32, NAME = 32 };

/* Names of the commands, from the list the program prints. */
static int list_commands(char out[COMMANDS_MAX][NAME])
{
    int count = 0;
    run_well("");
    char *copy = strdup(out_text), *rest = copy;
    for (char *line; (line = strsep(&rest, "\n")) && strcmp(line, "First steps") != 0;)
        if (strncmp(line, "  ", 2) == 0 && count < COMMANDS_MAX)
            sscanf(line, "%31s", out[count++]);
    free(copy);
    assert_true(count >= 12);
    return count;
}

/* ---- help */

/* Printable characters only, and no blanks at the ends of lines. */
static void assert_plain_text(const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if ((*p < ' ' && *p != '\n') || *p == 0x7f)
            fail_msg("a control character %d in: %s", *p, text);
    assert_null(strstr(text, " \n"));
}

static void every_command_is_listed(void **state)
{
    (void)state;
    char command[COMMANDS_MAX][NAME], line[64];
    int count = list_commands(command);
    char *list = strdup(out_text);
    run_well("--help");
    assert_string_equal(out_text, list);
    free(list);
    for (int i = 0; i < count; i++) {
        snprintf(line, sizeof line, "help %.31s", command[i]);
        run_well(line);
        assert_plain_text(out_text);
        char *help = strdup(out_text);
        snprintf(line, sizeof line, "%.31s --help", command[i]);
        run_well(line);
        if (strstr(help, "\nSee also: crossbayes ")) /* it is a topic too */
            assert_non_null(strstr(help, line));
        else
            assert_string_equal(out_text, help);
        free(help);
    }
}

/* An example as it stands; but for XB_LONG=1 with fewer draws and epochs, which the
 * line that is printed leaves to the program. */
static void run_example(const char *line)
{
    static const char *const shorter[][2] = {{"plan ", " --draws 1024"},
                                             {"train ", " --epochs 5 --mle-epochs 5"}};
    char all[512];
    const char *more = "";
    for (size_t i = 0; i < sizeof shorter / sizeof *shorter && !test_long(); i++)
        if (strncmp(line, shorter[i][0], strlen(shorter[i][0])) == 0)
            more = shorter[i][1];
    assert_true((size_t)snprintf(all, sizeof all, "%s%s", line, more) < sizeof all);
    run_well(all);
}

/* Runs the lines below a title of the help. */
static void run_lines(const char *help, const char *title)
{
    char *copy = strdup(help), *rest = strstr(copy, title);
    if (!rest) fail_msg("no '%s' in: %s", title, help);
    rest += strlen(title);
    int count = 0;
    for (char *one; (one = strsep(&rest, "\n")) && *one;) {
        static const char start[] = "  crossbayes ", shell[] = "  printf ";
        char *remark = strstr(one, "   (");
        if (remark) *remark = '\0';
        if (strncmp(one, shell, sizeof shell - 1) == 0) {
            run_shell(one);
            continue;
        }
        assert_memory_equal(one, start, sizeof start - 1);
        run_example(one + sizeof start - 1);
        count++;
    }
    assert_true(count >= 1);
    free(copy);
}

/* The page is whole, and the terminal ends with its address. */
static void demo_left_its_page(void)
{
    enum { PAGE_ROOM = 1 << 23 };
    char path[512], *page = malloc(PAGE_ROOM);
    in_folder(path, "demo/report.html");
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    page[fread(page, 1, PAGE_ROOM - 1, f)] = '\0';
    fclose(f);
    assert_well_formed(path, page);
    assert_non_null(strstr(page, "id=\"narrow\"")); /* the last section */
    assert_non_null(strstr(page, "crossbayes study array --quick --device-law"
                                 " demo/law.json -o demo"));
    assert_null(strstr(page, "(unknown)")); /* every caption has its number */
    const char *address = strstr(out_text, "\n  file:///");
    assert_non_null(address);
    assert_non_null(strstr(address, "/demo/report.html\n"));
    free(page);
}

/* Half a minute and more; tests/fault/outputs.py runs these commands on small files. */
static bool takes_long(const char *command)
{
    return strcmp(command, "study") == 0 || strcmp(command, "demo") == 0;
}

static void examples_run_as_printed(void **state)
{
    (void)state;
    char command[COMMANDS_MAX][NAME], line[64];
    int count = list_commands(command);
    folder_empty(folder);
    char *list = strdup(out_text);
    run_lines(list, "\nFirst steps\n");
    free(list);
    for (int i = 0; i < count; i++) {
        folder_empty(folder);
        snprintf(line, sizeof line, "%.31s --help", command[i]);
        run_well(line);
        if (takes_long(command[i]) && !test_long()) {
            print_message("skipped: examples of %s (XB_LONG=1)\n", command[i]);
            continue;
        }
        char *help = strdup(out_text);
        run_lines(help, "\nExample:\n");
        if (strcmp(command[i], "demo") == 0) demo_left_its_page();
        free(help);
    }
}

/* What options take has a page for each little language, listed with the commands. */
static void topics_have_examples_that_run(void **state)
{
    (void)state;
    static const char *const topic[] = {"law",      "net",   "prior",
                                        "schedule", "array", "device"};
    run_well("");
    assert_non_null(strstr(out_text, "crossbayes help TOPIC explains what options"));
    for (size_t i = 0; i < sizeof topic / sizeof topic[0]; i++) {
        char line[64];
        run_well("");
        assert_non_null(strstr(strstr(out_text, "help TOPIC"), topic[i]));
        folder_empty(folder);
        snprintf(line, sizeof line, "help %s", topic[i]);
        run_well(line);
        char *page = strdup(out_text);
        run_lines(page, "\nExample:\n");
        free(page);
    }
}

/* Pages name every option of their command; the shell script offers them. */
static void manual_and_completion_have_every_option(void **state)
{
    (void)state;
    char command[COMMANDS_MAX][NAME];
    int count = list_commands(command);
    run_well("manual");
    for (int i = 0; i < count; i++) assert_non_null(strstr(out_text, command[i]));
    run_well("manual sample");
    assert_non_null(strstr(out_text, ".TH CROSSBAYES\\-SAMPLE 1"));
    assert_non_null(strstr(out_text, "\\fB\\-\\-standardise\\fR"));
    run_well("completion bash");
    assert_non_null(strstr(out_text, "fit:--criterion) words='aic bic'"));
    assert_non_null(strstr(out_text, "--standardise"));
    run_well("completion zsh");
    assert_non_null(strstr(out_text, "#compdef crossbayes"));
    run_badly("completion tcsh", "unknown shell 'tcsh', expected bash, zsh or fish");
}

static void the_nearest_name_is_suggested(void **state)
{
    (void)state;
    folder_empty(folder);
    run_badly("trian x", "did you mean 'train'?");
    run_badly("help trian", "did you mean 'train'?");
    run_badly("help scheduel", "did you mean 'schedule'?");
    run_badly("help something", "nor one of the topics law, net, prior, schedule, array");
    run_well("help --help");
    assert_non_null(strstr(out_text, "Usage: crossbayes COMMAND"));
    run_badly("manual trian", "did you mean 'train'?");
    run_badly("--verison", "did you mean '--version'?");
    run_badly("law mtj --quantil 0.5", "did you mean '--quantile'?");
    run_badly("law gausian", "did you mean 'gaussian'?");
    run_badly("plan bimdal:m=0.9", "did you mean 'bimodal'?");
    run_badly("study enrgy", "did you mean 'energy'?");
    run_badly("study laws --format pgn", "did you mean 'png'?");
    run_badly("fit x.csv --family mjt", "did you mean 'mtj'?");
    run_badly("train x.csv -t y -o m --estimator shred", "did you mean 'shared'?");
}

/* ---- numbers */

/* Digits of a number from the first that is not 0, and places behind the point. */
static void read_digits(const char *text, int *digits, int *places)
{
    bool point = false;
    *digits = *places = 0;
    for (; (*text >= '0' && *text <= '9') || *text == '.'; text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        if (*text != '0' || *digits > 0) ++*digits;
        *places += point;
    }
}

/* Every "value ± error": one or two digits of error, as many places for the value. */
static void assert_rounded(const char *line)
{
    static const char sign[] = " ± ";
    int found = 0, digits, places, error_places;
    run_well(line);
    for (const char *p = out_text; (p = strstr(p, sign)); p += sizeof sign - 1) {
        const char *value = p;
        while (value > out_text && strchr("0123456789.", value[-1])) value--;
        if (value == p) continue; /* "± is the error ..." */
        read_digits(value, &digits, &places);
        read_digits(p + sizeof sign - 1, &digits, &error_places);
        if (digits < 1 || digits > 2 || places != error_places)
            fail_msg("crossbayes %s: '%.40s'", line, value);
        found++;
    }
    if (found == 0) fail_msg("crossbayes %s: no errors in: %s", line, out_text);
}

static void make_models(void)
{
    folder_empty(folder);
    make_line("line.csv", 60);
    run_shell("cut -d, -f1,2 line.csv > xy.csv");
    make_text("costs.json", "{\"crossbayes\": \"costs\", \"adc_pj\": 2}");
    run_well("sample mtj -n 2000 -o noise.csv -q");
    run_well("train xy.csv -t y -o m.safetensors -q --epochs 20 --mle-epochs 20");
    run_well("train line.csv -t sign -o c.safetensors -q --epochs 5 --mle-epochs 5");
}

static void numbers_are_rounded_to_their_error(void **state)
{
    (void)state;
    make_models();
    assert_rounded("fit noise.csv");
    assert_rounded("sample mtj -n 1000 -o z.npy");
    assert_rounded("train xy.csv -t y -o t.safetensors --net 'dense 4, relu, dense 1'"
                   " --gradient-noise --epochs 40");
    assert_rounded("eval m.safetensors xy.csv --law gaussian --law bimodal");
    assert_rounded("eval c.safetensors line.csv");
    assert_rounded("crossbar m.safetensors xy.csv --reads 50");
    assert_rounded("plan bimodal --net 'dense 4, elu, dense 1' --draws 1024");
    assert_rounded("plan bimodal --model m.safetensors --data xy.csv --draws 1024");
    assert_rounded("study laws --quick --format svg -o laws");
}

/* Cells of a column start below each other, however long the numbers are. */
static void tables_are_aligned(void **state)
{
    (void)state;
    make_models();
    run_well("crossbar m.safetensors xy.csv --reads 50 --set program_error=0.001");
    const char *head = strstr(out_text, "  effect alone"), *next = strchr(head, '\n') + 1;
    int column = (int)(strstr(head, "RMSE") - head);
    for (; strncmp(next, "  ", 2) == 0; next = strchr(next, '\n') + 1)
        if (next[column - 1] != ' ' || next[column] == ' ')
            fail_msg("not below RMSE: %.80s", next);
}

/* ---- JSON */

/* Paths of all keys; those of a list only once. */
static void walk(FILE *out, const char *label, const char *path, const json_t *value)
{
    char deeper[512];
    const char *key;
    json_t *item;
    if (json_is_array(value) && json_array_size(value) > 0) {
        snprintf(deeper, sizeof deeper, "%s[]", path);
        size_t last = json_array_size(value) - 1; /* the last has all there is */
        walk(out, label, deeper, json_array_get(value, last));
    }
    if (!json_is_object(value)) return;
    json_object_foreach((json_t *)(uintptr_t)value, key, item)
    {
        snprintf(deeper, sizeof deeper, "%s.%s", path, key);
        fprintf(out, "%s %s\n", label, deeper);
        walk(out, label, deeper, item);
    }
}

static const struct json_case {
    const char *label, *line;
} json_cases[] = {
    {"fit", "fit noise.csv --json"},
    {"law", "law mtj --quantile 0.5 --cdf 0 --pdf 0 --rule 2 --samples noise.csv --json"},
    {"sample", "sample mtj -n 3 -o z.npy --json"},
    {"sample-", "sample mtj -n 3 -o - --json"},
    {"train", "train xy.csv -t y -o t.safetensors --epochs 3 --mle-epochs 3 --validation"
              " 0.2 --json"},
    {"train-noise", "train xy.csv -t y -o t.safetensors --epochs 3 --mle-epochs 3 --net"
                    " 'dense 4, relu, dense 1' --gradient-noise --json"},
    {"train-test", "train xy.csv -t y -o t.safetensors --epochs 3 --mle-epochs 3 --net"
                   " 'dense 4, relu, dense 1' --test-share 0.2 --json"},
    {"train-targets", "train xyz.csv -t x,y -o two.safetensors --epochs 3 --mle-epochs 3"
                      " --net 'dense 4, relu, dense 2' --json"},
    {"predict", "predict m.safetensors xy.csv -o p.csv --json"},
    {"predict-targets", "predict two.safetensors xyz.csv --json"},
    {"predict-", "predict m.safetensors xy.csv --json"},
    {"predict-classes", "predict c.safetensors line.csv --json"},
    {"eval", "eval m.safetensors xy.csv --law gaussian --law mtj --draws 50 --json"},
    {"eval-targets", "eval two.safetensors xyz.csv --draws 50 --json"},
    {"eval-classes", "eval c.safetensors line.csv --law gaussian --law mtj --draws 50"
                     " --json"},
    {"train-members", "train xy.csv -t y -o e.safetensors --epochs 3 --mle-epochs 3 --net"
                      " 'dense 4, relu, dense 1' --members 2 --json"},
    {"predict-members", "predict e.safetensors xy.csv --json"},
    {"eval-members", "eval e.safetensors xy.csv --draws 50 --json"},
    {"eval-ood", "eval e.safetensors xy.csv --draws 50 --ood xy.csv --selective --json"},
    {"eval-calibrate",
     "eval e.safetensors xy.csv --draws 50 --save-calibrated r.safetensors"
     " --json"},
    {"eval-ood-classes", "eval c.safetensors line.csv --draws 50 --ood line.csv"
                         " --selective --json"},
    {"plan-members", "plan mtj --model e.safetensors --draws 256 --json"},
    {"eval-models", "eval m.safetensors e.safetensors xy.csv --draws 50 --json"},
    {"plan", "plan mtj --model m.safetensors --data xy.csv --rows 1 --draws 256 --json"},
    {"plan-net", "plan mtj --net 'dense 2, elu, dense 1' --draws 256 --json"},
    {"crossbar", "crossbar m.safetensors xy.csv --reads 20 --sweep adc-bits=4:6"
                 " --costs costs.json --json"},
    {"crossbar-costs", "crossbar m.safetensors xy.csv --reads 20 --costs model --json"},
    {"study", "study quadrature --quick --format svg -o q --json"},
    {"reproduce", "reproduce --quick --only 2 --format svg -o r --json"},
    {"completion", "completion bash --json"},
    {"manual", "manual fit --json"},
};

/* The last word of a path is documented, or what it is the error of; numbers are data. */
static void assert_documented(const char *docs, const char *path)
{
    static const char *const endings[] = {"", "_mc_error", "_error"};
    const char *key = strrchr(path, '.') + 1;
    int length = (int)strlen(key);
    if (*key >= '0' && *key <= '9') return;
    for (int i = 0; i < 3; i++) {
        char word[128];
        int less = (int)strlen(endings[i]);
        if (less > length || strcmp(key + length - less, endings[i]) != 0) continue;
        snprintf(word, sizeof word, "`%.*s`", length - less, key);
        if (strstr(docs, word)) return;
    }
    fail_msg("%s is not in docs/formats.md", path);
}

/* XB_JSON_KEYS=FILE: where to write the keys of today, to become the fixture. */
static void write_keys(const char *text)
{
    const char *path = getenv("XB_JSON_KEYS");
    FILE *f = path ? fopen(path, "w") : NULL;
    if (f) fputs(text, f);
    if (f) fclose(f);
}

static void assert_same_lines(const char *now, const char *expected)
{
    size_t same = 0;
    while (now[same] && now[same] == expected[same]) same++;
    if (now[same] == expected[same]) return;
    while (same > 0 && now[same - 1] != '\n') same--;
    fail_msg("keys of fixtures/json_keys.txt: '%.*s' is now '%.*s'",
             (int)strcspn(expected + same, "\n"), expected + same,
             (int)strcspn(now + same, "\n"), now + same);
}

static void json_keys_stay_and_are_documented(void **state)
{
    (void)state;
    static char docs[1 << 18], expected[1 << 16];
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    make_models();
    run_shell(
        "awk -F, 'NR == 1 { print \"x,y,z\"; next } { print $1 \",\" $2 \",\" (-$1) }'"
        " line.csv > xyz.csv");
    for (size_t i = 0; i < sizeof json_cases / sizeof *json_cases; i++) {
        json_t *root = run_json(json_cases[i].line);
        walk(out, json_cases[i].label, "", root);
        json_decref(root);
    }
    fclose(out);
    write_keys(text);
    read_file(expected, sizeof expected, XB_FIXTURES "/json_keys.txt");
    assert_same_lines(text, expected);
    read_file(docs, sizeof docs, XB_SOURCE_DIR "/docs/formats.md");
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) && *line;)
        assert_documented(docs, line);
    free(text);
}

/* ---- terminals */

static bool has_terminals(void)
{
    int one = -1, other = -1;
    if (openpty(&one, &other, NULL, NULL, NULL) != 0) return false;
    close(one);
    close(other);
    return true;
}

/* What reaches a terminal from a command that takes a while. */
static void run_in_terminal(char *out, size_t size, const char *term, bool no_color)
{
    int terminal;
    size_t used = 0;
    pid_t pid = forkpty(&terminal, NULL, NULL, NULL);
    assert_true(pid >= 0);
    if (pid == 0) {
        if (chdir(folder) != 0) _exit(126);
        setenv("TERM", term, 1);
        if (no_color)
            setenv("NO_COLOR", "1", 1);
        else
            unsetenv("NO_COLOR");
        execl(program(), "crossbayes", "sample", "mtj", "-n", "3e6", "-o", "z.csv", NULL);
        _exit(127);
    }
    for (ssize_t n; used + 1 < size; used += (size_t)n)
        if ((n = read(terminal, out + used, size - 1 - used)) <= 0) break;
    out[used] = '\0';
    close(terminal);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void terminals_get_what_they_can_show(void **state)
{
    (void)state;
    static char text[1 << 20];
    folder_empty(folder);
    if (!has_terminals()) {
        print_message("skipped: this machine has no pseudo-terminals\n");
        skip();
    }
    run_in_terminal(text, sizeof text, "xterm", false);
    assert_non_null(strstr(text, "\033[34m"));
    run_in_terminal(text, sizeof text, "xterm", true);
    assert_non_null(strstr(text, "drawing"));
    assert_null(strchr(text, '\033'));
    run_in_terminal(text, sizeof text, "dumb", false);
    assert_null(strstr(text, "drawing"));
    assert_null(strchr(text, '\033'));
    assert_non_null(strstr(text, "z.csv: 3000000 draws"));
    run_well("sample mtj -n 3e6 -o z.csv"); /* no terminal: nothing on stderr */
    assert_null(strchr(out_text, '\033'));
}

/* An argument is the one test to run. */
int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_is_listed),
        cmocka_unit_test(topics_have_examples_that_run),
        cmocka_unit_test(examples_run_as_printed),
        cmocka_unit_test(manual_and_completion_have_every_option),
        cmocka_unit_test(the_nearest_name_is_suggested),
        cmocka_unit_test(numbers_are_rounded_to_their_error),
        cmocka_unit_test(tables_are_aligned),
        cmocka_unit_test(json_keys_stay_and_are_documented),
        cmocka_unit_test(terminals_get_what_they_can_show),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
