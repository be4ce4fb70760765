/* filekind.c: see filekind.h. Checks signatures first, then the mark in the project's own
 * files ("crossbayes": "law"), then the beginning of a text. */
#include "crossbayes/filekind.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "crossbayes/extend.h"
#include "data/number.h"

enum { HEAD = 4096 };

const char *xb_filekind_words(xb_filekind kind)
{
    static const char *const words[XB_KINDS] = {
#define XB_FILEKIND_WORDS(name, text) text,
        XB_FILEKIND_LIST(XB_FILEKIND_WORDS)
#undef XB_FILEKIND_WORDS
    };
    return words[kind];
}

/* ---- by signature */

typedef struct signature {
    xb_filekind kind;
    int size;
    const char *bytes;
} signature;

#define SIGNATURE(kind, text)                                                            \
    {                                                                                    \
        XB_KIND_##kind, (int)sizeof(text) - 1, text                                      \
    }
static const signature signatures[] = {
    SIGNATURE(NPY, "\x93NUMPY"),
    SIGNATURE(CACHE, "XBIMAGE"),
    SIGNATURE(PNG, "\x89PNG\r\n\x1a\n"),
    SIGNATURE(JPEG, "\xff\xd8\xff"),
    SIGNATURE(GIF, "GIF8"),
    SIGNATURE(TIFF, "II*\0"),
    SIGNATURE(TIFF, "MM\0*"),
    SIGNATURE(PDF, "%PDF-"),
    SIGNATURE(GZIP, "\x1f\x8b"),
    SIGNATURE(XZ, "\xfd"
                  "7zXZ"),
    SIGNATURE(BZIP2, "BZh"),
    SIGNATURE(ZSTD, "\x28\xb5\x2f\xfd"),
    SIGNATURE(PARQUET, "PAR1"),
    SIGNATURE(ARROW, "ARROW1"),
    SIGNATURE(HDF5, "\x89HDF\r\n\x1a\n"),
    SIGNATURE(MATLAB, "MATLAB 5.0 MAT-file"),
    SIGNATURE(PICKLE, "\x80\x02"),
    SIGNATURE(PICKLE, "\x80\x03"),
    SIGNATURE(PICKLE, "\x80\x04\x95"),
    SIGNATURE(PICKLE, "\x80\x05\x95"),
    SIGNATURE(SQLITE, "SQLite format 3"),
    SIGNATURE(UTF16, "\xff\xfe"),
    SIGNATURE(UTF16, "\xfe\xff"),
    SIGNATURE(PROGRAM, "\x7f"
                       "ELF"),
};

static xb_filekind by_signature(const char *head, size_t size)
{
    for (int i = 0; i < XB_COUNT(signatures); i++) {
        const signature *s = &signatures[i];
        if (size >= (size_t)s->size && memcmp(head, s->bytes, (size_t)s->size) == 0)
            return s->kind;
    }
    return XB_KIND_UNKNOWN;
}

/* Whether the bytes start with two zeros, a type and a number of dimensions. */
static bool is_idx(const char *head, size_t size)
{
    const unsigned char *b = (const unsigned char *)head;
    return size >= 8 && b[0] == 0 && b[1] == 0 && b[2] >= 8 && b[2] <= 14 && b[3] >= 1 &&
           b[3] <= 4;
}

/* Decides by the name of the first file in the archive, which starts at byte 30. */
static xb_filekind zip_kind(const char *head, size_t size)
{
    enum { NAME_SIZE = 26, NAME = 30 };
    if (size < NAME || memcmp(head, "PK\3\4", 4) != 0) return XB_KIND_UNKNOWN;
    const size_t length = (size_t)(unsigned char)head[NAME_SIZE] |
                          (size_t)(unsigned char)head[NAME_SIZE + 1] << 8;
    const char *name = head + NAME;
    if (NAME + length > size) return XB_KIND_ZIP;
    if (length > 4 && memcmp(name + length - 4, ".npy", 4) == 0) return XB_KIND_NPZ;
    static const char office[] = "[Content_Types].xml";
    return length == sizeof office - 1 && memcmp(name, office, length) == 0
               ? XB_KIND_OFFICE
               : XB_KIND_ZIP;
}

