/* pdf_date.c: removes the time from PDF files. cairo, which draws gnuplot's PDF files,
 * always writes it. The digits are overwritten in place, so that no offset in the file
 * changes. A file without a date stays unchanged. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/os.h"
#include "report/figure.h"

static const char MARK[] = "/CreationDate (D:";
static const char EPOCH[] = "19700101000000";

/* Returns the position of the digits; -1: there are none. After a mismatch the search
 * restarts at the current character: no prefix of the mark occurs again inside it, except
 * '/'.
 */
static long find_date(FILE *file)
{
    size_t met = 0;
    for (int c; (c = fgetc(file)) != EOF;) {
        met = c == MARK[met] ? met + 1 : c == MARK[0];
        if (met == sizeof MARK - 1) return ftell(file);
    }
    return -1;
}

static bool all_digits(FILE *file)
{
    char text[sizeof EPOCH] = "";
    return fread(text, 1, sizeof EPOCH - 1, file) == sizeof EPOCH - 1 &&
           strspn(text, "0123456789") == sizeof EPOCH - 1;
}

xb_status xb_pdf_undate(xb_ctx *ctx, const char *path)
{
    FILE *file = xb_os_open(path, "r+b");
    if (!file)
        return xb_fail(ctx, XB_E_IO, "%s: cannot write: %s", path, strerror(errno));
    long at = find_date(file);
    bool ok = true;
    if (at >= 0 && all_digits(file))
        ok = fseek(file, at, SEEK_SET) == 0 && fputs(EPOCH, file) >= 0;
    ok = fclose(file) == 0 && ok;
    if (ok) return XB_OK;
    return xb_fail(ctx, XB_E_IO, "%s: cannot write: %s", path, strerror(errno));
}
