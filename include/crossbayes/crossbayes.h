/* crossbayes/crossbayes.h: the whole public API of libcrossbayes except
 * crossbayes/json.h, which needs jansson's own header. The paper's experiments are in
 * crossbayes/studies.h, which belongs to libcrossbayes-studies. */
#ifndef CROSSBAYES_H
#define CROSSBAYES_H

#include "crossbayes/base.h"
#include "crossbayes/compare.h"
#include "crossbayes/crossbar.h"
#include "crossbayes/data.h"
#include "crossbayes/work.h"
#include "crossbayes/density.h"
#include "crossbayes/design.h"
#include "crossbayes/device.h"
#include "crossbayes/draw.h"
#include "crossbayes/extend.h"
#include "crossbayes/filekind.h"
#include "crossbayes/files.h"
#include "crossbayes/fit.h"
#include "crossbayes/images.h"
#include "crossbayes/law.h"
#include "crossbayes/model.h"
#include "crossbayes/net.h"
#include "crossbayes/outfile.h"
#include "crossbayes/plan.h"
#include "crossbayes/predict.h"
#include "crossbayes/random.h"
#include "crossbayes/recipe.h"
#include "crossbayes/rule.h"
#include "crossbayes/safetensors.h"
#include "crossbayes/score.h"
#include "crossbayes/series.h"
#include "crossbayes/train.h"
#include "crossbayes/vi.h"

#endif
