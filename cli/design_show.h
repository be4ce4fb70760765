/* design_show.h: the results of a search for a design as text, JSON, table and page. */
#ifndef XB_CLI_DESIGN_SHOW_H
#define XB_CLI_DESIGN_SHOW_H

#include "crossbayes/design.h"
#include "print.h"
#include "session.h"

/* Prints the choice, then the front; `keep` and `yield` are the options given. */
void cli_show_design(const xb_design *design, const char *keep, double yield);
json_t *cli_design_json(const xb_design *design, const char *keep);
/* One sentence that says why nothing was chosen and what can be reached. */
void cli_design_why(char *out, size_t size, const xb_design *design, const char *keep);
/* "adc_bits 8, tile 64, draws 50" */
void cli_design_text(char *out, size_t size, const xb_design *design, int64_t i);

/* design_page.c: design.html, figure, designs.csv and, with a choice, array.json into
 * DIR of -o. */
cli_exit cli_design_plan(cli_session *s);
cli_exit cli_design_write(cli_session *s, const xb_design *design, const char *keep);

#endif
