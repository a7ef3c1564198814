// All of weft: define models, run and train them.
#pragma once

// First: the fewer headers lie around the macro of the refusals, the shorter are g++'s messages.
#include "weft/graph/reject.hpp"

#include "weft/graph/define.hpp"
#include "weft/io/explain.hpp"
#include "weft/lower/cost.hpp"
#include "weft/nn/attention.hpp"
#include "weft/nn/embedding.hpp"
#include "weft/nn/linear.hpp"
#include "weft/nn/norm.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/compare.hpp"
#include "weft/ops/concatenate.hpp"
#include "weft/ops/convert.hpp"
#include "weft/ops/dot.hpp"
#include "weft/ops/dropout.hpp"
#include "weft/ops/functions.hpp"
#include "weft/ops/gather.hpp"
#include "weft/ops/mask.hpp"
#include "weft/ops/normalize.hpp"
#include "weft/ops/reduce.hpp"
#include "weft/ops/sources.hpp"
#include "weft/ops/view.hpp"
#include "weft/run/error.hpp"
#include "weft/run/module.hpp"
#include "weft/run/trainer.hpp"
