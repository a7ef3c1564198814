// A tensor converts neither to bool nor to a number.
#include <cmath>
#include <concepts>

#include "weft/ops/arithmetic.hpp"
#include "weft/ops/functions.hpp"
#include "weft/ops/sources.hpp"
#include "words.hpp"

using namespace words;

constexpr auto chooses_by = [](auto a) {
  return requires {
    a ? 1 : 2;
  };
};
constexpr auto has_std_exp = [](auto a) {
  return requires {
    std::exp(a);
  };
};
static_assert(chooses_by(true) && !chooses_by(causal) && !chooses_by(weft::positions<Pos>()));
static_assert(has_std_exp(1.0f) && !has_std_exp(x) && !has_std_exp(weft::length<Pos>()));
static_assert(!std::convertible_to<decltype(x), double> &&
              !std::constructible_from<double, decltype(x)>);

// A using-declaration of std's function does not keep weft's own from being found.
using std::exp;
static_assert(is<decltype(exp(x)), floats<Batch, Pos, Embed>>);

// Assignment requires the same dtype and the same axes.
static_assert(std::assignable_from<floats<Pos>&, floats<Pos>>);
static_assert(!std::is_assignable_v<floats<Pos>&, floats<Embed>> &&
              !std::is_assignable_v<floats<Pos>&, integers<Pos>> &&
              !std::is_assignable_v<floats<>&, float>);

static_assert(std::is_aggregate_v<floats<Pos>> && std::is_trivially_copyable_v<floats<Pos>>);
