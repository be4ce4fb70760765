/* normal_table.c: see normal_table.h. */
#include "compare/normal_table.h"

#include "law/normal.h"

void xb_normal_table_fill(xb_normal_table *table)
{
    for (int i = 0; i < XB_NORMAL_NODES; i++) {
        double t = (double)(i - XB_NORMAL_HALF) / XB_NORMAL_STEPS;
        table->node[i] = (xb_normal_pair){xb_normal_cdf(t), xb_normal_pdf(t)};
    }
}
