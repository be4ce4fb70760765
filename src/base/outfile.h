/* outfile.h: files that appear whole or not at all, as the library writes them; see
 * crossbayes/outfile.h. */
#ifndef XB_BASE_OUTFILE_H
#define XB_BASE_OUTFILE_H

#include "base/ctx.h"
#include "crossbayes/outfile.h"

#endif
