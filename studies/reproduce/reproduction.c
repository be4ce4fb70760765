/* reproduction.c: the container of the results, and its JSON. */
#include "reproduce/reproduction.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "crossbayes/json.h"
#include "study/study.h"

void xb_reproduce_options_init(xb_reproduce_options *opt, size_t size)
{
    const xb_reproduce_options standard = {.formats = XB_FIGURE_SVG | XB_FIGURE_PNG,
                                           .seed = 1};
    xb_options_fill(opt, size, &standard, sizeof standard);
}

void xb_reproduction_destroy(xb_reproduction *r)
{
    if (!r) return;
    xb_free(r->found);
    xb_free(r);
}

int64_t xb_reproduction_count(const xb_reproduction *r) { return r->count; }

xb_claim xb_reproduction_claim(const xb_reproduction *r, int64_t i)
{
    assert(i >= 0 && i < r->count);
    const xb_claim_kind *kind = r->found[i].kind;
    const xb_judgement *j = &r->found[i].judgement;
    return (xb_claim){kind->figure, kind->id,  kind->claim, kind->paper, j->value,
                      j->std_error, j->number, j->finding,  j->why};
}

xb_figure_state xb_reproduction_figure(const xb_reproduction *r, int64_t figure)
{
    assert(figure >= 1 && figure <= XB_PAPER_FIGURES);
    return r->state[figure];
}

int xb_reproduction_tally(const xb_reproduction *r, int figure, xb_finding_kind finding)
{
    int n = 0;
    for (int i = 0; i < r->count; i++)
        n += (figure == 0 || r->found[i].kind->figure == figure) &&
             r->found[i].judgement.finding == finding;
    return n;
}

xb_status xb_reproduction_path(xb_ctx *ctx, char out[XB_REPRODUCE_PATH], const char *dir,
                               const char *name)
{
    if (snprintf(out, XB_REPRODUCE_PATH, "%s/%s", dir, name) < XB_REPRODUCE_PATH)
        return XB_OK;
    return xb_fail(ctx, XB_E_IO, "%s: the path is too long", dir);
}

/* ---- JSON */

static json_t *claim_json(const xb_claim *c)
{
    return json_pack("{s:i, s:s, s:s, s:s, s:o, s:o, s:s, s:s, s:s}", "figure", c->figure,
                     "id", c->id, "claim", c->claim, "paper", c->paper, "value",
                     xb_json_real(c->value), "std_error", xb_json_real(c->std_error),
                     "number", c->number, "finding", xb_finding_name(c->finding), "why",
                     c->why);
}

/* NULL when memory has run out; json_pack passes it on. */
static json_t *claims_json(const xb_reproduction *r)
{
    json_t *list = json_array();
    for (int i = 0; i < r->count && list; i++) {
        xb_claim claim = xb_reproduction_claim(r, i);
        if (json_array_append_new(list, claim_json(&claim)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

xb_status xb_reproduction_json(xb_ctx *ctx, char **out, const xb_reproduction *r)
{
    json_t *tally = json_pack("{s:i, s:i, s:i}", "agrees",
                              xb_reproduction_tally(r, 0, XB_FINDING_AGREES), "differs",
                              xb_reproduction_tally(r, 0, XB_FINDING_DIFFERS), "unclear",
                              xb_reproduction_tally(r, 0, XB_FINDING_UNCLEAR));
    char seed[24];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)r->opt.seed);
    json_t *from = json_pack("{s:s, s:s, s:s, s:s}", "version", xb_version(), "command",
                             r->command, "seed", seed, "faces", r->data);
    json_t *root = json_pack("{s:s, s:s, s:o, s:o, s:o}", "crossbayes", "reproduction",
                             "effort", xb_effort_name(r->opt.effort), "tally", tally,
                             "claims", claims_json(r), "provenance", from);
    xb_status status = xb_json_text(ctx, out, root);
    json_decref(root);
    return status;
}
