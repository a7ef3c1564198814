// All position encodings, for tests that run on each.
#pragma once

#include <tuple>

#include "weft/weft.hpp"

namespace weft::testing {

// More positions than any test has.
struct Longest : axis<40> {};

struct odd_rotary : nn::position::rotary<nn::rotary_pairs::interleaved, 2> {
  constexpr odd_rotary()
      : rotary({.base = 50, .scaling = nn::yarn_scaling({.factor = 2, .trained = 8})}) {}
};
struct causal_t5 : nn::position::t5<5, 4> {
  constexpr causal_t5() : t5({.causal = true}) {}
};

// Those whose gradients position_pytorch_test compares with PyTorch's, and others. None has a term
// that is the same for all keys: its gradient of 0 would be rounding errors.
using encodings_of_pytorch =
    std::tuple<nn::position::rotary<>, nn::position::learned_rotary<>, nn::position::shaw_keys<2>,
               nn::position::shaw<3>, nn::position::transformer_xl<>, nn::position::t5<>, causal_t5,
               nn::position::alibi, nn::position::learned_alibi, nn::position::xpos<>>;
using other_encodings =
    std::tuple<nn::position::none, nn::position::index, nn::position::relative_index<Longest>,
               nn::position::sinusoidal, nn::position::learned_sinusoidal,
               nn::position::learned<Longest>, nn::position::fourier<6, 3>, odd_rotary,
               nn::position::transformer_xl<1>, nn::position::long_rotary<>>;
using encodings = decltype(std::tuple_cat(encodings_of_pytorch{}, other_encodings{}));
// Those that a cache of keys can have, and those that need the keys of the run.
using encodings_of_caches =
    decltype(std::tuple_cat(encodings{}, std::tuple<nn::position::fire<5>>{}));
using encodings_of_runs = decltype(std::tuple_cat(
    encodings{}, std::tuple<nn::position::cope<3>, nn::position::forgetting>{}));

}  // namespace weft::testing
