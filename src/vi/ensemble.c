/* ensemble.c: joins posteriors that were trained separately into one model (maths P7).
 * The ensemble presents the nets, names, scales and weights of its first member, and owns
 * all members: the contents of a model are declared once, and a part added to a model
 * needs no change here. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "vi/member_seed.h"
#include "vi/model.h"

/* Stream of XB_PURPOSE_DATA that held-out rows do not use. */
enum { MEMBER_STREAM = 1001 };

uint64_t xb_member_seed(uint64_t seed, int64_t i)
{
    const xb_stream where = {.key = xb_key_make(seed, XB_PURPOSE_DATA),
                             .tensor = MEMBER_STREAM};
    if (i == 0) return seed;
    const uint64_t high = xb_stream_word(&where, 2 * i);
    /* JSON integers are signed. */
    return (high << 32 | xb_stream_word(&where, 2 * i + 1)) >> 1;
}

static bool same_names(char *const *a, char *const *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (a[i] && b[i] && strcmp(a[i], b[i]) != 0) return false;
    return true;
}

static bool same_scales(const xb_model *a, const xb_model *b)
{
    const size_t inputs = (size_t)a->features * sizeof(double);
    const size_t targets = (size_t)a->targets * sizeof(double);
    return memcmp(a->x_mean, b->x_mean, inputs) == 0 &&
           memcmp(a->x_sd, b->x_sd, inputs) == 0 &&
           memcmp(a->x_low, b->x_low, inputs) == 0 &&
           memcmp(a->x_bend, b->x_bend, inputs) == 0 &&
           memcmp(a->y_mean, b->y_mean, targets) == 0 &&
           memcmp(a->y_sd, b->y_sd, targets) == 0;
}

static bool same_cells(const xb_model *a, const xb_model *b)
{
    if (!a->cells || !b->cells) return a->cells == b->cells;
    return strcmp(xb_weight_cells_text(a->cells), xb_weight_cells_text(b->cells)) == 0;
}

/* Whether the parts agree that a file holds once for all members. */
static bool go_together(const xb_model *a, const xb_model *b)
{
    const xb_shape u = xb_net_input(a->net), v = xb_net_input(b->net);
    return strcmp(xb_net_text(a->net), xb_net_text(b->net)) == 0 && u.h == v.h &&
           u.w == v.w && u.c == v.c && a->likelihood == b->likelihood &&
           a->features == b->features && a->classes == b->classes &&
           a->pixels == b->pixels && a->targets == b->targets &&
           strcmp(a->target_name, b->target_name) == 0 &&
           same_names(a->feature_name, b->feature_name, a->features) &&
           same_names(a->class_name, b->class_name, a->classes) && same_scales(a, b) &&
           same_cells(a, b);
}

xb_status xb_model_join(xb_ctx *ctx, xb_model **out, xb_model **member, int64_t members)
{
    for (int64_t i = 1; i < members; i++)
        if (!go_together(member[0], member[i]))
            return xb_fail(ctx, XB_E_ARGUMENT,
                           "member %lld has another net, target or columns than member 1",
                           (long long)i + 1);
    if (members == 1) {
        *out = member[0];
        return XB_OK;
    }
    xb_model *whole = xb_new(ctx, 1, sizeof *whole);
    xb_model **list = xb_new(ctx, members, sizeof(xb_model *));
    if (!whole || !list) {
        free(whole);
        free(list);
        return XB_E_MEMORY;
    }
    memcpy(list, member, (size_t)members * sizeof(xb_model *));
    *whole = *member[0];
    whole->member = list;
    whole->calibration = NULL;
    whole->members = members;
    *out = whole;
    return XB_OK;
}

void xb_model_part(xb_model *ensemble)
{
    for (int64_t i = 0; i < ensemble->members; i++) xb_model_destroy(ensemble->member[i]);
    free(ensemble->member);
    free(ensemble->calibration); /* it belongs to the ensemble, not to a member */
    free(ensemble);
}

int64_t xb_model_member_count(const xb_model *m) { return m->member ? m->members : 1; }

const xb_model *xb_model_member_at(const xb_model *m, int64_t i)
{
    if (i < 0 || i >= xb_model_member_count(m)) return NULL;
    return m->member ? m->member[i] : m;
}
