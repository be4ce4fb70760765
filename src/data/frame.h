/* frame.h: a table while it is filled, for frame.c, which reads numbers, targets and
 * classes, and frame_prepare.c, which makes features of everything else. */
#ifndef XB_DATA_FRAME_H
#define XB_DATA_FRAME_H

#include "crossbayes/data.h"
#include "data/apply.h"
#include "data/csv.h"
#include "data/store.h"

struct xb_frame {
    int64_t rows, features, blank_lines;
    int64_t first;       /* number of rows before these, which were passed on */
    char **feature_name; /* [features] */
    double *values;      /* [rows][features], in the store */
    xb_store store;
    int64_t targets;
    char *target_name;  /* NULL: no target; several names are joined by commas */
    char **target_each; /* [targets] */
    double *target;     /* [rows][targets] */
    int64_t classes;
    char **class_name; /* [classes] */
    xb_recipe *recipe; /* NULL: every column is a feature */
    xb_notes notes;
    int64_t test; /* the last rows, held out */
    char *id;     /* the column that names rows; NULL: none */
    char *row_text;
    int64_t *row_at; /* [rows] positions in it where the name of each row starts */
    int64_t row_used, row_room, row_text_room;
};

/* How cells become features. */
typedef struct xb_preparing {
    bool learns, applies; /* if neither: numbers only */
    xb_learner learner;
    xb_applier applier;
    char **name;    /* [wanted] names of the columns */
    bool *keep;     /* [wanted] */
    int64_t *place; /* [wanted] positions among the columns besides the target */
    int64_t beside; /* columns of the table without its target */
    bool named;
    int64_t id; /* column, -1: none */
    char *text; /* memory for a cell */
    int64_t text_room;
} xb_preparing;

typedef struct xb_filling {
    xb_ctx *ctx;
    const xb_frame_options *opt;
    const char *file; /* for messages */
    xb_frame *frame;
    int64_t wanted;  /* number of columns that features come from */
    int64_t *column; /* [wanted] position of each in the file */
    int64_t target;  /* position of the first one; -1: none */
    int64_t *more;   /* [targets] position of each in the file */
    int64_t targets;
    int64_t columns; /* number of columns of the file */
    int64_t other;   /* number of rows since the last one that was all numbers */
    bool as_classes;
    xb_classes classes;
    int64_t target_room;
    xb_preparing prepare;
} xb_filling;

/* Chooses the columns at the start of a table; arg is the filling. */
xb_status xb_frame_choose(void *arg, const xb_csv_head *head);

/* Call this once the columns are chosen. */
xb_status xb_prepare_start(xb_filling *f, const xb_csv_head *head);
/* Columns that are not features although no features were named: dropped columns and the
 * id. */
xb_status xb_prepare_marks(const xb_filling *f, bool *out, const xb_csv_head *head);
/* Finds the column that names rows. */
xb_status xb_prepare_id(xb_filling *f, const xb_csv_head *head);

/* Take the features of a row, and its name, from a text table, an array or columns. The
 * row of frame->values must have room. */
xb_status xb_prepare_row(xb_filling *f, const xb_csv_row *row);
xb_status xb_prepare_cell(xb_filling *f, int64_t i, const xb_cell *cell);
xb_status xb_prepare_name(xb_filling *f, const xb_cell *cell);
/* Classifies a text: a number, a missing value, or a word. */
xb_cell xb_prepare_text(const char *text, int64_t line);

/* Called when all rows are read: makes features and notes, and moves rows held out to the
 * end. */
xb_status xb_prepare_finish(xb_filling *f);
void xb_prepare_free(xb_filling *f);

#endif