/* The position of the word between begin and end, ignoring case; NULL: not found. */
static const char *find(const char *begin, const char *end, const char *word)
{
    const size_t length = strlen(word);
    for (const char *p = begin; (size_t)(end - p) >= length; p++)
        if (xb_os_same_text(p, word, length)) return p;
    return NULL;
}

/* ---- the project's own */

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && isspace((unsigned char)*p)) p++;
    return p;
}

/* The text after "crossbayes": in the JSON between p and end; *length 0: there is none.
 */
static const char *own_name(const char *p, const char *end, size_t *length)
{
    static const char key[] = "\"crossbayes\"";
    *length = 0;
    p = find(p, end, key);
    if (!p) return NULL;
    p = skip_blanks(p + sizeof key - 1, end);
    if (p == end || *p != ':') return NULL;
    p = skip_blanks(p + 1, end);
    if (p == end || *p != '"') return NULL;
    const char *quote = memchr(p + 1, '"', (size_t)(end - p - 1));
    if (!quote) return NULL;
    *length = (size_t)(quote - p - 1);
    return p + 1;
}

static xb_filekind json_kind(const char *begin, const char *end)
{
    static const struct {
        const char *name;
        xb_filekind kind;
    } own[] = {{"law", XB_KIND_LAW},
               {"array", XB_KIND_ARRAY},
               {"costs", XB_KIND_COSTS},
               {"device", XB_KIND_DEVICE},
               {"study", XB_KIND_STUDY},
               {"array export", XB_KIND_EXPORT},
               {"reproduction", XB_KIND_REPRODUCTION},
               {"model", XB_KIND_MODEL},
               {"checkpoint", XB_KIND_CHECKPOINT}};
    size_t length = 0;
    const char *name = own_name(begin, end, &length);
    for (int i = 0; name && i < XB_COUNT(own); i++)
        if (strlen(own[i].name) == length && memcmp(own[i].name, name, length) == 0)
            return own[i].kind;
    return XB_KIND_JSON;
}

/* The file has the header's length in 8 bytes, then the header as JSON. */
static xb_filekind safetensors_kind(const char *head, size_t size)
{
    enum { LENGTH = 8, BYTES_MAX = 4 }; /* a length below 16 MiB uses three bytes */
    if (size < LENGTH + 2 || head[LENGTH] != '{') return XB_KIND_UNKNOWN;
    for (int i = BYTES_MAX; i < LENGTH; i++)
        if (head[i] != 0) return XB_KIND_UNKNOWN;
    const xb_filekind kind = json_kind(head + LENGTH, head + size);
    return kind == XB_KIND_MODEL || kind == XB_KIND_CHECKPOINT ? kind
                                                               : XB_KIND_SAFETENSORS;
}

/* ---- text */

/* Whether the bytes are UTF-8 without control characters; the last character may be
 * incomplete. */
static bool is_text(const char *head, size_t size)
{
    char copy[HEAD + 1] = "";
    if (size > HEAD) size = HEAD;
    memcpy(copy, head, size);
    for (size_t i = 0; i < size;) {
        const int64_t bytes = xb_utf8_size(copy + i);
        const unsigned char c = (unsigned char)copy[i];
        if (c < ' ' && !isspace(c)) return false;
        if (bytes == 0) return c >= 0xC2 && size == HEAD && size - i < 4;
        i += (size_t)bytes;
    }
    return size > 0;
}

static xb_filekind markup_kind(const char *begin, const char *end)
{
    if (find(begin, end, "<!doctype html") || find(begin, end, "<html"))
        return XB_KIND_HTML;
    return find(begin, end, "<svg") ? XB_KIND_SVG : XB_KIND_XML;
}

/* Whether some line starts with a number that a separator or the end of the line
 * follows. */
static bool has_numbers(const char *begin, const char *end)
{
    for (const char *p = begin; p < end;) {
        p = skip_blanks(p, end);
        const char *word = p;
        double number;
        while (p < end && !strchr(" ,;\t\r\n", *p)) p++;
        if (p > word && xb_number_parse(&number, word, p, '.')) return true;
        const char *line = memchr(p, '\n', (size_t)(end - p));
        if (!line) return false;
        p = line + 1;
    }
    return false;
}

