/* energy_facts.h: the facts of the energy study. */
#ifndef XB_STUDY_ENERGY_FACTS_H
#define XB_STUDY_ENERGY_FACTS_H

#include "study/energy_setup.h"

xb_status xb_energy_facts(xb_ctx *ctx, xb_study *study, const xb_net_cells_setup *setup);

#endif
