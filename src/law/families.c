/* families.c: the table of families. A new family is one file beside this one that fills
 * an xb_family, and one row here. This file holds nothing else, so that a program may
 * link its own table instead (tests/test_family.c does). */
#include "law/family.h"

const xb_family *const xb_families[] = {
    &xb_family_gaussian,     &xb_family_mtj,     &xb_family_ecram,
    &xb_family_bimodal,      &xb_family_laplace, &xb_family_student,
    &xb_family_sinh_arcsinh, &xb_family_levels,  &xb_family_empirical,
};

const int xb_families_count = XB_COUNT(xb_families);
