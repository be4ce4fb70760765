/* xmltest.h: checks that a text, such as a figure or a page, is well-formed XML: tags
 * nest, attributes are quoted, '&' starts an entity. */
#ifndef XMLTEST_H
#define XMLTEST_H

#include "xbtest.h"

enum { XML_DEPTH_MAX = 64, XML_NAME_MAX = 32 };

typedef struct xml_check {
    char open[XML_DEPTH_MAX][XML_NAME_MAX];
    int depth, roots;
    const char *path;
} xml_check;

static inline const char *xml_skip_to(const xml_check *x, const char *p, const char *end)
{
    const char *found = strstr(p, end);
    if (!found) fail_msg("%s: no '%s'", x->path, end);
    return found + strlen(end);
}

/* From '<' of a start or end tag to after its '>'. */
static inline const char *xml_check_tag(xml_check *x, const char *p)
{
    bool closing = p[1] == '/';
    const char *name = p + 1 + closing;
    size_t length = strcspn(name, " \t\r\n/>");
    assert_true(length > 0 && length < XML_NAME_MAX);
    char quote = 0, before = 0;
    const char *q = name + length;
    for (; *q && (quote || *q != '>'); q++) {
        if (quote && *q == quote)
            quote = 0;
        else if (!quote && (*q == '"' || *q == '\''))
            quote = *q;
        else if (*q == '<')
            fail_msg("%s: '<' inside a tag", x->path);
        before = *q;
    }
    if (!*q) fail_msg("%s: a tag without end", x->path);
    if (closing) {
        assert_true(x->depth > 0);
        x->depth--;
        assert_true(strncmp(x->open[x->depth], name, length) == 0);
        assert_int_equal(x->open[x->depth][length], 0);
    } else if (before != '/') {
        assert_true(x->depth < XML_DEPTH_MAX);
        x->roots += x->depth == 0;
        snprintf(x->open[x->depth++], XML_NAME_MAX, "%.*s", (int)length, name);
    }
    return q + 1;
}

static inline void assert_well_formed(const char *path, const char *text)
{
    xml_check x = {.path = path};
    for (const char *p = text; *p;) {
        if (strncmp(p, "<!--", 4) == 0)
            p = xml_skip_to(&x, p, "-->");
        else if (strncmp(p, "<?", 2) == 0 || strncmp(p, "<!", 2) == 0)
            p = xml_skip_to(&x, p, ">");
        else if (*p == '<')
            p = xml_check_tag(&x, p);
        else if (*p == '&' &&
                 p[1 + strspn(p + 1, "#abcdefghijklmnopqrstuvwxyz0123456789")] != ';')
            fail_msg("%s: a bare '&'", path);
        else
            p++;
    }
    assert_int_equal(x.depth, 0);
    assert_int_equal(x.roots, 1);
}

#endif
