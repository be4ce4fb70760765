/* topics.c: `crossbayes help TOPIC`: the little languages of options (laws, nets, priors,
 * schedules, arrays, devices), each on one page with examples that run as printed. The
 * lists come from the library. */
#include <string.h>

#include "crossbayes/crossbayes.h"
#include "topics.h"

static void print_law(FILE *out)
{
    fprintf(out, "LAW: the distribution of a device's noise\n"
                 "\n"
                 "  FAMILY                  with default parameters: mtj\n"
                 "  FAMILY:KEY=X,KEY=X      with parameters: mtj:B=0.15,w=0.5\n"
                 "  FILE                    a law file, which crossbayes fit writes\n"
                 "\n"
                 "Families:\n");
    for (int64_t i = 0; i < xb_law_family_count(); i++)
        fprintf(out, "  %-13s%s\n", xb_law_family_name(i), xb_law_family_about(i));
    fprintf(out,
            "\n"
            "  mtj:B=0.15,w=0.5        w: weight of the peak, B: its width; A, C: "
            "factors of\n"
            "                          peak and parabola, which follow from B and w\n"
            "  ecram:B=0.1,w=0.6\n"
            "  bimodal:m=0.9           m: position of the modes, 0 to 0.999999\n"
            "  student:nu=5            nu: degrees of freedom, 2.05 or more\n"
            "  sinh-arcsinh:epsilon=0,delta=1\n"
            "                          epsilon: skewness, delta: tails\n"
            "  levels:x=-1/1,p=0.5/0.5,s=0.1\n"
            "                          x: positions, p: weights, s: widths\n"
            "\n"
            "A network uses a law shifted to mean 0 and scaled to standard deviation\n"
            "1: only its shape matters. empirical is made from samples, so it is always\n"
            "a file.\n");
}

static void print_net(FILE *out)
{
    fprintf(out,
            "NET: the layers of a network, separated by commas\n"
            "\n"
            "  dense N [nobias]        N units, connected to all inputs\n"
            "  conv N [KxK] [stride S] [same|valid] [nobias]\n"
            "                          N filters [3x3, stride 1, same]\n"
            "  maxpool K [stride S] [floor|ceil]\n"
            "                          largest of K x K values [stride K, floor]\n"
            "  batchnorm [momentum M] [epsilon E]\n"
            "                          normalisation over the batch [0.99, 0.001]\n"
            "  elu, relu, tanh, sigmoid\n"
            "                          activations\n"
            "  flatten                 an image as one row of numbers\n"
            "\n"
            "The input's shape comes from the data. The last layer has one unit for\n"
            "each number that is predicted, or one for each class. With same, an\n"
            "image keeps its size as in TensorFlow; with ceil, a last window may\n"
            "hang over the edge.\n");
}

static void print_prior(FILE *out)
{
    fprintf(
        out,
        "PRIOR: the prior distribution of a random weight\n"
        "\n"
        "  normal:mean=0,sd=1      Gaussian\n"
        "  laplace:b=1             density exp(-|x|/b) / (2b)\n"
        "  mixture:pi=0.5,s1=1,s2=0.01\n"
        "                          pi N(0, s1^2) + (1 - pi) N(0, s2^2)\n"
        "\n"
        "A parameter that is left out has the value shown. Scales are multiplied by\n"
        "sqrt(2/n) for a unit of n inputs, so that one prior suits nets of any width;\n"
        "with --prior-as-is they are taken literally.\n"
        "\n"
        "Instead of a prior, train --prior takes how the scale of a normal one is "
        "found:\n"
        "\n"
        "  standard                sd=1, for classes sd=5\n"
        "  fitted                  the power of two times this, from a quarter to four,\n"
        "                          that predicts best in cross-validation on four parts\n"
        "                          of the table\n"
        "  auto                    the default. Without --net, for tables of 20 to "
        "10,000\n"
        "                          rows: as fitted, on two of the parts, and standard\n"
        "                          unless another scale is clearly better. Else "
        "standard\n");
}

static void print_schedule(FILE *out)
{
    fprintf(
        out,
        "SCHEDULE: a factor that changes from step to step of training\n"
        "\n"
        "  constant:X              always X\n"
        "  exp:N                   exp(-i/N) at step i\n"
        "  cosine                  from 1 at the first step to 0 at the last\n"
        "  step:N                  times 0.1 after every N steps\n"
        "\n"
        "exp, cosine and step take floor=X, the lowest value; step takes factor=X\n"
        "instead of 0.1: step:1000,factor=0.5,floor=0.01. --rate-schedule multiplies\n"
        "the learning rate. --temperature divides the log likelihood: 1 gives the\n"
        "posterior, a lower value a colder (narrower) one.\n");
}

static void print_name(FILE *out, const char *name, const char *about)
{
    enum { COLUMN = 24 };
    fprintf(out, "  %-*s", COLUMN - 2, name);
    cli_help_words(out, about, COLUMN);
}

static void print_presets(FILE *out)
{
    for (int64_t i = 0; i < xb_array_preset_count(); i++)
        print_name(out, xb_array_preset_name(i), xb_array_preset_about(i));
}

static void print_keys(FILE *out)
{
    for (int64_t i = 0; i < xb_array_field_count(); i++)
        print_name(out, xb_array_field_at(i).key, xb_array_field_at(i).about);
}

