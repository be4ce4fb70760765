/* file_set.c: see file_set.h. */
#include "base/file_set.h"

#include <stdlib.h>

#include "crossbayes/extend.h"
#include "base/memory.h"

enum { FIRST_SLOTS = 64 };

static xb_known_file *find_slot(xb_known_file *slot, int64_t slots, uint64_t device,
                                uint64_t number)
{
    const uint64_t id[] = {device, number};
    uint64_t mask = (uint64_t)slots - 1, at = xb_hash_bytes(0, id, sizeof id) & mask;
    while (slot[at].is && (slot[at].device != device || slot[at].number != number))
        at = (at + 1) & mask;
    return &slot[at];
}

xb_status xb_file_set_room(xb_ctx *ctx, xb_file_set *set, int64_t more)
{
    int64_t slots = set->slots ? set->slots : FIRST_SLOTS;
    while (2 * (set->files + more) > slots) slots *= 2;
    if (slots == set->slots) return XB_OK;
    xb_known_file *grown = xb_new(ctx, slots, sizeof *grown);
    if (!grown) return XB_E_MEMORY;
    for (int64_t i = 0; i < set->slots; i++) {
        const xb_known_file *old = &set->slot[i];
        if (old->is) *find_slot(grown, slots, old->device, old->number) = *old;
    }
    free(set->slot);
    set->slot = grown;
    set->slots = slots;
    return XB_OK;
}

xb_known_file *xb_file_set_add(xb_file_set *set, const xb_os_info *info)
{
    xb_known_file *file = find_slot(set->slot, set->slots, info->device, info->number);
    if (file->is) return file;
    *file = (xb_known_file){.device = info->device, .number = info->number};
    set->files++;
    return file;
}

const xb_known_file *xb_file_set_find(const xb_file_set *set, const xb_os_info *info)
{
    static const xb_known_file none;
    if (set->slots == 0) return &none;
    return find_slot(set->slot, set->slots, info->device, info->number);
}

void xb_file_set_free(xb_file_set *set)
{
    for (int64_t i = 0; i < set->slots; i++) free(set->slot[i].name);
    free(set->slot);
    *set = (xb_file_set){0};
}
