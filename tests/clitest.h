/* clitest.h: runs the program as a separate process ($XB_PROGRAM, without a shell) in a
 * fresh folder and keeps its output. */
#ifndef CLITEST_H
#define CLITEST_H

#include "folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <jansson.h>

enum { TEXT_MAX = 1 << 20, ARGS_MAX = 32 };

static char folder[64]; /* where the program runs */
static char captured[64];
static char *out_text, *err_text;

static inline const char *program(void)
{
    const char *path = getenv("XB_PROGRAM");
    if (!path) fail_msg("XB_PROGRAM is not set");
    return path;
}

/* ---- files */

static inline void in_folder(char path[512], const char *name)
{
    snprintf(path, 512, "%s/%s", folder, name);
}

static inline void make_file(const char *name, const void *bytes, size_t size)
{
    char path[512];
    in_folder(path, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static inline void make_text(const char *name, const char *text)
{
    make_file(name, text, strlen(text));
}

static inline size_t read_file(char *out, size_t size, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("%s is not there", path);
    size_t n = fread(out, 1, size - 1, f);
    out[n] = '\0';
    fclose(f);
    return n;
}

/* ---- running */

static inline void redirect(int fd, const char *path, int flags)
{
    int file = open(path, flags, 0600);
    if (file < 0 || dup2(file, fd) < 0) _exit(126);
}

static inline pid_t start(char *const *args, const char *stdout_path)
{
    char *argv[ARGS_MAX + 2] = {(char *)(uintptr_t)program()};
    for (int i = 0; args[i]; i++) {
        assert_true(i < ARGS_MAX);
        argv[i + 1] = args[i];
    }
    char out[80], err[80];
    snprintf(out, sizeof out, "%s/out", captured);
    snprintf(err, sizeof err, "%s/err", captured);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0) return pid;
    if (chdir(folder) != 0) _exit(126);
    redirect(0, "/dev/null", O_RDONLY);
    redirect(1, stdout_path ? stdout_path : out, O_WRONLY | O_CREAT | O_TRUNC);
    redirect(2, err, O_WRONLY | O_CREAT | O_TRUNC);
    execv(argv[0], argv);
    _exit(127);
}

/* Removes the lines that name written files, with their indented continuations, from a
 * text: tests/fault/outputs.py checks those. */
static inline void cut_wrote(char *text)
{
    char *to = text;
    bool cut = false;
    for (char *line = text, *next; *line; line = next) {
        size_t size = strcspn(line, "\n");
        next = line + size + (line[size] == '\n');
        cut = strncmp(line, "wrote ", 6) == 0 || (cut && strncmp(line, "     ", 5) == 0);
        if (cut) continue;
        memmove(to, line, (size_t)(next - line));
        to += next - line;
    }
    *to = '\0';
}

/* Exit code; output in out_text and err_text. A signal fails the test. */
static inline int finish(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    char path[80];
    snprintf(path, sizeof path, "%s/out", captured);
    read_file(out_text, TEXT_MAX, path);
    snprintf(path, sizeof path, "%s/err", captured);
    read_file(err_text, TEXT_MAX, path);
    cut_wrote(err_text);
    if (!WIFEXITED(status)) fail_msg("ended by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

/* Runs a command line split at blanks; 'a b' is one word. */
static inline pid_t start_line(const char *line)
{
    char copy[1024], *args[ARGS_MAX] = {NULL}, *rest = copy;
    snprintf(copy, sizeof copy, "%s", line);
    int count = 0;
    while (rest) {
        rest += strspn(rest, " ");
        bool quoted = *rest == '\'';
        rest += quoted;
        char *word = strsep(&rest, quoted ? "'" : " ");
        if (*word) args[count++] = word;
    }
    return start(args, NULL);
}

static inline int run(const char *line) { return finish(start_line(line)); }

static inline void run_well(const char *line)
{
    int code = run(line);
    if (code != 0) fail_msg("crossbayes %s: exit %d: %s", line, code, err_text);
    if (*err_text) fail_msg("crossbayes %s: said: %s", line, err_text);
}

/* Exit 2, one line on stderr that starts as it should and holds `part`, nothing
 * on stdout, no file more or less than before. */
static inline void run_badly(const char *line, const char *part)
{
    int before = folder_count(folder), code = run(line);
    if (code != 2)
        fail_msg("crossbayes %s: exit %d, expected 2: %s", line, code, err_text);
    const char *newline = strchr(err_text, '\n');
    if (!newline || newline[1])
        fail_msg("crossbayes %s: not one line: %s", line, err_text);
    if (strncmp(err_text, "crossbayes", 10) != 0 || !strstr(err_text, part))
        fail_msg("crossbayes %s: expected '%s' in: %s", line, part, err_text);
    assert_string_equal(out_text, "");
    assert_int_equal(folder_count(folder), before);
}

static inline int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/xb-cli-XXXXXX");
    snprintf(captured, sizeof captured, "/tmp/xb-cli-said-XXXXXX");
    out_text = calloc(TEXT_MAX, 1);
    err_text = calloc(TEXT_MAX, 1);
    return mkdtemp(folder) && mkdtemp(captured) && out_text && err_text ? 0 : -1;
}

static inline int tear_down(void **state)
{
    (void)state;
    folder_empty(folder);
    folder_empty(captured);
    free(out_text);
    free(err_text);
    return rmdir(folder) == 0 && rmdir(captured) == 0 ? 0 : -1;
}

/* ---- JSON */

static inline double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value)) fail_msg("'%s' is not a number", key);
    return json_number_value(value);
}

static inline const char *words(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    if (!value) fail_msg("'%s' is not a text", key);
    return value;
}

static inline json_t *run_json(const char *line)
{
    run_well(line);
    json_error_t error;
    json_t *root = json_loads(out_text, JSON_REJECT_DUPLICATES, &error);
    if (!root) fail_msg("not JSON: %s", error.text);
    return root;
}

/* A line that makes the data of an example. */
static inline void run_shell(const char *line)
{
    char command[1024];
    snprintf(command, sizeof command, "cd %s && %s", folder, line);
    assert_int_equal(system(command), 0);
}

/* ---- data */

/* y = 2 + x + noise on a grid; the class is its sign. */
static inline void make_line(const char *name, int rows)
{
    char path[512];
    in_folder(path, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    const xb_stream where = {.key = xb_key_make(3, XB_PURPOSE_TEST)};
    fprintf(f, "x,y,sign\n");
    for (int i = 0; i < rows; i++) {
        double x = 6.0 * i / rows - 3, u = xb_stream_uniform(&where, i) - 0.5;
        fprintf(f, "%.6f,%.6f,%s\n", x, 2 + x + u, x < 0 ? "minus" : "plus");
    }
    fclose(f);
}

#endif
