/* classes.h: the distinct labels of a column while it is read, and their numbers 0 .. K-1
 * afterwards. */
#ifndef XB_DATA_CLASSES_H
#define XB_DATA_CLASSES_H

#include "base/ctx.h"
#include "data/dialect.h"
#include "data/number.h"

typedef struct xb_class_label {
    char *text;
    int64_t number; /* number in the order of first appearance */
} xb_class_label;

typedef struct xb_classes {
    xb_ctx *ctx;
    xb_class_label *label; /* [count], ascending by bytes */
    int64_t count, capacity;
    bool closed; /* no others are accepted */
} xb_classes;

/* If `names` is NULL, starts an empty set that grows. Otherwise the set has exactly these
 * names, in this order. */
xb_status xb_classes_start(xb_ctx *ctx, xb_classes *out, const char *const *names,
                           int64_t n);
void xb_classes_free(xb_classes *classes);

/* The provisional number of a label; -1 if the set is closed and does not have it, -2 if
 * there are more than XB_CLASSES_MAX, -3 if it is not UTF-8. */
xb_status xb_classes_number(xb_classes *classes, int64_t *out, xb_slice field,
                            char point);
xb_status xb_classes_number_of_value(xb_classes *classes, int64_t *out, double value);
xb_status xb_classes_number_of_text(xb_classes *classes, int64_t *out, const char *text);

/* The form in which a label is kept: the shortest form of a number, or the text
 * unchanged. */
const char *xb_class_canonical(char out[XB_NUMBER_TEXT_MAX], const char *text,
                               char point);

/* Closes a set that grew: rank[number] is the class's final number, names[rank]
 * its text, owned by the caller (one block for each, free() them). */
xb_status xb_classes_finish(xb_classes *classes, int64_t **rank, char ***names);

#endif
