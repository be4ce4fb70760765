/* share.h: the contents of a share's file (crossbayes/work.h): a safetensors file with
 * the results of items as bytes, and texts that say what they belong to. */
#ifndef XB_DEAL_SHARE_H
#define XB_DEAL_SHARE_H

#include <jansson.h>

#include "base/comm.h"

#define XB_SHARE_KIND "share" /* value of the text "crossbayes" */

/* Keys of the texts. "words" is the command, "inputs" [[name, checksum, bytes], ..],
 * "work" [[name, items], ..]; "share" counts from 1. */
enum {
    XB_SHARE_BUILD,
    XB_SHARE_WORDS,
    XB_SHARE_INPUTS,
    XB_SHARE_WORK,
    XB_SHARE_NUMBER,
    XB_SHARE_OF,
    XB_SHARE_TEXTS
};
extern const char *const xb_share_key[XB_SHARE_TEXTS];

enum { XB_SHARES_MOST = 100000, XB_SHARE_ITEM = 48 };

/* The name of an item's result in the file. */
void xb_share_item_name(char out[XB_SHARE_ITEM], int64_t work, int64_t item);

/* [name, checksum, bytes] of one file, as text and numbers. */
xb_status xb_share_input(xb_ctx *ctx, json_t **out, const char *path);

#endif
