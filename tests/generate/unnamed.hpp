// A model that weft_add_model cannot generate code for.
#pragma once

#include "generate/models.hpp"

namespace {

struct unnamed : weft::generating::perceptron {};

}  // namespace
