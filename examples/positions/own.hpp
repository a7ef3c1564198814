// An encoding of one's own: what a user writes to have one that the library does not.
//
// KERPLE, logarithmic (Chi et al. 2022, table 1): -r1 log(1 + r2 |i - j|) is added to the scores,
// in each head with r1 and r2 of its own, which are learned and positive. They begin as 1.
#pragma once

#include <weft/nn/position/encoding.hpp>
#include <weft/weft.hpp>

namespace positions {

struct kerple : weft::nn::encoding {
  template <class Heads, class HeadDim>
  constexpr auto scores(weft::scope s, const auto& /*query*/, const auto& where) const {
    auto r1 = exp(s.param<"log_r1", Heads>(weft::init::zeros()));
    auto r2 = exp(s.param<"log_r2", Heads>(weft::init::zeros()));
    return weft::nn::by_distance(where, [&](auto distance) {
      auto far = weft::cast<float>(maximum(distance, -distance));
      return -r1 * log(1 + r2 * far);
    });
  }
};

}  // namespace positions
