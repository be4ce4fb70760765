/* localetest.h: a locale with a decimal comma, made by localedef in a separate folder, so
 * that a test does not depend on an installed one. */
#ifndef LOCALETEST_H
#define LOCALETEST_H

#include <locale.h>

#include "folder.h"
#include "unixtest.h"
#include "scratch.h"

/* Numbers have a comma from here on: "1,5". */
static inline scratch comma_locale_set(void)
{
    scratch s = scratch_make();
    char command[256], number[8];
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8",
             s.dir);
    assert_int_equal(system(command), 0);
    assert_int_equal(setenv("LOCPATH", s.dir, 1), 0);
    assert_non_null(setlocale(LC_NUMERIC, "de_DE.UTF-8"));
    snprintf(number, sizeof number, "%.1f", 1.5);
    assert_string_equal(number, "1,5");
    return s;
}

static inline void comma_locale_drop(scratch *s)
{
    setlocale(LC_NUMERIC, "C");
    unsetenv("LOCPATH");
    folder_empty(s->dir);
    assert_int_equal(rmdir(s->dir), 0);
}

#endif
