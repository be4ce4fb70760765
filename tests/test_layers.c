/* test_layers.c: the folders keep their order. A file in src/FOLDER or studies/FOLDER
 * includes its own folder, those above it in the list, and the public headers; the core
 * in src/ includes no header of the studies, the studies no inner header of the core; the
 * program in cli/ includes the public headers and its own files only. Both may include
 * the layer of the operating system, src/base/os.h, and nothing outside it includes a
 * system header: those of ISO C and of the libraries we stand on, no others. File names
 * are unique across src/, studies/ and cli/. No text of the libraries names a
 * command-line flag. Broken rules are reported as file:line. */
#include "scratch.h"

#include <ctype.h>
#include <dirent.h>
#include <sys/stat.h>

#include "base/ctx.h"

/* The core in src/, then the studies. */
static const char *const order[] = {
    "base",   "data",     "work",    "law",    "series", "fit",     "rule",     "draw",
    "net",    "kernel",   "backend", "run",    "vi",     "predict", "compare",  "plan",
    "device", "crossbar", "design",  "energy", "study",  "report",  "reproduce"};
enum { CORE = 19 }; /* of them in src/ */
static const char *const studies_api[] = {"energy.h", "report.h", "reproduce.h",
                                          "studies.h", "study.h"};

/* What anyone may include in <>: ISO C but for threads.h (macOS and Windows lack it) and
 * signal.h and locale.h (they change what belongs to the whole process), then libraries.
 */
static const char *const open_headers[] = {
    "assert.h",    "complex.h", "ctype.h",  "errno.h",     "float.h",
    "inttypes.h",  "limits.h",  "math.h",   "setjmp.h",    "stdarg.h",
    "stdatomic.h", "stdbool.h", "stddef.h", "stdint.h",    "stdio.h",
    "stdlib.h",    "string.h",  "tgmath.h", "time.h",      "jansson.h",
    "zlib.h",      "jpeglib.h", "jerror.h", "immintrin.h", "arm_neon.h"};
static const char *const os_api[] = {"base/os.h", "base/os_program.h"};

enum { NAME_MAX_LENGTH = 128, NAMES_MAX = 2000, PATH_LENGTH = 1024 };

typedef struct layers {
    char complaint[4 * PATH_LENGTH]; /* the first */
    int complaints;
    int files;
    char (*name)[NAME_MAX_LENGTH]; /* [files] */
} layers;

static void complain(layers *l, const char *path, int line, const char *what,
                     const char *which)
{
    if (l->complaints++ == 0)
        snprintf(l->complaint, sizeof l->complaint, "%.*s:%d: %s '%.*s'", PATH_LENGTH,
                 path, line, what, PATH_LENGTH, which);
}

/* Place in the order; -1 for what is not in it. */
static int rank_of(const char *folder, size_t size)
{
    for (int i = 0; i < XB_COUNT(order); i++)
        if (strlen(order[i]) == size && strncmp(order[i], folder, size) == 0) return i;
    return -1;
}

/* What `#include "..."` names, or <...> where `close` is '>', cut out of the line; NULL
 * if it is another line. */
static char *included(char *line, char open, char close)
{
    char *p = line + strspn(line, " \t");
    if (*p != '#') return NULL;
    p += 1 + strspn(p + 1, " \t");
    if (strncmp(p, "include", 7) != 0) return NULL;
    p += 7 + strspn(p + 7, " \t");
    char *end = *p == open ? strchr(p + 1, close) : NULL;
    if (!end) return NULL;
    *end = '\0';
    return p + 1;
}

static bool is_among(const char *header, const char *const *list, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(header, list[i]) == 0) return true;
    return false;
}

static bool is_studies_api(const char *header)
{
    return is_among(header, studies_api, XB_COUNT(studies_api));
}

/* src/base/os.c, os_*.c and os_*.h */
static bool is_os_layer(const char *folder, const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    return strcmp(folder, "base") == 0 && strncmp(name, "os", 2) == 0 &&
           (name[2] == '_' || name[2] == '.');
}

/* NULL if a file of `folder` may include `target`, else why not. */
static const char *forbidden(const char *folder, const char *target)
{
    const char *slash = strchr(target, '/');
    if (strstr(target, "..")) return "leaves its folder for";
    if (!slash) return NULL; /* beside the file: its own folder */
    size_t size = (size_t)(slash - target);
    int from = rank_of(folder, strlen(folder));
    if (is_among(target, os_api, XB_COUNT(os_api))) return NULL;
    if (strncmp(target, "crossbayes/", 11) == 0)
        return from >= 0 && from < CORE && is_studies_api(slash + 1)
                   ? "the core uses the studies,"
                   : NULL;
    if (strcmp(folder, "cli") == 0)
        return strncmp(target, "cli/", 4) == 0 ? NULL : "cli uses an inner header,";
    int to = rank_of(target, size);
    if (to < 0) return "includes an unknown folder,";
    if (from >= CORE && to < CORE) return "the studies use an inner header,";
    return to <= from ? NULL : "includes a folder below its own,";
}