void cli_help_arrays(FILE *out)
{
    fprintf(out, "\nArrays:\n");
    print_presets(out);
    fprintf(out, "  %-22s%s\n", "FILE.json",
            "{\"crossbayes\": \"array\", \"base\": \"mtj\", KEY: NUMBER, ...}");
    fprintf(out, "\nKeys of --set, --sweep and FILE.json:\n");
    print_keys(out);
}

static void print_array(FILE *out)
{
    fprintf(out,
            "ARRAY: a simulated array of analog devices\n"
            "\n"
            "  NAME                    a preset\n"
            "  FILE.json               {\"crossbayes\": \"array\", \"base\": \"mtj\","
            " KEY: NUMBER, ...}\n"
            "\n"
            "Presets:\n");
    print_presets(out);
    fprintf(
        out,
        "\n"
        "A file starts from its base (ideal without one) and sets some keys; 0 turns\n"
        "an effect off. --set KEY=X changes one number, --sweep KEY=FROM:TO scores\n"
        "a range of them; there a key may have - in place of _.\n"
        "\n"
        "Mean devices hold the mean of a weight, two of them unless a key says "
        "otherwise;\n"
        "a noise device adds its noise, whose standard deviation is its width.\n"
        "\n"
        "Keys:\n");
    print_keys(out);
    fprintf(out, "\nFurther keys of FILE.json:\n");
    print_name(out, "name", "name of the array in outputs");
    print_name(out, "law", "law of the noise devices: a family or a file");
    print_name(out, "sample_interval_ns",
               "time between the samples behind the law file, ns, from which the"
               " correlation of reads follows");
    print_name(out, "device", "device file of the mean devices");
    print_name(out, "redraw", "when weights are drawn anew: network, input or operation");
}

static void print_device(FILE *out)
{
    fprintf(
        out,
        "DEVICE: a device file, which crossbayes device writes from measurements\n"
        "\n"
        "  It holds how conductances move after programming (mean shift and spread by\n"
        "  state and time), the width of the noise by state, and its law.\n"
        "\n"
        "Commands that take it:\n"
        "  crossbar --device FILE --age 1e4s, design with the same options\n"
        "                          an array that was programmed 10,000 s ago\n"
        "  train --cells pair --device FILE\n"
        "                          weights whose width follows from their cells' states\n"
        "  demo --device FILE, study retention --device FILE\n"
        "                          how long predictions last on that device\n"
        "  any LAW                 the device's law, if its states share one shape\n"
        "\n"
        "Measurements are one table with columns cell, state, time and conductance, or\n"
        "one trace for each state: crossbayes device --help.\n");
}

/* Examples are run by a test, in this order, in an empty folder. */
static const cli_topic topics[] = {
    {"law", "how a noise law is written", print_law,
     "crossbayes law bimodal:m=0.8\n"
     "crossbayes sample levels:x=-1/0.5,p=0.3/0.7,s=0.1 -n 1000 -o levels.csv\n"
     "crossbayes fit levels.csv -o law.json\n"
     "crossbayes law law.json"},
    {"net", "how the layers of a network are written", print_net,
     "crossbayes plan mtj --net 'dense 8, elu, dense 8, elu, dense 1'"},
    {"prior", "how the prior of a weight is written", print_prior,
     "printf 'x,y\\n0,0\\n1,1\\n2,4\\n3,9\\n4,16\\n5,25\\n' > square.csv\n"
     "crossbayes train square.csv --target y --prior laplace:b=0.5 -o "
     "square.safetensors"},
    {"schedule", "how a factor by training step is written", print_schedule,
     "printf 'x,y\\n0,0\\n1,1\\n2,4\\n3,9\\n4,16\\n5,25\\n' > square.csv\n"
     "crossbayes train square.csv --target y --temperature exp:1000,floor=0.1"
     " -o square.safetensors"},
    {"array", "how a simulated array is written", print_array,
     "printf 'x,y\\n0,0\\n1,1\\n2,4\\n3,9\\n4,16\\n5,25\\n' > square.csv\n"
     "crossbayes train square.csv --target y -o square.safetensors\n"
     "printf '{\"crossbayes\": \"array\", \"base\": \"mtj\", \"adc_bits\": 8}' > "
     "mine.json\n"
     "crossbayes crossbar square.safetensors square.csv --array mine.json --set"
     " dac-bits=6"},
    {"device", "what a device file holds, and which commands take it", print_device,
     "printf '5.0%se-5\\n' $(seq 300 | awk '{ print 10 + $1 * $1 * 7 % 89 }') >"
     " level1.csv\n"
     "printf '9.0%se-5\\n' $(seq 300 | awk '{ print 10 + $1 * $1 * 5 % 83 }') >"
     " level2.csv\n"
     "crossbayes device level1.csv level2.csv --sample-rate 400Hz -o device.json"},
};
const int cli_topic_count = CLI_COUNT_OF(topics);

const cli_topic *cli_topic_at(int i) { return &topics[i]; }

const cli_topic *cli_topic_find(const char *name)
{
    for (int i = 0; i < cli_topic_count; i++)
        if (strcmp(topics[i].name, name) == 0) return &topics[i];
    return NULL;
}

const char *cli_topic_nearest(const char *word)
{
    const char *names[CLI_COUNT_OF(topics)];
    for (int i = 0; i < cli_topic_count; i++) names[i] = topics[i].name;
    return cli_nearest(word, names, cli_topic_count);
}

void cli_topic_print(FILE *out, const cli_topic *topic, bool is_command)
{
    topic->print(out);
    cli_help_example(out, topic->example);
    if (is_command) fprintf(out, "\nSee also: crossbayes %s --help\n", topic->name);
}
