/* fuzz_options.c: values of command-line options, every kind of them. The first byte
 * picks the kind. */
#include "../../cli/values.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    char *text = fuzz_text(data + 1, size - 1), why[256] = "";
    cli_kind kind = (cli_kind)(data[0] % (CLI_MASSES + 1));
    const bool list = kind == CLI_CHOICE || kind == CLI_CHOICES;
    cli_option option = {.name = "option",
                         .kind = kind,
                         .value = list ? "svg|png|pdf" : "VALUE",
                         .max = 1e6};
    cli_value value = {.given = true, .text = text};
    if (kind != CLI_FLAG && !cli_value_read(&value, &option, why, sizeof why) && !*why)
        abort();
    free(value.items);
    free(text);
    return 0;
}
