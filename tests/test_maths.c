/* test_maths.c: the code and docs/maths.md speak of the same formulas. A formula there
 * starts a line, "**V4 Name"; a citation is "(V4)", "(V4, V6)", "(V4-V6)" or "maths V4".
 * No formula is numbered twice, none is cited that is not there (told as file:line), and
 * none is there that no code cites. The page's contents link to every section. */
#include "scratch.h"

#include <dirent.h>

enum { NUMBERS = 100, TEXT_SIZE = 1 << 19 };

typedef struct formulas {
    bool there[26][NUMBERS], cited[26][NUMBERS];
    char complaint[512]; /* the first */
    int complaints;
} formulas;

static void complain(formulas *f, const char *path, int line, const char *what,
                     char letter, int number)
{
    if (f->complaints++ == 0)
        snprintf(f->complaint, sizeof f->complaint, "%.400s:%d: %s %c%d", path, line,
                 what, letter, number);
}

/* "V4", one or two digits and nothing behind; returns its length, 0: it is none. */
static int read_label(const char *p, int *letter, int *number)
{
    int used = 0;
    if (*p < 'A' || *p > 'Z' || p[1] < '1' || p[1] > '9') return 0;
    *letter = *p - 'A';
    *number = 0;
    for (used = 1; p[used] >= '0' && p[used] <= '9' && used < 3; used++)
        *number = 10 * *number + p[used] - '0';
    bool longer = (p[used] >= '0' && p[used] <= '9') || p[used] == '_' ||
                  (p[used] >= 'A' && p[used] <= 'Z') ||
                  (p[used] >= 'a' && p[used] <= 'z');
    return longer ? 0 : used;
}

static void read_formulas(formulas *f, const char *path, const char *text)
{
    int letter, number, line = 1;
    for (const char *p = text; *p; p++) {
        line += *p == '\n';
        bool starts = (p == text || p[-1] == '\n') && strncmp(p, "**", 2) == 0;
        if (!starts || !read_label(p + 2, &letter, &number)) continue;
        if (f->there[letter][number])
            complain(f, path, line, "a second", (char)('A' + letter), number);
        f->there[letter][number] = true;
    }
}

/* Labels with ", ", " and ", "-" or "; " between; a range cites all within. */
static void read_citation(formulas *f, const char *path, int line, const char *p)
{
    static const char *const between[] = {", ", " and ", "; ", "-", "–"};
    int letter, number, used, last = 0;
    bool range = false;
    while ((used = read_label(p, &letter, &number))) {
        for (int n = range ? last + 1 : number; n <= number; n++) {
            if (!f->there[letter][n])
                complain(f, path, line,
                         "cites what is not in docs/maths.md:", (char)('A' + letter), n);
            f->cited[letter][n] = true;
        }
        p += used;
        last = number;
        size_t skip = 0;
        for (size_t i = 0; i < sizeof between / sizeof *between && !skip; i++)
            if (strncmp(p, between[i], strlen(between[i])) == 0) {
                skip = strlen(between[i]);
                range = i >= 3;
            }
        if (!skip) return;
        p += skip;
    }
}

static void read_code(formulas *f, const char *path, const char *text)
{
    static const char word[] = "maths ";
    int line = 1;
    for (const char *p = text; *p; p++) {
        line += *p == '\n';
        if (*p == '(') read_citation(f, path, line, p + 1);
        if (strncmp(p, word, sizeof word - 1) == 0)
            read_citation(f, path, line, p + sizeof word - 1);
    }
}

static int read_folder(formulas *f, const char *folder, char *text)
{
    int files = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        char path[2048];
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        const char *dot = strrchr(e->d_name, '.');
        if (!dot) {
            files += read_folder(f, path, text);
        } else if (strcmp(dot, ".c") == 0 || strcmp(dot, ".h") == 0) {
            scratch_read(path, text, TEXT_SIZE);
            read_code(f, path, text);
            files++;
        }
    }
    closedir(dir);
    return files;
}

static void code_and_formulas_agree(void **state)
{
    (void)state;
    formulas f = {0};
    char *text = malloc(TEXT_SIZE), never[512] = "";
    assert_non_null(text);
    scratch_read(XB_SOURCE_DIR "/docs/maths.md", text, TEXT_SIZE);
    read_formulas(&f, "docs/maths.md", text);
    assert_true(read_folder(&f, XB_SOURCE_DIR "/src", text) > 100); /* it did look */
    read_folder(&f, XB_SOURCE_DIR "/studies", text);
    read_folder(&f, XB_SOURCE_DIR "/cli", text);
    read_folder(&f, XB_SOURCE_DIR "/include", text);
    free(text);
    if (f.complaints) fail_msg("%d wrong, the first: %s", f.complaints, f.complaint);
    for (int l = 0; l < 26; l++)
        for (int n = 0; n < NUMBERS; n++) {
            size_t used = strlen(never);
            if (f.there[l][n] && !f.cited[l][n] && used + 8 < sizeof never)
                snprintf(never + used, sizeof never - used, " %c%d", 'A' + l, n);
        }
    if (*never) fail_msg("formulas that no code cites:%s", never);
}

/* The first section, a line "## A Name", that the contents do not link to as
 * "[A Name](#", or NULL. */
static const char *section_without_link(char *name, size_t size, const char *text)
{
    char link[256];
    for (const char *p = strstr(text, "\n## "); p; p = strstr(p + 1, "\n## ")) {
        const int length = (int)strcspn(p + 4, "\n");
        snprintf(name, size, "%.*s", length, p + 4);
        snprintf(link, sizeof link, "[%.200s](#", name);
        if (!strstr(text, link)) return name;
    }
    return NULL;
}

static void the_contents_list_every_section(void **state)
{
    (void)state;
    char name[200], *text = malloc(TEXT_SIZE);
    assert_non_null(text);
    scratch_read(XB_SOURCE_DIR "/docs/maths.md", text, TEXT_SIZE);
    assert_non_null(strstr(text, "\n## R Randomness\n")); /* it does look */
    const char *missing = section_without_link(name, sizeof name, text);
    free(text);
    if (missing) fail_msg("docs/maths.md: the contents lack '%s'", missing);
    const char *broken = "[A One](#a-one)\n\n## A One\n\n## B Two\n";
    assert_string_equal(section_without_link(name, sizeof name, broken), "B Two");
}

/* The test itself can fail. */
static void a_wrong_citation_is_told(void **state)
{
    (void)state;
    formulas f = {0};
    read_formulas(&f, "m", "**A1 One.**\n\n**A2** two, see **A9**\n\n**A3 Three.**\n");
    assert_true(f.there[0][1] && f.there[0][2] && f.there[0][3] && !f.there[0][9]);
    read_code(&f, "c", "x; /* (A1) */ f(A10x); (A1-A3) maths A2, A3 (A_1) (B)\n");
    assert_int_equal(f.complaints, 0);
    assert_true(f.cited[0][2]);
    read_code(&f, "c", "\n/* (A1, A4) */\n");
    assert_string_equal(f.complaint, "c:2: cites what is not in docs/maths.md: A4");
    f = (formulas){0};
    read_formulas(&f, "m", "**A1 One.**\n**A1 again**\n");
    assert_string_equal(f.complaint, "m:2: a second A1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_and_formulas_agree),
        cmocka_unit_test(the_contents_list_every_section),
        cmocka_unit_test(a_wrong_citation_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
