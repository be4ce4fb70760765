/* cells_input.c: see cells_input.h. */
#include "cells_input.h"

#include "crossbayes/device.h"

/* Sets the read noise of the states for which the device file has traces. */
static xb_status take_widths(cli_session *s, xb_weight_cells **out,
                             const xb_weight_cells *base, const xb_device *device,
                             const char *path)
{
    enum { MOST = 64 };
    double g[MOST], width[MOST];
    const int64_t n = xb_device_trace_count(device);
    if (n < 2 || n > MOST)
        return xb_fail(s->ctx, XB_E_INPUT,
                       "%s: read noise at %lld %s, expected 2 to %d: make the device file"
                       " from traces of states over the whole range",
                       path, (long long)n, xb_plural(n, "state", "states"), MOST);
    for (int64_t i = 0; i < n; i++) {
        const xb_device_trace t = xb_device_trace_at(device, i);
        g[i] = t.conductance;
        width[i] = t.width;
    }
    return xb_weight_cells_measured(s->ctx, out, base, g, width, n);
}

cli_exit cli_cells_read(cli_session *s, xb_weight_cells **out, const char *text,
                        const char *path)
{
    xb_weight_cells *base = NULL;
    xb_device *device = NULL;
    xb_status status = xb_weight_cells_parse(s->ctx, &base, text);
    if (status == XB_OK && !path) {
        *out = base;
        return CLI_DONE;
    }
    if (status == XB_OK) status = xb_device_load(s->ctx, &device, path);
    if (status == XB_OK) status = take_widths(s, out, base, device, path);
    xb_device_destroy(device);
    xb_weight_cells_destroy(base);
    return cli_status(s, status);
}

void cli_cells_help(FILE *out)
{
    fprintf(
        out,
        "\nCELLS, for --cells. A weight is (sum of sign × g - offset) / scale; its width "
        "is\nsqrt(sum of sigma(g)^2) / scale:\n"
        "  three       sum of three cells of Lin et al. 2023: signs=1/1/1, offset=7.2,"
        " scale=10.5\n"
        "  pair        difference of two such cells: signs=1/-1, offset=0, scale=7\n"
        "  after the name, any of :signs=1/-1, range=LOW/HIGH, offset=X, scale=X and "
        "either\n"
        "  width=A/B/C (sigma(g) = A + B g + C g^2), or at=G/G/... and width=S/S/..., "
        "one width\n"
        "  for each conductance, linear in between\n");
}
