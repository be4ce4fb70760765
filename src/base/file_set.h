/* file_set.h: a set of files, distinguished by device and inode, with what is known about
 * each. It is a hash table with open addressing that is at most half full, because a
 * folder of images holds tens of thousands of files. */
#ifndef XB_BASE_FILE_SET_H
#define XB_BASE_FILE_SET_H

#include "base/ctx.h"
#include "base/os.h"

typedef struct xb_known_file {
    uint64_t device, number;
    unsigned is;       /* bits that the user of the set defines; 0: not in the set */
    char *name;        /* freed with the set */
    const char *label; /* borrowed */
} xb_known_file;

typedef struct xb_file_set {
    xb_known_file *slot; /* [slots], a power of 2 */
    int64_t slots, files;
} xb_file_set;

/* Reserves memory for `more` files, so that adding these cannot fail. */
xb_status xb_file_set_room(xb_ctx *ctx, xb_file_set *set, int64_t more);

/* Returns the file's entry, which is new if necessary; it belongs to the set once its
 * `is` is set. */
xb_known_file *xb_file_set_add(xb_file_set *set, const xb_os_info *info);

/* The file's entry, or an empty one. */
const xb_known_file *xb_file_set_find(const xb_file_set *set, const xb_os_info *info);

void xb_file_set_free(xb_file_set *set);

#endif
