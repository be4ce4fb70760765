/* distance_items.c: the names of distances and gaps, and access to them. */
#include "compare/distance_items.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/gap.h"

static const char *const distance_names[XB_DISTANCES] = {
    [XB_DISTANCE_KL] = "kl",
    [XB_DISTANCE_ENERGY] = "energy",
    [XB_DISTANCE_WASSERSTEIN] = "wasserstein",
    [XB_DISTANCE_KS] = "ks",
};
static const char *const gap_names[XB_GAPS] = {
    [XB_GAP_MEAN] = "mean", [XB_GAP_SD] = "sd", [XB_GAP_WHOLE] = "whole"};

static int64_t find(const char *const *names, int64_t count, const char *name)
{
    for (int64_t i = 0; name && i < count; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

const char *xb_verdict_name(xb_verdict verdict)
{
    switch (verdict) {
    case XB_VERDICT_SAME: return "same";
    case XB_VERDICT_DIFFERENT: return "different";
    case XB_VERDICT_UNRESOLVED: return "cannot tell";
    }
    return "unknown";
}

void xb_distances_destroy(xb_distances *d) { free(d); }

int64_t xb_distances_points(const xb_distances *d) { return d->n; }
int64_t xb_distances_draws_a(const xb_distances *d) { return d->draws_a; }
int64_t xb_distances_draws_b(const xb_distances *d) { return d->draws_b; }
int64_t xb_distances_neighbours(const xb_distances *d) { return d->neighbours; }
int64_t xb_distances_kl_points(const xb_distances *d) { return d->kl_points; }
xb_verdict xb_distances_verdict(const xb_distances *d) { return d->verdict; }

double xb_distances_draws_needed(const xb_distances *d)
{
    double most = NAN; /* unknown if there is no gap */
    for (int i = 0; i < XB_GAPS; i++) most = fmax(most, d->gap[i].draws_needed);
    return most;
}

int64_t xb_distances_count(const xb_distances *d)
{
    (void)d;
    return XB_DISTANCES;
}

const char *xb_distances_name(const xb_distances *d, int64_t i)
{
    return i >= 0 && i < xb_distances_count(d) ? distance_names[i] : NULL;
}

int64_t xb_distances_find(const xb_distances *d, const char *name)
{
    return find(distance_names, xb_distances_count(d), name);
}

xb_distance xb_distances_at(const xb_distances *d, int64_t i)
{
    const xb_distance none = {NAN, NAN, NAN, NAN};
    return i >= 0 && i < xb_distances_count(d) ? d->distance[i] : none;
}

xb_distance xb_distances_get(const xb_distances *d, const char *name)
{
    return xb_distances_at(d, xb_distances_find(d, name));
}

int64_t xb_distances_gap_count(const xb_distances *d)
{
    (void)d;
    return XB_GAPS;
}

const char *xb_distances_gap_name(const xb_distances *d, int64_t i)
{
    return i >= 0 && i < xb_distances_gap_count(d) ? gap_names[i] : NULL;
}

int64_t xb_distances_gap_find(const xb_distances *d, const char *name)
{
    return find(gap_names, xb_distances_gap_count(d), name);
}

xb_gap xb_distances_gap_at(const xb_distances *d, int64_t i)
{
    return i >= 0 && i < xb_distances_gap_count(d) ? d->gap[i] : xb_gap_none();
}

xb_gap xb_distances_gap_get(const xb_distances *d, const char *name)
{
    return xb_distances_gap_at(d, xb_distances_gap_find(d, name));
}
