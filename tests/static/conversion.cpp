#include <cmath>
#include <concepts>

#include "weft/ops/arithmetic.hpp"
#include "weft/ops/functions.hpp"
#include "weft/ops/sources.hpp"
#include "words.hpp"

using namespace words;

// A using-declaration of std's function does not keep weft's own from being found.
using std::exp;
static_assert(is<decltype(exp(x)), floats<Batch, Pos, Embed>>);

// Assignment requires the same dtype and the same axes.
static_assert(std::assignable_from<floats<Pos>&, floats<Pos>>);
static_assert(std::is_aggregate_v<floats<Pos>> && std::is_trivially_copyable_v<floats<Pos>>);
