/* batchnorm.c: the layer's words, its scale and shift, which are never random, and its
 * running statistics; maths N4. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/number.h"
#include "net/layer.h"

/* TensorFlow's. */
static const double MOMENTUM = 0.99, EPSILON = 1e-3;

static xb_status parse(xb_reading *r, xb_layer *layer)
{
    static const char *const known[] = {"momentum", "epsilon"};
    layer->momentum = MOMENTUM;
    layer->epsilon = EPSILON;
    while (xb_reading_word(r)) {
        if (strcmp(r->word, "momentum") == 0)
            XB_TRY(xb_reading_number(r, &layer->momentum, "the momentum", true, 0, 1));
        else if (strcmp(r->word, "epsilon") == 0)
            XB_TRY(xb_reading_number(r, &layer->epsilon, "epsilon", false, 0, 1));
        else
            return xb_reading_unknown(r, "option", known, XB_COUNT(known));
    }
    return XB_OK;
}

static xb_status declare(xb_reading *r, xb_net *net, xb_layer *layer, int index)
{
    XB_TRY(xb_net_declare(r, net, layer, index, XB_ROLE_SCALE, 1, &layer->in.c));
    XB_TRY(xb_net_declare(r, net, layer, index, XB_ROLE_SHIFT, 1, &layer->in.c));
    layer->state = net->state_count;
    net->state_count += 2 * layer->in.c;
    return XB_OK;
}

/* " name value" with the fewest digits that read back the same. */
static void write_number(char *text, size_t size, const char *name, double value)
{
    char number[XB_NUMBER_TEXT_MAX];
    double back = NAN;
    for (int digits = 1; digits <= DBL_DECIMAL_DIG && back != value; digits++) {
        int length = xb_number_digits(number, value, digits);
        (void)xb_number_parse(&back, number, number + length, '.');
    }
    snprintf(text, size, " %s %s", name, number);
}

static void write(const xb_layer *layer, char *text, size_t size)
{
    char momentum[40] = "", epsilon[40] = "";
    if (layer->momentum != MOMENTUM)
        write_number(momentum, sizeof momentum, "momentum", layer->momentum);
    if (layer->epsilon != EPSILON)
        write_number(epsilon, sizeof epsilon, "epsilon", layer->epsilon);
    snprintf(text, size, "%s%s", momentum, epsilon);
}

const xb_layer_kind xb_layer_batchnorm = {
    .name = "batchnorm",
    .parse = parse,
    .declare = declare,
    .write = write,
};