/* ---- flags: messages of the libraries reach callers that have no command line */

/* Texts that are command lines to be copied, which pages print below their figures, or
 * parts of one; page_style.c has the custom properties of a style sheet. */
static const char *const commands[] = {
    " --data '%s'",
    " --quick",
    " --full",
    "%s --only %d",
    "crossbayes study %s --device-law %s%s%s --seed %llu -o fig%d",
    "crossbayes reproduce%s%s --seed %llu"};

static bool names_flag(const char *text)
{
    for (const char *p = strstr(text, "--"); p; p = strstr(p + 1, "--"))
        if ((p == text || !isalnum((unsigned char)p[-1])) &&
            (islower((unsigned char)p[2]) || p[2] == '%'))
            return true;
    return false;
}

static void check_text(layers *l, const char *path, int line, const char *text)
{
    for (int i = 0; i < XB_COUNT(commands); i++)
        if (strcmp(commands[i], text) == 0) return;
    if (names_flag(text)) complain(l, path, line, "names a flag in", text);
}

/* The texts of a line; *comment: it is within one, which may have begun before. */
static void check_texts(layers *l, const char *path, int number, const char *line,
                        bool *comment)
{
    for (const char *p = line; *p; p++) {
        if (*comment) {
            *comment = strncmp(p, "*/", 2) != 0;
        } else if (strncmp(p, "/*", 2) == 0) {
            *comment = true;
            p++; /* or the star of it would end it */
        } else if (*p == '"' || *p == '\'') {
            const char quote = *p, *from = ++p;
            while (*p && *p != quote) p += *p == '\\' && p[1] ? 2 : 1;
            char text[4096];
            snprintf(text, sizeof text, "%.*s", (int)(p - from), from);
            check_text(l, path, number, text);
            if (!*p) return;
        }
    }
}

static void check_file(layers *l, const char *folder, const char *path)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char line[4096];
    const bool quiet = strcmp(folder, "cli") != 0 && !strstr(path, "/page_style.c");
    const bool os = is_os_layer(folder, path);
    bool comment = false;
    for (int number = 1; fgets(line, sizeof line, f); number++) {
        if (quiet) check_texts(l, path, number, line, &comment);
        const char *system = included(line, '<', '>');
        if (system && !os && !is_among(system, open_headers, XB_COUNT(open_headers)))
            complain(l, path, number, "includes a system header,", system);
        const char *target = included(line, '"', '"');
        const char *why = target ? forbidden(folder, target) : NULL;
        if (why) complain(l, path, number, why, target);
    }
    fclose(f);
}

static void check_name(layers *l, const char *path, const char *name)
{
    assert_true(l->files < NAMES_MAX && strlen(name) < NAME_MAX_LENGTH);
    for (int i = 0; i < l->files; i++)
        if (strcmp(l->name[i], name) == 0)
            complain(l, path, 1, "second file named", name);
    strcpy(l->name[l->files++], name);
}

static bool is_source(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && (strcmp(dot, ".c") == 0 || strcmp(dot, ".h") == 0);
}

/* Every source of one folder; `folder` is its name in the order. */
static void check_folder(layers *l, const char *folder, const char *path)
{
    DIR *dir = opendir(path);
    if (!dir) return;
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        char file[2 * PATH_LENGTH];
        snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        if (!is_source(e->d_name)) continue;
        check_name(l, file, e->d_name);
        check_file(l, folder, file);
    }
    closedir(dir);
}

/* The folders from `first` to below `end` of the order are those in `parent`. */
static void check_parent(layers *l, const char *root, const char *parent, int first,
                         int end)
{
    char path[2 * PATH_LENGTH];
    snprintf(path, sizeof path, "%s/%s", root, parent);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        int rank = rank_of(e->d_name, strlen(e->d_name));
        bool folder = !strchr(e->d_name, '.') && strcmp(e->d_name, "include") != 0;
        if (folder && (rank < first || rank >= end))
            complain(l, path, 1, "has a folder that is not in the order,", e->d_name);
    }
    closedir(dir);
    for (int i = first; i < end; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", root, parent, order[i]);
        check_folder(l, order[i], path);
    }
}

static void check_tree(layers *l, const char *root)
{
    char path[2 * PATH_LENGTH];
    *l = (layers){.name = calloc(NAMES_MAX, NAME_MAX_LENGTH)};
    assert_non_null(l->name);
    check_parent(l, root, "src", 0, CORE);
    check_parent(l, root, "studies", CORE, XB_COUNT(order));
    snprintf(path, sizeof path, "%s/cli", root);
    check_folder(l, "cli", path);
    free(l->name);
}

static void the_repository_keeps_the_order(void **state)
{
    (void)state;
    layers l;
    check_tree(&l, XB_SOURCE_DIR);
    assert_true(l.files > 20); /* it did look */
    if (l.complaints) fail_msg("%d broken, the first: %s", l.complaints, l.complaint);
}

