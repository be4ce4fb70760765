/* crossbayes/studies.h: the whole API of libcrossbayes-studies, which is built on
 * libcrossbayes: the paper's experiments, their figures and pages. */
#ifndef CROSSBAYES_STUDIES_H
#define CROSSBAYES_STUDIES_H

#include "crossbayes/energy.h"
#include "crossbayes/report.h"
#include "crossbayes/reproduce.h"
#include "crossbayes/study.h"

#endif
