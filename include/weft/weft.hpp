// All of weft but files and pictures: to define, run, train and inspect models.
#pragma once
#include "weft/header_begin.hpp"

// Included first: see model.hpp.
#include "weft/graph/reject.hpp"
#include "weft/nn/layer_rules.hpp"

#include "weft/inspect.hpp"
#include "weft/model.hpp"
#include "weft/run.hpp"
#include "weft/train.hpp"

#include "weft/header_end.hpp"
