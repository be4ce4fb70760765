/* crossbar_device.c: see crossbar_device.h. */
#include "crossbar_device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "crossbayes/crossbar.h"
#include "crossbayes/data.h"
#include "crossbayes/device.h"
#include "print.h"

void cli_time_text(char *out, size_t size, double seconds)
{
    if (seconds < 1) {
        xb_quantity_text(out, size, seconds, NAN, "s");
    } else {
        char number[32];
        cli_format_plain(number, sizeof number, seconds);
        snprintf(out, size, "%s s", number);
    }
}

static double number_of(const xb_array *array, const char *key)
{
    double value = 0;
    (void)xb_array_get(NULL, &value, array, key);
    return value;
}

/* Whether --set gives a number of the array; the array writes its keys with
 * underscores. */
static bool was_set(const cli_session *s, const char *key)
{
    const cli_value *set = cli_get(&s->args, "set");
    const int64_t field = xb_array_field_find(key);
    for (int i = 0; set->given && i < set->n_texts; i++) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(set->texts[i], "="),
                 set->texts[i]);
        if (xb_array_field_find(name) == field) return true;
    }
    return false;
}

/* The measured programming error replaces the array's. */
static xb_status use_program_error(cli_session *s, xb_array *array)
{
    if (was_set(s, "program_error") || was_set(s, "program_by_state")) return XB_OK;
    const xb_status status = xb_array_set(s->ctx, array, "program_by_state", 1);
    return status == XB_OK ? xb_array_set(s->ctx, array, "program_error", 0) : status;
}

/* A device file also sets the read noise and the programming error, unless --set gives
 * one of their keys. */
static cli_exit use_device(cli_session *s, xb_array *array)
{
    xb_device *device = NULL;
    xb_status status = xb_device_load(s->ctx, &device, xb_array_device(array));
    if (status == XB_OK && xb_device_trace_count(device) > 0 && !was_set(s, "read_noise"))
        status = xb_array_set(s->ctx, array, "read_noise", 1);
    if (status == XB_OK && xb_device_state_count(device) > 0)
        status = use_program_error(s, array);
    xb_device_destroy(device);
    return cli_status(s, status);
}

cli_exit cli_array_device(cli_session *s, xb_array *array)
{
    const char *file = cli_text(&s->args, "device", NULL);
    const char *age = cli_text(&s->args, "age", NULL);
    double seconds = 0;
    if (file && xb_array_set_device(s->ctx, array, file) != XB_OK)
        return cli_fail(s, CLI_USAGE, "--device: the path is too long");
    if (file) {
        const cli_exit code = use_device(s, array);
        if (code != CLI_DONE) return code;
    }
    if (!age) return CLI_DONE;
    if (xb_quantity_parse(s->ctx, &seconds, age, "s") != XB_OK)
        return cli_fail(s, CLI_USAGE, "--age: %s", xb_ctx_message(s->ctx));
    if (!xb_array_device(array)[0])
        return cli_fail(s, CLI_USAGE, "--age: missing --device FILE");
    return cli_status(s, xb_array_set(s->ctx, array, "age_s", seconds));
}

cli_exit cli_show_device(cli_session *s, const xb_array *array, const xb_model *model)
{
    const char *file = xb_array_device(array);
    const double age = number_of(array, "age_s");
    xb_device *device = NULL;
    char name[CLI_SHOWN], when[64];
    if (!file[0]) return CLI_DONE;
    xb_status status = xb_device_load(s->ctx, &device, file);
    if (status != XB_OK) return cli_status(s, status);
    cli_time_text(when, sizeof when, age);
    const int64_t times = xb_device_time_count(device);
    const double last = times > 0 ? xb_device_time_at(device, times - 1) : 0;
    printf("  device %s: ", cli_shown(name, file));
    if (age > 0)
        printf("conductances %s after programming\n", when);
    else
        printf("conductances right after programming\n");
    cli_time_text(when, sizeof when, last);
    if (number_of(array, "read_noise") > 0 && !xb_model_cells(model))
        printf("  mean devices have the read noise measured for their states, times %g"
               " (read_noise)\n",
               number_of(array, "read_noise"));
    if (number_of(array, "program_by_state") > 0)
        printf("  programming errors are those measured for each state, times %g "
               "(program_by_state)\n",
               number_of(array, "program_by_state"));
    if (age > last)
        printf("  this is later than the last time measured (%s): shift and spread are"
               " extrapolated on the logarithm of time\n",
               when);
    if (number_of(array, "quiet_pairs") > 0)
        printf("  each weight is programmed to the pair of states that spreads least "
               "after %s\n",
               when);
    xb_device_destroy(device);
    return CLI_DONE;
}