/* A tree of src/base/ctx.c and one file as given: what the test says of it. */
static void assert_tree_says(const char *file, const char *content, const char *says)
{
    static const char *const folders[] = {"src",     "src/base",      "src/law",
                                          "studies", "studies/study", "cli"};
    scratch s = scratch_make();
    for (int i = 0; i < XB_COUNT(folders); i++)
        assert_int_equal(mkdir(scratch_path(&s, folders[i]), 0777), 0);
    scratch_write(&s, "src/base/ctx.c", "#include \"base/ctx.h\"\n", 22);
    scratch_write(&s, file, content, strlen(content));
    layers l;
    check_tree(&l, s.dir);
    char expected[PATH_LENGTH];
    snprintf(expected, sizeof expected, "%s/%s%s", s.dir, file, says ? says : "");
    assert_int_equal(l.complaints, says ? 1 : 0);
    assert_string_equal(l.complaint, says ? expected : "");
    unlink(s.path);
    unlink(scratch_path(&s, "src/base/ctx.c"));
    for (int i = XB_COUNT(folders) - 1; i >= 0; i--) rmdir(scratch_path(&s, folders[i]));
    assert_int_equal(scratch_remove(&s), 0);
}

static void a_broken_rule_is_told(void **state)
{
    (void)state;
    static const char good[] =
        "#include <math.h>\n#include \"base/x.h\"\n  #  include \"law/y.h\"\n"
        "#include \"data/z.h\"\n#include \"near.h\"\n"
        "#include \"crossbayes/law.h\"\n";
    assert_tree_says("src/law/a.c", good, NULL);
    assert_tree_says("src/law/a.h", "\n\n#include \"rule/y.h\"\n",
                     ":3: includes a folder below its own, 'rule/y.h'");
    assert_tree_says("src/base/a.c", "#include \"data/y.h\"\n",
                     ":1: includes a folder below its own, 'data/y.h'");
    assert_tree_says("src/law/a.c", "# include \"other/y.h\"\n",
                     ":1: includes an unknown folder, 'other/y.h'");
    assert_tree_says("src/law/a.c", "x\n#include \"../rule/y.h\"\n",
                     ":2: leaves its folder for '../rule/y.h'");
    assert_tree_says("cli/main.c",
                     "#include \"crossbayes/law.h\"\n#include \"cli/o.h\"\n", NULL);
    assert_tree_says("cli/main.c",
                     "#include \"crossbayes/law.h\"\n#include \"law/family.h\"\n",
                     ":2: cli uses an inner header, 'law/family.h'");
    assert_tree_says("src/law/a.c", "#include \"crossbayes/study.h\"\n",
                     ":1: the core uses the studies, 'crossbayes/study.h'");
    assert_tree_says("src/law/a.c", "#include \"study/study.h\"\n",
                     ":1: includes a folder below its own, 'study/study.h'");
    assert_tree_says("studies/study/a.c", "#include \"crossbayes/study.h\"\n", NULL);
    assert_tree_says("studies/study/a.c", "#include \"report/page.h\"\n",
                     ":1: includes a folder below its own, 'report/page.h'");
    assert_tree_says("studies/study/a.c", "#include \"base/memory.h\"\n",
                     ":1: the studies use an inner header, 'base/memory.h'");
    assert_tree_says("src/law/a.c", "#include <math.h>\n#include <unistd.h>\n",
                     ":2: includes a system header, 'unistd.h'");
    assert_tree_says("src/base/other.h", "#include <sys/stat.h>\n",
                     ":1: includes a system header, 'sys/stat.h'");
    assert_tree_says("src/law/os.c", "#include <fcntl.h>\n",
                     ":1: includes a system header, 'fcntl.h'");
    assert_tree_says("cli/main.c", " # include <signal.h>\n",
                     ":1: includes a system header, 'signal.h'");
    assert_tree_says("src/base/os_posix.c", "#include <unistd.h>\n", NULL);
    assert_tree_says("studies/study/a.c", "#include \"base/os.h\"\n", NULL);
    assert_tree_says("cli/main.c", "#include \"base/os_program.h\"\n", NULL);
    assert_tree_says("studies/study/ctx.c", "", ":1: second file named 'ctx.c'");
    assert_tree_says("src/law/ctx.c", "", ":1: second file named 'ctx.c'");
    assert_tree_says("cli/ctx.c", "", ":1: second file named 'ctx.c'");
}

static void a_flag_is_told(void **state)
{
    (void)state;
    assert_tree_says("src/law/a.c",
                     "x /* \"--no\" */ (\"a --- b\", \"x--\", '\"', a--);\n", NULL);
    assert_tree_says("src/law/a.c", "/* a\n b */ f(\"choose with --column\");\n",
                     ":2: names a flag in 'choose with --column'");
    assert_tree_says("studies/study/a.c", "f(\"\\\"\", \"--%s\");\n",
                     ":1: names a flag in '--%s'");
    assert_tree_says("studies/study/a.c", "f(\" --quick\");\n", NULL);
    assert_tree_says("cli/a.c", "f(\"give --target\");\n", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_repository_keeps_the_order),
        cmocka_unit_test(a_flag_is_told),
        cmocka_unit_test(a_broken_rule_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
