/* train_choice.c: see train_choice.h.
 *
 * F bounds minus the log evidence, so it prices the weights of the deeper net by itself:
 * more layers win where the data pay for them (V18; docs/networks.md has the numbers).
 * With a temperature F is no such bound, and nothing is chosen. The second training has
 * no checkpoint: a run that is resumed has the first from its checkpoint at once. */
#include "train_choice.h"

#include <math.h>

static bool is_open(const cli_session *s, const xb_train_data *data)
{
    static const char *const settled[] = {"net", "noise-net", "preset", "temperature"};
    for (int i = 0; i < CLI_COUNT_OF(settled); i++)
        if (cli_flag(&s->args, settled[i])) return false;
    return data->x != NULL;
}

static void keep_better(cli_trained *out, cli_trained *other)
{
    const bool held = isfinite(cli_trained_score(out));
    const double mine = held ? -cli_trained_score(out) : cli_trained_f(out).value;
    const double its = held ? -cli_trained_score(other) : cli_trained_f(other).value;
    const bool swap = its < mine;
    cli_trained *kept = swap ? other : out, *gone = swap ? out : other;
    snprintf(out->other_net, sizeof out->other_net, "%s", xb_model_net_text(gone->model));
    out->other_f = cli_trained_f(gone);
    out->other_score = cli_trained_score(gone);
    xb_model_destroy(gone->model);
    xb_table_destroy(gone->trace);
    out->model = kept->model;
    out->trace = kept->trace;
}

xb_status cli_train_best(cli_session *s, cli_trained *out, const xb_train_data *data,
                         const xb_train_options *opt)
{
    xb_status status = xb_train(s->ctx, &out->model, &out->trace, data, opt);
    if (status != XB_OK || !is_open(s, data)) return status;
    char net[64];
    snprintf(net, sizeof net, "dense 50, relu, dense 50, relu, dense %lld",
             (long long)(data->classes > 0 ? data->classes : 1));
    xb_train_options deeper = *opt;
    deeper.net = net;
    deeper.checkpoint = NULL;
    deeper.resume = false;
    deeper.task = "training a deeper net";
    cli_trained other = {0};
    status = xb_train(s->ctx, &other.model, &other.trace, data, &deeper);
    if (status == XB_OK) keep_better(out, &other);
    return status == XB_E_NUMERIC ? XB_OK : status; /* the first one stands */
}