static xb_filekind text_kind(const char *head, size_t size)
{
    static const char mark[] = "\xef\xbb\xbf"; /* byte order mark of UTF-8 */
    const char *end = head + size;
    const bool marked = size >= 3 && memcmp(head, mark, 3) == 0;
    const char *p = skip_blanks(head + (marked ? 3 : 0), end);
    if (p == end) return XB_KIND_UNKNOWN;
    if (*p == '{') return json_kind(p, end);
    if (*p == '[' && p + 1 < end) return XB_KIND_JSON;
    if (*p == '<') return markup_kind(p, end);
    return has_numbers(p, end) ? XB_KIND_TABLE : XB_KIND_TEXT;
}

/* ---- all of them */

xb_filekind xb_filekind_of(const void *bytes, size_t size)
{
    const char *head = bytes;
    xb_filekind kind = by_signature(head, size);
    if (kind == XB_KIND_UNKNOWN && is_idx(head, size)) kind = XB_KIND_IDX;
    if (kind == XB_KIND_UNKNOWN) kind = zip_kind(head, size);
    if (kind == XB_KIND_UNKNOWN) kind = safetensors_kind(head, size);
    if (kind == XB_KIND_UNKNOWN && is_text(head, size)) kind = text_kind(head, size);
    return kind;
}

static bool is_empty(const char *path)
{
    xb_os_info info;
    char head[1];
    return xb_os_read_head(&info, head, sizeof head, path) == 0 &&
           info.kind == XB_OS_FILE;
}

xb_filekind xb_filekind_detect(const char *path)
{
    xb_os_info info;
    char head[HEAD];
    const int64_t got = xb_os_read_head(&info, head, sizeof head, path);
    if (info.kind == XB_OS_FOLDER) return XB_KIND_FOLDER;
    return got > 0 ? xb_filekind_of(head, (size_t)got) : XB_KIND_UNKNOWN;
}

/* Whether a file of this kind may be a damaged one of the other kind, whose reader knows
 * better what is wrong with it. */
static bool may_be(xb_filekind kind, xb_filekind expected)
{
    switch (expected) {
    case XB_KIND_TABLE: return kind == XB_KIND_NPY || kind == XB_KIND_TEXT;
    case XB_KIND_LAW: /* a device file may have a law too */
        return kind == XB_KIND_JSON || kind == XB_KIND_DEVICE;
    case XB_KIND_ARRAY:
    case XB_KIND_COSTS:
    case XB_KIND_DEVICE:
    case XB_KIND_STUDY: return kind == XB_KIND_JSON;
    case XB_KIND_MODEL:
    case XB_KIND_CHECKPOINT: return kind == XB_KIND_SAFETENSORS;
    case XB_KIND_IDX: return kind == XB_KIND_GZIP;
    default: return false;
    }
}

/* What to do with a file of this kind, to follow the message; tables only. */
static const char *remedy(xb_filekind kind)
{
    switch (kind) {
    case XB_KIND_UTF16: return "; save it as UTF-8";
    case XB_KIND_OFFICE:
    case XB_KIND_PARQUET:
    case XB_KIND_ARROW:
    case XB_KIND_HDF5:
    case XB_KIND_MATLAB:
    case XB_KIND_PICKLE:
    case XB_KIND_SQLITE: return "; save it as CSV";
    default: return "";
    }
}

xb_status xb_filekind_refuse(xb_ctx *ctx, xb_status status, const char *name,
                             xb_filekind kind, xb_filekind expected)
{
    if (kind == XB_KIND_UNKNOWN || kind == expected || may_be(kind, expected))
        return status;
    return xb_fail(ctx, status, "%s: this is %s; %s was expected%s", name,
                   xb_filekind_words(kind), xb_filekind_words(expected),
                   expected == XB_KIND_TABLE ? remedy(kind) : "");
}

xb_status xb_filekind_explain(xb_ctx *ctx, xb_status status, const char *path,
                              xb_filekind expected)
{
    if (status != XB_E_INPUT) return status;
    if (expected != XB_KIND_TABLE && is_empty(path))
        return xb_fail(ctx, status, "%s: empty file; %s was expected", path,
                       xb_filekind_words(expected));
    return xb_filekind_refuse(ctx, status, path, xb_filekind_detect(path), expected);
}
